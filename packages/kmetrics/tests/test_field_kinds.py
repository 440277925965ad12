import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kmetrics
from kmetrics import AtStep, AutoState, Examples


@kmetrics.state
class Device(AutoState):
    """One field of each kind that merges on the device."""

    moments: object = kmetrics.moments_field()
    hist: object = kmetrics.hist_field((0, 1, 2, 4))
    sketch: object = kmetrics.sketch_field(0.01)
    last: object = kmetrics.last_field()
    first: object = kmetrics.first_field()
    best: object = kmetrics.topk_field(2)
    sample: object = kmetrics.reservoir_field(3, seed=7)
    buffer: object = kmetrics.buffer_field(4)
    inner: kmetrics.AverageState = kmetrics.state_field()

    @classmethod
    def of(cls, step, values):
        values = jnp.asarray(values, jnp.float32)
        ids = (values * 10).astype(jnp.int32)
        # Of a fixed type, as that of a merged state: else merge is compiled again.
        step = jnp.asarray(step, jnp.int32)
        return cls(
            moments=values,
            hist=values,
            sketch=values,
            last=AtStep(step, values.sum()),
            first=AtStep(step, values.sum()),
            best=Examples({"x": values}, scores=values),
            sample=Examples(values, ids=ids),
            buffer=Examples(values),
            inner=kmetrics.AverageState.from_values(values),
        )

    def compute(self):
        return {
            "moments": tuple(map(float, self.moments)),
            "hist": self.hist.tolist(),
            "median": self.sketch.quantile(0.5),
            "last": float(self.last),
            "first": float(self.first),
            "best": self.best.items["x"].tolist(),
            "scores": self.best.scores.tolist(),
            "sample": sorted(self.sample.items.tolist()),
            "seen": (self.sample.num_seen, self.buffer.num_seen),
            "buffer": self.buffer.items.tolist(),
            "inner": self.inner.compute(),
        }


# Compiled once each; eagerly every operation would be compiled for every shape.
of = jax.jit(Device.of)
merge = jax.jit(lambda a, b: a.merge(b))
A, B, C = of(1, [0.5]), of(2, [1.5]), of(3, [3.0, 4.0, -1.0, 1.0])


def test_every_kind_of_field_merges_to_the_value_of_the_whole():
    got = merge(merge(A, B), C).compute()
    data = np.array([0.5, 1.5, 3, 4, -1, 1])
    assert got["moments"] == pytest.approx((6, data.mean(), 6 * data.var()))
    assert got["hist"] == np.histogram(data, (0, 1, 2, 4))[0].tolist() == [1, 2, 2]
    assert got["median"] == pytest.approx(1.0, rel=0.01)
    assert (got["first"], got["last"]) == (0.5, 7.0)
    assert (got["best"], got["scores"]) == ([4.0, 3.0], [4.0, 3.0])
    assert set(got["sample"]) < set(data.tolist()) and len(got["sample"]) == 3
    assert got["seen"] == (6, 6)
    assert got["buffer"] == [0.5, 1.5, 3.0, 4.0]
    assert got["inner"] == 1.5


def test_brackets_and_empty_states_do_not_matter():
    expected = merge(merge(A, B), C).compute()
    got = merge(A, merge(B, C)).compute()
    assert got.pop("moments") == pytest.approx(expected["moments"], rel=1e-6)
    assert got == {name: v for name, v in expected.items() if name != "moments"}
    carry = A.empty_like()
    for state in (A, B, C):
        carry = merge(merge(carry, state), A.empty_like())
    assert carry.compute() == expected
    assert (Device.empty() | A | Device.empty()).compute() == A.compute()


def test_they_merge_under_jit_and_in_any_order_of_steps():
    merged = merge(B, A)
    assert float(merged.plain().last) == 1.5
    assert float(merged.plain().first) == 0.5
    assert merged.merges_on_device and not merged.adds_up


@kmetrics.state
class Sample(AutoState):
    rows: object = kmetrics.reservoir_field(4, seed=1)


sample = jax.jit(lambda ids: Sample(rows=Examples(ids, ids=ids, mask=ids != 3)))


@pytest.mark.parametrize("sizes", [[12], [3, 9], [3, 3, 3, 3]])
def test_a_sample_depends_on_the_ids_and_not_on_the_batches(sizes):
    ids = np.arange(12)
    first, *rest = map(sample, np.split(ids, np.cumsum(sizes)[:-1]))
    got = functools.reduce(merge, rest, Sample.empty() | first).plain().rows
    whole = sample(ids).plain().rows
    assert got.items.tolist() == whole.items.tolist()
    assert 3 not in got.items
    assert got.num_seen == 11


def test_a_sample_is_uniform():
    @kmetrics.state
    class Large(AutoState):
        rows: object = kmetrics.reservoir_field(1000, seed=3)

    ids = np.arange(4000)
    kept = Large(rows=Examples(ids, ids=ids)).plain().rows.items
    # The mean of 1000 draws without replacement has a deviation of 32.
    assert abs(kept.mean() - 1999.5) < 5 * 32
    assert len(set(kept.tolist())) == 1000


def test_masked_and_nan_examples_are_never_the_best():
    @kmetrics.state
    class Best(AutoState):
        rows: object = kmetrics.topk_field(3)

    scores = np.float32([1, np.nan, 9, -np.inf])
    mask = np.array([True, True, False, True])
    best = Best(rows=Examples(np.arange(4), scores=scores, mask=mask)).plain().rows
    assert best.items.tolist() == [0, 3]
    assert best.num_seen == 2


def test_a_mask_weighs_the_counts_of_a_histogram():
    @kmetrics.state
    class Counts(AutoState):
        hist: object = kmetrics.hist_field([0, 1, 2])

    values = np.float32([0.5, 1.0, 2.0, np.nan, -1])
    state = Counts(hist=Examples(values, mask=np.float32([0.5, 1, 2, 9, 9])))
    assert state.plain().hist.tolist() == [0.5, 3.0]
    assert state.adds_up
    assert state.merge(state).plain().hist.tolist() == [1.0, 6.0]


def test_a_sketch_covers_negative_numbers_zero_and_any_magnitude():
    @kmetrics.state
    class Sketched(AutoState):
        values: object = kmetrics.sketch_field(0.02)

    sketched = jax.jit(lambda x: Sketched(values=x))
    for value in (-3e5, -2e-4, 0.0, 7e-7, 1.0, 123456.0):
        sketch = sketched(np.float32([value])).plain().values
        assert sketch.quantile(0.5) == pytest.approx(value, rel=0.0201)
    assert np.isnan(Sketched.empty().plain().values.quantile(0.5))
    with pytest.raises(ValueError, match=r"in \(0, 1\)"):
        kmetrics.sketch_field(1.5)


def test_moments_of_vectors():
    @kmetrics.state
    class Vectors(AutoState):
        moments: object = kmetrics.moments_field(covariance=True)

        def compute(self):
            return self.moments

    x = np.float32([[0, 0], [2, 4], [7, 1], [3, 3], [5, 9]])
    one, two = (Vectors(moments=part) for part in (x[:2], x[2:4]))
    mask = kmetrics.CovarianceState.from_values(x[2:4], np.array([1, 0]))
    for state, rows in {
        one: x[:2],
        one | two: x[:4],
        one.empty_like() | two: x[2:4],
        one | Vectors(moments=mask): x[:3],
    }.items():
        count, mean, deviations = state.compute()
        assert count == len(rows)
        np.testing.assert_allclose(mean, rows.mean(axis=0, dtype=float), rtol=1e-9)
        np.testing.assert_allclose(
            deviations, np.cov(rows.T, ddof=0) * len(rows), rtol=1e-6
        )
    assert Vectors.empty().compute() == (0, 0, 0)


@kmetrics.state
class Images(AutoState):
    images: object = kmetrics.truncate_field("parent.num_images")

    def compute(self):
        return self.images


class FirstImages(kmetrics.Mean):
    State = Images
    num_images = 3

    def get_state(self, values, mask=None):
        return Images(images=values)


@pytest.mark.spec("kmetrics-56")
def test_truncation_keeps_the_first_rows_and_no_more():
    states = [FirstImages().get_state(values=np.arange(n) + 10 * n) for n in (2, 2, 5)]
    assert len(states[2].images.parts[0]) == 3  # cut before it is ever fetched
    a, b, c = states
    for merged in ((a | b) | c, a | (b | c), FirstImages().empty() | a | b):
        assert merged.compute().tolist() == [20, 21, 20]
    assert len((a | b | c).images.parts) == 2
    assert not a.merges_on_device

    @kmetrics.state
    class AllTrees(AutoState):
        rows: object = kmetrics.truncate_field(None, axis=1)
        two: object = kmetrics.truncate_field(2, axis=1)

    state = AllTrees(rows={"x": np.ones((1, 3))}, two={"x": np.ones((1, 3))})
    plain = state.merge(state).plain()
    assert (plain.rows["x"].shape, plain.two["x"].shape) == ((1, 6), (1, 2))


def test_wrong_content_is_refused_with_what_to_give():
    with pytest.raises(TypeError, match=r"takes kmetrics\.Examples"):
        C.replace(best=jnp.ones(3))
    with pytest.raises(TypeError, match="Examples with ids"):
        C.replace(sample=Examples(jnp.ones(3)))
    with pytest.raises(TypeError, match="must be integers\n  got float32"):
        C.replace(sample=Examples(jnp.ones(3), ids=jnp.ones(3)))
    with pytest.raises(TypeError, match=r"AtStep\(step, value\)") as error:
        C.replace(last=3.0)
    assert error.value.__notes__ == [f"field 'last' of {type(C).__name__}"]
    with pytest.raises(TypeError, match="holds a state"):
        C.replace(inner=3.0)
    for edges in ([0, 2, 1], [0, 1, 1], [0, np.nan], [1]):
        with pytest.raises(ValueError, match="ascend"):
            kmetrics.hist_field(edges)
    for wrong in (1.5, "2", True):
        with pytest.raises(TypeError, match="whole number"):
            kmetrics.topk_field(wrong)
    for wrong in (1.5, True, np.float32(2)):
        with pytest.raises(TypeError, match="number of rows must be a whole number"):
            kmetrics.truncate_field(wrong)
    with pytest.raises(ValueError, match="0 or more"):
        kmetrics.truncate_field(-1)
    with pytest.raises(ValueError, match="1 or more"):
        kmetrics.topk_field(0)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("buffer", Examples({"x": np.ones(2), "y": np.ones(3)}), r"got \[2\], \[3\]"),
        ("buffer", Examples(np.float32(1)), r"first axis.*\n  got \[\]"),
        ("buffer", Examples({}), "got no array"),
        (
            "buffer",
            Examples(np.ones(3), mask=np.ones(2)),
            r"mask \[2\], examples \[3\]",
        ),
        ("best", Examples(np.ones(3), scores=np.ones((3, 1))), r"scores \[3, 1\]"),
        ("sample", Examples(np.ones(3), ids=np.arange(2)), r"ids \[2\], examples"),
        ("hist", Examples(np.ones(2), mask=np.float32([1, -1])), "negative numbers"),
        ("sketch", Examples(np.ones(2), mask=np.float32([1, np.nan])), "holds NaN"),
    ],
)
def test_examples_that_do_not_fit_together_are_refused_by_field(field, value, message):
    with pytest.raises(ValueError, match=message) as error:
        C.replace(**{field: value})
    assert f"field '{field}' of Device" in error.value.__notes__


def test_values_that_do_not_fit_those_before_are_refused_by_field():
    for field, value, message in (
        ("buffer", Examples(np.ones((2, 5))), r"\[\] and \[5\]"),
        ("last", AtStep(1, np.ones(2)), r"different shapes: \[\] and \[2\]"),
        ("first", AtStep(1.5, 0.0), r"must be an integer\n  got float32\[\]"),
    ):
        other = Device.empty().replace(**{field: value})
        with pytest.raises((kmetrics.MergeError, TypeError), match=message) as error:
            C.merge(other)
        assert f"field '{field}' of Device" in error.value.__notes__


def test_a_share_that_is_none_has_no_quantile():
    with pytest.raises(ValueError, match=r"in \[0, 1\]\n  got 1.5"):
        C.plain().sketch.quantile(1.5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: kmetrics.reservoir_field(2, seed=0.5), "seed must be a whole number"),
        (lambda: kmetrics.concat_field(axis="x"), "axis must be a whole number"),
        (lambda: kmetrics.sketch_field("0.1"), "rel_err must be a number"),
        (lambda: kmetrics.hist_field(["a", "b"]), "edges of a histogram must be num"),
        (lambda: kmetrics.hist_field(3), "got 3"),
    ],
)
def test_options_of_a_field_of_another_kind_are_refused(make, message):
    with pytest.raises(TypeError, match=message):
        make()
