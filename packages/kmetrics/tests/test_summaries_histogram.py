"""Histograms in fixed memory."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kmetrics.summaries import HistogramSummary

RNG = np.random.default_rng(0)
FEW = HistogramSummary(num_buckets=4)
get_state = jax.jit(lambda x: FEW.get_state(tensor=x))
merge = jax.jit(lambda a, b: a.merge(b))


def same(a, b):
    """Equal but for the rounding of the sums."""
    equal = np.array_equal(a.counts, b.counts) and np.array_equal(a.edges, b.edges)
    sums = np.allclose([a.sum, a.sum_sq], [b.sum, b.sum_sq], rtol=1e-6, atol=1e-6)
    ends = np.array_equal([a.min, a.max], [b.min, b.max], equal_nan=True)
    rest = (a.num_nan, a.num_inf) == (b.num_nan, b.num_inf)
    return equal and sums and ends and rest


def test_a_hand_worked_histogram():
    got = FEW(tensor=np.float32([0.5, 1, 1.5, 6, 7.9, np.nan, np.inf, -np.inf]))
    # All lies in [0, 8): four bins of 2.
    assert got.edges.tolist() == [0, 2, 4, 6, 8]
    assert got.counts.tolist() == [3, 0, 0, 2]
    assert (got.min, got.max) == (0.5, np.float32(7.9))
    assert got.sum == pytest.approx(16.9) and got.sum_sq == pytest.approx(101.91)
    assert (got.num_nan, got.num_inf, got.num_outside) == (1, 2, 0)


@pytest.mark.spec("kmetrics-77")
def test_the_state_of_many_batches_is_as_small_as_that_of_one():
    metric = HistogramSummary()
    of = jax.jit(lambda x: metric.get_state(tensor=x))
    batches = [RNG.normal(size=100_000).astype(np.float32) * (1 + i) for i in range(50)]
    state = of(batches[0])
    for batch in batches[1:]:
        state = merge(state, of(batch))
    assert sum(leaf.nbytes for leaf in jax.tree.leaves(state)) <= 4096
    got, values = state.compute(), np.concatenate(batches)
    assert np.array_equal(got.counts, np.histogram(values, got.edges)[0])
    assert got.counts.sum() == 5_000_000
    assert 15 <= len(got.counts) <= 30
    assert got.sum_sq == pytest.approx(np.sum(values.astype(float) ** 2), rel=1e-6)


# A sum past the largest float32 is infinite, or NaN where two of them cancel: which
# of the two depends on the order, so all sums of the test fit.
finite = st.floats(-(2.0**120), 2.0**120, width=32, allow_subnormal=False)
special = st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e-35, np.nan, np.inf, -np.inf])


@settings(max_examples=60, deadline=None)
@given(st.lists(finite | special, min_size=12, max_size=12))
def test_bins_depend_on_the_values_alone_and_are_as_narrow_as_possible(values):
    x = np.float32(values)
    whole = get_state(x.reshape(4, 3)).compute()
    parts = [get_state(np.tile(part, (4, 1))) for part in x.reshape(4, 3)]
    once = merge(merge(parts[0], parts[1]), merge(parts[2], parts[3])).compute()
    other = merge(parts[3], merge(parts[1], merge(parts[2], parts[0]))).compute()
    assert np.array_equal(once.counts, 4 * whole.counts)
    assert np.array_equal(once.edges, whole.edges)
    assert same(once, other)
    kept = x[np.isfinite(x)].astype(float)
    assert whole.counts.sum() == len(kept)
    if not len(kept):
        assert len(whole.counts) == 0 and np.isnan(whole.min)
        return
    width = whole.edges[1] - whole.edges[0]
    assert np.array_equal(np.diff(whole.edges), np.full(len(whole.counts), width))
    if width > 2.0**-100:
        assert np.array_equal(np.histogram(kept, whole.edges)[0], whole.counts)
        # Bins of half the width would not do, but for the digits of a float32.
        half = np.floor(kept.max() / width * 2) - np.floor(kept.min() / width * 2)
        assert half >= 4 or width <= 2.0**-23 * 2 * np.abs(kept).max()


def test_an_empty_state_of_the_right_size_changes_nothing():
    state = get_state(np.float32([[1, 2, 3]] * 4))
    empty = state.empty_like()
    assert same(merge(empty, state).compute(), state.compute())
    assert same(merge(state, empty).compute(), state.compute())
    assert merge(empty, empty).compute().counts.tolist() == []
    assert FEW.empty().merge(state).compute() == state.compute()
    assert len(FEW.empty().compute().counts) == 0
    total = jax.lax.scan(
        lambda s, x: (s.merge(FEW.get_state(tensor=x)), None),
        empty,
        jnp.float32([[[1, 2, 3]] * 4] * 2),
    )[0]
    assert total.compute().counts.sum() == 24


def test_counts_go_on_beyond_what_a_float32_can_count():
    state = get_state(np.float32([[1, 2, 2.5]] * 4))
    large = state.replace(
        aligned=state.aligned._replace(
            counts=jax.tree.map(lambda x: x * np.float32(2.0**24), state.aligned.counts)
        )
    )
    # Both kinds of merge: into bins of the same width, and of a larger one.
    assert merge(large, state).compute().counts.tolist()[0] == 4 * 2**24 + 4
    wide = merge(large, get_state(np.float32([[1, 100, 100]] * 4))).compute()
    assert wide.counts[0] == 12 * 2**24 + 4


def test_fixed_edges_count_what_lies_outside():
    x = np.float32([0, 1, 2, 10, 99, 100, 101, -5])
    linear = HistogramSummary(edges="linear", in_range=(0, 100), num_buckets=4)
    got = linear(tensor=x)
    assert got.edges.tolist() == [0, 25, 50, 75, 100]
    assert got.counts.tolist() == [4, 0, 0, 2] and got.num_outside == 2
    log = HistogramSummary(edges="log", in_range=(1, 100), num_buckets=2)(tensor=x)
    np.testing.assert_allclose(log.edges, [1, 10, 100])
    assert log.counts.tolist() == [2, 3] and log.num_outside == 3
    own = HistogramSummary(edges=np.array([0.0, 2.0, 50.0]))
    assert own(tensor=x).counts.tolist() == [2, 2]
    assert own.empty().compute().counts.tolist() == [0, 0]


def test_a_mask_drops_and_weighs():
    x = np.float32([[1, 2], [np.nan, 50], [3, 4]])
    rows = FEW(tensor=x, mask=np.array([True, False, True]))
    assert rows.counts.sum() == 4 and rows.max == 4 and rows.num_nan == 0
    weighed = FEW(tensor=x, mask=np.float32([0.5, 0, 2]))
    assert weighed.counts.tolist() == [0.5, 0.5, 2, 2]
    assert weighed.sum == pytest.approx(0.5 * 3 + 2 * 7)
    half = FEW(tensor=jnp.asarray(x, jnp.bfloat16))
    assert half.counts.sum() == 5 and half.num_nan == 1
    assert FEW(tensor=x > 1).counts.sum() == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_buckets": 1}, "num_buckets must be in 2 to 256"),
        ({"edges": "cubic"}, 'use "auto", "linear", "log"'),
        ({"edges": "log"}, "edges='log' needs in_range"),
        ({"in_range": (0, 1)}, "edges='auto' takes no in_range"),
        ({"edges": "log", "in_range": (0, 1)}, "in_range must be above 0"),
        ({"edges": "linear", "in_range": (2, 1)}, "in_range must be"),
        ({"edges": (1, 1)}, "the edges must be two numbers or more, and ascend"),
        ({"edges": ((0, 1), (1, 2))}, "the edges must be two numbers or more"),
        ({"edges": None}, "the edges must be two numbers or more"),
        ({"edges": (1, 2), "in_range": (1, 2)}, "not both"),
    ],
)
def test_options_are_checked_at_construction(options, message):
    with pytest.raises(ValueError, match=message):
        HistogramSummary(**options)
