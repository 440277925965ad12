"""Lengths and directions of vectors, whose value and gradient are finite at 0."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp

from kmetrics._numerics import power_of_two

# One compiled call when used outside jit, and plain operations inside.
_compiled = functools.partial(jax.jit, inline=True)


@_compiled
def length(x: jax.Array) -> jax.Array:
    """The Euclidean norm over the last axis; its gradient at 0 is 0."""
    _, size, unit = _in_units(x)
    return (size * unit)[..., 0]


@_compiled
def direction(x: jax.Array, eps: float) -> jax.Array:
    """`x / max(|x|, eps)` over the last axis; at 0 both it and its gradient are 0."""
    x, size, unit = _in_units(x)
    return jnp.where(size == 0, 0.0, x / jnp.maximum(size, eps / unit))


def cosine(a: jax.Array, b: jax.Array, eps: float) -> jax.Array:
    """The cosine of the angle between vectors of the last axis; 0 at length 0."""
    return jnp.sum(direction(a, eps) * direction(b, eps), axis=-1)


def _in_units(x: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """`x` and its length `[*b, 1]`, in a unit `[*b, 1]` in which no square overflows.

    The unit is a power of two, so that nothing is rounded; and neither a direction nor
    a length depends on it, so that it has no part in the gradient.
    """
    largest = jnp.max(
        jnp.abs(jax.lax.stop_gradient(x)), axis=-1, keepdims=True, initial=0
    )
    unit = power_of_two(largest)
    x = x / unit
    square = jnp.sum(x * x, axis=-1, keepdims=True)
    at_zero = square == 0
    return x, jnp.where(at_zero, 0.0, jnp.sqrt(jnp.where(at_zero, 1.0, square))), unit
