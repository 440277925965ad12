"""A product whose value and gradient are finite where a weight is 0."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def weigh(weight: jax.Array, value: jax.Array) -> jax.Array:
    """`weight * value` with 0 · ±inf = 0, also in the gradient."""
    absent = weight == 0
    return jnp.where(absent, 0.0, weight * jnp.where(absent, 0.0, value))
