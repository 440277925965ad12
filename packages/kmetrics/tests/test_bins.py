import numpy as np
import pytest

from kmetrics import CalibrationError, Quantiles
from kmetrics._bins import count_bins, sum_bins


def test_a_million_small_weights_add_up():
    rng = np.random.default_rng(0)
    index = rng.integers(-1, 4, 1 << 20)
    weights = np.float32(rng.uniform(0.05, 0.15, 1 << 20))
    got = count_bins(index, 3, weights).numpy()
    expected = [weights[index == i].sum(dtype=float) for i in range(3)]
    # In float32 alone they would be off by more than 1e-5.
    np.testing.assert_allclose(got, expected, rtol=1e-7)


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e30])
def test_sums_of_any_size_and_sign_agree_with_float64(scale):
    rng = np.random.default_rng(1)
    index, values = rng.integers(0, 3, 99), np.float32(rng.normal(size=99) * scale)
    expected = [values[index == i].sum(dtype=float) for i in range(3)]
    got = sum_bins(index, 3, values).numpy()
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-7 * scale)


def test_what_is_not_finite_stays_in_its_bin():
    values = np.full(99, 0.5, np.float32)
    values[:4] = np.inf, np.nan, -np.inf, 3e38
    index = np.arange(99) % 6
    got = sum_bins(index, 6, values)
    np.testing.assert_array_equal(got.numpy()[:3], [np.inf, np.nan, -np.inf])
    # Beside 3e38 one half is nothing, and so is the rest of its bin.
    assert got.numpy()[3] == pytest.approx(3e38) and np.isfinite(got.numpy()[4])
    both = np.float32([3e38] * 99)
    np.testing.assert_array_equal(sum_bins(index, 6, both).numpy(), np.inf)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.uint8])
def test_small_integers_are_counted_in_more_bins_than_they_can_number(dtype):
    index = np.array([0, 1, 1, 100, -1]).astype(dtype)
    counts = count_bins(index, 70_000).numpy()
    assert counts[0] == counts[100] == 1 and counts[1] == 2
    # As 255, the last one is a bin of its own.
    assert counts.sum() == (5 if dtype is np.uint8 else 4)


def test_metrics_that_count_in_bins_weigh_a_million_examples():
    n = 1 << 20
    probs = np.full(n, 0.7, np.float32)
    weights = np.full(n, 0.1, np.float32)
    state = CalibrationError(bins=4).get_state(
        probs=probs, labels=np.zeros(n, int), mask=weights
    )
    total = weights.sum(dtype=float)
    assert state.weight.numpy().sum() == pytest.approx(total, rel=1e-7)
    counts = Quantiles().get_state(values=probs, mask=weights).counts
    assert counts.numpy().sum() == pytest.approx(total, rel=1e-7)
