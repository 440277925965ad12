"""Lengths and directions of vectors, whose value and gradient are finite at 0."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def length(x: jax.Array) -> jax.Array:
    """The Euclidean norm over the last axis; its gradient at 0 is 0."""
    # Relative to the largest entry, so that no square over- or underflows. The norm
    # does not depend on that unit, hence its gradient does not either.
    largest = jnp.max(jnp.abs(x), axis=-1, keepdims=True, initial=0.0)
    is_unit = (largest > 0) & jnp.isfinite(largest)
    unit = jax.lax.stop_gradient(jnp.where(is_unit, largest, 1.0))
    square = jnp.sum(jnp.square(x / unit), axis=-1)
    at_zero = square == 0
    root = jnp.sqrt(jnp.where(at_zero, 1.0, square))
    return jnp.where(at_zero, 0.0, root * unit[..., 0])


def direction(x: jax.Array, eps: float) -> jax.Array:
    """`x / max(|x|, eps)` over the last axis; at 0 both it and its gradient are 0."""
    size = length(x)[..., None]
    return jnp.where(size == 0, 0.0, x / jnp.maximum(size, eps))


def cosine(a: jax.Array, b: jax.Array, eps: float) -> jax.Array:
    """The cosine of the angle between vectors of the last axis; 0 at length 0."""
    return jnp.sum(direction(a, eps) * direction(b, eps), axis=-1)
