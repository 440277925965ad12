import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kmetrics
import kontext
from kmetrics import EmptyState, Mean, SkipIfMissing, wrappers
from kmetrics.wrappers import MissingKeyWarning


@pytest.fixture(autouse=True)
def forget_warnings():
    wrappers._warn_once.cache_clear()


METRIC = SkipIfMissing(metric=Mean(values="batch.x", mask="batch.mask"))
FULL = {"batch": {"x": jnp.array([1.0, 3.0]), "mask": jnp.array([1, 1])}}


def test_it_is_the_metric_if_nothing_is_missing():
    assert METRIC(FULL) == 2.0
    assert METRIC(values=jnp.ones(2)) == 1.0
    assert METRIC.keypaths() == ("batch.x", "batch.mask")
    state = METRIC.get_state_from_context(FULL)
    assert state.parent == METRIC
    assert (METRIC.empty() | state).compute() == 2.0


def test_a_missing_input_skips_with_a_warning_and_leaves_no_value():
    collection = kmetrics.Collection({"x": METRIC, "y": Mean(values="z")})
    context = {"batch": {"x": jnp.ones(1)}, "z": jnp.ones(1)}
    with pytest.warns(MissingKeyWarning, match="no batch.mask"):
        skipped = collection.get_states(context)
    # Once is enough: warnings are errors in these tests.
    assert collection.get_states(context)["x"].num_skipped == 1
    assert collection.compute(skipped) == {"y": 1.0}
    full = collection.get_states({**FULL, "z": jnp.ones(1)})
    for merged in (collection.merge(full, skipped), collection.merge(skipped, full)):
        assert collection.compute(merged) == {"x": 2.0, "y": 1.0}
        twice = collection.merge(merged, skipped)
        assert (twice["x"].num_skipped, full["x"].num_skipped) == (2, 0)
    jitted = jax.jit(collection.get_states)
    packed = collection.merge(jitted({**FULL, "z": jnp.ones(1)}), jitted(context))
    assert collection.compute(packed) == {"x": 2.0, "y": 1.0}
    assert packed["x"].num_skipped == 1


@pytest.mark.spec("kmetrics-36")
def test_a_key_error_inside_of_the_metric_is_an_error():
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Buggy(kmetrics.Metric):
        x: kontext.Key = "batch.x"

        def get_state(self, x):
            return {}["bug"]

    with pytest.raises(KeyError, match="bug"):
        SkipIfMissing(metric=Buggy())(FULL)


def test_only_the_named_keys_may_be_missing():
    metric = METRIC.replace(keys=["mask"])
    with pytest.warns(MissingKeyWarning):
        metric.get_state_from_context({"batch": {"x": jnp.ones(1)}})
    with pytest.raises(kontext.PathLookupError, match="values"):
        metric.get_state_from_context({"batch": {"mask": jnp.ones(1)}})
    with pytest.raises(ValueError, match=r"no key 'x'\n  its keys: values, mask"):
        METRIC.replace(keys=["x"])
    with pytest.raises(kontext.RequiredKeyError):
        SkipIfMissing(metric=Mean())(FULL)


def test_the_mask_of_a_padded_batch_is_handed_on():
    state = METRIC.get_state_from_context(
        FULL, mask=np.array([True, False]), example_roots={"batch"}
    )
    assert state.compute() == 1.0


def test_empty_states_merge_with_everything():
    state = Mean().get_state(values=jnp.ones(2))
    assert EmptyState.empty().merge(state) is state
    assert EmptyState().compute() == {}


def test_no_metric_in_the_place_of_one_has_no_results():
    none = kmetrics.NoopMetric()
    assert none({"x": 1}) == {} and none.keypaths() == ()
    both = kmetrics.Collection({"none": none, "mean": kmetrics.Mean(values="x")})
    assert both.metric_names() == ("mean",)
    states = [both.get_states({"x": np.float32([i])}) for i in (1, 3)]
    assert both.compute(both.merge(*states), log_count=True) == {
        "mean": 2.0,
        "mean/count": 2.0,
    }
