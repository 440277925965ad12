"""Labels that say yes or no."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kmetrics._numerics import is_traced


def is_zero_or_one(name: str, labels: jax.Array) -> jax.Array:
    """Which of the labels are 0 or 1, for the others to become NaN.

    Raises:
      ValueError: one is neither (seen outside of jit); `name` is that of the loss.
    """
    if labels.dtype == jnp.bool_:
        return jnp.ones(labels.shape, bool)
    fits = (labels == 0) | (labels == 1)
    if not is_traced(fits) and not np.all(fits):
        raise ValueError(
            f"{name}: a label is neither 0 nor 1\n"
            f"  got {np.asarray(labels)[~np.asarray(fits)][0]:g}\n"
            "mask it out, or say which numbers mean 1: labels > 0"
        )
    return fits


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
