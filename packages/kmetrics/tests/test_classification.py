import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kmetrics
from kmetrics import (
    Accuracy,
    BinaryAccuracy,
    JointAccuracy,
    Precision1,
    TopKAccuracy,
)
from kmetrics._top_k import rank_correct

LOGITS = np.array(
    [
        [2.0, 1.0, 0.1],
        [0.5, 2.5, 0.0],
        [1.2, 0.3, 3.1],
        [0.2, 0.1, 0.4],
        [1.0, 1.5, 0.5],
        [3.0, 0.0, 1.0],
    ],
    np.float32,
)
LABELS = np.array([0, 1, 2, 1, 0, 2])
WEIGHTS = np.array([1, 0.5, 2, 1, 0, 1.5], np.float32)


def accuracy(logits, labels, mask=None, **options):
    labels = np.asarray(labels)
    return Accuracy(**options)(logits=jnp.asarray(logits), labels=labels, mask=mask)


@pytest.mark.spec("kmetrics-1")
@pytest.mark.parametrize("sizes", [[6], [4, 2], [1] * 6, [6, 0]])
def test_accuracy_does_not_depend_on_the_split(sizes):
    state, start = Accuracy().empty(), 0
    for size in sizes:
        part = slice(start, start + size)
        state |= Accuracy().get_state(logits=LOGITS[part], labels=LABELS[part])
        start += size
    assert state.compute() == 0.5


@pytest.mark.spec("kmetrics-2")
def test_weighted_accuracy():
    expected = pytest.approx(0.58333333, rel=1e-7)
    assert accuracy(LOGITS, LABELS, WEIGHTS) == expected
    assert accuracy(LOGITS, LABELS[:, None], WEIGHTS[:, None]) == expected


def test_predicted_classes_instead_of_logits():
    metric = Accuracy(pred_labels="p", labels="y")
    assert metric({"p": LOGITS.argmax(-1), "y": LABELS}) == 0.5
    with pytest.raises(ValueError, match="neither"):
        Accuracy().get_state(labels=LABELS)
    with pytest.raises(ValueError, match="both"):
        Accuracy().get_state(labels=LABELS, logits=LOGITS, pred_labels=LABELS)
    with pytest.raises(ValueError, match=r"pred_labels \[3\]"):
        Accuracy().get_state(labels=LABELS, pred_labels=LABELS[:3])
    with pytest.raises(ValueError, match="needs logits"):
        Accuracy(top_k=2).get_state(labels=LABELS, pred_labels=LABELS)


def test_top_2_of_the_example():
    assert accuracy(LOGITS, LABELS, top_k=2) == pytest.approx(0.83333333, rel=1e-7)


def by_definition(logits, label, k, ties):
    """The chance that `label` is among the best `k`, class by class."""
    if not 0 <= label < len(logits) or any(map(np.isnan, logits)):
        return 0.0
    others = [(x, i) for i, x in enumerate(logits) if i != label]
    better = sum(x > logits[label] for x, _ in others)
    tied = [i for x, i in others if x == logits[label]]
    lost = {
        "first": [sum(i < label for i in tied)],
        "optimistic": [0],
        "pessimistic": [len(tied)],
        "expected": range(len(tied) + 1),
    }[ties]
    return np.mean([better + n < k for n in lost])


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("ties", ["first", "optimistic", "pessimistic", "expected"])
def test_every_tie_and_every_odd_number_ranks_as_defined(k, ties):
    odd = [-np.inf, -1.0, 0.0, 1.0, np.inf, np.nan]
    rng = np.random.default_rng(0)
    logits = rng.choice(odd, size=(500, 4), p=[0.15, 0.2, 0.25, 0.2, 0.15, 0.05])
    labels = rng.integers(-1, 5, size=500)
    got = rank_correct(jnp.float32(logits), jnp.int32(labels), k=k, ties=ties)
    expected = [
        by_definition(row, label, k, ties)
        for row, label in zip(logits, labels, strict=True)
    ]
    np.testing.assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.spec("kmetrics-48")
@pytest.mark.parametrize(
    ("ties", "expected"),
    [("first", 0), ("optimistic", 1), ("pessimistic", 0), ("expected", 0.5)],
)
def test_ties_are_broken_as_asked(ties, expected):
    assert accuracy([[1.0, 1.0]], [1], ties=ties) == expected
    with pytest.raises(ValueError, match="ties='coin' is not known"):
        Accuracy(ties="coin")


def test_the_expected_chance_in_a_tie_of_three_for_two_places():
    assert accuracy([[1.0, 1.0, 1.0, 0.0]], [1], ties="expected", top_k=2) == (
        pytest.approx(2 / 3)
    )


@pytest.mark.case("073")
def test_top_k_looks_at_the_best_scores_also_with_an_ignored_class():
    logits = [[0, 0.1, 0.5, 0.4], [0, 0.2, 0.7, 0.1], [0, 0.4, 0.3, 0.3], [1, 0, 0, 0]]
    labels = [3, 2, 1, 0]
    assert accuracy(logits, labels, ignore_index=0) == pytest.approx(2 / 3)
    assert accuracy(logits, labels, ignore_index=0, top_k=2) == 1.0


@pytest.mark.slow
@pytest.mark.case("074")
@given(st.integers(0, 1000))
@settings(deadline=None, max_examples=5)
def test_accuracy_never_falls_with_k(seed):
    rng = np.random.default_rng(seed)
    logits = rng.integers(0, 10, (50, 7)).astype(np.float32)
    labels = rng.integers(0, 7, 50)
    values = [accuracy(logits, labels, top_k=k) for k in range(1, 7)]
    assert values == sorted(values)


@pytest.mark.case("076")
@pytest.mark.parametrize("k", [3, 5])
def test_a_k_that_is_always_right_is_refused(k):
    with pytest.raises(ValueError, match=f"top_k={k} with 3 classes"):
        accuracy(LOGITS, LABELS, top_k=k)
    with pytest.raises(ValueError, match="1 or more"):
        Accuracy(top_k=0)


def test_a_row_with_a_nan_is_wrong():
    assert accuracy([[np.nan, 0.0], [1.0, 0.0]], [0, 0]) == 0.5
    assert accuracy([[np.nan, 0.0], [1.0, 0.0]], [1, 0], ties="optimistic") == 0.5


@pytest.mark.parametrize("label", [-1, 2])
@pytest.mark.parametrize("metric", [Accuracy(), TopKAccuracy(k=1), JointAccuracy()])
def test_a_label_that_is_no_class_is_an_error_or_nan_under_jit(metric, label):
    inputs = {"logits": jnp.eye(2), "labels": jnp.array([label, 1])}
    name = type(metric).__name__
    message = rf"^{name}.*: a label is no class\n  got {label}, expected 0 to 1"
    with pytest.raises(ValueError, match=message):
        metric(**inputs)
    get_state = jax.jit(metric.get_state)
    assert np.isnan(get_state(**inputs).compute())
    for mask in (jnp.array([0.0, 2.0]), jnp.array([False, True])):
        assert metric(**inputs, mask=mask) == 1.0
        assert get_state(**inputs, mask=mask).compute() == 1.0
    if name != "JointAccuracy":
        assert metric.replace(ignore_index=label)(**inputs) == 1.0


@pytest.mark.spec("kmetrics-10")
def test_without_data_the_option_decides():
    empty = {"logits": LOGITS, "labels": LABELS, "mask": np.zeros(6)}
    assert np.isnan(Accuracy()(**empty))
    assert Accuracy(on_empty="zero")(**empty) == 0.0
    with pytest.raises(kmetrics.EmptyMetricError, match="Accuracy saw no data"):
        Accuracy(on_empty="raise")(**empty)
    assert np.isnan(Accuracy().empty().compute())
    assert Accuracy(on_empty="zero").empty().compute() == 0.0
    with pytest.raises(ValueError, match="on_empty='skip' is not known"):
        Accuracy(on_empty="skip")


def test_extra_batch_axes_and_half_precision():
    logits = jnp.asarray(LOGITS, jnp.bfloat16).reshape(2, 3, 3)
    labels = LABELS.reshape(2, 3)
    assert accuracy(logits, labels) == 0.5
    assert accuracy(logits, labels[..., None], np.array([True, False])) == 1.0


def test_labels_that_do_not_fit_the_logits_are_refused():
    with pytest.raises(TypeError, match="labels"):
        accuracy(LOGITS, LABELS[:4])
    with pytest.raises(TypeError, match="labels"):
        accuracy(LOGITS, LABELS.astype(np.float32))


@pytest.mark.spec("kmetrics-50")
def test_binary_answers_with_a_mask_that_can_be_bound():
    scores = np.float32([0.1, 0.4, 0.35, 0.8, 0.65, 0.9, 0.5, 0.5])
    labels = np.array([0, 0, 1, 1, 0, 1, 1, 0])
    context = {"s": scores, "y": labels, "m": np.arange(8) < 4}
    metric = BinaryAccuracy(logits="s", labels="y", threshold=0.5)
    assert metric(context) == 0.625
    assert metric.replace(mask="m")(context) == 0.75
    nan = np.float32([np.nan, np.nan])
    assert BinaryAccuracy()(logits=nan, labels=np.array([0, 1])) == 0


@pytest.mark.spec("kmetrics-49")
def test_a_row_with_a_nan_is_wrong_and_counted_if_asked_for():
    logits = LOGITS.copy()
    logits[0, 1] = np.nan  # was right
    assert accuracy(logits, LABELS) == pytest.approx(2 / 6)
    counted = accuracy(logits, LABELS, count_nan=True)
    assert counted == {"value": pytest.approx(2 / 6), "nan_rows": 1}
    others = accuracy(logits, LABELS, np.arange(6) > 0, count_nan=True)
    assert others == {"value": pytest.approx(2 / 5), "nan_rows": 0}
    none = Accuracy(count_nan=True, on_empty="zero").empty().compute()
    assert none == {"value": 0, "nan_rows": 0}
    with pytest.raises(ValueError, match="count_nan needs logits"):
        Accuracy(count_nan=True)(labels=LABELS, pred_labels=LABELS)


@pytest.mark.parametrize("ties", ["first", "optimistic", "pessimistic", "expected"])
def test_top_k_accuracy_is_accuracy_by_another_name(ties):
    rounded = np.round(LOGITS)  # with ties
    got = TopKAccuracy(k=2, ties=ties)(logits=rounded, labels=LABELS, mask=WEIGHTS)
    assert got == accuracy(rounded, LABELS, WEIGHTS, top_k=2, ties=ties)
    with pytest.raises(ValueError, match="TopKAccuracy: k=5 with 3 classes"):
        TopKAccuracy(ties=ties)(logits=LOGITS, labels=LABELS)
    with pytest.raises(ValueError, match="TopKAccuracy: k must be 1 or more"):
        TopKAccuracy(k=0)


def test_the_best_class_of_several_right_ones():
    scores = LOGITS.copy()
    scores[0, 2] = np.nan
    right = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 0], [0, 0, 0], [0, 1, 1], [1, 0, 1]])
    # Best: (NaN), 1, 2, 2, 1, 0.
    assert Precision1()(logits=scores, labels=right) == 0.5
    kept = np.arange(6) > 3
    assert Precision1()(logits=scores, labels=right > 0, mask=kept[:, None]) == 1
    with pytest.raises(TypeError, match="labels"):
        Precision1()(logits=scores, labels=right[:, :2])


def test_joint_accuracy_asks_all_heads():
    other = np.array([0, 1, 2, 2, 1, 1])  # right: yes yes yes yes yes no
    metric = JointAccuracy(logits=("a", "b"), labels=("y", "x"), mask="m")
    context = {"a": LOGITS, "b": LOGITS, "y": LABELS, "x": other[:, None]}
    assert metric({**context, "m": np.ones(6)}) == 0.5
    assert metric({**context, "m": np.arange(6) < 3}) == 1
    named = JointAccuracy()(logits={"u": LOGITS}, labels={"u": LABELS})
    assert named == accuracy(LOGITS, LABELS)
    with pytest.raises(ValueError, match=r"logits \['u'\], labels \['v'\]"):
        JointAccuracy()(logits={"u": LOGITS}, labels={"v": LABELS})
    with pytest.raises(ValueError, match="head 1: the labels do not fit"):
        JointAccuracy()(logits=[LOGITS] * 2, labels=[LABELS, LABELS[:3]])
    halves = [LOGITS, LOGITS.reshape(2, 3, 3)]
    with pytest.raises(ValueError, match=r"0 \[6\], 1 \[2, 3\]"):
        JointAccuracy()(logits=halves, labels=[LABELS, LABELS.reshape(2, 3)])


@pytest.mark.case("091")
@pytest.mark.case("092")
def test_a_failing_batch_leaves_what_was_accumulated():
    states = Accuracy().get_state(logits=LOGITS, labels=LABELS)
    with pytest.raises(TypeError, match="labels"):
        states |= Accuracy().get_state(logits=LOGITS, labels=LABELS[:4])
    assert states.compute() == 0.5
    assert (states | states).compute() == 0.5
    assert np.isnan(Accuracy().empty().compute())
