import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ktrain.data import _order

# Lengths on both sides of the change of method, powers of two and their neighbours.
LENGTHS = [1, 2, 3, 10, 1000, 8191, 8192, 8193, 10_000, 16_384, 16_385, 32_769]


@pytest.mark.parametrize("num_examples", LENGTHS)
def test_an_epoch_holds_every_example_once(num_examples):
    order = _order.shuffled(num_examples, seed=3, epoch=1)
    np.testing.assert_array_equal(np.sort(order), np.arange(num_examples))


@settings(deadline=None)
@given(
    st.integers(4, 3000),
    st.integers(0, 2**64 - 1),
    st.integers(1, 5).map(lambda n: 2 * n),
)
def test_the_network_is_a_bijection_for_every_length_and_key(length, seed, rounds):
    keys = [(seed * (i + 1)) & (2**64 - 1) for i in range(rounds)]
    places = np.arange(length, dtype=np.uint64)
    order = _order.feistel(places, length, keys)
    np.testing.assert_array_equal(np.sort(order), np.arange(length))
    np.testing.assert_array_equal(places, np.arange(length))


@settings(deadline=None)
@given(st.integers(-(2**70), 2**70), st.integers(0, 2**40), st.data())
def test_a_part_of_an_epoch_is_the_part_of_the_whole(seed, epoch, data):
    length = data.draw(st.sampled_from([5, 8192, 9001]))
    start = data.draw(st.integers(0, length))
    stop = data.draw(st.integers(start, length))
    whole = _order.shuffled(length, seed, epoch)
    part = _order.shuffled(length, seed, epoch, start, stop)
    np.testing.assert_array_equal(part, whole[start:stop])


@pytest.mark.parametrize("length", [100, 10_000])
def test_epochs_and_seeds_have_different_orders(length):
    orders = {
        tuple(_order.shuffled(length, seed, epoch))
        for seed in (0, 1, 2, -1, 2**63)
        for epoch in range(4)
    }
    assert len(orders) == 20


@pytest.mark.case("109")
def test_the_order_never_changes():
    # Saved positions mean this order; a change here breaks every resumed run.
    assert _order.shuffled(10, 0).tolist() == [4, 0, 6, 9, 7, 3, 8, 5, 1, 2]
    assert _order.shuffled(10, 0, 1).tolist() == [9, 1, 0, 2, 6, 5, 7, 3, 4, 8]
    assert _order.shuffled(10, -1).tolist() == [6, 7, 9, 5, 0, 4, 3, 1, 8, 2]
    assert _order.shuffled(100_000, 0, 0, 0, 4).tolist() == [5902, 45591, 63484, 37753]
    assert _order.shuffled(100_000, 0, 3, 8192, 8195).tolist() == [86704, 15819, 1331]
    far = _order.shuffled(10**12, 7, 2, 5 * 10**11, 5 * 10**11 + 2)
    assert far.tolist() == [217287507403, 865974062313]


def test_the_hash_of_one_integer_is_that_of_the_array():
    values = [0, 1, 2**63, 2**64 - 1, 0x123456789ABCDEF]
    hashed = _order._mix(np.array(values, np.uint64))
    assert hashed.tolist() == [_order._mix_int(value) for value in values]


def test_the_hash_is_the_published_one():
    # First outputs of SplitMix64 from state 0, and fmix32(1), from their authors' code.
    golden = 0x9E3779B97F4A7C15
    assert _order._mix_int(golden) == 0xE220A8397B1DCDAF
    assert _order._mix_int(2 * golden) == 0x6E789E6AA1B965F4
    assert int(_order._mix_32(np.array([1], np.uint32))[0]) == 0x514E28B7


def test_every_permutation_of_four_examples_is_equally_likely():
    seen = dict.fromkeys(itertools.permutations(range(4)), 0)
    seeds = 4800
    for seed in range(seeds):
        seen[tuple(_order.shuffled(4, seed).tolist())] += 1
    expected = seeds / math.factorial(4)
    chi2 = sum((count - expected) ** 2 / expected for count in seen.values())
    # 23 degrees of freedom: beyond 49.7 with probability 0.001; the seeds are fixed.
    assert chi2 < 49.7


@pytest.mark.parametrize("length", [9000, 20_000])
def test_a_long_epoch_is_shuffled_evenly(length):
    cells = 10
    counts = np.zeros((cells, cells))
    successors = 0
    for seed in range(5):
        order = _order.shuffled(length, seed)
        places = np.arange(length) * cells // length
        np.add.at(counts, (places, order * cells // length), 1)
        successors += int((np.diff(order) == 1).sum())
    expected = counts.sum() / cells**2
    chi2 = ((counts - expected) ** 2 / expected).sum()
    # Rows and columns are fixed: 81 degrees of freedom, 0.001 quantile 126.1.
    assert chi2 < 126.1
    # One neighbour stays a neighbour in each epoch on average (Poisson of mean 5).
    assert successors < 17


@functools.cache
def epoch_of(length, seed, epoch):
    return range(length) if seed is None else _order.shuffled(length, seed, epoch)


@settings(deadline=None)
@given(
    st.sampled_from([1, 2, 7, 50, 8192, 8200]),
    st.sampled_from([None, 0, 5]),
    st.lists(st.tuples(st.floats(0, 3), st.integers(0, 40)), max_size=5),
)
def test_rows_are_those_of_the_stream_wherever_reading_starts(length, seed, reads):
    order = _order.ExampleOrder(length, seed)
    for epochs, count in reads:
        start = int(epochs * length)
        rows = order.rows(start, count)
        expected = [
            epoch_of(length, seed, place // length)[place % length]
            for place in range(start, start + count)
        ]
        assert np.arange(length)[rows].tolist() == expected


def test_memory_does_not_grow_with_the_number_of_examples():
    order = _order.ExampleOrder(10**12, seed=0)
    rows = order.rows(10**15 + 5, 64)
    assert len(rows) == 64 and len(order._block) == _order.BLOCK


def test_a_batch_may_be_larger_than_what_is_evaluated_at_once():
    order = _order.ExampleOrder(9000, seed=1)
    stream = np.concatenate([_order.shuffled(9000, 1, epoch) for epoch in range(4)])
    np.testing.assert_array_equal(order.rows(100, 30_000), stream[100:30_100])
