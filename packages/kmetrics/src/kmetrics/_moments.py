"""`MomentsState`: mean and variance that survive a large offset and any split."""

from __future__ import annotations

import functools
from typing import Any, Self

import jax
import numpy as np

from kmetrics._errors import HostOnlyError
from kmetrics._masks import masked_sums
from kmetrics._numerics import (
    Pair,
    add_pairs,
    divide_pairs,
    is_traced,
    multiply_pairs,
    negate_pair,
    to_float32,
    zero_pair,
)
from kmetrics._register import state
from kmetrics._state import State


@state
class MomentsState(State):
    """Count, mean and sum of squared deviations of weighted values.

    Reference: T. F. Chan, G. H. Golub, R. J. LeVeque, Updating formulae and a pairwise
    algorithm for computing sample variances (1979), equation 2.1; here in pairs.

    Attributes:
      count: scalar `Pair`, the total weight.
      mean: scalar `Pair`.
      deviations: scalar `Pair`, Σ weight · (value - mean)².
    """

    count: Pair
    mean: Pair
    deviations: Pair

    @classmethod
    def from_values(
        cls, values: Any, mask: Any | None = None, weights: Any | None = None
    ) -> Self:
        """The moments of all elements of `values` that the mask keeps.

        Args:
          values: real array of any shape and dtype.
          mask: bools or non-negative numbers, lined up with `values` from the left.
          weights: non-negative numbers, lined up in the same way.

        Raises:
          MaskShapeError: mask or weights do not line up.
        """
        total, count = masked_sums(values, mask, weights)
        mean = divide_pairs(total, count)
        return cls(count, mean, _deviations(values, mean, mask, weights))

    @classmethod
    def empty(cls) -> Self:
        """The state of no values."""
        return cls(count=zero_pair(), mean=zero_pair(), deviations=zero_pair())

    def merge(self, other: Self) -> Self:
        """The moments of the values of both."""
        parent = self.merged_parent(other)
        return type(self)(*_merged(_parts(self), _parts(other)), _parent=parent)

    def compute(self) -> Any:
        """The standard deviation, as a float, with the `ddof` of the metric or 0.

        Where the count is not above `ddof` it is what `on_empty` of the metric says.

        Raises:
          HostOnlyError: called under jit.
        """
        if is_traced(self):
            raise HostOnlyError(
                "a standard deviation is computed on the host, not under jit\n"
                "return the state from the jitted function and call compute on it there"
            )
        count, deviations = (
            pair.numpy() for pair in jax.device_get((self.count, self.deviations))
        )
        freedom = count - getattr(self.parent, "ddof", 0)
        too_few = freedom <= 0
        variance = np.maximum(deviations, 0.0) / np.where(too_few, 1.0, freedom)
        spread = np.sqrt(variance)
        if too_few.any():
            spread = np.where(too_few, self.empty_value(), spread)
        return spread.item() if spread.ndim == 0 else spread


def _parts(moments: MomentsState) -> tuple[Pair, Pair, Pair]:
    return moments.count, moments.mean, moments.deviations


# One compiled call when used outside jit, and plain operations inside.
@functools.partial(jax.jit, inline=True)
def _deviations(values: Any, mean: Pair, mask: Any, weights: Any) -> Pair:
    distance = (to_float32(values) - mean.hi) - mean.lo
    return masked_sums(distance * distance, mask, weights)[0]


@functools.partial(jax.jit, inline=True)
def _merged(
    one: tuple[Pair, Pair, Pair], two: tuple[Pair, Pair, Pair]
) -> tuple[Pair, Pair, Pair]:
    count = add_pairs(one[0], two[0])
    share = divide_pairs(two[0], count)
    gap = add_pairs(two[1], negate_pair(one[1]))
    between = multiply_pairs(multiply_pairs(gap, gap), multiply_pairs(one[0], share))
    within = add_pairs(one[2], two[2])
    mean = add_pairs(one[1], multiply_pairs(gap, share))
    return count, mean, add_pairs(within, between)
