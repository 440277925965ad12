"""`CovarianceState`: mean and covariance of vectors, in fixed memory."""

from __future__ import annotations

import functools
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from kmetrics._class_inputs import example_weights
from kmetrics._masks import masked_sums
from kmetrics._numerics import (
    Pair,
    add_pairs,
    divide_pairs,
    multiply_pairs,
    negate_pair,
    to_float32,
    to_pair,
    zero_pair,
)
from kmetrics._register import state
from kmetrics._state import State


@state
class CovarianceState(State):
    """Count, mean and scatter of weighted vectors of `d` entries.

    The scatter of one batch is a float32 product of matrices, batches are added as
    pairs: an entry is off by about 1e-7 of the deviations of its two coordinates.

    Reference: T. F. Chan, G. H. Golub, R. J. LeVeque, Updating formulae and a pairwise
    algorithm for computing sample variances (1979), equation 2.1, for vectors.

    Attributes:
      count: scalar `Pair`, the total weight.
      mean: `Pair` `[d]`; scalar in a state of no data.
      scatter: `Pair` `[d, d]`, Σ weight · (x - mean)(x - mean)ᵀ; scalar likewise.
    """

    count: Pair
    mean: Pair
    scatter: Pair

    @classmethod
    def from_values(cls, values: Any, mask: Any | None = None) -> Self:
        """The state of vectors `[*b, d]` that the mask, `[*b]` or `[*b, 1]`, keeps."""
        values = to_float32(values)
        weights = example_weights(mask, values.shape[:-1]).ravel()
        return cls(*_moments(values.reshape(-1, values.shape[-1]), weights))

    @classmethod
    def empty(cls) -> Self:
        """The state of no vectors."""
        return cls(count=zero_pair(), mean=zero_pair(), scatter=zero_pair())

    def merge(self, other: Self) -> Self:
        """The state of the vectors of both."""
        parent = self.merged_parent(other)
        if np.ndim(self.mean.hi) == 0 or np.ndim(other.mean.hi) == 0:
            kept = other if np.ndim(self.mean.hi) == 0 else self
            return kept.replace(_parent=parent)
        count = add_pairs(self.count, other.count)
        share = divide_pairs(other.count, count)
        gap = add_pairs(other.mean, negate_pair(self.mean))
        outer = multiply_pairs(
            Pair(gap.hi[:, None], gap.lo[:, None]), Pair(gap.hi[None], gap.lo[None])
        )
        between = multiply_pairs(outer, multiply_pairs(self.count, share))
        within = add_pairs(self.scatter, other.scatter)
        return type(self)(
            count=count,
            mean=add_pairs(self.mean, multiply_pairs(gap, share)),
            scatter=add_pairs(within, between),
            _parent=parent,
        )

    def compute(self) -> dict[str, Any]:
        """`mean` `[d]` and `cov` `[d, d]`, float64, with the `ddof` of the metric."""
        count, mean, scatter = self.moments()
        freedom = count - getattr(self.parent, "ddof", 0)
        if count == 0:
            mean = np.full_like(mean, self.empty_value())
        if freedom <= 0:
            return {"mean": mean, "cov": np.full_like(scatter, self.empty_value())}
        return {"mean": mean, "cov": scatter / freedom}

    def moments(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Count, mean and scatter, on the host in float64."""
        fetched = jax.device_get((self.count, self.mean, self.scatter))
        count, mean, scatter = (pair.numpy() for pair in fetched)
        return float(count), mean, scatter


@functools.partial(jax.jit, inline=True)
def _moments(rows: jax.Array, weights: jax.Array) -> tuple[Pair, Pair, Pair]:
    """Count, mean and scatter of vectors `[m, d]` with weights `[m]`."""
    # Near the middle first: a weight times a large number would be rounded.
    keep = weights != 0
    middle = divide_pairs(*_column_sums(rows, keep))
    near = jnp.where(keep[:, None], rows - middle.hi - middle.lo, 0.0)
    total, counts = _column_sums(near, weights)
    shift = divide_pairs(total, counts)
    centred = jnp.where(keep[:, None], near - shift.hi - shift.lo, 0.0)
    weighted = jnp.where(keep, to_float32(weights), 0.0)[:, None] * centred
    scatter = jnp.matmul(weighted.T, centred, precision="highest")
    count = Pair(counts.hi[0], counts.lo[0])
    return count, add_pairs(middle, shift), to_pair(scatter)


def _column_sums(rows: jax.Array, weights: jax.Array) -> tuple[Pair, Pair]:
    """The weighted sum, and the weight, of each column; `Pair` `[d]`."""
    return jax.vmap(lambda column: masked_sums(column, weights), in_axes=1)(rows)
