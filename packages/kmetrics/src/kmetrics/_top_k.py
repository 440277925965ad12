"""The rank of a label among the logits, and what a tie counts."""

from __future__ import annotations

import functools
from typing import Literal

import jax
import jax.numpy as jnp

from kmetrics._average import AverageState
from kmetrics._class_inputs import check_classes, spoil
from kmetrics._masks import align_left
from kmetrics._numerics import Pair

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
    """How right each example is: bools `[*b]`, or chances if ties are "expected".

    An example is right if fewer than `k` classes come before its label. A row with a
    NaN is wrong, and so is a label that is no class.
    """
    classes = jnp.arange(logits.shape[-1])
    is_class = (labels >= 0) & (labels < len(classes))
    column = jnp.where(is_class, labels, 0)[..., None]
    score = jnp.take_along_axis(logits, column, axis=-1)
    if ties == "expected":
        return jnp.where(is_class, _chance(logits, classes, column, score, k), 0.0)
    lower, at_most = logits < score, logits <= score
    if ties == "first":
        comes_after = jnp.where(classes < column, lower, at_most)
    elif ties == "optimistic":
        comes_after = at_most
    else:
        comes_after = jnp.where(classes == column, at_most, lower)
    if k == 1:
        # No comparison with a NaN holds, and one pass of bools is vectorised,
        # which that of an argmax is not.
        return is_class & jnp.all(comes_after, axis=-1)
    before = jnp.where(jnp.isnan(logits), jnp.nan, (~comes_after).astype(jnp.float32))
    # A NaN makes the number of them NaN, which is below nothing.
    return is_class & (jnp.sum(before, axis=-1) < k)


def nan_unless_classes(
    name: str,
    average: AverageState,
    labels: jax.Array,
    num_classes: int,
    mask: jax.Array | None,
) -> AverageState:
    """The average, or NaN in place of its sum if a label that counts is no class.

    Raises:
      ValueError: there is such a label (seen outside of jit).
    """
    total, is_wrong = _guarded(average.total, labels, mask, num_classes)
    check_classes(name, labels, num_classes, is_wrong)
    return average.replace(total=total)


# One compiled call when used outside jit, and plain operations inside.
@functools.partial(jax.jit, static_argnames="num_classes", inline=True)
def _guarded(
    total: Pair, labels: jax.Array, mask: jax.Array | None, num_classes: int
) -> tuple[Pair, jax.Array]:
    is_wrong = (labels < 0) | (labels >= num_classes)
    if mask is not None:
        is_wrong &= align_left(mask, labels.shape) != 0
    return spoil(total, is_wrong), is_wrong


def _chance(
    logits: jax.Array, classes: jax.Array, column: jax.Array, score: jax.Array, k: int
) -> jax.Array:
    """How likely the label is among the best `k` in random order, 0 with a NaN."""
    better = jnp.sum(logits > score, axis=-1)
    places = 1 + jnp.sum((logits == score) & (classes != column), axis=-1)
    chance = jnp.clip((k - better) / places, 0.0, 1.0)
    return jnp.where(jnp.any(jnp.isnan(logits), axis=-1), 0.0, chance)
