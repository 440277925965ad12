import functools
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kmetrics
from kmetrics import AverageState, _collect, losses


@kmetrics.state
class HistogramState(kmetrics.AutoState):
    counts: jax.Array = kmetrics.sum_field()

    def compute(self):
        return self.counts


class Counts(kmetrics.Mean):
    State = HistogramState

    def get_state(self, values, mask=None):
        return HistogramState(
            counts=jnp.stack([(values < 2).sum(), (values > 2).sum()])
        )


COLLECTION = kmetrics.Collection(
    {
        "mean": kmetrics.Mean(values="x"),
        "std": kmetrics.Std(values="x"),
        "counts": Counts(values="x"),
        "l1": losses.L1(preds="x", targets="zero", weight=0.5),
    }
)
GET_STATES = jax.jit(COLLECTION.get_states)


def batch(*values):
    x = jnp.asarray(values, jnp.float32)
    return {"x": x, "zero": jnp.zeros_like(x)}


def test_the_sums_of_all_metrics_are_one_vector():
    states = GET_STATES(batch(1, 2, 4))
    assert states.vectors[0].shape == (2, 2 + 2 + 3)
    assert list(states.rest) == ["std"]
    assert list(states) == ["mean", "std", "counts", "l1"]
    assert ("mean" in states, "std" in states, "none" in states) == (True, True, False)
    assert states["mean"].count.numpy() == 3
    np.testing.assert_array_equal(states["counts"].plain().counts, [1, 1])
    assert states["l1"].compute_raw() == pytest.approx(7 / 3)
    with pytest.raises(KeyError):
        states["none"]


def test_packed_states_equal_unpacked_ones_exactly():
    batches = [batch(0.1, 2.7, 1e6), batch(1 / 3, 5, 7)]
    packed = COLLECTION.merge(*map(GET_STATES, batches))
    alone = {
        name: metric.get_state_from_context(batches[0])
        | metric.get_state_from_context(batches[1])
        for name, metric in COLLECTION.metrics.items()
    }
    for name, state in alone.items():
        same = jax.tree.map(np.array_equal, packed[name], state)
        # The deviations of Std are rounded by XLA, differently inside a larger program.
        assert name == "std" or all(jax.tree.leaves(same)), name
    got, expected = COLLECTION.compute(packed), COLLECTION.compute(alone)
    assert got["std"] == pytest.approx(expected["std"], rel=1e-6)
    assert (got["mean"], got["l1"]) == (expected["mean"], expected["l1"])


def test_packed_and_loose_states_merge():
    one, two = batch(1, 2, 4), batch(6, 0, 5)
    packed, loose = GET_STATES(one), COLLECTION.get_states(two)
    assert loose.vectors == (None, None, None)
    for merged in (
        COLLECTION.merge(packed, loose),
        COLLECTION.merge(dict(loose), packed),
        COLLECTION.merge(GET_STATES(one), GET_STATES(two)),
    ):
        assert COLLECTION.compute(merged)["mean"] == 3.0
        np.testing.assert_array_equal(COLLECTION.compute(merged)["counts"], [2, 3])


def test_a_name_on_one_side_alone_is_kept():
    states = GET_STATES(batch(1, 2, 6))
    some = {"mean": states["mean"]}
    values = COLLECTION.compute(COLLECTION.merge(some, states))
    assert values["mean"] == 3.0
    assert values["l1"] == 1.5
    assert list(values) == ["mean", "std", "counts", "l1"]


def test_empty_states_start_a_loop_and_are_a_scan_carry():
    collection = kmetrics.Collection({"a": kmetrics.Mean(values="x")})
    rows = jnp.arange(6.0).reshape(3, 2)

    def step(states, row):
        return collection.merge(states, collection.get_states({"x": row})), None

    states, _ = jax.lax.scan(step, collection.empty(), rows)
    assert collection.compute(states) == {"a": 2.5}
    assert np.isnan(collection.compute(collection.empty())["a"])


def test_states_under_vmap_keep_their_leading_axis():
    collection = kmetrics.Collection({"a": kmetrics.Mean(values="x")})
    rows = jnp.arange(6.0).reshape(3, 2)
    states = jax.jit(jax.vmap(lambda row: collection.get_states({"x": row})))(rows)
    np.testing.assert_array_equal(states["a"].compute(), [0.5, 2.5, 4.5])
    last = jax.tree.map(lambda x: x[-1], states)
    assert collection.compute(last) == {"a": 4.5}


def test_states_can_be_pickled_and_fetched():
    states = GET_STATES(batch(1, 2, 6))
    again = pickle.loads(pickle.dumps(jax.device_get(states)))
    assert COLLECTION.compute(again)["mean"] == 3.0


def test_a_subclass_that_merges_in_another_way_is_not_packed():
    @kmetrics.state
    class Latest(AverageState):
        def merge(self, other):
            return other

    assert AverageState.empty().adds_up
    assert not Latest.empty().adds_up
    assert not HistogramState.empty().adds_up
    assert not kmetrics.MomentsState.empty().adds_up


def test_merging_and_computing_packed_states_compiles_nothing():
    states = GET_STATES(batch(1, 2, 6))
    total = COLLECTION.merge(COLLECTION.merge(states, states), states)
    COLLECTION.compute(total)
    with jax.no_tracing():
        total = COLLECTION.merge(total, GET_STATES(batch(1, 2, 7)))
        assert COLLECTION.compute(total)["mean"] == pytest.approx(37 / 12)


def test_states_of_any_kind_start_a_scan_from_their_specs():
    collection = kmetrics.Collection(
        {
            "counts": Counts(values="x"),
            "grouped": kmetrics.Grouped(
                metric=kmetrics.MaxError(preds="x", targets="zero"), by="id", groups=2
            ),
            "tree": kmetrics.TreeMap(metric=kmetrics.Mean(values="two")),
        }
    )

    def get_states(x):
        zero = jnp.zeros(2)
        return collection.get_states(
            {"x": x, "zero": zero, "id": jnp.arange(2), "two": {"a": x, "b": zero}}
        )

    @jax.jit
    def run(rows):
        start = collection.empty_like(jax.eval_shape(get_states, rows[0]))

        def step(states, row):
            return collection.merge(states, get_states(row)), None

        return jax.lax.scan(step, start, rows)[0]

    values = collection.compute(run(jnp.float32([[1, 5], [3, 4]])))
    assert values["counts"].tolist() == [1, 3]
    assert (values["grouped/0"], values["grouped/1"]) == (3, 5)
    assert (values["tree/a"], values["tree/b"]) == (3.25, 0)


def test_a_pass_compiles_nothing_after_its_first_batch_and_fetches_once(monkeypatch):
    collection = kmetrics.Collection(
        {f"m{i}": kmetrics.Mean(values="x") for i in range(20)}
        | {
            "std": kmetrics.Std(values="x"),
            "max": kmetrics.MaxError(preds="x", targets="z"),
        }
    )

    @jax.jit
    def update(states, x, mask):
        new = collection.get_states({"x": x, "z": 0 * x}, mask=mask)
        return collection.merge(states, new)

    def run():
        states = collection.empty_like(
            jax.eval_shape(collection.get_states, {"x": rows[0], "z": rows[0]})
        )
        # The last batch is short, hence padded.
        for row, mask in zip(rows, masks, strict=True):
            states = update(states, row, mask)
        return collection.compute(states)

    rows = np.float32([[1, 2], [3, 4], [5, np.nan]])
    masks = np.array([[True, True], [True, True], [True, False]])
    first = run()
    assert (first["m7"], first["max"]) == (3.0, 5.0)

    fetched = []
    fetch = _collect.fetch
    monkeypatch.setattr(
        _collect, "fetch", lambda tree: fetched.append(fetch(tree)) or fetched[-1]
    )
    states = collection.empty_like(update(collection.empty(), rows[0], masks[0]))
    with jax.no_tracing():
        for row, mask in zip(rows, masks, strict=True):
            states = update(states, row, mask)
        assert not fetched
        assert collection.compute(states) == first
    assert len(fetched) == 1
    # From then on nothing is left on the device that a state could ask for.
    assert any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(states))
    assert not any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(fetched))


@kmetrics.state
class RangeState(kmetrics.AutoState):
    total: jax.Array = kmetrics.sum_field()
    low: jax.Array = kmetrics.min_field()
    high: jax.Array = kmetrics.max_field(nan="ignore")
    top: dict = kmetrics.max_field()

    def compute(self):
        return {"low": self.low, "high": self.high, **self.top, "total": self.total}


class Range(kmetrics.Mean):
    State = RangeState

    def get_state(self, values, mask=None):
        return RangeState(
            total=values.sum(), low=values.min(), high=values, top={"top": values.max()}
        )


@pytest.mark.parametrize("bad", [-0.5, np.nan, np.inf])
def test_extremes_lie_side_by_side_and_keep_their_policy_for_nan(bad):
    collection = kmetrics.Collection(
        {"range": Range(values="x"), "mean": kmetrics.Mean(values="x")}
    )
    get_states = jax.jit(collection.get_states)
    batches = [batch(1, 5), batch(3, bad), batch(2, 4)]
    states = functools.reduce(collection.merge, map(get_states, batches))
    assert states.rest == {}
    assert [vector.shape for vector in states.vectors[1:]] == [(2,), (2,)]
    alone = functools.reduce(
        lambda a, b: a | b,
        [collection.metrics["range"].get_state_from_context(b) for b in batches],
    )
    expected, got = alone.compute(), collection.compute(states)
    for name, value in expected.items():
        np.testing.assert_array_equal(got[f"range/{name}"], value)
    np.testing.assert_array_equal(
        got["range/high"], [3, max(5.0, bad) if bad == bad else 5]
    )
    again = pickle.loads(pickle.dumps(jax.device_get(states)))
    np.testing.assert_array_equal(again["range"].high, states["range"].high)


def test_extremes_of_integers_stay_as_they_are():
    @kmetrics.state
    class Highest(kmetrics.AutoState):
        high: jax.Array = kmetrics.max_field()

    assert Highest(high=jnp.float32(3)).lanes == ("max",)
    assert Highest(high=jnp.int32(3)).lanes is None
    assert Highest.empty().lanes is None
