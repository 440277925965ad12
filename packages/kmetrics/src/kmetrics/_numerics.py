"""Sums that stay exact: pairs of float32 numbers and the arithmetic on them.

A pair holds a number as `hi + lo` with `|lo| <= ulp(hi) / 2`, about 48 significant
bits, on every device and without 64-bit types.

Reference: T. J. Dekker, A floating-point technique for extending the available
precision (1971), for the pair operations; T. Ogita, S. M. Rump, S. Oishi, Accurate sum
and dot product (2005), algorithm 4.4, for the sum of an array.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

# One compiled call when used outside jit, and plain operations inside.
_compiled = functools.partial(jax.jit, inline=True)


class Pair(NamedTuple):
    """A number, or an array of numbers, kept as the sum of two float32 halves.

    Attributes:
      hi: the number rounded to float32, any shape.
      lo: what the rounding left out, same shape.
    """

    hi: Any
    lo: Any

    def numpy(self) -> np.ndarray:
        """The number in float64, on the host; same shape as `hi`."""
        return np.asarray(self.hi, np.float64) + np.asarray(self.lo, np.float64)

    @property
    def is_traced(self) -> bool:
        """Whether it has no value yet, because jit is tracing."""
        tracer = jax.core.Tracer
        return isinstance(self.hi, tracer) or isinstance(self.lo, tracer)


def is_traced(tree: Any) -> bool:
    """Whether any leaf of `tree` is a tracer, hence has no value yet."""
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(tree))


def to_float32(x: Any) -> jax.Array:
    """`x` as a float array of at least 32 bits; integers and bools become float32."""
    x = jnp.asarray(x)
    if jnp.issubdtype(x.dtype, jnp.floating) and x.dtype.itemsize >= 4:
        return x
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        raise TypeError(
            f"expected real numbers, got an array of dtype {x.dtype}\n"
            "take the absolute value, the real or the imaginary part first"
        )
    return x.astype(jnp.float32)


def wide_integers(x: Any) -> jax.Array:
    """Integers of 32 bits or more: a number of bins, or a product with it, may wrap."""
    x = jnp.asarray(x)
    is_small = x.dtype.itemsize < 4 and jnp.issubdtype(x.dtype, jnp.integer)
    return x.astype(jnp.int32) if is_small else x


def power_of_two(x: jax.Array) -> jax.Array:
    """A power of two from `x / 6` to `x / 2`, to divide `x` by without rounding.

    It is 1 where `x` is 0, not finite, or about as small as a float can be. It is not
    the largest such power, because XLA multiplies by the inverse, which may not be 0.
    """
    exponent_bits = jnp.finfo(x.dtype).nexp
    power = jax.lax.reduce_precision(x / 4, exponent_bits, mantissa_bits=0)
    return jnp.where((power > 0) & jnp.isfinite(power), power, 1.0)


# The unit of what is 0: the smallest, so that it gives way to every other.
NO_UNIT = np.float32(2.0**-100)


@_compiled
def unit_of(largest: jax.Array) -> jax.Array:
    """A power of two in which neither `largest` nor its square over- or underflows.

    At least 2⁻¹⁰⁰; without a gradient.
    """
    largest = jax.lax.stop_gradient(to_float32(largest).astype(jnp.float32))
    return jnp.where(largest > NO_UNIT, power_of_two(largest), NO_UNIT)


def in_unit(a: Pair, unit: jax.Array) -> Pair:
    """`a / unit` for powers of two, exact unless it underflows."""
    return Pair(a.hi / unit, a.lo / unit)


def zero_pair(shape: tuple[int, ...] = ()) -> Pair:
    """Zeros of the given shape."""
    return Pair(np.zeros(shape, np.float32), np.zeros(shape, np.float32))


def to_pair(x: Any) -> Pair:
    """`x` as a pair, elementwise and exact for up to 48 significant bits."""
    if isinstance(x, Pair):
        return x
    if not isinstance(x, jax.Array):
        host = np.asarray(x)
        if host.dtype in (np.float64, np.int64, np.uint64):
            # Stays on the host: it costs no transfer, and jit takes it as it is.
            hi = host.astype(np.float32)
            lo = np.where(np.isfinite(hi), host - hi.astype(np.float64), 0)
            return Pair(hi, lo.astype(np.float32))
    return _fast_two_sum(*_split(jnp.asarray(x)))


@_compiled
def add_pairs(a: Pair, b: Pair) -> Pair:
    """`a + b`, elementwise; infinities and NaN behave as in float32."""
    total, error = _two_sum(jnp.asarray(a.hi), jnp.asarray(b.hi))
    low, low_error = _two_sum(jnp.asarray(a.lo), jnp.asarray(b.lo))
    # inf - inf inside the error terms would turn an infinite sum into NaN.
    error = jnp.where(jnp.isfinite(total), error + low, 0.0)
    total, error = _fast_two_sum(total, error)
    error = jnp.where(jnp.isfinite(total), error + low_error, 0.0)
    return _fast_two_sum(total, error)


@_compiled
def add_each(a: Sequence[Pair], b: Sequence[Pair]) -> list[Pair]:
    """`a + b`, pair by pair: outside jit a call costs far more than the additions."""
    return [add_pairs(x, y) for x, y in zip(a, b, strict=True)]


def negate_pair(a: Pair) -> Pair:
    """`-a`."""
    return Pair(-a.hi, -a.lo)


@_compiled
def scale_pair(a: Pair, factor: Any) -> Pair:
    """`a * factor` for a float32 `factor`; exact for powers of two."""
    factor = jnp.asarray(factor, jnp.float32)
    product, error = _two_product(a.hi, factor)
    error = jnp.where(jnp.isfinite(product), error + a.lo * factor, 0.0)
    return _fast_two_sum(product, error)


@_compiled
def multiply_pairs(a: Pair, b: Pair) -> Pair:
    """`a * b`."""
    return add_pairs(scale_pair(a, b.hi), to_pair(a.hi * b.lo))


@_compiled
def divide_pairs(a: Pair, b: Pair) -> Pair:
    """`a / b`, and 0 where `b` is 0."""
    empty = b.hi == 0
    divisor = Pair(jnp.where(empty, 1.0, b.hi), jnp.where(empty, 0.0, b.lo))
    first = _as_rounded(jnp.where(empty, 0.0, a.hi) / divisor.hi)
    rest = add_pairs(a, negate_pair(scale_pair(divisor, first)))
    second = jnp.where(empty | ~jnp.isfinite(first), 0.0, rest.hi / divisor.hi)
    return _fast_two_sum(first, second)


@_compiled
def sum_to_pair(x: jax.Array) -> Pair:
    """The sum of all elements of a real array of any shape and dtype, as a scalar pair.

    The error is about 2⁻⁴⁸ of the sum of the magnitudes, in any order and however the
    array is split. The gradient is that of a plain sum.
    """
    if x.dtype == jnp.bool_:
        return to_pair(jnp.sum(x, dtype=jnp.int32))
    return _normalise(_sum_halves(*_split(x)))


@_compiled
def sum_products_to_pair(x: jax.Array, y: jax.Array) -> Pair:
    """Σ x · y over two real arrays of one shape, as a scalar pair.

    A product keeps what its rounding leaves out, so the error is that of `sum_to_pair`.
    The gradient is that of a plain sum of products.
    """
    # Where the bits end, the gradient must not follow.
    x_lo, y_lo = (jax.lax.stop_gradient(to_pair(part).lo) for part in (x, y))
    x, y = (to_float32(part).astype(jnp.float32) for part in (x, y))
    product, error = _two_product(x, y)
    rest = jax.lax.stop_gradient(error + (x * y_lo + x_lo * y))
    rest = jnp.where(jnp.isfinite(product), rest, 0.0)
    return _normalise(_sum_halves(product, rest))


def _is_exact_float32(dtype: Any) -> bool:
    return dtype.itemsize < 4 or dtype == jnp.float32


def _split(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Two float32 arrays whose sum is `x`."""
    if _is_exact_float32(x.dtype):
        hi = to_float32(x)
        return hi, jnp.zeros_like(hi)
    if x.dtype in (jnp.int32, jnp.uint32):
        # 16 bits each: both halves are exact in float32, and neither can overflow.
        low = x & jnp.asarray(0xFFFF, x.dtype)
        return (x - low).astype(jnp.float32), low.astype(jnp.float32)
    hi = to_float32(x).astype(jnp.float32)
    return hi, (x - hi.astype(x.dtype)).astype(jnp.float32)


@jax.custom_jvp
def _sum_halves(hi: jax.Array, lo: jax.Array) -> Pair:
    zero = np.float32(0)
    axes = tuple(range(hi.ndim))
    total, rest = jax.lax.reduce((hi, lo), (zero, zero), _add_halves, axes)
    return Pair(total, jnp.where(jnp.isfinite(total), rest, 0.0))


def _add_halves(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    total, error = _two_sum(a[0], b[0])
    return total, a[1] + b[1] + error


@_sum_halves.defjvp
def _sum_halves_jvp(primals: Any, tangents: Any) -> tuple[Pair, Pair]:
    return _sum_halves(*primals), Pair(*(jnp.sum(tangent) for tangent in tangents))


def _two_sum(a: jax.Array, b: jax.Array) -> tuple[jax.Array, jax.Array]:
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _normalise(a: Pair) -> Pair:
    """`a` with the smallest `lo`, also where cancellation has left `hi` the smaller."""
    total, error = _two_sum(a.hi, a.lo)
    return Pair(total, jnp.where(jnp.isfinite(total), error, 0.0))


def _fast_two_sum(a: jax.Array, b: jax.Array) -> Pair:
    total = a + b
    return Pair(total, jnp.where(jnp.isfinite(total), b - (total - a), 0.0))


def _two_product(a: jax.Array, b: jax.Array) -> tuple[jax.Array, jax.Array]:
    product = _as_rounded(a * b)
    a_hi, a_lo = _halve_digits(a)
    b_hi, b_lo = _halve_digits(b)
    error = ((a_hi * b_hi - product) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo
    return product, error


def _as_rounded(x: jax.Array) -> jax.Array:
    """`x`, rounded, whatever is added to it or subtracted from it.

    On a CPU a product and a sum may become one operation that rounds once; what the
    rounding of the product left out is then counted twice. A choice between them keeps
    them apart, which neither `optimization_barrier` nor `reduce_precision` does.
    """
    return jnp.where(x == x, x, jnp.nan)


def _halve_digits(a: jax.Array) -> tuple[jax.Array, jax.Array]:
    """`a` as two float32 numbers of at most 12 significant bits each."""
    bits = jax.lax.bitcast_convert_type(jnp.asarray(a, jnp.float32), jnp.int32)
    top = jax.lax.bitcast_convert_type(bits & jnp.int32(-4096), jnp.float32)
    return top, a - top
