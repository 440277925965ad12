import jax
import numpy as np
import pytest

import kmetrics
import kontext
import ktyping
from kmetrics import losses

L1 = losses.L1(preds="out.x", targets="batch.y")
CONTEXT = {"out": {"x": np.ones((2, 3))}, "batch": {"y": np.ones((2, 2))}}


def notes(error):
    return error.value.__notes__


@pytest.mark.parametrize("metric", [L1, kmetrics.MSE(preds="out.x", targets="batch.y")])
def test_shapes_that_do_not_fit_name_the_metric_and_its_paths(metric):
    name = type(metric).__name__
    with pytest.raises(ktyping.KTypeCheckError, match=r"targets = .*\[2,2\]") as error:
        metric(CONTEXT)
    read = "reads preds from 'out.x', targets from 'batch.y'"
    assert notes(error)[0].startswith(f"in {name}, which {read}")
    assert "_Difference" not in str(error.value)
    assert f"Origin: {name}.get_" in str(error.value)


def test_a_metric_is_named_before_what_is_around_it():
    mean = kmetrics.Mean(values="x", mask="keep")
    context = {"x": np.ones(2), "keep": np.ones(3)}
    collection = kmetrics.Collection({"val": {"x": kmetrics.Last(metric=mean)}})
    with pytest.raises(kmetrics.MaskShapeError) as error:
        collection.get_states(context)
    assert notes(error)[-2:] == [
        "in Mean, which reads values from 'x', mask from 'keep'",
        "metric val/x",
    ]


def test_a_mask_that_does_not_fit_names_the_loss_and_its_paths():
    loss = losses.L2(preds="x", targets="x", mask="keep")
    context = {"x": np.ones(2, np.float32), "keep": np.ones(3)}
    terms = {"a": loss}
    read = "in L2, which reads mask from 'keep', preds from 'x', targets from 'x'"
    calls = {
        (read,): loss,
        (read, "loss a"): lambda x: kmetrics.total_loss(terms, x),
        (read, "loss a "): lambda x: kmetrics.per_example_loss(terms, x),
    }
    for expected, call in calls.items():
        with pytest.raises(kmetrics.MaskShapeError, match=r"mask \[3\]") as error:
            call(context)
        told = [note for note in notes(error) if not note.startswith("-----")]
        assert told == [note.strip() for note in expected]


def test_a_wrapper_that_finds_no_path_of_its_own_is_named():
    mean = kmetrics.Mean(values="x")
    wrappers = (
        kmetrics.Grouped(metric=mean, by="group", groups=2),
        kmetrics.Bootstrap(metric=mean, ids="ids"),
        kmetrics.Every(metric=mean, n=2),
    )
    for metric in wrappers:
        with pytest.raises(kontext.PathLookupError) as error:
            metric({"x": np.ones(2, np.float32)})
        assert notes(error) == [f"in {type(metric).__name__}"]
    with pytest.raises(kontext.RequiredKeyError) as error:
        kmetrics.Bootstrap(metric=mean)({"x": np.ones(2, np.float32)})
    assert notes(error) == ["in Bootstrap"]


def test_computing_on_the_host_under_jit_says_where_to_compute():
    state = kmetrics.FBeta().get_state(labels=np.array([0, 1]), logits=np.eye(2))
    with pytest.raises(jax.errors.TracerArrayConversionError) as error:
        jax.jit(lambda s: s.compute())(state)
    assert any(
        "the value of FBeta is computed on the host, not under jit" in note
        for note in notes(error)
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: L1(preds=np.ones(2)), "L1: missing a required argument: 'targets'"),
        (lambda: L1(pred=np.ones(2)), "L1: missing a required argument: 'preds'"),
        (
            lambda: L1(preds=np.ones(2), targets=np.ones(2), foo=1),
            "L1: got an unexpected keyword argument 'foo'",
        ),
        (lambda: kmetrics.MSE()(preds=np.ones(2)), "MeanSquaredError: missing"),
        (
            lambda: losses.SoftmaxFocal()(logits=np.ones((2, 2))),
            "SoftmaxFocal: missing a required argument: 'labels'",
        ),
    ],
)
def test_inputs_that_are_not_those_of_the_metric_are_refused_by_its_name(call, message):
    with pytest.raises(TypeError, match=message) as error:
        call()
    assert "\n  it takes " in str(error.value)


def test_a_type_error_inside_of_a_metric_stays_what_it_is():
    class Buggy(losses.L1):
        def get_values(self, preds, targets):
            return len(3)

    with pytest.raises(TypeError, match="object of type 'int' has no len") as error:
        Buggy()(preds=np.ones(2), targets=np.ones(2))
    assert notes(error) == ["in Buggy"]
