import numpy as np
import pytest

from kmetrics import (
    AveragePrecision,
    LabelRankingAveragePrecision,
    MultilabelAveragePrecision,
)

SCORES = np.float32(
    [[0.9, 0.2, 0.6], [0.1, 0.8, 0.4], [0.7, 0.3, 0.5], [0.2, 0.9, 0.1]]
)
LABELS = np.array([[1, 0, 1], [0, 1, 1], [1, 0, 0], [0, 1, 0]])
METRIC = LabelRankingAveragePrecision()


def test_average_precision_of_several_labels():
    macro = MultilabelAveragePrecision()(logits=SCORES, labels=LABELS)
    assert macro == pytest.approx(0.9444444444)
    micro = MultilabelAveragePrecision(average="micro")
    assert micro(logits=SCORES, labels=LABELS == 1) == pytest.approx(0.9761904762)
    # Numbers of classes are refused, which AveragePrecision takes.
    assert np.isfinite(AveragePrecision()(logits=SCORES, labels=np.arange(4) % 3))
    with pytest.raises(TypeError, match="labels"):
        MultilabelAveragePrecision()(logits=SCORES, labels=np.arange(4) % 3)


def test_labels_above_all_others_rank_at_one():
    assert METRIC(logits=SCORES, labels=LABELS) == 1.0
    # Scores .9 .2 .6: the label .2 is third, and the only one: 1/3. With .6: 1/2, 2/3.
    third = METRIC(logits=SCORES[:1], labels=np.array([[0, 1, 0]]))
    assert third == pytest.approx(1 / 3)
    both = METRIC(logits=SCORES[:1], labels=np.array([[0, 1, 1]]))
    assert both == pytest.approx((1 / 2 + 2 / 3) / 2)


def test_ranks_with_ties_agree_with_scikit_learn():
    sk = pytest.importorskip(
        "sklearn.metrics", reason="scikit-learn is the independent reference"
    )
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 4, (40, 6)).astype(np.float32)
    labels = rng.integers(0, 2, (40, 6))
    labels[0], labels[1] = 0, 1
    weights = rng.uniform(0.5, 2, 40).astype(np.float32)
    got = METRIC(logits=scores, labels=labels, mask=weights)
    expected = sk.label_ranking_average_precision_score(
        labels, scores, sample_weight=weights
    )
    assert got == pytest.approx(expected, rel=1e-6)


def test_a_row_with_a_nan_is_unknown_unless_it_is_masked():
    scores = np.where(np.arange(4)[:, None] == 1, np.nan, SCORES)
    assert np.isnan(METRIC(logits=scores, labels=LABELS))
    kept = np.arange(4) != 1
    assert METRIC(logits=scores, labels=LABELS, mask=kept) == 1.0
    lowest = METRIC(
        logits=np.float32([[0, -np.inf, -np.inf]]), labels=np.array([[0, 1, 0]])
    )
    assert lowest == pytest.approx(1 / 3)
