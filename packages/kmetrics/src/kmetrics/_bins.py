"""Counting values in bins, exactly, and what the counts tell.

Reference for the quantiles: C. Masson, J. E. Rim, H. K. Lee, DDSketch: a fast and
fully-mergeable quantile sketch with relative-error guarantees (2019).
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kmetrics._masks import align_left
from kmetrics._numerics import (
    Pair,
    add_pairs,
    power_of_two,
    to_float32,
    to_pair,
    wide_integers,
)
from kmetrics._options import check_number

# Of the ends of bins, near the largest float32.
LARGEST = 3e38


@functools.partial(jax.jit, static_argnames="size", inline=True)
def count_bins(index: Any, size: int, mask: Any | None = None) -> Pair:
    """How often each index occurs, as a pair `[size]`.

    Args:
      index: integers of any shape; those outside of [0, size) are not counted.
      size: the number of bins.
      mask: bools that select, or numbers that weigh; lines up from the left.
    """
    index = jnp.asarray(index)
    if mask is None:
        amount = jnp.ones(index.shape, jnp.int32)
    else:
        mask = jnp.broadcast_to(align_left(mask, index.shape), index.shape)
        if mask.dtype != jnp.bool_:
            return sum_bins(index, size, mask)
        amount = mask.astype(jnp.int32)
    return to_pair(_added(index, size, amount))


@functools.partial(jax.jit, static_argnames="size", inline=True)
def sum_bins(index: Any, size: int, values: Any) -> Pair:
    """The sum of the values in each bin, as a pair `[size]`.

    Added one by one in float32, a million values lose four digits. Here the upper 16
    bits of each are whole numbers, whose sums are exact, and only what is left below
    them is added in float32: of a million values the mean is off by less than 1e-7 of
    the largest magnitude.

    Args:
      index: integers of any shape; those outside of [0, size) are not counted.
      size: the number of bins.
      values: real numbers, same shape; an infinity or NaN is that of its bin alone.
    """
    values = to_float32(values).astype(jnp.float32)
    is_finite = jnp.isfinite(values)
    rest = jnp.where(is_finite, values, 0.0)
    unit = power_of_two(jnp.max(jnp.abs(rest), initial=0.0))
    rest = rest / unit
    # As many bits as the sum of so many numbers has room for in 32.
    bits = max(1, min(16, 30 - values.size.bit_length()))
    parts, scale = [], 1.0
    # Three bits are in front of the point already.
    for shift in (bits - 3, *[bits] * (math.ceil(16 / bits) - 1)):
        rest, scale = rest * 2.0**shift, scale / 2.0**shift
        whole = jnp.round(rest)
        rest = rest - whole
        part = to_pair(_added(index, size, whole.astype(jnp.int32)))
        parts.append(Pair(part.hi * scale, part.lo * scale))
    rest = jnp.where(is_finite, rest * scale, values)
    parts.append(to_pair(_added(index, size, rest)))
    total, rest = (half * unit for half in functools.reduce(add_pairs, parts))
    return Pair(total, jnp.where(jnp.isfinite(total), rest, 0.0))


def _added(index: jax.Array, size: int, amount: jax.Array) -> jax.Array:
    index = wide_integers(index)
    # A negative index would count from the end.
    place = jnp.where(index < 0, size, index).ravel()
    return jnp.zeros(size, amount.dtype).at[place].add(amount.ravel(), mode="drop")


@functools.partial(jax.jit, static_argnames="edges", inline=True)
def bin_of(values: Any, edges: tuple[float, ...]) -> jax.Array:
    """The bin of each value: bin `i` is [edges[i], edges[i + 1]), the last one closed.

    Below the first edge it is -1; above the last, and for NaN, no bin either.
    """
    values = to_float32(values)
    bounds = jnp.asarray(edges, jnp.float32)
    index = jnp.searchsorted(bounds, values, side="right") - 1
    return jnp.where(values == bounds[-1], len(edges) - 2, index)


@dataclasses.dataclass(frozen=True)
class LogBins:
    """Bins whose width is a fixed share of the value, for quantiles.

    Attributes:
      rel_err: the largest relative error of a quantile, in (0, 1).
      smallest: magnitudes below it count as 0.
      largest: magnitudes above it count as it.
    """

    rel_err: float
    smallest: float = 1e-9
    largest: float = 1e9

    def __post_init__(self) -> None:
        for name in ("rel_err", "smallest", "largest"):
            check_number(name, getattr(self, name))
        if not 0 < self.rel_err < 1:
            raise ValueError(f"rel_err must be in (0, 1)\n  got {self.rel_err!r}")
        if not 0 < self.smallest < self.largest < LARGEST:
            raise ValueError(
                "smallest and largest must be above 0 and in order\n"
                f"  got {self.smallest!r} and {self.largest!r}"
            )

    @property
    def growth(self) -> float:
        """The ratio of the two ends of a bin."""
        return (1 + self.rel_err) / (1 - self.rel_err)

    @property
    def half(self) -> int:
        """The number of bins on each side of 0."""
        ratio = math.log(self.largest / self.smallest) / math.log(self.growth)
        return math.ceil(ratio) + 1

    @property
    def size(self) -> int:
        """The number of bins: negative, 0, positive."""
        return 2 * self.half + 1

    @functools.partial(jax.jit, static_argnums=0, inline=True)
    def index(self, values: Any) -> jax.Array:
        """The bin of each value; -1, which is not counted, for NaN."""
        values = to_float32(values)
        size = jnp.clip(jnp.abs(values), self.smallest, self.largest)
        place = jnp.floor(jnp.log(size / self.smallest) / math.log(self.growth))
        place = 1 + jnp.clip(place.astype(jnp.int32), 0, self.half - 1)
        place = jnp.where(jnp.abs(values) < self.smallest, 0, place)
        index = self.half + jnp.where(values < 0, -place, place)
        return jnp.where(jnp.isnan(values), -1, index)

    @functools.cached_property
    def centres(self) -> np.ndarray:
        """The value that stands for each bin, float64 `[size]`, ascending."""
        lower = self.smallest * self.growth ** np.arange(self.half)
        middle = 2 * lower * self.growth / (self.growth + 1)
        return np.concatenate([-middle[::-1], [0.0], middle])

    def quantile(self, counts: np.ndarray, q: float) -> float:
        """The value below which the share `q` of the data lies; NaN without data."""
        total = counts.sum()
        if total == 0:
            return math.nan
        rank = q * (total - 1) if total > 1 else 0.0
        at = np.searchsorted(np.cumsum(counts), rank, side="right")
        return float(self.centres[min(at, self.size - 1)])
