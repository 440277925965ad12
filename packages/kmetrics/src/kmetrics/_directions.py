"""Lengths and directions of vectors, whose value and gradient are finite at 0."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def length(x: jax.Array) -> jax.Array:
    """The Euclidean norm over the last axis; its gradient at 0 is 0."""
    square = jnp.sum(x * x, axis=-1)
    at_zero = square == 0
    return jnp.where(at_zero, 0.0, jnp.sqrt(jnp.where(at_zero, 1.0, square)))


def direction(x: jax.Array, eps: float) -> jax.Array:
    """`x / max(|x|, eps)` over the last axis; at 0 both it and its gradient are 0."""
    size = length(x)[..., None]
    return jnp.where(size == 0, 0.0, x / jnp.maximum(size, eps))


def cosine(a: jax.Array, b: jax.Array, eps: float) -> jax.Array:
    """The cosine of the angle between vectors of the last axis; 0 at length 0."""
    return jnp.sum(direction(a, eps) * direction(b, eps), axis=-1)
