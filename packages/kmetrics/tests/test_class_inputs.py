import jax
import numpy as np
import pytest

import kmetrics

LOGITS = np.float32([[-1, 1, 2], [3, 2, 1]])
ANSWERS = [
    kmetrics.BinaryAccuracy(),
    kmetrics.Precision1(),
    kmetrics.RocAuc(),
    kmetrics.RocAuc(method="binned", bins=2),
    kmetrics.AveragePrecision(),
    kmetrics.MultilabelAveragePrecision(),
    kmetrics.LabelRankingAveragePrecision(),
]


def kind_of(metric):
    return f"{type(metric).__name__}-{getattr(metric, 'method', '')}"


@pytest.mark.parametrize("metric", ANSWERS, ids=kind_of)
@pytest.mark.parametrize("answer", [2.0, -1.0, np.nan])
def test_an_answer_that_is_neither_yes_nor_no_is_refused(metric, answer):
    labels = np.float32([[0, 1, answer], [1, 0, 1]])
    name = type(metric).__name__
    with pytest.raises(ValueError, match=f"{name}: a label is neither 0 nor 1"):
        metric.get_state(logits=LOGITS, labels=labels)
    # What the mask drops is not looked at.
    metric.get_state(logits=LOGITS, labels=labels, mask=np.array([False, True]))


def under_jit(metric):
    get_state = jax.jit(lambda labels: metric.get_state(logits=LOGITS, labels=labels))
    value = get_state(np.float32([[0, 1, 2], [1, 0, 1]])).compute()
    return value["value"] if isinstance(value, dict) else value


@pytest.mark.parametrize("metric", ANSWERS[2:-1], ids=kind_of)
def test_a_question_with_another_answer_has_no_area_under_jit(metric):
    areas = under_jit(metric.replace(average="none"))
    assert np.isnan(areas).tolist() == [False, False, True]


def test_an_example_with_another_answer_has_no_ranking_under_jit():
    assert np.isnan(under_jit(kmetrics.LabelRankingAveragePrecision()))


def test_a_wrong_answer_under_jit_is_no_right_one():
    for metric in ANSWERS[:2]:
        get_state = jax.jit(lambda y, m=metric: m.get_state(logits=LOGITS, labels=y))
        assert get_state(np.float32([[2, 2, 2], [2, 2, 2]])).compute() == 0


@pytest.mark.parametrize(
    "metric", [kmetrics.LogLoss(), kmetrics.Brier(), kmetrics.CalibrationError()]
)
def test_a_probability_outside_of_0_and_1_is_refused(metric):
    probs, labels = np.float32([[0.5, 0.5], [2, -1]]), np.array([0, 1])
    message = f"{type(metric).__name__}: a probability is outside of .*\\n  got 2\\n"
    with pytest.raises(ValueError, match=message):
        metric(probs=probs, labels=labels)
    get_state = jax.jit(
        lambda keep: metric.get_state(probs=probs, labels=labels, mask=keep)
    )
    assert np.isnan(get_state(np.array([True, True])).compute())
    assert np.isfinite(get_state(np.array([True, False])).compute())
