"""`Norm`: the norm of a tensor, of a tree of them, and over batches."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self, TypeAlias

import jax
import jax.numpy as jnp

import kontext
from kmetrics._average import AverageState
from kmetrics._masks import align_left
from kmetrics._metric import Metric, OnEmpty
from kmetrics._numerics import is_traced, power_of_two, to_float32
from kmetrics._options import Whole, number
from kmetrics._register import state
from ktyping import Array, Bool, Real, typechecked

_Order: TypeAlias = Annotated[float, number("0 or more, or inf", lambda x: x >= 0)]


@state
class SumState(AverageState):
    """An `AverageState` whose value is the sum."""

    def compute(self) -> Any:
        """The sum; what `on_empty` of the metric says if nothing counts."""
        if is_traced((self.total, self.count)):
            return jnp.where(self.count.hi == 0, jnp.nan, self.total.hi)
        if not self.count.numpy():
            return self.empty_value()
        return float(self.total.numpy())


@state
class LastState(AverageState):
    """An `AverageState` that keeps what was merged last."""

    def merge(self, other: Self) -> Self:
        """The other state, unless nothing counts there."""
        parent = self.merged_parent(other)
        is_empty = jnp.asarray(other.count.hi) == 0
        total, count = jax.tree.map(
            lambda a, b: jnp.where(is_empty, a, b),
            (self.total, self.count),
            (other.total, other.count),
        )
        return type(self)(total=total, count=count, _parent=parent)

    def merge_parts(self, other: Self) -> Self:
        """The mean over both, which are of one batch."""
        return super().merge(other)


_STATES: dict[str, type[AverageState]] = {
    "mean": AverageState,
    "sum": SumState,
    "last": LastState,
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Norm(Metric):
    """The norm `(Σ |x|^ord)^(1/ord)` of a tensor.

    Over several batches it is the mean of the norms, each norm counting once, or what
    `across` says.

    Attributes:
      tensor: path of real numbers of any shape.
      mask: path of bools or non-negative numbers, lined up from the left with the
        tensor without the axes of the norm.
      ord: the order, 0 or more; `inf` for the largest, 0 for the number of entries
        that are not 0.
      axis: the axes of one vector; None for all, the tensor is one vector.
      aggregation: "average": the mean of the norms of the vectors. "concat": the norm
        of all vectors as one.
      across: over several batches "mean": the mean of the norms. "sum": their sum.
        "last": of the norms of the batch that was merged last, their mean.
      on_empty: the value if nothing counts: "nan", "zero", or "raise".

    Raises:
      ValueError: an option is not known, or an axis does not exist.
    """

    State = AverageState

    tensor: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    ord: _Order = 2.0
    axis: Whole | tuple[Whole, ...] | None = -1
    aggregation: Literal["average", "concat"] = "average"
    across: Literal["mean", "sum", "last"] = "mean"
    on_empty: OnEmpty = "nan"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.aggregation not in ("average", "concat"):
            raise ValueError(
                f"Norm: aggregation={self.aggregation!r} is not known\n"
                'use "average" or "concat"'
            )
        if self.across not in _STATES:
            raise ValueError(
                f"Norm: across={self.across!r} is not known\n"
                'use "mean", "sum" or "last"'
            )

    def empty(self) -> Any:
        """The state of no data."""
        return _STATES[self.across].empty().with_parent(self)

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
            return self._state(_norm(tensor, axes, self.ord), mask)
        counts = None
        if mask is not None:
            rest = [n for i, n in enumerate(tensor.shape) if i not in axes]
            keep = align_left(jnp.asarray(mask) != 0, tuple(rest))
            tensor = jnp.where(jnp.expand_dims(keep, axes), tensor, 0.0)
            counts = jnp.any(keep)
        whole = tuple(range(tensor.ndim))
        return self._state(_norm(tensor, whole, self.ord), counts)

    def merge_leaves(self, states: Sequence[Any]) -> Any:
        """With aggregation "concat" the norm of all leaves as one vector."""
        if self.aggregation == "average":
            # Leaves are not batches: "last" does not hold among them.
            return functools.reduce(AverageState.merge, states)
        norms = jnp.stack([state.total.hi for state in states])
        counts = jnp.stack([state.count.hi for state in states])
        # The number of entries that are not 0 is itself a sum over the leaves.
        whole = jnp.sum(norms) if self.ord == 0 else _norm(norms, (0,), self.ord)
        total = self._state(whole, jnp.any(counts != 0))
        return total.with_parent(self)

    def _state(self, norms: jax.Array, mask: Any | None) -> Any:
        return _STATES[self.across].from_values(norms, mask)

    def _axes(self, rank: int) -> tuple[int, ...]:
        axis = range(rank) if self.axis is None else self.axis
        axes = (axis,) if isinstance(axis, int) else tuple(axis)
        if any(not -rank <= a < rank for a in axes):
            raise ValueError(
                f"Norm: axis={self.axis} does not exist in a tensor of {rank} axes\n"
                "use axis=None for the norm of the whole tensor"
            )
        positive = sorted(a % rank for a in axes)
        if len(set(positive)) < len(positive):
            raise ValueError(f"Norm: axis={self.axis} names one axis twice")
        return tuple(positive)


def _norm(x: jax.Array, axes: tuple[int, ...], order: float) -> jax.Array:
    size = jnp.abs(x)
    if order == 0:
        return jnp.sum(size != 0, axis=axes).astype(jnp.float32)
    largest = jnp.max(size, axis=axes, keepdims=True, initial=0.0)
    if math.isinf(order):
        return jnp.squeeze(largest, axes)
    # Relative to the largest entry, so that no power over- or underflows; in two steps,
    # because XLA multiplies by the inverse, which may not be 0 either.
    unit = power_of_two(largest)
    rest = jnp.where((largest > 0) & jnp.isfinite(largest), largest / unit, 1.0)
    powers = jnp.sum((size / unit / rest) ** order, axis=axes)
    return jnp.squeeze(unit, axes) * (jnp.squeeze(rest, axes) * powers ** (1 / order))
