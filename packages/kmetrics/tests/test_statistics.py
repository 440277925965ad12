import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kmetrics
from kmetrics import (
    CosineSimilarity,
    Mean,
    MeanCov,
    Moments,
    Norm,
    SingleDimension,
    Std,
)

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
    # In one program with the data, where their number is a constant.
    three = jax.jit(Std().get_state)(values=jnp.array([1.0, 2.0, 6.0]) + 1e6)
    assert three.mean.numpy() == pytest.approx(1e6 + 3, rel=1e-13)
    assert three.compute() == pytest.approx((14 / 3) ** 0.5, rel=1e-9)


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
    assert Norm()(tensor=jnp.array([3e37, 3e38])) > 3e38
    assert Norm(ord=99)(tensor=jnp.array([3e38, 3e37])) == pytest.approx(3e38, rel=1e-6)
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
    with pytest.raises(TypeError, match="ord must be a number"):
        Norm(ord="nuc")
    with pytest.raises(ValueError, match=r"Norm: axis=.* names one axis twice"):
        Norm(axis=(-1, 1))(tensor=GRID)
    with pytest.raises(ValueError, match="ord must be 0 or more, or inf"):
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
    with pytest.raises(ValueError, match=r"q must be in \[0, 1\] each"):
        kmetrics.Quantiles(q=(50,))
    with pytest.raises(ValueError, match="rel_err"):
        kmetrics.Quantiles(rel_err=2)


@pytest.mark.parametrize(
    ("across", "expected"), [("mean", 9.0), ("sum", 18.0), ("last", 13.0)]
)
def test_norms_over_batches_are_averaged_added_or_the_last_one(across, expected):
    norm = Norm(axis=None, across=across)
    batches = (np.float32([3, 4, 0]), np.float32([0, 5, 12]))
    states = [norm.get_state(tensor=x) for x in batches]
    for merged in (
        states[0] | states[1],
        norm.empty() | states[0] | states[1] | norm.empty(),
        jax.jit(lambda a, b: a.merge(b))(*states),
    ):
        assert merged.compute() == expected
    assert np.isnan(norm.empty().compute())
    assert np.isnan((norm.empty() | norm.empty()).compute())
    masked = norm.replace(aggregation="concat").get_state(
        tensor=batches[0], mask=np.array(False)
    )
    assert (states[1] | masked.replace(_parent=None)).compute() == 13.0


@pytest.mark.parametrize("across", ["mean", "last"])
def test_across_batches_is_not_across_leaves(across):
    norm = Norm(tensor="p", axis=None, across=across)
    tree = kmetrics.TreeReduce(metric=norm)
    leaves = {"a": np.float32([3, 4]), "b": np.float32([0, 13])}
    assert tree({"p": leaves}) == 9.0
    whole = kmetrics.TreeReduce(metric=norm.replace(aggregation="concat"))
    assert whole({"p": leaves}) == pytest.approx(np.sqrt(25 + 169))
    with pytest.raises(ValueError, match="across='max' is not known"):
        Norm(across="max")


def test_moments_of_all_elements():
    values = np.float32([1, 2, 3, 4]) + 1e6
    got = Moments(ddof=1)(values=values)
    assert got == {
        "mean": 1e6 + 2.5,
        "std": pytest.approx(1.2909944487, rel=1e-6),
        "count": 4,
    }
    one = Moments(ddof=1)(values=values, mask=np.arange(4) == 2)
    assert (one["mean"], one["count"]) == (1e6 + 3, 1) and np.isnan(one["std"])
    empty = Moments(on_empty="zero").empty().compute()
    assert empty == {"mean": 0, "std": 0, "count": 0}


def test_mean_and_covariance_of_vectors_at_an_offset():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(5, 3)) @ rng.normal(size=(3, 3)) + 1000
    x = x.astype(np.float32)
    weights = np.array([1, 2, 1, 0, 3])
    dirty = np.where(weights[:, None] == 0, np.nan, x)
    metric = MeanCov(ddof=1)
    parts = [
        metric.get_state(values=dirty[i : i + 1], mask=weights[i : i + 1])
        for i in range(5)
    ]
    whole = metric.get_state(values=dirty, mask=weights[:, None])
    repeated = np.repeat(x, weights, axis=0).astype(float)
    for state in (whole, functools.reduce(lambda a, b: a | b, parts)):
        got = state.compute()
        np.testing.assert_allclose(got["mean"], repeated.mean(axis=0), rtol=1e-9)
        np.testing.assert_allclose(got["cov"], np.cov(repeated.T), rtol=1e-5, atol=1e-5)
    by_hand = MeanCov()(values=np.float32([[0, 0], [2, 4]]))
    np.testing.assert_array_equal(by_hand["mean"], [1, 2])
    np.testing.assert_array_equal(by_hand["cov"], [[1, 2], [2, 4]])
    scale = np.float32([2.0**80, 2.0**-80, 1])
    scaled = metric.get_state(values=dirty * scale, mask=weights[:, None])
    scaled |= metric.get_state(values=dirty[1:2] * scale, mask=weights[1:2])
    np.testing.assert_array_equal(
        scaled.compute()["cov"],
        (whole | parts[1]).compute()["cov"] * np.outer(scale, scale.astype(float)),
    )
    assert np.isnan(parts[0].compute()["cov"]).all()
    assert np.isnan((metric.empty() | metric.empty()).compute()["mean"])


def test_the_cosine_of_half_a_right_angle_and_of_nothing():
    a = np.float32([[1, 0], [0, 0]])
    b = np.float32([[1, np.sqrt(3)], [1, 1]])
    metric = CosineSimilarity()
    assert metric(preds=a, targets=b) == pytest.approx(0.25, rel=1e-6)
    first = np.array([[True], [False]])
    assert metric(preds=1e5 * a, targets=b, mask=first) == pytest.approx(0.5, rel=1e-6)
    with pytest.raises(ValueError, match="eps must be above 0"):
        CosineSimilarity(eps=0)


def test_the_cosine_of_very_long_and_very_short_vectors():
    a = np.float32([[3e19, 4e19], [3e38, 3e38], [1e-30, 1e-30]])
    b = np.float32([[3, 4], [1, 1], [-2e-30, -2e-30]])
    metric = CosineSimilarity(eps=1e-37)
    got = [metric(preds=a, targets=b, mask=np.arange(3) == i) for i in range(3)]
    assert got == pytest.approx([1, 1, -1], rel=1e-6)


def test_one_dimension_of_vectors():
    values = np.float32([[1, 2], [3, 5]])
    assert SingleDimension(index=1)(values=values) == 3.5
    assert SingleDimension(index=-2)(values=values) == 2.0
    assert SingleDimension()(values=values, mask=np.array([[0], [1]])) == 3.0
    with pytest.raises(
        ValueError, match=r"index=2 is outside .*\n.*\[2, 2\], expected"
    ):
        SingleDimension(index=2)(values=values)
