"""`CovarianceState`: mean and covariance of vectors, in fixed memory."""

from __future__ import annotations

import functools
from typing import Any, Self, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from kmetrics._class_inputs import example_weights
from kmetrics._masks import masked_sums
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
    sum_products_to_pair,
    to_float32,
    to_pair,
    unit_of,
    zero_pair,
)
from kmetrics._register import state
from kmetrics._state import State

# Up to so many entries a vector is treated with more care than speed.
_FEW = 8


@state
class CovarianceState(State):
    """Count, mean and scatter of weighted vectors of `d` entries.

    Of up to 8 entries every sum is kept as a pair. Of more, the scatter of one batch is
    a float32 product of matrices, and batches are added as pairs: an entry is off by
    about 1e-7 of the deviations of its two coordinates.

    Reference: T. F. Chan, G. H. Golub, R. J. LeVeque, Updating formulae and a pairwise
    algorithm for computing sample variances (1979), equation 2.1, for vectors.

    Attributes:
      count: scalar `Pair`, the total weight.
      mean: `Pair` `[d]`; scalar in a state of no data.
      scatter: `Pair` `[d, d]`, Σ weight · z zᵀ of `z = (x - mean) / unit`; scalar
        likewise.
      unit: float32 `[d]`, powers of two about as large as the largest deviation of each
        entry, so that a product neither overflows nor vanishes; scalar likewise.
    """

    count: Pair
    mean: Pair
    scatter: Pair
    unit: Any

    @classmethod
    def from_values(cls, values: Any, mask: Any | None = None) -> Self:
        """The state of vectors `[*b, d]` that the mask, `[*b]` or `[*b, 1]`, keeps."""
        values = to_float32(values)
        weights = example_weights(mask, values.shape[:-1]).ravel()
        return cls(*_moments(values.reshape(-1, values.shape[-1]), weights))

    @classmethod
    def empty(cls) -> Self:
        """The state of no vectors."""
        return cls(zero_pair(), zero_pair(), zero_pair(), NO_UNIT)

    def empty_like(self) -> Self:
        """The state of no vectors of as many entries as those of this one."""
        count, mean, scatter = jax.tree.map(
            np.zeros_like, (self.count, self.mean, self.scatter)
        )
        unit = np.full(np.shape(self.unit), NO_UNIT)
        return type(self)(count, mean, scatter, unit, _parent=self._parent)

    def merge(self, other: Self) -> Self:
        """The state of the vectors of both."""
        parent = self.merged_parent(other)
        if np.ndim(self.mean.hi) == 0 or np.ndim(other.mean.hi) == 0:
            kept = other if np.ndim(self.mean.hi) == 0 else self
            return kept.replace(_parent=parent)
        one, two = ((s.count, s.mean, s.scatter, s.unit) for s in (self, other))
        return type(self)(*_merged(one, two), _parent=parent)

    def compute(self) -> dict[str, Any]:
        """`mean` `[d]` and `cov` `[d, d]`, float64, with the `ddof` of the metric."""
        count, mean, scatter = self.moments()
        freedom = count - getattr(self.parent, "ddof", 0)
        if count == 0:
            mean = np.full_like(mean, self.empty_value())
        if freedom <= 0:
            return {"mean": mean, "cov": np.full_like(scatter, self.empty_value())}
        return {"mean": mean, "cov": scatter / freedom}

    def moments(self) -> tuple[Any, Any, Any]:
        """Count, mean and Σ weight · (x - mean)(x - mean)ᵀ, on the host in float64.

        Under jit they are traced, in float32.
        """
        if is_traced(self):
            scatter = self.scatter.hi * _outer(self.unit)
            return self.count.hi, self.mean.hi, scatter
        parts = (self.count, self.mean, self.scatter, self.unit)
        count, mean, scatter, unit = jax.device_get(parts)
        unit = np.asarray(unit, np.float64)
        return float(count.numpy()), mean.numpy(), scatter.numpy() * _outer(unit)


_Parts: TypeAlias = tuple[Pair, Pair, Pair, Any]


def _outer(unit: Any) -> Any:
    """The unit of each entry of a scatter."""
    return unit[..., :, None] * unit[..., None, :] if np.ndim(unit) else unit**2


# One compiled call when used outside jit, and plain operations inside.
@functools.partial(jax.jit, inline=True)
def _merged(one: _Parts, two: _Parts) -> _Parts:
    count = add_pairs(one[0], two[0])
    share = divide_pairs(two[0], count)
    gap = add_pairs(two[1], negate_pair(one[1]))
    mean = add_pairs(one[1], multiply_pairs(gap, share))
    unit = jnp.maximum(jnp.maximum(one[3], two[3]), unit_of(jnp.abs(gap.hi)))
    gap = in_unit(gap, unit)
    outer = multiply_pairs(
        Pair(gap.hi[:, None], gap.lo[:, None]), Pair(gap.hi[None], gap.lo[None])
    )
    between = multiply_pairs(outer, multiply_pairs(one[0], share))
    within = add_pairs(_rescaled(one, unit), _rescaled(two, unit))
    return count, mean, add_pairs(within, between), unit


def _rescaled(moments: _Parts, unit: jax.Array) -> Pair:
    """The scatter in other units, not below its own."""
    factor = moments[3] / unit
    return scale_pair(scale_pair(moments[2], factor[:, None]), factor)


@functools.partial(jax.jit, inline=True)
def _moments(rows: jax.Array, weights: jax.Array) -> _Parts:
    """The parts of the state of vectors `[m, d]` with weights `[m]`."""
    keep = weights != 0
    total, counts = jax.vmap(lambda column: masked_sums(column, weights), 1)(rows)
    mean = divide_pairs(total, counts)
    centred = jnp.where(keep[:, None], rows - mean.hi - mean.lo, 0.0)
    unit = unit_of(jnp.max(jnp.abs(centred), axis=0, initial=0.0))
    centred = centred / unit
    weighted = jnp.where(keep, to_float32(weights), 0.0)[:, None] * centred
    scatter = _products(weighted, centred)
    count = Pair(counts.hi[0], counts.lo[0])
    return count, mean, scatter, unit


def _products(a: jax.Array, b: jax.Array) -> Pair:
    """`aᵀ b` of `[m, d]`, as a pair `[d, d]`."""
    if a.shape[1] > _FEW:
        return to_pair(jnp.matmul(a.T, b, precision="highest"))
    return jax.vmap(jax.vmap(sum_products_to_pair, (None, 1)), (1, None))(a, b)
