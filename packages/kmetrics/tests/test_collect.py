import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kmetrics
import kontext
from kmetrics import _fetch, losses


@dataclasses.dataclass(frozen=True, kw_only=True)
class Broken(kmetrics.Metric):
    x: kontext.Key = "preds"

    @kmetrics.state
    class State(kmetrics.AutoState):
        total: jax.Array = kmetrics.sum_field()

        def compute(self):
            raise KeyError("a bug of the user")

    def get_state(self, x, mask=None):
        return self.State(total=x.sum())


@kmetrics.state
class RangeState(kmetrics.AutoState):
    low: jax.Array = kmetrics.min_field()
    seen: jax.Array = kmetrics.concat_field()
    n: int = 2

    def compute(self):
        return {"low": self.low, "seen": self.seen, "unit": "m"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Range(kmetrics.Metric):
    x: kontext.Key = "preds"

    def get_state(self, x, mask=None):
        return RangeState(low=x.min(), seen=x)


COLLECTION = kmetrics.Collection(
    {
        "mean": kmetrics.Mean(values="preds"),
        "parts": {"std": kmetrics.Std(values="preds"), "range": Range()},
        "norm": kmetrics.Norm(tensor="params.w"),
    }
)


def context(*values):
    return {"preds": jnp.asarray(values, jnp.float32), "params": {"w": jnp.ones(4)}}


def test_names_nest_and_keep_their_order():
    assert COLLECTION.names == ("mean", "parts/std", "parts/range", "norm")
    assert tuple(COLLECTION) == COLLECTION.names
    assert len(COLLECTION) == 4
    assert COLLECTION.metrics["norm"] == kmetrics.Norm(tensor="params.w")
    assert COLLECTION.keypaths() == {
        "mean": ("preds",),
        "parts/std": ("preds",),
        "parts/range": ("preds",),
        "norm": ("params.w",),
    }


def test_a_collection_can_be_hashed_and_compared():
    again = kmetrics.Collection({"a": kmetrics.Mean(values="preds")})
    same = kmetrics.Collection({"a": kmetrics.Mean(values="preds")})
    other = kmetrics.Collection({"a": kmetrics.Mean(values="batch.y")})
    assert (again, hash(again)) == (same, hash(same))
    assert again != other
    with pytest.raises(dataclasses.FrozenInstanceError):
        again._items = ()


def test_an_evaluation_pass_gives_plain_values_in_order():
    states = jax.jit(COLLECTION.get_states)(context(1, 2, 3))
    states = COLLECTION.merge(states, COLLECTION.get_states(context(6)))
    values = COLLECTION.compute(states)
    assert list(values) == [
        "mean",
        "parts/std",
        "parts/range/low",
        "parts/range/seen",
        "parts/range/unit",
        "norm",
    ]
    assert values["mean"] == 3.0
    assert values["parts/std"] == pytest.approx(np.std([1, 2, 3, 6]))
    assert values["norm"] == 2.0
    assert values["parts/range/unit"] == "m"
    np.testing.assert_array_equal(values["parts/range/seen"], [1, 2, 3, 6])
    kinds = {name: type(value) for name, value in values.items()}
    assert kinds["mean"] is kinds["parts/range/low"] is kinds["norm"] is float
    assert kinds["parts/range/seen"] is np.ndarray


def test_merging_compiles_once_for_states_of_one_shape():
    device = kmetrics.Collection({"mean": kmetrics.Mean(values="preds")})
    twin = kmetrics.Collection({"mean": kmetrics.Mean(values="elsewhere")})
    get_states = jax.jit(device.get_states)
    total = get_states(context(1, 2))
    total = device.merge(total, get_states(context(3, 4)))
    with jax.no_tracing():
        for _ in range(3):
            total = device.merge(total, get_states(context(3, 4)))
        other = {"mean": twin.metrics["mean"].empty()}
    assert device.merge(total, other)["mean"].count.numpy() == 10


def test_merge_works_inside_jit_too():
    device = kmetrics.Collection({"mean": kmetrics.Mean(values="preds")})
    states = device.get_states(context(1, 2))
    merged = jax.jit(device.merge)(states, states)
    assert device.compute(merged) == {"mean": 1.5}


def test_one_transfer_brings_all_states_to_the_host():
    states = jax.jit(COLLECTION.get_states)(context(1, 2, 3))
    fetched = jax.device_get(states)
    with jax.transfer_guard("disallow"), jax.no_tracing():
        # From numpy states on, nothing touches the device any more.
        assert COLLECTION.compute(fetched)["mean"] == 2.0


@pytest.mark.parametrize("on_host", [True, False])
def test_many_states_come_packed_and_compute_the_same(on_host, monkeypatch):
    if not on_host:
        # As for arrays of an accelerator, which are copied.
        monkeypatch.setattr(_fetch, "_is_on_host", lambda leaf: False)
    many = kmetrics.Collection(
        {f"m{i}": kmetrics.Mean(values=f"x[{i}]") for i in range(9)}
        | {"range": Range(x="x")}
    )
    states = jax.jit(many.get_states)({"x": jnp.arange(9.0) / 8})
    values = many.compute(states)
    assert [values[f"m{i}"] for i in range(9)] == [
        states[f"m{i}"].compute() for i in range(9)
    ]
    np.testing.assert_array_equal(values["range/seen"], np.arange(9.0) / 8)
    with jax.no_tracing():
        assert many.compute(states).keys() == values.keys()


@pytest.mark.spec("kmetrics-86")
def test_an_error_keeps_its_class_and_names_the_metric():
    collection = kmetrics.Collection({"fine": {"bad": Broken()}})
    states = collection.get_states(context(1.0))
    with pytest.raises(KeyError) as error:
        collection.compute(states)
    assert error.value.__notes__ == ["metric fine/bad"]
    with pytest.raises(kontext.PathLookupError) as error:
        collection.get_states({})
    assert "metric fine/bad" in error.value.__notes__
    with pytest.raises(kmetrics.MergeError) as error:
        collection.merge(states, {"fine/bad": kmetrics.AverageState.empty()})
    assert "metric fine/bad" in error.value.__notes__


@pytest.mark.spec("kmetrics-88")
def test_colliding_names_are_refused_at_construction():
    mean = kmetrics.Mean(values="preds")
    with pytest.raises(kmetrics.NameCollisionError, match="'a/b'"):
        kmetrics.Collection({"a/b": mean, "a": {"b": mean}})
    with pytest.raises(ValueError, match='named "total"'):
        kmetrics.Collection({"total": mean})
    with pytest.raises(TypeError, match="'a' is not a Metric"):
        kmetrics.Collection({"a": "mean"})
    with pytest.raises(TypeError, match="got 3"):
        kmetrics.Collection({3: mean})


def test_colliding_results_are_refused_when_they_appear():
    collection = kmetrics.Collection(
        {"r": Range(), "r/low": kmetrics.Mean(values="preds")}
    )
    with pytest.raises(kmetrics.NameCollisionError, match="'r/low'"):
        collection.compute(collection.get_states(context(1.0)))


def test_the_mask_goes_to_metrics_that_read_examples():
    states = COLLECTION.get_states(
        context(1, 2, np.nan),
        mask=jnp.array([True, True, False]),
        example_roots=frozenset({"batch", "preds"}),
    )
    values = COLLECTION.compute(states)
    assert values["mean"] == 1.5
    assert values["norm"] == 2.0


LOSSES = {"l2": losses.L2(preds="preds", targets="preds")}


def by_metric(**options):
    return kmetrics.Mean(values="preds").get_state_from_context(**options)


def by_loss(**options):
    return kmetrics.total_loss(LOSSES, options.pop("context"), **options)


def by_example(**options):
    return kmetrics.per_example_loss(LOSSES, options.pop("context"), **options)


@pytest.mark.parametrize(
    "read", [COLLECTION.get_states, by_metric, by_loss, by_example]
)
def test_roots_that_are_not_there_would_leave_the_padding_in(read):
    options = {"context": context(1, 2), "mask": np.array([True, False])}
    with pytest.raises(ValueError, match=r"'pred' is no part of .*\n.*mean 'preds'"):
        read(**options, example_roots={"pred"})
    with pytest.raises(ValueError, match=r"'preds\.x' is no part .*\n.*mean 'preds'"):
        read(**options, example_roots={"preds.x"})
    with pytest.raises(TypeError, match=r"got the text 'preds'\nwrite {'preds'}"):
        read(**options, example_roots="preds")
    read(**options, example_roots={"preds", "batch"})


def test_what_is_no_mapping_of_states_is_refused():
    with pytest.raises(TypeError, match="kept by name, got a NoneType"):
        COLLECTION.compute(None)
    table = kmetrics.ConfusionMatrix(logits="z", labels="y", num_classes=3)
    others = kmetrics.Collection({"mean": table})
    with pytest.raises(AttributeError, match="AverageState") as error:
        others.compute(COLLECTION.get_states(context(1.0)))
    assert "metric mean" in error.value.__notes__


@pytest.mark.case("070")
def test_padding_is_left_out_instead_of_averaged_in():
    data = np.arange(9.0, dtype=np.float32)  # mean 4
    padded = np.append(data, 99.0).reshape(2, 5)
    mask = (np.arange(10) < 9).reshape(2, 5)
    collection = kmetrics.Collection({"mean": kmetrics.Mean(values="preds")})
    states = [
        collection.get_states({"preds": row}, mask=keep)
        for row, keep in zip(padded, mask, strict=True)
    ]
    assert collection.compute(collection.merge(*states)) == {"mean": 4.0}


@pytest.mark.case("071")
@pytest.mark.parametrize("size", [1, 3, 4, 5, 9, 17])
def test_padded_batches_give_the_value_of_the_data_for_every_size(size):
    collection = kmetrics.Collection({"mean": kmetrics.Mean(values="preds")})
    get_states = jax.jit(lambda x, mask: collection.get_states({"preds": x}, mask=mask))
    data = np.random.default_rng(size).integers(0, 100, size).astype(np.float32)
    padded = np.append(data, np.full(-size % 4, np.nan, np.float32))
    states = None
    for i in range(0, len(padded), 4):
        batch = get_states(padded[i : i + 4], np.arange(i, i + 4) < size)
        states = batch if states is None else collection.merge(states, batch)
    assert collection.compute(states)["mean"] == data.astype(float).mean()


# One for each way in which a mask is handed on from the context; that every shipped
# metric leaves padding out is among its laws.
MASKED = {
    "mean": kmetrics.Mean(values="batch.x"),
    "concat": kmetrics.Norm(tensor="batch.z", aggregation="concat"),
    "auc": kmetrics.RocAuc(logits="batch.z", labels="batch.y"),
    "grouped": kmetrics.Grouped(
        metric=kmetrics.Mean(values="batch.x"), by="batch.a", groups=2, other=None
    ),
    "ci": kmetrics.WithCi(metric=kmetrics.Accuracy(logits="batch.z", labels="batch.y")),
    "boot": kmetrics.Bootstrap(
        metric=kmetrics.Mean(values="batch.x"), ids="batch.y", n=5
    ),
    "tree": kmetrics.TreeMap(metric=kmetrics.Mean(values="batch.two")),
    "joint": kmetrics.JointAccuracy(
        logits=("batch.z", "batch.z"), labels=("batch.y", "batch.y")
    ),
    "skip": kmetrics.SkipIfMissing(metric=kmetrics.Mean(values="batch.x")),
    "l2": losses.L2(preds="batch.x", targets="batch.t", sample_weight="batch.y"),
    "int": losses.SoftmaxCrossEntropyWithIntLabels(logits="batch.z", labels="batch.y"),
}


MASKED_STATES = jax.jit(kmetrics.Collection(MASKED).get_states)


@pytest.mark.slow
@pytest.mark.spec("kmetrics-20")
@pytest.mark.parametrize("garbage", [np.nan, np.inf, 7.0])
def test_padding_of_any_content_changes_no_value(garbage):
    rng = np.random.default_rng(0)
    batch = {
        "x": rng.normal(size=4),
        "t": rng.normal(size=4),
        "z": rng.normal(size=(4, 3)),
    }
    batch = {name: x.astype(np.float32) for name, x in batch.items()}
    padded = {
        name: np.concatenate([x, np.full((2, *x.shape[1:]), garbage, x.dtype)])
        for name, x in batch.items()
    }
    batch["y"], padded["y"] = np.array([0, 1, 2, 1]), np.array([0, 1, 2, 1, -9, 99])
    batch["a"], padded["a"] = np.array([0, 1, 1, 0]), np.array([0, 1, 1, 0, 1, 7])
    batch["two"], padded["two"] = ({"x": b["x"], "z": b["z"]} for b in (batch, padded))
    collection = kmetrics.Collection(MASKED)
    mask = np.arange(6) < 4
    expected = collection.compute(MASKED_STATES({"batch": batch}))
    for keep in (mask, mask.astype(np.float32)):
        got = collection.compute(MASKED_STATES({"batch": padded}, mask=keep))
        # The sums are exact; XLA may round an exp or a log differently per shape.
        assert got == pytest.approx(expected, rel=1e-6)
        assert all(np.isfinite(value) for value in got.values())


def test_an_empty_collection_does_nothing():
    nothing = kmetrics.Collection({})
    assert nothing.compute(nothing.merge(nothing.get_states({}), {})) == {}


def test_what_was_accumulated_survives_a_batch_that_fails():
    collection = kmetrics.Collection(
        {"mean": kmetrics.Mean(values="preds"), "all": Range()}
    )
    states = collection.get_states(context(1, 2))
    with pytest.raises(kontext.PathLookupError) as error:
        states = collection.merge(states, collection.get_states({"wrong": 1}))
    assert error.value.__notes__ == ["metric mean"]
    wrong = {**states, "all": RangeState(low=jnp.ones(3), seen=jnp.ones((1, 2)))}
    with pytest.raises(kmetrics.MergeError, match="different shapes") as error:
        collection.merge(states, wrong)
    assert error.value.__notes__ == ["field 'low' of RangeState", "metric all"]
    merged = collection.merge(states, collection.get_states(context(6)))
    values = collection.compute(merged)
    assert values["mean"] == 3.0
    assert values["all/seen"].tolist() == [1, 2, 6]


def test_results_become_numbers_under_names_that_nest():
    values = COLLECTION.compute(COLLECTION.get_states(context(1, 3)), log_count=True)
    assert (values["mean/count"], values["norm/count"]) == (2.0, 1.0)
    assert values["parts/std/count"] == 2.0
    numbers = {name: v for name, v in values.items() if not name.startswith("parts/r")}
    assert kmetrics.to_scalars(numbers) == numbers
    nested = {"ci": {"value": np.float32(0.5), "lo": 0}, "n": jnp.int32(3)}
    assert kmetrics.to_scalars(nested) == {"ci/value": 0.5, "ci/lo": 0.0, "n": 3.0}
    with pytest.raises(TypeError, match=r"'parts/range/seen' is not a number\n.*\[2\]"):
        kmetrics.to_scalars(values)
    with pytest.raises(TypeError, match="'unit' is not a number\\n  got str"):
        kmetrics.to_scalars({"unit": "m"})
    with pytest.raises(TypeError, match="mapping from names to results\n  got float"):
        kmetrics.to_scalars(0.5)
