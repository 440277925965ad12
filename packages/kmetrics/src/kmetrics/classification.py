"""Metrics of classifiers."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp

import kontext
from kmetrics._auto import AutoState
from kmetrics._average import AverageState
from kmetrics._class_inputs import class_labels, is_zero_or_one
from kmetrics._fields import mean_field, sum_field
from kmetrics._masks import align_left, combine_masks
from kmetrics._metric import Metric, OnEmpty
from kmetrics._numerics import to_float32
from kmetrics._options import Count, Finite, Flag, Whole
from kmetrics._register import state
from kmetrics._top_k import Ties, check_k, check_ties, nan_unless_classes, rank_correct
from ktyping import Array, Bool, Int, Real, typechecked

__all__ = [
    "Accuracy",
    "BinaryAccuracy",
    "JointAccuracy",
    "Precision1",
    "TopKAccuracy",
]


@state
class CountingState(AutoState):
    """An accuracy, and how many examples could not be ranked.

    Attributes:
      accuracy: an `AverageState`.
      nan_rows: how many counted examples had a NaN among their logits.
    """

    accuracy: Any = mean_field()
    nan_rows: Any = sum_field()

    def compute(self) -> Any:
        """`value` and `nan_rows`."""
        value = float(self.accuracy)
        return {
            "value": self.empty_value() if math.isnan(value) else value,
            "nan_rows": float(self.nan_rows),
        }


@dataclasses.dataclass(frozen=True, kw_only=True)
class Accuracy(Metric):
    """The share of examples whose label is among the `top_k` best classes.

    A row of logits that holds a NaN is wrong. A label that counts and is no class is an
    error, or NaN under jit.

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
      count_nan: whether to compute `value`, and as `nan_rows` how many of the examples
        that count have a NaN among their logits.
      on_empty: the value if nothing counts: "nan", "zero", or "raise".

    Raises:
      ValueError: both or none of `logits` and `pred_labels` are given, or an option is
        not known.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    State = AverageState

    logits: kontext.Key | None = None
    pred_labels: kontext.Key | None = None
    labels: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    top_k: Count = 1
    ties: Ties = "first"
    ignore_index: Whole | None = None
    count_nan: Flag = False
    on_empty: OnEmpty = "nan"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ties(type(self).__name__, self.ties)

    def empty(self) -> Any:
        """The state of no data."""
        kind = CountingState if self.count_nan else AverageState
        return kind.empty().with_parent(self)

    def metric_names(self) -> tuple[str, ...] | None:
        """`value` and `nan_rows` if those are counted."""
        return ("value", "nan_rows") if self.count_nan else None

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
        name = type(self).__name__
        if (logits is None) == (pred_labels is None):
            raise ValueError(
                f"{name} takes either logits or pred_labels\n  got "
                + ("neither" if logits is None else "both")
            )
        if logits is None:
            labels = jnp.asarray(labels)
            correct = self._equal(pred_labels, labels)
            is_nan = jnp.zeros(correct.shape, bool)
        else:
            logits = to_float32(logits)
            labels = class_labels(name, labels, logits.shape[:-1])
            check_k(name, "top_k", self.top_k, logits.shape[-1])
            correct = rank_correct(logits, labels, k=self.top_k, ties=self.ties)
            is_nan = jnp.any(jnp.isnan(logits), axis=-1)
        mask = _mask_of(mask, correct.ndim)
        if self.ignore_index is not None:
            mask = combine_masks(mask, labels != self.ignore_index)
        average = AverageState.from_values(correct, mask)
        if logits is not None:
            average = nan_unless_classes(name, average, labels, logits.shape[-1], mask)
        if not self.count_nan:
            return average
        if mask is not None:
            is_nan &= align_left(mask, is_nan.shape) != 0
        return CountingState(accuracy=average, nan_rows=jnp.sum(is_nan))

    def _equal(self, pred_labels: Any, labels: jax.Array) -> jax.Array:
        name, pred_labels = type(self).__name__, jnp.asarray(pred_labels)
        if labels.shape != pred_labels.shape:
            raise ValueError(
                f"{name}: labels and pred_labels have different shapes\n"
                f"  labels {list(labels.shape)}, pred_labels {list(pred_labels.shape)}"
            )
        if self.top_k != 1 or self.count_nan:
            option = "count_nan" if self.count_nan else f"top_k={self.top_k}"
            raise ValueError(f"{name}: {option} needs logits, got pred_labels")
        return (pred_labels == labels).astype(jnp.float32)


@dataclasses.dataclass(frozen=True, kw_only=True)
class TopKAccuracy(Metric):
    """The share of examples whose label is among the `k` best classes.

    `Accuracy` with another default; libraries break ties differently, see `ties`.

    Attributes:
      logits: path of real numbers `[*b, n]`.
      labels: path of the true classes, integers `[*b, 1]` or `[*b]`.
      mask: path of bools or non-negative numbers `[*b, 1]`, `[*b]`, or fewer axes.
      k: how many classes count as the answer, below the number of classes.
      ties: as for `Accuracy`: "first", "optimistic", "pessimistic" or "expected".
      ignore_index: a label whose examples do not count, such as -1.
      on_empty: the value if nothing counts: "nan", "zero", or "raise".

    Raises:
      ValueError: an option is not known; at the first use: `k` is not below the
        number of classes.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    State = AverageState

    logits: kontext.Key = kontext.REQUIRED
    labels: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    k: Count = 5
    ties: Ties = "first"
    ignore_index: Whole | None = None
    on_empty: OnEmpty = "nan"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ties("TopKAccuracy", self.ties)

    @typechecked
    def get_state(
        self,
        logits: Real[Array, "*b n"],
        labels: Int[Array, "*b 1"] | Int[Array, "*b"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        logits = to_float32(logits)
        labels = class_labels("TopKAccuracy", labels, logits.shape[:-1])
        check_k("TopKAccuracy", "k", self.k, logits.shape[-1])
        correct = rank_correct(logits, labels, k=self.k, ties=self.ties)
        mask = _mask_of(mask, correct.ndim)
        if self.ignore_index is not None:
            mask = combine_masks(mask, labels != self.ignore_index)
        average = AverageState.from_values(correct, mask)
        return nan_unless_classes(
            "TopKAccuracy", average, labels, logits.shape[-1], mask
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class BinaryAccuracy(Metric):
    """The share of answers, yes above a threshold, that are right.

    A NaN is a wrong answer, and so is every answer where the label is neither 0 nor 1;
    outside jit, and without a mask, that raises ValueError.

    Attributes:
      logits: path of real numbers `[*b]`.
      labels: path of 0 and 1, or bools, of the same shape.
      mask: path of bools or non-negative numbers, lined up from the left.
      threshold: the answer is yes above it: 0 for logits, 0.5 for probabilities.
      on_empty: the value if nothing counts: "nan", "zero", or "raise".
    """

    higher_is_better = True
    range = (0.0, 1.0)

    State = AverageState

    logits: kontext.Key = kontext.REQUIRED
    labels: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    threshold: Finite = 0.0
    on_empty: OnEmpty = "nan"

    @typechecked
    def get_state(
        self,
        logits: Real[Array, "*b"],
        labels: Real[Array, "*b"] | Bool[Array, "*b"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        logits, labels = to_float32(logits), jnp.asarray(labels)
        fits = is_zero_or_one(type(self).__name__, labels, mask=mask)
        is_right = (logits > self.threshold) == (labels != 0)
        is_right &= fits & ~jnp.isnan(logits)
        return AverageState.from_values(is_right, mask)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Precision1(Metric):
    """The share of examples whose best class is one of their labels.

    A row of logits that holds a NaN is wrong, and so is an example without labels.

    Attributes:
      logits: path of real numbers `[*b, n]`.
      labels: path of 0 and 1, or bools, of the same shape: which classes are right.
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
        logits, labels = to_float32(logits), jnp.asarray(labels)
        best = jnp.argmax(logits, axis=-1)[..., None]
        is_zero_or_one(type(self).__name__, labels, mask=mask)
        is_label = jnp.take_along_axis(labels, best, axis=-1)[..., 0] == 1
        correct = is_label & ~jnp.any(jnp.isnan(logits), axis=-1)
        return AverageState.from_values(correct, _mask_of(mask, correct.ndim))


@dataclasses.dataclass(frozen=True, kw_only=True)
class JointAccuracy(Metric):
    """The share of examples for which every head is right.

    For one head it is `Accuracy`; a NaN among its logits makes a head wrong.

    Attributes:
      logits: paths of real numbers `[*b, n]`, a mapping or sequence with one per head.
      labels: paths of the true classes, integers `[*b, 1]` or `[*b]`, for the same
        heads.
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
        logits: Any,
        labels: Any,
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch.

        Raises:
          ValueError: logits and labels have other heads, or other axes of examples.
        """
        heads = _heads("JointAccuracy", logits, labels)
        names = {head: f"JointAccuracy, head {head!r}" for head in heads}
        true = {
            head: class_labels(names[head], classes, scores.shape[:-1])
            for head, (scores, classes) in heads.items()
        }
        shapes = {head: labels.shape for head, labels in true.items()}
        if len(set(shapes.values())) != 1:
            raise ValueError(
                "JointAccuracy: the heads have different axes of examples\n  "
                + ", ".join(f"{head!r} {list(shape)}" for head, shape in shapes.items())
            )
        correct = [
            rank_correct(to_float32(scores), true[head], k=1, ties="first")
            for head, (scores, _) in heads.items()
        ]
        joint = functools.reduce(jnp.logical_and, correct)
        mask = _mask_of(mask, joint.ndim)
        average = AverageState.from_values(joint, mask)
        for head, (scores, _) in heads.items():
            average = nan_unless_classes(
                names[head], average, true[head], scores.shape[-1], mask
            )
        return average


def _heads(name: str, logits: Any, labels: Any) -> dict[Any, tuple[Any, Any]]:
    parts = [
        dict(tree)
        if isinstance(tree, Mapping)
        else dict(enumerate(tree))
        if isinstance(tree, list | tuple)
        else {0: tree}
        for tree in (logits, labels)
    ]
    if parts[0].keys() != parts[1].keys() or not parts[0]:
        raise ValueError(
            f"{name}: logits and labels must have the same heads\n"
            f"  logits {list(parts[0])}, labels {list(parts[1])}"
        )
    return {head: (jnp.asarray(parts[0][head]), parts[1][head]) for head in parts[0]}


def _mask_of(mask: Any | None, rank: int) -> jax.Array | None:
    """A mask `[*b, 1]` as `[*b]`; one with fewer axes as it is."""
    if mask is None:
        return None
    mask = jnp.asarray(mask)
    has_column = mask.ndim == rank + 1 and mask.shape[-1] == 1
    return mask[..., 0] if has_column else mask
