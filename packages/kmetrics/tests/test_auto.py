import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kmetrics
from kmetrics import AutoState, AverageState


@kmetrics.state
class Everything(AutoState):
    added: jax.Array = kmetrics.sum_field()
    mean: AverageState = kmetrics.mean_field()
    low: jax.Array = kmetrics.min_field()
    high: jax.Array = kmetrics.max_field()
    seen: jax.Array = kmetrics.concat_field()
    bins: int = 3

    def compute(self):
        return {
            "added": self.added,
            "mean": self.mean,
            "low": self.low,
            "high": self.high,
            "seen": self.seen,
            "bins": self.bins,
        }

    @classmethod
    def of(cls, values):
        values = jnp.asarray(values, jnp.float32)
        return cls(
            added=values.sum(),
            mean=values,
            low=values.min(),
            high=values.max(),
            seen=values,
        )


@kmetrics.state
class Ratio(AutoState):
    hits: jax.Array = kmetrics.sum_field()
    tries: jax.Array = kmetrics.sum_field()

    def compute(self):
        return self.hits / self.tries


BATCH = st.lists(st.integers(-1000, 1000), min_size=1, max_size=3)


@pytest.mark.spec("kmetrics-56")
@given(BATCH, BATCH, BATCH)
@settings(deadline=None, max_examples=25)
def test_merging_is_associative_and_agrees_with_numpy(one, two, three):
    a, b, c = map(Everything.of, (one, two, three))
    left, right = ((a | b) | c).compute(), (a | (b | c)).compute()
    data = np.array([*one, *two, *three], np.float64)
    assert left["added"] == right["added"] == data.sum()
    assert left["mean"] == pytest.approx(data.mean(), rel=1e-12)
    assert left["mean"] == right["mean"]
    assert left["low"] == right["low"] == data.min()
    assert left["high"] == right["high"] == data.max()
    np.testing.assert_array_equal(left["seen"], data)
    np.testing.assert_array_equal(right["seen"], data)


def test_the_empty_state_changes_nothing_on_either_side():
    state, empty = Everything.of([1, 5]), Everything.empty()
    for merged in (empty | state, state | empty, empty | empty | state):
        values = merged.compute()
        assert values["added"] == 6
        assert values["mean"] == 3
        np.testing.assert_array_equal(values["seen"], [1, 5])
    assert (empty | empty).compute()["seen"] is None
    assert (empty | empty).finalize().merge(state).compute()["added"] == 6


def test_compute_sees_plain_values_with_and_without_finalize():
    state = Ratio(hits=3, tries=4.0)
    assert state.compute() == state.finalize().compute() == 0.75
    assert type(state.plain().hits) is np.float64


def test_a_ratio_of_no_data_is_nan_without_a_warning():
    assert np.isnan(Ratio.empty().compute())
    assert np.isnan(Ratio(hits=0, tries=0).compute())
    values = Everything.empty().compute()
    assert (values["low"], values["high"]) == (np.inf, -np.inf)
    assert np.isnan(values["mean"])


def test_compute_can_be_traced():
    def ratio(hits):
        return Ratio(hits=hits, tries=4.0).compute()

    assert jax.jit(ratio)(3.0) == 0.75
    assert jax.grad(ratio)(3.0) == 0.25


@pytest.mark.spec("kmetrics-57")
def test_an_unmarked_field_is_static_and_survives_a_jitted_merge():
    @kmetrics.state
    class Counted(AutoState):
        total: jax.Array = kmetrics.sum_field()
        n: int = 3

        def compute(self):
            return self.total * (2 if self.n == 3 else 1)

    a = Counted(total=1)
    merged = jax.jit(lambda x, y: x.merge(y))(a, a)
    assert merged.n == 3
    assert merged.compute() == 4
    assert len(jax.tree.leaves(a)) == 2  # hi and lo of the total
    with pytest.raises(kmetrics.MergeError, match="static field 'n'"):
        a.merge(Counted(total=1, n=4))


@pytest.mark.spec("kmetrics-58")
def test_what_is_collected_is_of_length_zero_where_its_shape_is_known():
    @kmetrics.state
    class Rows(AutoState):
        rows: jax.Array = kmetrics.concat_field(axis=1)

        def compute(self):
            return self.rows

    spec = jax.eval_shape(lambda x: Rows(rows=x), np.ones((2, 3), np.float16))
    start = kmetrics.Metric().empty_like(spec)
    for state in (start, start | start, start.finalize()):
        assert state.compute().shape == (2, 0)
        assert state.compute().dtype == np.float16
    full = Rows(rows=np.ones((2, 3), np.float16))
    final = (full | full).finalize()
    assert [part.shape for part in final.rows.parts] == [(2, 6)]
    assert (final | full).compute().shape == (2, 9)
    assert (start | full | start).compute().shape == (2, 3)


def test_empty_like_is_a_scan_carry():
    @kmetrics.state
    class Range(AutoState):
        low: jax.Array = kmetrics.min_field()
        high: jax.Array = kmetrics.max_field()
        total: jax.Array = kmetrics.sum_field()
        mean: jax.Array = kmetrics.mean_field()

        def compute(self):
            return self.low, self.high, self.total, self.mean

    def of(row):
        return Range(low=row.min(), high=row.max(), total=row.sum(), mean=row)

    rows = jnp.asarray([[1, 2], [7, 4], [3, 3]], jnp.int32)
    carry = of(rows[0]).empty_like()
    total, _ = jax.lax.scan(lambda s, row: (s.merge(of(row)), None), carry, rows)
    assert total.compute() == (1, 7, 20, 20 / 6)
    # The unshaped one crosses jit as well, though its structure is its own.
    assert jax.jit(Range.empty)().merge(total).compute() == total.compute()


@pytest.mark.spec("kmetrics-60")
def test_sums_of_different_shapes_are_refused_by_field_name():
    with pytest.raises(kmetrics.MergeError, match=r"\[3\] and \[\]") as error:
        Ratio(hits=jnp.ones(3), tries=1).merge(Ratio(hits=1, tries=1))
    assert error.value.__notes__ == ["field 'hits' of Ratio"]


@pytest.mark.spec("kmetrics-61")
def test_small_integers_and_bools_add_up_without_wrapping():
    def total(x):
        return Ratio(hits=x, tries=1)

    a, b = np.uint8(250), np.uint8(10)
    assert total(a).merge(total(b)).plain().hits == 260
    assert total(True).merge(total(np.bool_(True))).plain().hits == 2
    top = jnp.int32(2**31 - 1)
    assert total(top).merge(total(top)).plain().hits == 2**32 - 2


@pytest.mark.spec("kmetrics-62")
@pytest.mark.parametrize("images", [np.ones((2, 3)), {"a": np.ones(2), "b": [1, 2]}])
def test_collecting_under_jit_gives_one_clear_error(images):
    @kmetrics.state
    class Images(AutoState):
        images: object = kmetrics.concat_field()

    state = Images(images=images)
    with pytest.raises(kmetrics.HostOnlyError, match="outside jit") as error:
        jax.jit(lambda a, b: a.merge(b))(state, state)
    assert "kmetrics.buffer_field" in str(error.value)
    assert error.value.__notes__[0] == "field 'images' of Images"
    assert isinstance(error.value, RuntimeError)
    merged = state.merge(state).plain().images
    assert jax.tree.map(len, jax.tree.map(np.asarray, merged)) == jax.tree.map(
        lambda x: 2 * np.size(x) if np.ndim(x) < 2 else 2 * len(x), images
    )


def test_fields_may_hold_trees():
    @kmetrics.state
    class PerHead(AutoState):
        losses: dict = kmetrics.sum_field()

    state = PerHead(losses={"a": 1.0, "b": (2, jnp.ones(3))})
    merged = state.merge(state).plain().losses
    assert merged["a"] == 2
    np.testing.assert_array_equal(merged["b"][1], [2, 2, 2])
    with pytest.raises(kmetrics.MergeError, match="trees differ"):
        state.merge(PerHead(losses={"a": 1.0}))


def test_an_optional_field_is_none_on_both_sides_or_on_none():
    @kmetrics.state
    class Maybe(AutoState):
        total: jax.Array | None = kmetrics.sum_field()

    nothing, one = Maybe(total=None), Maybe(total=1)
    assert nothing.merge(nothing).plain().total is None
    with pytest.raises(kmetrics.MergeError, match="is None in one of") as error:
        nothing.merge(one)
    assert isinstance(error.value, ValueError)
    assert error.value.__notes__ == ["field 'total' of Maybe"]


@pytest.mark.parametrize(
    ("policy", "expected"), [("propagate", np.nan), ("ignore", 2.0)]
)
def test_the_policy_decides_what_a_nan_does(policy, expected):
    @kmetrics.state
    class High(AutoState):
        high: jax.Array = kmetrics.max_field(nan=policy)

    merged = High(high=np.float32(np.nan)).merge(High(high=np.float32(2)))
    np.testing.assert_equal(float(merged.plain().high), expected)


def test_an_unknown_nan_policy_is_refused():
    with pytest.raises(ValueError, match="'skip' is not a policy"):
        kmetrics.min_field(nan="skip")


def test_extremes_keep_their_dtype_and_have_identities():
    @kmetrics.state
    class High(AutoState):
        high: jax.Array = kmetrics.max_field()

    for value in (np.int8(-5), np.bool_(False), np.float16(-2)):
        state = High(high=value)
        assert state.empty_like().merge(state).plain().high == value
        assert state.merge(state).high.dtype == value.dtype


def test_pieces_that_do_not_join_are_refused_with_both_shapes():
    @kmetrics.state
    class Rows(AutoState):
        rows: jax.Array = kmetrics.concat_field(axis=0)

    with pytest.raises(kmetrics.MergeError, match=r"\[1, 2\] and \[1, 3\]"):
        Rows(rows=np.ones((1, 2))).merge(Rows(rows=np.ones((1, 3))))
    scalars = Rows(rows=1.0).merge(Rows(rows=2.0))
    np.testing.assert_array_equal(scalars.plain().rows, [1, 2])


def test_a_mean_field_takes_a_mask_through_an_average_state():
    @kmetrics.state
    class Masked(AutoState):
        mean: AverageState = kmetrics.mean_field()

        def compute(self):
            return self.mean

    one = Masked(mean=AverageState.from_values(np.array([1.0, 9.0]), np.array([1, 0])))
    assert one.merge(Masked(mean=np.array([2.0, 3.0]))).compute() == 2.0


def test_an_array_field_that_says_no_merge_is_refused_at_definition():
    with pytest.raises(kmetrics.StateDefinitionError) as error:

        @kmetrics.state
        class Broken(AutoState):
            total: jax.Array

    assert str(error.value) == (
        "field 'total' of Broken does not say how it merges\n"
        "  annotated Array\n"
        "write = kmetrics.sum_field(), mean_field(), min_field(), max_field(), "
        "concat_field() or another field;\n"
        "a setting that never merges is a kmetrics.static_field()"
    )


def test_data_in_a_static_field_is_refused():
    @kmetrics.state
    class Sneaky(AutoState):
        total: object = kmetrics.static_field()

    with pytest.raises(kmetrics.StateDefinitionError, match=r"'total'.*holds data"):
        Sneaky(total=jnp.ones(3))


def test_a_state_without_the_decorator_is_refused_at_its_first_use():
    class Bare(AutoState):
        def compute(self):
            return 1

    with pytest.raises(kmetrics.StateDefinitionError, match=r"@kmetrics\.state"):
        Bare()


def test_a_dataclass_that_can_be_changed_is_refused():
    with pytest.raises(kmetrics.StateDefinitionError, match="frozen=True"):

        @kmetrics.state
        @dataclasses.dataclass
        class Loose:
            total: float


def test_a_flax_struct_dataclass_may_derive_from_auto_state():
    struct = pytest.importorskip(
        "flax.struct", reason="flax is not a dependency; users may bring its states"
    )

    @struct.dataclass
    class Flaxed(AutoState):
        total: jax.Array = kmetrics.sum_field()
        n: int = kmetrics.static_field(default=2)

        def compute(self):
            return self.total * self.n

    merged = jax.jit(lambda a, b: a.merge(b))(Flaxed(total=1), Flaxed(total=2))
    assert merged.compute() == 6


def test_the_shapes_of_a_state_are_known_without_computing_it():
    @kmetrics.state
    class All(kmetrics.AutoState):
        total: jax.Array = kmetrics.sum_field()
        low: jax.Array = kmetrics.min_field()
        high: jax.Array = kmetrics.max_field()

        def compute(self):
            return self.high

    def of(x):
        return All(total=x.sum(), low=x.min(), high=x.max(axis=0))

    shapes = jax.eval_shape(of, jax.ShapeDtypeStruct((3, 2), jnp.float32))
    assert shapes.low == jax.ShapeDtypeStruct((), jnp.float32)
    assert shapes.high == jax.ShapeDtypeStruct((2,), jnp.float32)
