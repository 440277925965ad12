"""Statistics of any tensor: mean, standard deviation, quantiles, norm."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._auto import AutoState
from kmetrics._average import AverageState
from kmetrics._bins import LogBins, count_bins
from kmetrics._fields import sum_field
from kmetrics._masks import align_left
from kmetrics._metric import Metric, OnEmpty
from kmetrics._moments import MomentsState
from kmetrics._numerics import to_float32
from kmetrics._register import state
from ktyping import Array, Bool, Real, typechecked

__all__ = ["Mean", "Norm", "Quantiles", "Std"]


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
    ddof: int = 0
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
    q: tuple[float, ...] = (0.5, 0.9, 0.99)
    rel_err: float = 0.01
    smallest: float = 1e-9
    largest: float = 1e9
    on_empty: OnEmpty = "nan"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.q or not all(0 <= q <= 1 for q in self.q):
            raise ValueError(f"Quantiles: q must be shares in [0, 1]\n  got {self.q!r}")
        self.log_bins  # noqa: B018  # refuses its options here, not at the first batch

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the quantiles: `p` and the percentage."""
        return tuple(f"p{100 * q:.10g}" for q in self.q)

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
        bins = self.log_bins
        index = bins.index(values)
        return QuantilesState(counts=count_bins(index, bins.size, mask))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Norm(Metric):
    """The norm `(Σ |x|^ord)^(1/ord)` of a tensor.

    Over several batches it is the mean of the norms, each norm counting once.

    Attributes:
      tensor: path of real numbers of any shape.
      mask: path of bools or non-negative numbers, lined up from the left with the
        tensor without the axes of the norm.
      ord: the order, 0 or more; `inf` for the largest, 0 for the number of entries
        that are not 0.
      axis: the axes of one vector; None for all, the tensor is one vector.
      aggregation: "average": the mean of the norms of the vectors. "concat": the norm
        of all vectors as one.
      on_empty: the value if nothing counts: "nan", "zero", or "raise".

    Raises:
      ValueError: an option is not known, or an axis does not exist.
    """

    State = AverageState

    tensor: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    ord: float = 2.0
    axis: int | tuple[int, ...] | None = -1
    aggregation: Literal["average", "concat"] = "average"
    on_empty: OnEmpty = "nan"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.ord, str) or not self.ord >= 0:
            raise ValueError(
                f"Norm: ord must be a number of 0 or more, or inf\n  got {self.ord!r}"
            )
        if self.aggregation not in ("average", "concat"):
            raise ValueError(
                f"Norm: aggregation={self.aggregation!r} is not known\n"
                'use "average" or "concat"'
            )

    @typechecked
    def get_state(
        self,
        tensor: Real[Array, "..."] | Bool[Array, "..."],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one tensor."""
        tensor = to_float32(tensor)
        axes = self._axes(tensor.ndim)
        if self.aggregation == "average":
            return AverageState.from_values(_norm(tensor, axes, self.ord), mask)
        counts = None
        if mask is not None:
            rest = [n for i, n in enumerate(tensor.shape) if i not in axes]
            keep = align_left(jnp.asarray(mask) != 0, tuple(rest))
            tensor = jnp.where(jnp.expand_dims(keep, axes), tensor, 0.0)
            counts = jnp.any(keep)
        whole = tuple(range(tensor.ndim))
        return AverageState.from_values(_norm(tensor, whole, self.ord), counts)

    def merge_leaves(self, states: Sequence[Any]) -> Any:
        """With aggregation "concat" the norm of all leaves as one vector."""
        if self.aggregation == "average":
            return super().merge_leaves(states)
        norms = jnp.stack([state.total.hi for state in states])
        counts = jnp.stack([state.count.hi for state in states])
        # The number of entries that are not 0 is itself a sum over the leaves.
        whole = jnp.sum(norms) if self.ord == 0 else _norm(norms, (0,), self.ord)
        total = AverageState.from_values(whole, jnp.any(counts != 0))
        return total.with_parent(self)

    def _axes(self, rank: int) -> tuple[int, ...]:
        axis = range(rank) if self.axis is None else self.axis
        axes = (axis,) if isinstance(axis, int) else tuple(axis)
        if any(not -rank <= a < rank for a in axes):
            raise ValueError(
                f"Norm: axis={self.axis} does not exist in a tensor of {rank} axes\n"
                "use axis=None for the norm of the whole tensor"
            )
        return tuple(sorted(a % rank for a in axes))


def _norm(x: jax.Array, axes: tuple[int, ...], order: float) -> jax.Array:
    size = jnp.abs(x)
    if order == 0:
        return jnp.sum(size != 0, axis=axes).astype(jnp.float32)
    largest = jnp.max(size, axis=axes, keepdims=True, initial=0.0)
    if math.isinf(order):
        return jnp.squeeze(largest, axes)
    # Relative to the largest entry, so that no power over- or underflows.
    unit = jnp.where((largest > 0) & jnp.isfinite(largest), largest, 1.0)
    powers = jnp.sum((size / unit) ** order, axis=axes)
    return jnp.squeeze(unit, axes) * powers ** (1 / order)
