"""Metrics of classifiers."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Literal

import jax
import jax.numpy as jnp

import kontext
from kmetrics._average import AverageState
from kmetrics._masks import combine_masks
from kmetrics._metric import Metric, OnEmpty
from kmetrics._numerics import to_float32
from ktyping import Array, Bool, Int, Real, typechecked

__all__ = ["Accuracy", "BinaryAccuracy"]

Ties = Literal["first", "optimistic", "pessimistic", "expected"]
_TIES = ("first", "optimistic", "pessimistic", "expected")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Accuracy(Metric):
    """The share of examples whose label is among the `top_k` best classes.

    A row of logits that holds a NaN is wrong, and so is a label that is no class.

    Attributes:
      logits: path of real numbers `[*b, n]`.
      pred_labels: path of predicted classes, shaped as `labels`; instead of `logits`.
      labels: path of the true classes, integers `[*b, 1]` or `[*b]`.
      mask: path of bools or non-negative numbers `[*b, 1]`, `[*b]`, or fewer axes.
      top_k: how many classes count as the answer.
      ties: what a class with the same logit as the label does. "first": the lower
        index wins. "optimistic": the label wins. "pessimistic": the label loses.
        "expected": the chance that the label wins in random order.
      ignore_index: a label whose examples do not count, such as -1.
      on_empty: the value if nothing counts: "nan", "zero", or "raise".

    Raises:
      ValueError: both or none of `logits` and `pred_labels` are given, or an option is
        not known.
    """

    State = AverageState

    logits: kontext.Key | None = None
    pred_labels: kontext.Key | None = None
    labels: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    top_k: int = 1
    ties: Ties = "first"
    ignore_index: int | None = None
    on_empty: OnEmpty = "nan"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ties not in _TIES:
            raise ValueError(
                f"Accuracy: ties={self.ties!r} is not known\n"
                f"use one of {', '.join(map(repr, _TIES))}"
            )
        if self.top_k < 1:
            raise ValueError(f"Accuracy: top_k must be 1 or more\n  got {self.top_k}")

    @typechecked
    def get_state(
        self,
        labels: Int[Array, "*b 1"] | Int[Array, "*b"],
        logits: Real[Array, "*b n"] | None = None,
        pred_labels: Int[Array, "..."] | None = None,
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch.

        Raises:
          ValueError: shapes do not fit, or `top_k` is not below the number of classes.
        """
        if (logits is None) == (pred_labels is None):
            raise ValueError(
                "Accuracy takes either logits or pred_labels\n  got "
                + ("neither" if logits is None else "both")
            )
        labels = jnp.asarray(labels)
        if logits is None:
            pred_labels = _align(labels, jnp.asarray(pred_labels), "pred_labels")
            if self.top_k != 1:
                raise ValueError(
                    f"Accuracy: top_k={self.top_k} needs logits, got pred_labels"
                )
            correct = (pred_labels == labels).astype(jnp.float32)
        else:
            logits = to_float32(logits)
            labels = _drop_column(labels, logits)
            self._check_top_k(logits.shape[-1])
            correct = _rank_correct(logits, labels, top_k=self.top_k, ties=self.ties)
        mask = _mask_of(mask, correct.ndim)
        if self.ignore_index is not None:
            mask = combine_masks(mask, labels != self.ignore_index)
        return AverageState.from_values(correct, mask)

    def _check_top_k(self, num_classes: int) -> None:
        if self.top_k > 1 and self.top_k >= num_classes:
            raise ValueError(
                f"Accuracy: top_k={self.top_k} with {num_classes} classes is always "
                "right\nuse a top_k below the number of classes"
            )


@dataclasses.dataclass(frozen=True, kw_only=True)
class BinaryAccuracy(Metric):
    """The share of answers, yes above a threshold, that are right.

    A NaN is a wrong answer.

    Attributes:
      logits: path of real numbers `[*b]`.
      labels: path of 0 and 1, or bools, of the same shape.
      mask: path of bools or non-negative numbers, lined up from the left.
      threshold: the answer is yes above it: 0 for logits, 0.5 for probabilities.
      on_empty: the value if nothing counts: "nan", "zero", or "raise".
    """

    State = AverageState

    logits: kontext.Key = kontext.REQUIRED
    labels: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    threshold: float = 0.0
    on_empty: OnEmpty = "nan"

    @typechecked
    def get_state(
        self,
        logits: Real[Array, "*b"],
        labels: Real[Array, "*b"] | Bool[Array, "*b"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        logits = to_float32(logits)
        is_right = (logits > self.threshold) == (jnp.asarray(labels) != 0)
        return AverageState.from_values(is_right & ~jnp.isnan(logits), mask)


@functools.partial(jax.jit, static_argnames=("top_k", "ties"), inline=True)
def _rank_correct(
    logits: jax.Array, labels: jax.Array, *, top_k: int, ties: Ties
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
        correct = jnp.clip((top_k - better) / places, 0.0, 1.0)
    else:
        correct = (better < top_k).astype(jnp.float32)
    is_number = ~jnp.any(jnp.isnan(logits), axis=-1)
    return jnp.where(is_class & is_number, correct, 0.0)


def _drop_column(labels: jax.Array, logits: jax.Array) -> jax.Array:
    """Labels `[*b, 1]` or `[*b]` as `[*b]`, for logits `[*b, n]`."""
    batch = logits.shape[:-1]
    if labels.shape not in (batch, (*batch, 1)):
        raise ValueError(
            "Accuracy: labels and logits do not fit\n"
            f"  labels {list(labels.shape)}, logits {list(logits.shape)}\n"
            f"expected labels {[*batch, 1]} or {list(batch)}"
        )
    return labels.reshape(batch)


def _align(labels: jax.Array, other: jax.Array, name: str) -> jax.Array:
    if labels.shape != other.shape:
        raise ValueError(
            f"Accuracy: labels and {name} have different shapes\n"
            f"  labels {list(labels.shape)}, {name} {list(other.shape)}"
        )
    return other


def _mask_of(mask: Any | None, rank: int) -> jax.Array | None:
    """A mask `[*b, 1]` as `[*b]`; one with fewer axes as it is."""
    if mask is None:
        return None
    mask = jnp.asarray(mask)
    has_column = mask.ndim == rank + 1 and mask.shape[-1] == 1
    return mask[..., 0] if has_column else mask
