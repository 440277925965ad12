"""Reading the inputs of classification metrics: shapes, one-hot labels, weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from kmetrics._masks import align_left, check_weights, fill_masked
from kmetrics._numerics import Pair, is_traced, to_float32, wide_integers


class Columns(NamedTuple):
    """A classification as one or more questions with the answer yes or no.

    Attributes:
      scores: float32 `[m, n]`, higher for yes: probabilities, if the inputs tell them.
      targets: bool `[m, n]`.
      weights: float32 or bool `[m]`; what is 0 does not count.
      is_multiclass: whether exactly one of the columns is right.
    """

    scores: jax.Array
    targets: jax.Array
    weights: jax.Array
    is_multiclass: bool


def class_labels(name: str, labels: Any, batch: tuple[int, ...]) -> jax.Array:
    """Labels `[*b, 1]` or `[*b]` as `[*b]`.

    Raises:
      ValueError: they have another shape.
    """
    labels = wide_integers(labels)
    if labels.shape not in (batch, (*batch, 1)):
        raise ValueError(
            f"{name}: the labels do not fit\n"
            f"  labels {list(labels.shape)}, predictions for {list(batch)}\n"
            f"expected {[*batch, 1]} or {list(batch)}, the numbers of the classes; the "
            "last axis of logits holds the classes"
        )
    return labels.reshape(batch)


def example_weights(mask: Any | None, batch: tuple[int, ...]) -> jax.Array:
    """A mask `[*b, 1]`, `[*b]` or of fewer axes as `[*b]`; all True without one.

    Raises:
      MaskShapeError: it does not line up.
      ValueError: it holds negative numbers or NaN (only seen when it is not traced).
    """
    if mask is None:
        return jnp.ones(batch, bool)
    check_weights(mask)
    mask = jnp.asarray(mask)
    if mask.ndim == len(batch) + 1 and mask.shape[-1] == 1:
        mask = mask[..., 0]
    return jnp.broadcast_to(align_left(mask, batch), batch)


def is_zero_or_one(
    name: str, labels: jax.Array, *, mask: Any | None = None, key: str = "labels"
) -> jax.Array:
    """Which of the labels are 0 or 1, for the others to become NaN.

    Raises:
      ValueError: one is neither (seen outside of jit, without a mask); `name` is that
        of the loss or metric, `key` that of the input.
    """
    if labels.dtype == jnp.bool_:
        return jnp.ones(labels.shape, bool)
    fits = (labels == 0) | (labels == 1)
    if mask is None and not is_traced(fits) and not np.all(fits):
        entry = "a label" if key == "labels" else f"an entry of {key}"
        raise ValueError(
            f"{name}: {entry} is neither 0 nor 1\n"
            f"  got {np.asarray(labels)[~np.asarray(fits)][0]:g}\n"
            f"mask it out, or say which numbers mean 1, for example {key} > 0"
        )
    return fits


def check_classes(
    name: str,
    numbers: Any,
    num_classes: int,
    counted: Any = True,
    *,
    what: str = "a label is no class",
    advice: str = "mask it out, or name it with ignore_index",
) -> None:
    """Refuses numbers that are no class, as far as they count and are known.

    Args:
      name: of the metric.
      numbers: whole numbers of any shape.
      num_classes: classes are 0 up to it.
      counted: of that shape; what is 0 or False may be anything.
      what: what is wrong.
      advice: what to do.

    Raises:
      ValueError: one is no class (seen outside of jit, and of data of one process).
    """
    both = (numbers, counted)
    if is_traced(both) or not all(
        getattr(x, "is_fully_addressable", True) for x in both
    ):
        return
    numbers = np.asarray(numbers, np.float64)
    is_class = (numbers >= 0) & (numbers < num_classes) & (numbers % 1 == 0)
    wrong = ~is_class & (np.asarray(counted) != 0)
    if wrong.any():
        raise ValueError(
            f"{name}: {what}\n"
            f"  got {numbers[wrong][0]:g}, expected 0 to {num_classes - 1}\n{advice}"
        )


def spoil(counts: Pair, is_wrong: jax.Array) -> Pair:
    """The counts, or NaN in the place of each if something counts that may not."""
    extra = jnp.where(jnp.any(is_wrong), jnp.nan, 0.0)
    return Pair(counts.hi + extra, counts.lo)


def columns(name: str, scores: Any, labels: Any, mask: Any | None) -> Columns:
    """The questions of a binary, multi-label or multi-class problem.

    Labels shaped as the scores are one answer each, and the last axis holds the
    questions; `[b]` is a single question. Labels without that axis, or with 1 there,
    are the numbers of the classes, and the scores are logits of a softmax. A label that
    is no class, or no answer, has NaN for scores.

    Raises:
      ValueError: labels do not fit, or one is no class or no answer (seen outside of
        jit, without a mask).
    """
    scores, labels = to_float32(scores), jnp.asarray(labels)
    if labels.shape == scores.shape:
        if scores.ndim == 1:
            scores, labels = scores[:, None], labels[:, None]
        batch = scores.shape[:-1]
        targets, is_multiclass = labels != 0, False
        fits = is_zero_or_one(name, labels, mask=mask)
        scores = jnp.where(fits, scores, jnp.nan)
    else:
        batch = scores.shape[:-1]
        classes = class_labels(name, labels, batch)[..., None]
        targets = classes == jnp.arange(scores.shape[-1])
        is_multiclass = True
    weights = example_weights(mask, batch)
    if mask is not None:
        scores = fill_masked(scores, weights, 0.0)
    if is_multiclass:
        is_class = jnp.any(targets, axis=-1)
        numbers = labels.reshape(batch)
        check_classes(name, numbers, scores.shape[-1], weights, advice="mask it out")
        scores = jnp.where(is_class[..., None], jax.nn.softmax(scores), jnp.nan)
    width = scores.shape[-1]
    return Columns(
        scores.reshape(-1, width),
        targets.reshape(-1, width),
        weights.ravel(),
        is_multiclass,
    )
