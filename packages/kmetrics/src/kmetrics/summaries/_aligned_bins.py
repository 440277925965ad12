"""Counts in bins whose width grows with the data, and that still merge exactly.

All bins are `2**exponent` wide and begin at a multiple of that, so two bins become one
of twice the width without a count in between being split. The exponent is the smallest
one for which all data fits; it depends on the lowest and the highest value alone, not
on how the data came.
"""

from __future__ import annotations

import functools
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from kmetrics._bins import count_bins
from kmetrics._numerics import Pair, add_pairs, is_traced, sum_to_pair, zero_pair

# The place of a value is counted in units of 2**-24 of the largest one: in float32 it
# is exact, and in int32 it does not overflow.
_DIGITS = 24
_SMALLEST_EXPONENT = -100
_SHIFTS = 32


class AlignedCounts(NamedTuple):
    """How much lies in each of some bins of equal width.

    Attributes:
      counts: a `Pair` `[n]`, of the bins `first`, `first + 1`, ...; the first one is
        not empty unless all are.
      first: int32, the number of the first bin: it begins at `first * 2**exponent`.
      exponent: int32.
    """

    counts: Pair
    first: Any
    exponent: Any


class CountedBins(NamedTuple):
    """What `compute` sees: the bins from the first to the last that hold anything.

    Attributes:
      counts: float64 `[n]`.
      edges: float64 `[n + 1]`.
    """

    counts: np.ndarray
    edges: np.ndarray


@functools.partial(jax.jit, static_argnames="size", inline=True)
def count_aligned(
    values: jax.Array, size: int, counted: jax.Array, weights: Any | None
) -> AlignedCounts:
    """Counts finite values in at most `size` bins.

    Args:
      values: float32, any shape.
      size: the number of bins, at least 2.
      counted: bool, same shape; what is not counted may be anything.
      weights: bools or numbers that line up with the values from the left.
    """
    low = jnp.min(values, where=counted, initial=jnp.inf)
    high = jnp.max(values, where=counted, initial=-jnp.inf)
    is_empty = low > high
    low, high = (jnp.where(is_empty, 0.0, end) for end in (low, high))
    largest = jnp.maximum(jnp.abs(low), jnp.abs(high))
    start = jnp.frexp(largest)[1].astype(jnp.int32) - _DIGITS
    start = jnp.where(largest == 0, _SMALLEST_EXPONENT, start)
    start = jnp.maximum(start, _SMALLEST_EXPONENT)

    def place(x: jax.Array) -> jax.Array:
        scaled = jnp.ldexp(x, -start)
        # What is too small for a float32 became 0, but still lies below it.
        is_just_below = (x < 0) & (scaled > -1)
        return jnp.where(is_just_below, -1, jnp.floor(scaled)).astype(jnp.int32)

    shift = _fitting_shift(place(low), place(high), size)
    first = place(low) >> shift
    index = (place(jnp.where(counted, values, low)) >> shift) - first
    counts = count_bins(jnp.where(counted, index, -1), size, weights)
    return AlignedCounts(counts, first, start + shift)


def _fitting_shift(low: jax.Array, high: jax.Array, size: int) -> jax.Array:
    """How often bins must be joined in twos until `size` hold all from low to high."""
    shifts = jnp.arange(_SHIFTS)
    fits = (high >> shifts) - (low >> shifts) < size
    return jnp.argmax(fits).astype(jnp.int32)


class Aligned:
    """A field of `AlignedCounts`."""

    device: ClassVar[bool] = True
    lane: ClassVar[str] = ""
    node: ClassVar[type] = AlignedCounts
    nothing: ClassVar[Any] = CountedBins(np.zeros(0), np.zeros(1))

    def store(self, leaf: Any) -> AlignedCounts:
        raise TypeError(f"expected AlignedCounts\n  got {type(leaf).__name__}")

    def merge(self, a: AlignedCounts, b: AlignedCounts) -> AlignedCounts:
        return _merge(a, b)

    def show(self, stored: AlignedCounts) -> Any:
        if is_traced(stored):
            return stored
        counts = stored.counts.numpy()
        filled = np.flatnonzero(counts)
        if not filled.size:
            return self.nothing
        counts = counts[: filled[-1] + 1]
        numbers = int(stored.first) + np.arange(len(counts) + 1)
        return CountedBins(counts, np.ldexp(numbers.astype(float), stored.exponent))

    def empty_like(self, stored: AlignedCounts) -> AlignedCounts:
        zero = jnp.int32(0)
        counts = zero_pair(np.shape(stored.counts.hi))
        return AlignedCounts(counts, zero, jnp.int32(_SMALLEST_EXPONENT))


@functools.partial(jax.jit, inline=True)
def _merge(a: AlignedCounts, b: AlignedCounts) -> AlignedCounts:
    size = a.counts.hi.shape[0]
    ends_a, ends_b = _ends(a), _ends(b)
    exponent = jnp.maximum(
        jnp.where(ends_a.is_empty, _SMALLEST_EXPONENT, a.exponent),
        jnp.where(ends_b.is_empty, _SMALLEST_EXPONENT, b.exponent),
    )
    low = jnp.minimum(ends_a.low_at(exponent), ends_b.low_at(exponent))
    high = jnp.maximum(ends_a.high_at(exponent), ends_b.high_at(exponent))
    nothing = ends_a.is_empty & ends_b.is_empty
    low, high = jnp.where(nothing, 0, low), jnp.where(nothing, 0, high)
    shift = _fitting_shift(low, high, size)
    exponent, first = exponent + shift, low >> shift
    counts = add_pairs(_joined(a, exponent, first), _joined(b, exponent, first))
    return AlignedCounts(counts, first, exponent)


class _Ends(NamedTuple):
    """The first and the last bin that hold anything."""

    low: jax.Array
    high: jax.Array
    exponent: jax.Array
    is_empty: jax.Array

    def low_at(self, exponent: jax.Array) -> jax.Array:
        place = self.low >> _steps(self.exponent, exponent)
        return jnp.where(self.is_empty, jnp.iinfo(jnp.int32).max, place)

    def high_at(self, exponent: jax.Array) -> jax.Array:
        place = self.high >> _steps(self.exponent, exponent)
        return jnp.where(self.is_empty, jnp.iinfo(jnp.int32).min, place)


def _ends(bins: AlignedCounts) -> _Ends:
    filled = jnp.asarray(bins.counts.hi) > 0
    first = jnp.asarray(bins.first)
    last = filled.shape[0] - 1 - jnp.argmax(filled[::-1])
    low, high = first + jnp.argmax(filled), first + last
    return _Ends(low, high, jnp.asarray(bins.exponent), ~jnp.any(filled))


def _steps(old: jax.Array, new: jax.Array) -> jax.Array:
    return jnp.clip(new - old, 0, _SHIFTS - 1)


def _joined(bins: AlignedCounts, exponent: jax.Array, first: jax.Array) -> Pair:
    """The counts in the bins of a larger width, from `first` on."""
    size = bins.counts.hi.shape[0]
    numbers = jnp.asarray(bins.first) + jnp.arange(size, dtype=jnp.int32)
    place = (numbers >> _steps(jnp.asarray(bins.exponent), exponent)) - first
    is_in = place == jnp.arange(size)[:, None]
    halves = (jnp.where(is_in, half, 0.0) for half in bins.counts)
    return add_pairs(*(jax.vmap(sum_to_pair)(rows) for rows in halves))
