import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kmetrics
from kmetrics.testing import check_laws


def batches(**shapes):
    """Three batches of one size."""
    rng = np.random.default_rng(0)
    return [
        {
            name: rng.normal(size=(2, *shape)).astype(np.float32)
            for name, shape in shapes.items()
        }
        for _ in range(3)
    ]


@pytest.mark.slow
def test_a_norm_of_one_tensor_keeps_the_laws_but_for_the_split():
    metric, data = kmetrics.Norm(aggregation="concat"), batches(tensor=(5,))
    check_laws(metric, data, splits=False)
    with pytest.raises(kmetrics.LawError, match="merged batches equal one batch"):
        check_laws(metric, data)


@kmetrics.state
class MeanOfMeans(kmetrics.State):
    value: jax.Array

    @classmethod
    def empty(cls):
        return cls(value=jnp.float32(0))

    def merge(self, other):
        return MeanOfMeans(
            value=(self.value + other.value) / 2, _parent=self.merged_parent(other)
        )

    def compute(self):
        return float(self.value)


@dataclasses.dataclass(frozen=True, kw_only=True)
class BatchMean(kmetrics.Metric):
    State = MeanOfMeans

    def get_state(self, values):
        return MeanOfMeans(value=jnp.mean(values))


def test_a_mean_of_batch_means_breaks_the_laws():
    with pytest.raises(kmetrics.LawError) as error:
        check_laws(BatchMean(), batches(values=()))
    assert "BatchMean breaks a law of metrics: brackets do not matter" in str(
        error.value
    )
    assert isinstance(error.value, AssertionError)


def test_an_empty_state_that_counts_breaks_a_law():
    same = [{"values": np.ones(2, np.float32)}] * 2
    with pytest.raises(kmetrics.LawError, match=r"empty \| s equals s"):
        check_laws(BatchMean(), same)


def test_one_batch_shows_no_law():
    with pytest.raises(ValueError, match="two batches or more, got 1"):
        check_laws(kmetrics.Mean(), batches(values=())[:1])
    with pytest.raises(
        ValueError, match=r"list of batches.*\n  got one mapping of val"
    ):
        check_laws(kmetrics.Mean(), batches(values=())[0])


class LooksAtPadding(kmetrics.Mean):
    def get_state(self, values, mask=None):
        # NaN · 0 is NaN.
        return kmetrics.AverageState.from_values(
            values if mask is None else values * mask
        )


class MultipliesByMask(kmetrics.Mean):
    def get_state(self, values, mask=None):
        keep = jnp.ones(values.shape) if mask is None else mask.astype(jnp.float32)
        return kmetrics.AverageState(total=jnp.sum(values * keep), count=jnp.sum(keep))


class FailsOnNothing(kmetrics.Mean):
    def get_state(self, values):
        return kmetrics.AverageState.from_values(values + jnp.max(values) * 0)


def test_looking_at_what_a_mask_drops_breaks_a_law_unless_it_is_not_asked_for():
    data = batches(values=())
    with pytest.raises(kmetrics.LawError, match="rows that the mask drops"):
        check_laws(LooksAtPadding(), data)
    check_laws(LooksAtPadding(), data, padding=False)


def test_a_product_with_the_mask_breaks_a_law_although_jit_makes_a_selection_of_it():
    with pytest.raises(kmetrics.LawError, match="rows that the mask drops"):
        check_laws(MultipliesByMask(), batches(values=()))


@kmetrics.state
class HalvedAgain(kmetrics.AverageState):
    """Its value is halved by every call of `finalize` but the first."""

    calls: int = dataclasses.field(default=0, metadata={"static": True})

    def finalize(self):
        total = jax.tree.map(lambda x: x / 2 if self.calls else x, self.total)
        return self.replace(total=total, calls=self.calls + 1)


class FinalizedTwice(kmetrics.Mean):
    State = HalvedAgain

    def get_state(self, values, mask=None):
        return HalvedAgain.from_values(values, mask)


def test_a_state_that_finalize_changes_again_breaks_a_law():
    with pytest.raises(kmetrics.LawError, match="finalize twice is finalize once"):
        check_laws(FinalizedTwice(), batches(values=()))


class CountsBatches(kmetrics.Mean):
    def get_state(self, values, mask=None):
        mean = kmetrics.AverageState.from_values(values, mask)
        some = mean.count.hi > 0
        value = jnp.where(some, mean.total.hi / mean.count.hi, 0.0)
        return kmetrics.AverageState(total=value, count=some.astype(jnp.float32))


def test_parts_of_unequal_sizes_are_part_of_the_laws_for_batches_of_one_size():
    with pytest.raises(kmetrics.LawError, match="a batch and the rest, padded"):
        check_laws(CountsBatches(), batches(values=()))


class CountsBatchesWithoutMask(CountsBatches):
    def get_state(self, values):
        return super().get_state(values)


@pytest.mark.parametrize("num_batches", [2, 3])
def test_batches_of_one_size_are_cut_where_there_is_no_mask(num_batches):
    pairs = ([1, 2], [3, 5], [4, 8])
    data = [{"values": np.float32(pair)} for pair in pairs[:num_batches]]
    with pytest.raises(kmetrics.LawError, match="parts of unequal sizes merge"):
        check_laws(CountsBatchesWithoutMask(), data)
    check_laws(CountsBatchesWithoutMask(), data, splits=False)


@kmetrics.state
class AllValues(kmetrics.State):
    values: jax.Array

    @classmethod
    def empty(cls):
        return cls(values=jnp.zeros(0))

    def merge(self, other):
        both = jnp.concatenate([self.values, other.values])
        return AllValues(values=both, _parent=self.merged_parent(other))

    def compute(self):
        return float(jnp.median(self.values)) if len(self.values) else 0.0


class Median(BatchMean):
    State = AllValues

    def get_state(self, values):
        return AllValues(values=jnp.asarray(values))


def test_a_state_that_grows_on_the_device_breaks_a_law():
    sizes = r"got \['float32 \[12\]'\]\s+expected \['float32 \[6\]'\]"
    with pytest.raises(kmetrics.LawError, match=rf"does not grow\s+{sizes}"):
        check_laws(Median(), batches(values=()))


def test_a_batch_without_examples_is_part_of_the_laws():
    with pytest.raises(ValueError, match="zero-size array") as error:
        check_laws(FailsOnNothing(), batches(values=()))
    told = "while check_laws made a state of 0 examples: a batch without examples"
    assert any(note.startswith(told) for note in error.value.__notes__)


class StartsAgain(kmetrics.Norm):
    def empty_like(self, state):
        return state


def test_a_start_that_counts_breaks_a_law():
    with pytest.raises(kmetrics.LawError, match=r"empty_like\(s\) \| s equals s"):
        check_laws(StartsAgain(across="sum"), batches(tensor=(5,)))
