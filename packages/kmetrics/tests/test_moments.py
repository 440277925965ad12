import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kmetrics
from kmetrics import MomentsState


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e6, -1e6])
def test_the_deviation_of_1_to_4_survives_an_offset(offset):
    values = jnp.asarray([1.0, 2.0, 3.0, 4.0]) + offset
    state = MomentsState.from_values(values)
    assert state.compute() == pytest.approx(1.1180339887, rel=1e-6)
    assert state.mean.numpy() == 2.5 + offset


@given(
    st.lists(st.integers(-1000, 1000), min_size=5, max_size=5),
    st.sampled_from([0, 1, 2, 5]),
    st.sampled_from([0.0, 1e5]),
)
@settings(deadline=None, max_examples=25)
def test_merged_moments_agree_with_numpy_on_the_whole(values, split, offset):
    data = np.float32(values) + np.float32(offset)
    parts = [MomentsState.from_values(part) for part in (data[:split], data[split:])]
    merged = parts[0] | parts[1]
    assert merged.compute() == pytest.approx(np.std(data.astype(float)), rel=1e-6)
    assert merged.mean.numpy() == pytest.approx(np.mean(data.astype(float)), rel=1e-11)


def test_weights_count_how_often_a_value_occurs():
    weighted = MomentsState.from_values(
        jnp.array([1.0, 5.0]), weights=jnp.array([3, 1])
    )
    assert weighted.compute() == pytest.approx(np.std([1, 1, 1, 5]), rel=1e-6)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e7])
def test_weights_of_many_digits_keep_those_of_the_values(offset):
    rng = np.random.default_rng(0)
    x = np.float32(rng.normal(size=1000) + offset)
    weights = np.float32(rng.uniform(0.1, 2, 1000))
    state = MomentsState.from_values(x, weights=weights)
    mean = np.average(x.astype(float), weights=weights.astype(float))
    spread = np.average((x - mean) ** 2, weights=weights.astype(float)) ** 0.5
    assert state.mean.numpy() == pytest.approx(mean, rel=1e-11)
    assert state.compute() == pytest.approx(spread, rel=1e-7)


@pytest.mark.parametrize("scale", [1e20, 1e-25])
def test_squares_beyond_float32_leave_no_trace(scale):
    data = np.float32(np.array([1.0, 2.0, 4.0, 3.0, 1e-3]) * scale)
    one, two = (MomentsState.from_values(part) for part in (data[:2], data[2:]))
    small = MomentsState.from_values(np.float32([1, 2]))
    for state in (one | two, two | one | MomentsState.empty()):
        assert state.compute() == pytest.approx(np.std(data.astype(float)), rel=1e-6)
    # Of both kinds, in either order.
    both = np.concatenate([data[:2].astype(float), [1, 2]])
    for state in (one | small, small | one):
        assert state.compute() == pytest.approx(np.std(both), rel=1e-6)
    assert kmetrics.Moments()(values=data)["std"] == pytest.approx(
        np.std(data.astype(float)), rel=1e-6
    )


def test_masked_garbage_is_ignored():
    state = MomentsState.from_values(
        jnp.array([1.0, np.nan, 3.0]), jnp.array([1, 0, 1])
    )
    assert state.compute() == 1.0


def test_compute_under_jit_says_where_to_call_it():
    with pytest.raises(kmetrics.HostOnlyError, match="on the host"):
        jax.jit(lambda x: MomentsState.from_values(x).compute())(jnp.ones(3))


def test_no_values_compute_nan():
    empty = MomentsState.empty()
    assert np.isnan((empty | empty).compute())
    assert kmetrics.MomentsState.from_values(jnp.array([3.0])).compute() == 0.0
