"""The rank of a label among the logits, and what a tie counts."""

from __future__ import annotations

import functools
from typing import Literal

import jax
import jax.numpy as jnp

Ties = Literal["first", "optimistic", "pessimistic", "expected"]
_TIES = ("first", "optimistic", "pessimistic", "expected")


def check_ties(name: str, ties: str) -> None:
    """Refuses what a tie cannot count, in the name of a metric.

    Raises:
      ValueError: `ties` is not known.
    """
    if ties not in _TIES:
        raise ValueError(
            f"{name}: ties={ties!r} is not known\n"
            f"use one of {', '.join(map(repr, _TIES))}"
        )


def check_k(name: str, option: str, k: int, num_classes: int) -> None:
    """Refuses a `k` that makes every answer right.

    Raises:
      ValueError: it is not below the number of classes.
    """
    if k > 1 and k >= num_classes:
        raise ValueError(
            f"{name}: {option}={k} with {num_classes} classes is always right\n"
            f"use a {option} below the number of classes"
        )


@functools.partial(jax.jit, static_argnames=("k", "ties"), inline=True)
def rank_correct(
    logits: jax.Array, labels: jax.Array, *, k: int, ties: Ties
) -> jax.Array:
    """How right each example is, 0 to 1, `[*b]`."""
    classes = jnp.arange(logits.shape[-1])
    is_class = (labels >= 0) & (labels < len(classes))
    column = jnp.where(is_class, labels, 0)[..., None]
    score = jnp.take_along_axis(logits, column, axis=-1)
    better = jnp.sum(logits > score, axis=-1)
    tied = (logits == score) & (classes != column)
    if ties == "first":
        better += jnp.sum(tied & (classes < column), axis=-1)
    elif ties == "pessimistic":
        better += jnp.sum(tied, axis=-1)
    if ties == "expected":
        places = 1 + jnp.sum(tied, axis=-1)
        correct = jnp.clip((k - better) / places, 0.0, 1.0)
    else:
        correct = (better < k).astype(jnp.float32)
    is_number = ~jnp.any(jnp.isnan(logits), axis=-1)
    return jnp.where(is_class & is_number, correct, 0.0)
