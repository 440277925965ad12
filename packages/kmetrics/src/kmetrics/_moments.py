"""`MomentsState`: mean and variance that survive a large offset and any split."""

from __future__ import annotations

import functools
from typing import Any, Self, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from kmetrics._errors import HostOnlyError
from kmetrics._masks import align_left, masked_sums
from kmetrics._numerics import (
    NO_UNIT,
    Pair,
    add_pairs,
    divide_pairs,
    in_unit,
    is_traced,
    multiply_pairs,
    negate_pair,
    scale_pair,
    to_float32,
    unit_of,
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
      deviations: scalar `Pair`, Σ weight · ((value - mean) / unit)².
      unit: scalar float32, a power of two about as large as the largest deviation, so
        that a square neither overflows nor vanishes.
    """

    count: Pair
    mean: Pair
    deviations: Pair
    unit: Any = np.float32(1)

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
        return cls(count, mean, *_deviations(values, mean, mask, weights))

    @classmethod
    def empty(cls) -> Self:
        """The state of no values."""
        return cls(zero_pair(), zero_pair(), zero_pair(), NO_UNIT)

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
        count, _, deviations = self.moments()
        freedom = count - getattr(self.parent, "ddof", 0)
        too_few = freedom <= 0
        variance = np.maximum(deviations, 0.0) / np.where(too_few, 1.0, freedom)
        spread = np.sqrt(variance)
        if too_few.any():
            spread = np.where(too_few, self.empty_value(), spread)
        return spread.item() if spread.ndim == 0 else spread

    def moments(self) -> tuple[Any, Any, Any]:
        """Count, mean and Σ weight · (value - mean)², on the host in float64.

        Under jit they are traced, in float32.
        """
        if is_traced(self):
            deviations = self.deviations.hi * self.unit * self.unit
            return self.count.hi, self.mean.hi, deviations
        count, mean, deviations, unit = jax.device_get(_parts(self))
        square = np.asarray(unit, np.float64) ** 2
        return count.numpy(), mean.numpy(), deviations.numpy() * square


_Parts: TypeAlias = tuple[Pair, Pair, Pair, Any]


def _parts(moments: MomentsState) -> _Parts:
    return moments.count, moments.mean, moments.deviations, moments.unit


# One compiled call when used outside jit, and plain operations inside.
@functools.partial(jax.jit, inline=True)
def _deviations(
    values: Any, mean: Pair, mask: Any, weights: Any
) -> tuple[Pair, jax.Array]:
    distance = (to_float32(values) - mean.hi) - mean.lo
    for part in (mask, weights):
        if part is not None:
            keep = align_left(part, distance.shape) != 0
            distance = jnp.where(keep, distance, 0.0)
    unit = unit_of(jnp.max(jnp.abs(distance), initial=0.0))
    share = distance / unit
    return masked_sums(share * share, mask, weights)[0], unit


@functools.partial(jax.jit, inline=True)
def _merged(one: _Parts, two: _Parts) -> _Parts:
    count = add_pairs(one[0], two[0])
    share = divide_pairs(two[0], count)
    gap = add_pairs(two[1], negate_pair(one[1]))
    mean = add_pairs(one[1], multiply_pairs(gap, share))
    unit = jnp.maximum(jnp.maximum(one[3], two[3]), unit_of(jnp.abs(gap.hi)))
    gap = in_unit(gap, unit)
    between = multiply_pairs(multiply_pairs(gap, gap), multiply_pairs(one[0], share))
    within = add_pairs(_rescaled(one, unit), _rescaled(two, unit))
    return count, mean, add_pairs(within, between), unit


def _rescaled(moments: _Parts, unit: jax.Array) -> Pair:
    """The deviations in another unit, not below their own."""
    factor = moments[3] / unit
    return scale_pair(scale_pair(moments[2], factor), factor)
