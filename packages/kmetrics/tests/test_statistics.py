import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kmetrics
from kmetrics import Mean, Norm, Std

GRID = jnp.asarray([[3.0, 4.0], [6.0, 8.0]])


def test_the_mean_counts_every_element():
    assert Mean()(values=GRID) == 5.25
    assert Mean()(values=GRID, mask=jnp.array([1, 0])) == 3.5
    assert Mean(on_empty="zero")(values=GRID, mask=jnp.zeros(2)) == 0.0


def test_a_metric_can_be_called_under_jit():
    assert jax.jit(lambda x: Mean()(values=x))(GRID) == 5.25


@pytest.mark.spec("kmetrics-28")
def test_the_deviation_of_two_halves_at_a_million():
    halves = [jnp.array([1.0, 2.0]) + 1e6, jnp.array([3.0, 4.0]) + 1e6]
    a, b = (Std().get_state(values=half) for half in halves)
    assert (a | b).compute() == pytest.approx(1.118034, rel=1e-6)


def test_ddof_is_subtracted_from_the_count():
    values = jnp.array([1.0, 2.0, 3.0, 4.0])
    assert Std()(values=values) == pytest.approx(1.1180339887, rel=1e-7)
    assert Std(ddof=1)(values=values) == pytest.approx(1.2909944487, rel=1e-7)
    assert np.isnan(Std(ddof=1)(values=values[:1]))
    assert Std(ddof=1, on_empty="zero")(values=values[:1]) == 0.0


@pytest.mark.parametrize("order", [0, 0.5, 1, 2, 3, np.inf])
@pytest.mark.parametrize("axis", [0, 1, (0, 1), None, -1])
def test_norms_agree_with_numpy(order, axis):
    x = np.array([[3.0, -4.0, 0.0], [6.0, 8.0, -1.0]])
    axes = {None: (0, 1), -1: (1,), 0: (0,), 1: (1,)}.get(axis, axis)
    rows = x.reshape(1, -1) if axes == (0, 1) else np.moveaxis(x, axes[0], -1)
    expected = np.mean([np.linalg.norm(row, order) for row in rows])
    got = Norm(ord=order, axis=axis)(tensor=jnp.asarray(x, jnp.float32))
    assert got == pytest.approx(expected, rel=1e-6)


def test_the_norm_neither_over_nor_underflows():
    assert Norm()(tensor=jnp.array([3e30, 4e30])) == pytest.approx(5e30, rel=1e-6)
    assert Norm()(tensor=jnp.array([3e-30, 4e-30])) == pytest.approx(5e-30, rel=1e-6)
    assert Norm()(tensor=jnp.zeros(3)) == 0.0
    assert Norm()(tensor=jnp.array([np.inf, 1.0])) == np.inf
    assert np.isnan(Norm()(tensor=jnp.array([np.nan, 1.0])))


@pytest.mark.spec("kmetrics-29")
@pytest.mark.parametrize("order", [0, 1, 2, np.inf])
def test_the_norm_of_two_equal_batches_is_that_of_one(order):
    metric = Norm(ord=order, aggregation="concat")
    state = metric.get_state(tensor=GRID)
    assert (state | state).compute() == state.compute()


@pytest.mark.spec("kmetrics-30")
def test_concat_takes_all_vectors_as_one():
    assert Norm(ord=np.inf, aggregation="concat")(tensor=GRID) == 8.0
    assert Norm(ord=0, aggregation="concat")(tensor=GRID) == 4.0
    assert Norm(aggregation="concat")(tensor=GRID) == pytest.approx(125**0.5)
    assert Norm(aggregation="average")(tensor=GRID) == 7.5


def test_masked_vectors_do_not_count():
    mask = jnp.array([True, False])
    assert Norm()(tensor=GRID, mask=mask) == 5.0
    assert Norm(aggregation="concat")(tensor=GRID, mask=mask) == 5.0
    none = jnp.array([False, False])
    assert np.isnan(Norm(aggregation="concat")(tensor=GRID, mask=none))


def test_wrong_options_of_a_norm_are_refused():
    with pytest.raises(ValueError, match="ord must be a number"):
        Norm(ord="nuc")
    with pytest.raises(ValueError, match="ord must be a number"):
        Norm(ord=-1)
    with pytest.raises(ValueError, match="aggregation='sum'"):
        Norm(aggregation="sum")
    with pytest.raises(ValueError, match="axis=2 does not exist"):
        Norm(axis=2)(tensor=GRID)
    with pytest.raises(ValueError, match="axis=None"):
        Norm()(tensor=jnp.float32(3))
    assert Norm(axis=None)(tensor=jnp.float32(-3)) == 3.0


def test_a_global_norm_over_parameters_takes_no_example_mask():
    collection = kmetrics.Collection({"norm": Norm(tensor="params.x", axis=None)})
    states = collection.get_states(
        {"params": {"x": jnp.array([3.0, 4.0])}},
        mask=jnp.array([True, False, False]),
        example_roots=frozenset({"batch"}),
    )
    assert collection.compute(states) == {"norm": 5.0}


def test_small_integers_do_not_wrap_in_a_norm():
    assert Norm()(tensor=np.array([-128, 0], np.int8)) == 128.0
    assert Norm()(tensor=np.array([200, 150], np.uint8)) == pytest.approx(250.0)


@pytest.mark.spec("kmetrics-76")
def test_quantiles_keep_their_error_after_merging():
    rng = np.random.default_rng(0)
    data = rng.lognormal(sigma=2, size=50_000).astype(np.float32)
    metric = kmetrics.Quantiles()
    states = [metric.get_state(values=part) for part in np.split(data, 2)]
    got = (metric.empty() | states[0] | states[1]).compute()
    expected = np.quantile(data, [0.5, 0.9, 0.99])
    assert list(got) == ["p50", "p90", "p99"]
    np.testing.assert_allclose(list(got.values()), expected, rtol=0.01)
    assert states[0].counts.hi.size == metric.log_bins.size < 5000


def test_quantiles_of_weights_of_nothing_and_of_wrong_shares():
    values = np.float32([1, 2, 3, np.nan])
    metric = kmetrics.Quantiles(q=(0, 1))
    got = metric(values=values, mask=np.float32([0, 1, 1, 1]))
    assert list(got.values()) == pytest.approx([2, 3], rel=0.01)
    assert np.isnan(metric(values=values, mask=np.zeros(4))["p0"])
    with pytest.raises(ValueError, match=r"shares in \[0, 1\]"):
        kmetrics.Quantiles(q=(50,))
    with pytest.raises(ValueError, match="rel_err"):
        kmetrics.Quantiles(rel_err=2)
