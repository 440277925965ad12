import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kmetrics
from kmetrics import AverageState

# XLA on a CPU takes numbers below 1e-38 for 0.
VALUES = st.floats(-1e6, 1e6, width=32).map(lambda x: 0.0 if abs(x) < 1e-30 else x)


def mean(values, mask=None, weights=None):
    return AverageState.from_values(jnp.asarray(values), mask, weights).compute()


def test_plain_masked_and_weighted_means():
    assert mean([1.0, 2.0, 3.0]) == 2
    assert mean([1.0, 2.0, 3.0], np.array([1, 0, 1])) == 2
    assert mean([1.0, 2.0, 3.0], weights=np.array([0.5, 0.25, 0.25])) == 1.75
    assert mean(4.0) == 4
    assert mean([True, False, True, True]) == 0.75
    assert isinstance(mean([1.0]), float)


@pytest.mark.spec("kmetrics-4")
@pytest.mark.case("086")
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_masked_nan_leaks_neither_into_the_value_nor_into_the_gradient(bad):
    values, mask = jnp.array([1.0, bad]), jnp.array([1, 0])
    assert mean(values, mask) == 1.0
    grad = jax.grad(lambda v: AverageState.from_values(v, mask).compute())(values)
    np.testing.assert_array_equal(grad, [1.0, 0.0])


def test_a_nan_that_counts_is_reported():
    assert np.isnan(mean([1.0, np.nan]))


@pytest.mark.spec("kmetrics-5")
def test_bfloat16_is_averaged_in_float32():
    values = jnp.full((1000,), 0.1, jnp.bfloat16)
    assert mean(values) == pytest.approx(0.100098, abs=1e-6)


@pytest.mark.spec("kmetrics-6")
def test_float16_does_not_overflow():
    assert mean(jnp.full((1000,), 100, jnp.float16)) == 100


@pytest.mark.spec("kmetrics-7")
def test_int32_does_not_wrap():
    assert mean(jnp.full((3,), 2**30, jnp.int32)) == 1073741824


@pytest.mark.case("082")
def test_70_000_ones_in_bfloat16_average_to_exactly_one():
    assert mean(jnp.ones(70_000, jnp.bfloat16)) == 1.0
    merged = AverageState.empty()
    for _ in range(100):
        merged |= AverageState.from_values(jnp.ones(100, jnp.bfloat16))
    assert merged.compute() == 1.0


@pytest.mark.spec("kmetrics-8")
def test_a_million_merges_lose_nothing():
    one = AverageState.from_values(jnp.array([0.1], jnp.float32))

    def loop(state):
        return jax.lax.fori_loop(
            0, 10**6, lambda _, total: total.merge(state), AverageState.empty()
        )

    merged = jax.jit(loop)(one)
    assert merged.compute() == pytest.approx(0.1, abs=1e-7)
    # Not only to the tolerance: the total is 10⁶ times float32(0.1) to 48 bits.
    exact = 10**6 * float(np.float32(0.1))
    assert merged.total.numpy() == pytest.approx(exact, rel=2.0**-45)
    assert merged.count.numpy() == 10**6


@pytest.mark.spec("kmetrics-9")
def test_counts_go_past_two_to_the_24():
    state = AverageState(total=2.0**24, count=2**24)
    for _ in range(10):
        state = state.merge(AverageState.from_values(jnp.array([1.0])))
    assert state.count.numpy() == 16777226
    assert state.compute() == 1.0


@pytest.mark.case("067")
def test_the_mean_of_batches_is_not_the_mean_of_their_means():
    a = AverageState.from_values(jnp.array([1.0, 1.0, 1.0, 1.0]))
    b = AverageState.from_values(jnp.array([0.0]))
    assert a.merge(b).compute() == 0.8


@pytest.mark.case("068")
def test_a_small_last_batch_weighs_by_its_examples():
    parts = [(0.7, 256), (0.8, 256), (0.9, 10)]
    states = [AverageState.from_values(jnp.full((n,), v)) for v, n in parts]
    merged = states[0] | states[1] | states[2]
    assert merged.compute() == pytest.approx(0.752874, abs=1e-6)


@pytest.mark.case("077")
def test_a_batch_that_is_masked_out_changes_nothing():
    state = AverageState.from_values(jnp.array([1.0, 1.0, 1.0, 1.0, 0.0]))
    none = AverageState.from_values(jnp.ones(3), mask=jnp.zeros(3))
    assert np.isnan(none.compute())
    assert (state | none).compute() == (none | state).compute() == 0.8


def test_no_values_at_all_compute_nan():
    assert np.isnan(AverageState.empty().compute())
    assert np.isnan(mean(np.zeros((0, 3), np.float32)))


@given(
    st.lists(VALUES, min_size=6, max_size=6),
    st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=6, max_size=6),
    st.sampled_from([(0, 6), (2, 4), (1, 5), (6, 0), (3, 3)]),
)
@settings(deadline=None, max_examples=40)
def test_merge_of_unequal_batches_equals_the_whole(values, weights, split):
    values, weights = np.float32(values), np.float32(weights)
    n = split[0]
    a = AverageState.from_values(values[:n], weights=weights[:n])
    b = AverageState.from_values(values[n:], weights=weights[n:])
    if weights.sum() == 0:
        assert np.isnan((a | b).compute())
        return
    expected = np.average(values.astype(float), weights=weights.astype(float))
    # Each product value · weight is rounded to float32 once.
    size = np.average(np.abs(values).astype(float), weights=weights.astype(float))
    assert (a | b).compute() == pytest.approx(expected, abs=2.0**-23 * size)
    whole = AverageState.from_values(values, weights=weights).compute()
    assert (a | b).compute() == pytest.approx(whole, abs=2.0**-44 * size)


def test_it_works_under_jit_vmap_and_scan():
    values = jnp.arange(6.0).reshape(3, 2)
    assert jax.jit(AverageState.from_values)(values).compute() == 2.5
    rows = jax.vmap(AverageState.from_values)(values)
    np.testing.assert_array_equal(rows.compute(), [0.5, 2.5, 4.5])

    def step(carry, row):
        return carry.merge(AverageState.from_values(row)), None

    assert jax.lax.scan(step, AverageState.empty(), values)[0].compute() == 2.5


@pytest.mark.spec("kmetrics-58")
def test_an_empty_state_is_a_scan_carry_and_a_result_of_jit():
    empty = jax.jit(AverageState.empty)()
    assert np.isnan(empty.compute())
    merged, _ = jax.lax.scan(
        lambda s, x: (s | AverageState.from_values(x), None), empty, jnp.arange(3.0)
    )
    assert merged.compute() == 1.0


def test_it_can_be_pickled_and_copied():
    state = AverageState.from_values(jnp.arange(3.0))
    assert pickle.loads(pickle.dumps(state)).compute() == 1.0
    assert state.replace(count=6).compute() == 0.5


def test_finalize_fetches_to_numpy_and_still_merges():
    state = AverageState.from_values(jnp.arange(3.0))
    final = state.finalize()
    assert all(isinstance(leaf, np.ndarray) for leaf in jax.tree.leaves(final))
    assert final.finalize().compute() == final.compute() == 1.0
    assert (final | state).compute() == 1.0


def test_states_of_different_kinds_do_not_merge():
    with pytest.raises(kmetrics.MergeError, match="AverageState and MomentsState"):
        AverageState.empty().merge(kmetrics.MomentsState.empty())


def test_compute_compiles_nothing():
    state = AverageState.from_values(jnp.arange(3.0))
    state.compute()
    with jax.no_tracing():
        assert state.compute() == 1.0
