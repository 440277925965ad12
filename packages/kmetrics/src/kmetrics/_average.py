"""`AverageState`: a masked, weighted mean that is exact however the data was split."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from kmetrics._masks import masked_sums
from kmetrics._numerics import Pair, add_each, to_pair, zero_pair
from kmetrics._register import state
from kmetrics._state import State


@state
class AverageState(State):
    """Σ values · mask · weights and Σ mask · weights, each as a float32 pair.

    Attributes:
      total: scalar `Pair`, the weighted sum; a number given here becomes one.
      count: scalar `Pair`, the total weight.
    """

    total: Any
    count: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("total", "count"):
            value = self.__dict__[name]
            if type(value) is not Pair:
                self.__dict__[name] = to_pair(value)

    @classmethod
    def from_values(
        cls, values: Any, mask: Any | None = None, weights: Any | None = None
    ) -> Self:
        """The mean over all elements of `values` that the mask keeps.

        Args:
          values: real array of any shape and dtype.
          mask: bools that select or non-negative numbers that weigh; its axes are
            the first axes of `values`, so `[b]` on `[b, n]` keeps or drops rows.
            Where it is 0 the value is ignored, NaN included.
          weights: non-negative numbers that line up in the same way.

        Raises:
          MaskShapeError: mask or weights do not line up.
          ValueError: a weight is negative (not seen under jit).
        """
        total, count = masked_sums(values, mask, weights)
        return cls(total=total, count=count)

    @property
    def adds_up(self) -> bool:
        """True, unless a subclass merges in another way."""
        return type(self).merge is AverageState.merge

    @classmethod
    def empty(cls) -> Self:
        """The state of no values."""
        return cls(total=zero_pair(), count=zero_pair())

    def merge(self, other: Self) -> Self:
        """The mean over the values of both."""
        parent = self.merged_parent(other)
        total, count = add_each((self.total, self.count), (other.total, other.count))
        return type(self)(total=total, count=count, _parent=parent)

    def compute(self) -> Any:
        """The mean, as a float; NaN if nothing counts (see `on_empty` of the metric).

        Under jit, vmap or grad it is a traced float32 scalar, and NaN if nothing counts
        whatever the metric says.
        """
        if self.total.is_traced or self.count.is_traced:
            return mean_of(self.total, self.count, empty=jnp.nan)
        return host_mean(self.total, self.count, if_empty=self.empty_value)


def mean_of(total: Pair, count: Pair, *, empty: float) -> jax.Array:
    """`total / count` in float32, differentiable; `empty` where the count is 0."""
    nothing = count.hi == 0
    return jnp.where(nothing, empty, total.hi / jnp.where(nothing, 1.0, count.hi))


def host_mean(total: Pair, count: Pair, *, if_empty: Callable[[], float]) -> Any:
    """`total / count` in float64 on the host; `if_empty()` where the count is 0."""
    # float(jax_array) takes four times as long as by way of numpy.
    halves = [np.asarray(half) for half in (*total, *count)]
    if halves[2].ndim == 0:
        total_hi, total_lo, count_hi, count_lo = map(float, halves)
        counted = count_hi + count_lo
        return (total_hi + total_lo) / counted if counted else if_empty()
    totals, counts = total.numpy(), count.numpy()
    nothing = counts == 0
    means = totals / np.where(nothing, 1.0, counts)
    return np.where(nothing, if_empty(), means) if nothing.any() else means
