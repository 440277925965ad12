import jax
import numpy as np
import pytest

from kmetrics import Spearman

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(4, 500)).astype(np.float32)
Y = np.clip(0.7 * X + 0.3 * RNG.uniform(size=X.shape), 0, 1).astype(np.float32)


def binned(x, y, mask, **options):
    """Compiled as one program, which takes less time than its parts one by one."""
    metric = Spearman(method="binned", **options)
    return jax.jit(metric.get_state)(preds=x, targets=y, mask=mask)


@pytest.mark.parametrize("bins", [8, 64])
def test_binned_ranks_stay_within_their_bound_in_fixed_memory(bins):
    every = np.ones(500, bool)
    state = Spearman(method="binned", bins=bins).empty()
    for x, y in zip(X, Y, strict=True):
        state |= binned(x, y, every, bins=bins)
    assert state.counts.hi.size == bins**2
    got, exact = state.compute(), Spearman()(preds=X, targets=Y)
    assert 0 < abs(got["value"] - exact) <= got["bound"] < 1.5 / bins


def test_masked_pairs_and_those_with_a_nan_are_not_counted():
    dirty = np.where(np.arange(500) % 2, np.nan, X[0]).astype(np.float32)
    half = np.arange(500) < 250
    got = binned(dirty, Y[0], half, bins=64)
    kept = half & (np.arange(500) % 2 == 0)
    expected = binned(X[0], Y[0], kept, bins=64)
    assert got.counts.numpy().sum() == 125
    assert got.compute() == expected.compute()


def test_as_many_bins_as_numbers_are_exact_and_far_numbers_go_to_the_ends():
    three = {"preds": np.float32([0, 1, 2]), "targets": np.float32([0, 2, 1])}
    metric = Spearman(method="binned", bins=3, value_range=(0, 3))
    assert metric(**three) == {"value": 0.5, "bound": pytest.approx(0, abs=1e-7)}
    three["preds"] = np.float32([-1e30, 1, np.inf])
    assert metric(**three)["value"] == pytest.approx(0.5)
    same = metric(preds=np.ones(3, np.float32), targets=three["targets"])
    assert np.isnan([*same.values()]).all()
    empty = metric.replace(on_empty="zero").empty().compute()
    assert empty == {"value": 0, "bound": 0}


def test_wrong_options_are_refused():
    with pytest.raises(ValueError, match="method='sketch' is not known"):
        Spearman(method="sketch")
    with pytest.raises(ValueError, match="bins must be 2 or more"):
        Spearman(bins=1)
    with pytest.raises(ValueError, match="value_range must be finite, and ascend"):
        Spearman(value_range=(1, 1))
