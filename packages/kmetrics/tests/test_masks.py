import jax.numpy as jnp
import numpy as np
import pytest

import kmetrics
from kmetrics import MaskShapeError
from kmetrics._masks import align_left, combine_masks, fill_masked, masked_sums


def sums(values, mask=None, weights=None):
    total, count = masked_sums(jnp.asarray(values), mask, weights)
    return float(total.numpy()), float(count.numpy())


def test_a_mask_lines_up_from_the_left():
    values = np.array([[1.0, 2.0], [10.0, 20.0]])
    assert sums(values, np.array([True, False])) == (3, 2)
    assert sums(values, np.array([[True], [False]])) == (3, 2)
    assert sums(values, np.array([[True, False]])) == (11, 2)
    assert sums(values, np.array([[1.0, 0.5], [0.0, 0.0]])) == (2, 1.5)


def test_masks_and_weights_multiply():
    assert sums([1.0, 2.0, 3.0], [1, 0, 1], [0.5, 0.25, 0.25]) == (1.25, 0.75)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_dropped_value_is_not_seen_whatever_it_is(bad):
    assert sums([1.0, bad, 3.0], [True, False, True]) == (4, 2)
    assert sums([1.0, bad, 3.0], [2.0, 0.0, 1.0]) == (5, 3)
    assert sums([1.0, 5.0, 3.0], [1.0, 0.0, 1.0], [1.0, bad, 1.0]) == (4, 2)


@pytest.mark.parametrize("shape", [(3,), (2, 2, 1), (1, 3)])
def test_a_mask_that_does_not_line_up_is_refused_with_both_shapes(shape):
    with pytest.raises(MaskShapeError) as error:
        sums(np.ones((2, 2)), np.ones(shape))
    assert f"mask {list(shape)}, values [2, 2]" in str(error.value)


def test_negative_weights_are_refused_outside_jit():
    with pytest.raises(ValueError, match="smallest is -1"):
        sums([1.0, 2.0], weights=np.array([1.0, -1.0]))


NUMBERS = {"preds": np.float32([1, 2, 3]), "targets": np.float32([3, 1, 2])}
CLASSES = {"logits": np.eye(3, dtype=np.float32), "labels": np.array([0, 2, 1])}
CAMERAS = np.stack([np.eye(4, dtype=np.float32)] * 3)
CLUSTERS = {"preds": np.array([0, 1, 1]), "targets": np.array([0, 1, 0])}


@pytest.mark.parametrize(
    ("metric", "inputs"),
    [
        (kmetrics.ConfusionMatrix(), CLASSES),
        (kmetrics.RocAuc(), CLASSES),
        (kmetrics.CalibrationError(strategy="mass"), CLASSES),
        (kmetrics.Spearman(), NUMBERS),
        (kmetrics.MaxError(), NUMBERS),
        (kmetrics.MedianAbsoluteError(), NUMBERS),
        (kmetrics.MeanCov(), {"values": CLASSES["logits"]}),
        (kmetrics.Quantiles(), {"values": NUMBERS["preds"]}),
        (kmetrics.Ari(num_clusters=2, num_classes=2), CLUSTERS),
        (kmetrics.summaries.HistogramSummary(), {"tensor": NUMBERS["preds"]}),
        (kmetrics.Wer(), {"preds": ["a", "b", "c"], "targets": ["a", "c", "b"]}),
        (kmetrics.PoseAuc(), {"preds": CAMERAS, "targets": CAMERAS}),
        (
            kmetrics.Grouped(metric=kmetrics.Mean(), groups=2),
            {"values": NUMBERS["preds"], "by": CLUSTERS["preds"]},
        ),
        (
            kmetrics.Bootstrap(metric=kmetrics.Mean(), n=2),
            {"values": NUMBERS["preds"], "ids": CLASSES["labels"]},
        ),
    ],
    ids=lambda x: type(x).__name__,
)
def test_every_metric_refuses_a_mask_that_cannot_weigh(metric, inputs):
    with pytest.raises(ValueError, match=r"mask holds negative numbers.* is -0\.5"):
        metric.get_state(**inputs, mask=np.float32([1, -0.5, 1]))
    with pytest.raises(ValueError, match="mask holds NaN"):
        metric.get_state(**inputs, mask=np.float32([1, np.nan, 1]))


def test_combining_keeps_what_both_keep():
    both = combine_masks(np.array([True, False]), np.array([True, True]))
    assert both.dtype == bool
    np.testing.assert_array_equal(both, [True, False])
    np.testing.assert_array_equal(
        combine_masks(np.array([True, False]), np.array([0.5, np.nan])), [0.5, 0.0]
    )
    assert combine_masks(None, None) is None
    np.testing.assert_array_equal(combine_masks(None, np.array([1])), [1])


def test_combining_lines_masks_up_from_the_left():
    rows = np.array([True, False])
    entries = np.array([[True, False, True], [True, True, True]])
    expected = [[True, False, True], [False, False, False]]
    np.testing.assert_array_equal(combine_masks(rows, entries), expected)
    np.testing.assert_array_equal(combine_masks(entries, rows), expected)


def test_masks_that_do_not_line_up_with_each_other_are_refused():
    with pytest.raises(MaskShapeError, match=r"\[2\] and \[3\]"):
        combine_masks(np.ones(2), np.ones(3))


def test_filling_replaces_dropped_rows_and_leaves_other_shapes_alone():
    mask = np.array([1, 0])
    filled = fill_masked(np.array([[1.0, 2.0], [np.nan, 3.0]]), mask, 7.0)
    np.testing.assert_array_equal(filled, [[1, 2], [7, 7]])
    np.testing.assert_array_equal(fill_masked(np.ones(3), mask, 7.0), np.ones(3))


def test_aligning_adds_axes_on_the_right_only():
    assert align_left(np.ones(2), (2, 3, 4)).shape == (2, 1, 1)
    assert align_left(np.ones(()), (2, 3)).shape == (1, 1)
