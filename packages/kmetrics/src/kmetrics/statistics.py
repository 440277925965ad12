"""Statistics of any tensor: mean, deviation, covariance, quantiles, norm."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._auto import AutoState
from kmetrics._average import AverageState
from kmetrics._bins import LARGEST, LogBins, count_bins
from kmetrics._class_inputs import example_weights
from kmetrics._covariance import CovarianceState
from kmetrics._directions import cosine
from kmetrics._field_kinds import moments_field
from kmetrics._fields import sum_field
from kmetrics._masks import check_weights
from kmetrics._metric import Metric, OnEmpty
from kmetrics._moments import MomentsState
from kmetrics._norm import Norm
from kmetrics._numerics import to_float32
from kmetrics._options import Natural, Positive, Proportion, Share, Whole
from kmetrics._register import state
from ktyping import Array, Bool, Real, typechecked

__all__ = [
    "CosineSimilarity",
    "Mean",
    "MeanCov",
    "Moments",
    "Norm",
    "Quantiles",
    "SingleDimension",
    "Std",
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mean(Metric):
    """The mean of all elements.

    Attributes:
      values: path of real numbers of any shape.
      mask: path of bools or non-negative numbers, lined up from the left.
      on_empty: the value if nothing counts: "nan", "zero", or "raise".
    """

    State = AverageState

    values: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    on_empty: OnEmpty = "nan"

    @typechecked
    def get_state(
        self,
        values: Real[Array, "..."] | Bool[Array, "..."],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        return AverageState.from_values(values, mask)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Std(Metric):
    """The standard deviation of all elements, exact at a large offset.

    Attributes:
      values: path of real numbers of any shape.
      mask: path of bools or non-negative numbers, lined up from the left; a number
        counts how often the value occurs.
      ddof: what is subtracted from the count in the denominator: 0 for the deviation
        of the data, 1 for the estimate of a population.
      on_empty: the value if not more than `ddof` values count: "nan", "zero", "raise".
    """

    State = MomentsState

    values: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    ddof: Natural = 0
    on_empty: OnEmpty = "nan"

    @typechecked
    def get_state(
        self,
        values: Real[Array, "..."] | Bool[Array, "..."],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        return MomentsState.from_values(values, mask)


@state
class QuantilesState(AutoState):
    """How many values lie in each bin, see `LogBins`."""

    counts: Any = sum_field()

    def compute(self) -> Any:
        """Name of the quantile to value."""
        counts = np.asarray(self.counts)
        if counts.sum() == 0:
            return dict.fromkeys(self.parent.names, self.empty_value())
        bins = self.parent.log_bins
        values = (bins.quantile(counts, q) for q in self.parent.q)
        return dict(zip(self.parent.names, values, strict=True))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Quantiles(Metric):
    """Quantiles of all elements, in fixed memory; computes a dict such as `p50`, `p99`.

    Each is off by no more than the share `rel_err` of itself. NaN are not counted.

    Reference: see `LogBins`, the DDSketch of Masson, Rim and Lee (2019).

    Attributes:
      values: path of real numbers of any shape.
      mask: path of bools or non-negative numbers, lined up from the left.
      q: the shares, each in [0, 1].
      rel_err: the largest relative error, in (0, 1).
      smallest: magnitudes below it count as 0.
      largest: magnitudes above it count as it.
      on_empty: the value if nothing counts: "nan", "zero", or "raise".

    Raises:
      ValueError: an option is out of range.
    """

    State = QuantilesState

    values: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    q: tuple[Proportion, ...] = (0.5, 0.9, 0.99)
    rel_err: Share = 0.01
    smallest: Positive = 1e-9
    largest: Positive = 1e9
    on_empty: OnEmpty = "nan"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.q or len(set(self.names)) < len(self.names):
            raise ValueError(
                f"Quantiles: q must be one share or more, each once\n  got {self.q!r}"
            )
        if not self.smallest < self.largest < LARGEST:
            raise ValueError(
                f"Quantiles: smallest must be below largest, and that below {LARGEST}\n"
                f"  got {self.smallest!r} and {self.largest!r}"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the quantiles: `p` and the percentage."""
        return tuple(f"p{100 * q:.10g}" for q in self.q)

    def metric_names(self) -> tuple[str, ...]:
        """The names of the quantiles."""
        return self.names

    @property
    def log_bins(self) -> LogBins:
        """The bins that are counted."""
        return LogBins(self.rel_err, self.smallest, self.largest)

    @typechecked
    def get_state(
        self,
        values: Real[Array, "..."] | Bool[Array, "..."],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        check_weights(mask)
        bins = self.log_bins
        index = bins.index(values)
        return QuantilesState(counts=count_bins(index, bins.size, mask))


@state
class MomentsOfState(AutoState):
    """Count, mean and squared deviations of all elements."""

    moments: Any = moments_field()

    def compute(self) -> dict[str, float]:
        """`mean`, `std` and `count`."""
        count, mean, deviations = (float(part) for part in self.moments)
        freedom = count - self.parent.ddof
        return {
            "mean": mean if count else self.empty_value(),
            "std": float(np.sqrt(max(deviations, 0.0) / freedom))
            if freedom > 0
            else self.empty_value(),
            "count": count,
        }


class Moments(Std):
    """`mean`, `std` and `count` of all elements; inputs and `ddof` as for `Std`."""

    State = MomentsOfState

    def metric_names(self) -> tuple[str, ...]:
        """`mean`, `std` and `count`."""
        return "mean", "std", "count"

    @typechecked
    def get_state(
        self,
        values: Real[Array, "..."] | Bool[Array, "..."],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        return MomentsOfState(moments=MomentsState.from_values(values, mask))


@dataclasses.dataclass(frozen=True, kw_only=True)
class MeanCov(Metric):
    """`mean` `[d]` and `cov` `[d, d]` of vectors, exact at a large offset.

    Attributes:
      values: path of real numbers `[*b, d]`.
      mask: path of bools or non-negative numbers `[*b]`, `[*b, 1]`, or fewer axes; a
        number counts how often the vector occurs.
      ddof: what is subtracted from the count in the denominator of the covariance.
      on_empty: the entries of `cov` if not more than `ddof` vectors count, and of
        `mean` if none does: "nan", "zero", "raise".
    """

    State = CovarianceState

    values: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    ddof: Natural = 0
    on_empty: OnEmpty = "nan"

    def metric_names(self) -> tuple[str, ...]:
        """`mean` and `cov`."""
        return "mean", "cov"

    @typechecked
    def get_state(
        self,
        values: Real[Array, "*b d"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        return CovarianceState.from_values(values, mask)


@dataclasses.dataclass(frozen=True, kw_only=True)
class CosineSimilarity(Metric):
    """The mean of `preds · targets / (|preds| |targets|)` over vectors, -1 to 1.

    A vector of length 0 has the similarity 0 with all others.

    Attributes:
      preds: path of real numbers `[*b, n]`.
      targets: path of real numbers, same shape.
      mask: path of bools or non-negative numbers `[*b]`, `[*b, 1]`, or fewer axes.
      eps: lengths are not taken below it, above 0.
      on_empty: the value if nothing counts: "nan", "zero", or "raise".
    """

    range = (-1.0, 1.0)

    State = AverageState

    preds: kontext.Key = kontext.REQUIRED
    targets: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    eps: Positive = 1e-8
    on_empty: OnEmpty = "nan"

    @typechecked
    def get_state(
        self,
        preds: Real[Array, "*b n"],
        targets: Real[Array, "*b n"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        similar = cosine(to_float32(preds), to_float32(targets), self.eps)
        weights = None if mask is None else example_weights(mask, similar.shape)
        return AverageState.from_values(similar, weights)


@dataclasses.dataclass(frozen=True, kw_only=True)
class SingleDimension(Metric):
    """The mean of `values[..., index]`.

    Attributes:
      values: path of real numbers `[*b, n]`.
      mask: path of bools or non-negative numbers `[*b]`, `[*b, 1]`, or fewer axes.
      index: which entry of the last axis; from the end if below 0.
      on_empty: the value if nothing counts: "nan", "zero", or "raise".
    """

    State = AverageState

    values: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    index: Whole = 0
    on_empty: OnEmpty = "nan"

    @typechecked
    def get_state(
        self,
        values: Real[Array, "*b n"] | Bool[Array, "*b n"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch.

        Raises:
          ValueError: there is no entry `index`.
        """
        values = jnp.asarray(values)
        size = values.shape[-1]
        if not -size <= self.index < size:
            raise ValueError(
                f"SingleDimension: index={self.index} is outside of the last axis\n"
                f"  values {list(values.shape)}, expected {-size} to {size - 1}"
            )
        weights = None if mask is None else example_weights(mask, values.shape[:-1])
        return AverageState.from_values(values[..., self.index], weights)
