"""Metrics of examples that may have several labels, or none."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp

import kontext
from kmetrics._average import AverageState
from kmetrics._class_inputs import example_weights, is_zero_or_one
from kmetrics._masks import fill_masked
from kmetrics._metric import Metric, OnEmpty
from kmetrics._numerics import to_float32
from kmetrics.curves import AveragePrecision
from ktyping import Array, Bool, Real, typechecked

__all__ = ["LabelRankingAveragePrecision", "MultilabelAveragePrecision"]


class MultilabelAveragePrecision(AveragePrecision):
    """`AveragePrecision` of yes and no for each label, and of nothing else.

    Attributes:
      logits: path of real numbers `[*b, n]`, higher for yes.
      labels: path of 0 and 1, or bools, same shape.
    """

    @typechecked
    def get_state(
        self,
        logits: Real[Array, "*b n"],
        labels: Real[Array, "*b n"] | Bool[Array, "*b n"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        return super().get_state(logits=logits, labels=labels, mask=mask)


@dataclasses.dataclass(frozen=True, kw_only=True)
class LabelRankingAveragePrecision(Metric):
    """How high the labels of an example rank, 1 if above all others.

    For each label it is the share of labels among the classes that score as high or
    higher; then the mean over the labels of the example, and over the examples. An
    example without labels is 1, as is one that has all; one with a NaN is NaN.

    Reference: G. Tsoumakas, I. Katakis, I. Vlahavas, Mining multi-label data (2010),
    section 5.1.

    Attributes:
      logits: path of real numbers `[*b, n]`.
      labels: path of 0 and 1, or bools, same shape.
      mask: path of bools or non-negative numbers `[*b, 1]`, `[*b]`, or fewer axes.
      on_empty: the value if nothing counts: "nan", "zero", or "raise".
    """

    higher_is_better = True
    range = (0.0, 1.0)

    State = AverageState

    logits: kontext.Key = kontext.REQUIRED
    labels: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    on_empty: OnEmpty = "nan"

    @typechecked
    def get_state(
        self,
        logits: Real[Array, "*b n"],
        labels: Real[Array, "*b n"] | Bool[Array, "*b n"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        scores, labels = to_float32(logits), jnp.asarray(labels)
        fits = is_zero_or_one(type(self).__name__, labels, mask=mask)
        scores, is_label = jnp.where(fits, scores, jnp.nan), labels != 0
        batch, n = scores.shape[:-1], scores.shape[-1]
        weights = None
        if mask is not None:
            weights = example_weights(mask, batch)
            scores = fill_masked(scores, weights, 0.0)
        flat = (scores.reshape(-1, n), is_label.reshape(-1, n))
        values = _label_rankings(*flat).reshape(batch)
        return AverageState.from_values(values, weights)


# One compiled call when used outside jit, and plain operations inside.
@functools.partial(jax.jit, inline=True)
def _label_rankings(scores: jax.Array, is_label: jax.Array) -> jax.Array:
    return jax.vmap(_label_ranking)(scores, is_label)


def _label_ranking(scores: jax.Array, is_label: jax.Array) -> jax.Array:
    """Of one example, from scores and labels `[n]`."""
    among_all = _as_high(scores, scores)
    among_labels = _as_high(scores, jnp.where(is_label, scores, -jnp.inf))
    # A score of -inf is as high as that of what is no label.
    among_labels = jnp.minimum(among_labels, jnp.sum(is_label))
    count = jnp.sum(is_label)
    total = jnp.sum(jnp.where(is_label, among_labels / among_all, 0.0))
    value = jnp.where(count == 0, 1.0, total / jnp.maximum(count, 1))
    return jnp.where(jnp.isnan(scores).any(), jnp.nan, value)


def _as_high(scores: jax.Array, others: jax.Array) -> jax.Array:
    """For each score how many of `others` are as high or higher."""
    below = jnp.searchsorted(jnp.sort(others), scores, side="left")
    return len(others) - below
