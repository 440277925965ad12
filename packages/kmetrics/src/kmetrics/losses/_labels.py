"""Labels between yes and no."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from kmetrics._class_inputs import is_zero_or_one


def shares(name: str, labels: Any) -> jax.Array:
    """Labels in [0, 1]; NaN for integers that are neither 0 nor 1.

    Floats are taken as they are: those of mixed examples may be off by a rounding.

    Raises:
      ValueError: as `is_zero_or_one`.
    """
    labels = jnp.asarray(labels)
    if not jnp.issubdtype(labels.dtype, jnp.integer):
        return labels
    return jnp.where(is_zero_or_one(name, labels), labels, jnp.nan)
