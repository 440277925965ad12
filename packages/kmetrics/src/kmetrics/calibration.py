"""How well predicted probabilities agree with what happens."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._auto import AutoState
from kmetrics._average import AverageState
from kmetrics._bins import sum_bins
from kmetrics._class_inputs import check_classes, class_labels, example_weights
from kmetrics._fields import concat_field, sum_field
from kmetrics._masks import combine_masks, fill_masked
from kmetrics._metric import Metric, OnEmpty
from kmetrics._numerics import Pair, is_traced, to_float32
from kmetrics._options import Count, Whole
from kmetrics._register import state
from ktyping import Array, Bool, Real, typechecked

__all__ = ["Brier", "CalibrationError", "LogLoss", "Perplexity"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Probabilities(Metric):
    logits: kontext.Key | None = None
    probs: kontext.Key | None = None
    labels: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    ignore_index: Whole | None = None
    on_empty: OnEmpty = "nan"

    @typechecked
    def get_state(
        self,
        labels: Real[Array, "..."] | Bool[Array, "..."],
        logits: Real[Array, "..."] | None = None,
        probs: Real[Array, "..."] | None = None,
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch.

        Raises:
          ValueError: not exactly one of logits and probs is given, shapes do not fit,
            a probability is none (seen outside of jit, without a mask), or a label is
            no class (seen outside of jit).
        """
        name = type(self).__name__
        if (logits is None) == (probs is None):
            found = "neither" if logits is None else "both"
            raise ValueError(f"{name} takes either logits or probs\n  got {found}")
        is_logits = logits is not None
        scores = to_float32(logits if is_logits else probs)
        if not is_logits:
            scores = _probabilities(name, scores, mask)
        given, labels = labels, _class_numbers(jnp.asarray(labels))
        if labels.shape == scores.shape:
            # Yes or no: the same as the two classes 0 and 1.
            rest = jnp.zeros_like(scores) if is_logits else 1 - scores
            scores = jnp.stack([rest, scores], axis=-1)
            is_binary = True
        else:
            labels = class_labels(name, labels, scores.shape[:-1])
            is_binary = False
        weights = example_weights(mask, labels.shape)
        if self.ignore_index is not None:
            weights = combine_masks(weights, labels != self.ignore_index)
        numbers = given if is_traced(given) else np.reshape(given, labels.shape)
        check_classes(name, numbers, scores.shape[-1], weights)
        return _state_of(
            self, scores, labels, weights, is_logits=is_logits, is_binary=is_binary
        )

    def _state(
        self, log_probs: Any, probs: Any, labels: Any, weights: Any, is_binary: bool
    ) -> Any:
        raise NotImplementedError


@dataclasses.dataclass(frozen=True, kw_only=True)
class LogLoss(_Probabilities):
    """The mean of `-log p(label)`, in nats.

    For this and all metrics of this module: a label that is no class is an error, and
    under jit the value is NaN; so it is for a probability outside of [0, 1].

    Attributes:
      logits: path of real numbers `[*b, n]`, of a softmax; or shaped as `labels`, of a
        sigmoid.
      probs: path of probabilities of the same shapes; instead of `logits`.
      labels: path of the classes, `[*b, 1]` or `[*b]`; or of 0 and 1, shaped as the
        logits, each a question by itself.
      mask: path of bools or non-negative numbers, lined up from the left.
      ignore_index: a label whose examples do not count, such as -1.
      on_empty: the value if nothing counts: "nan", "zero", or "raise".
    """

    higher_is_better = False
    range = (0.0, math.inf)

    State = AverageState
    _average: ClassVar[type[AverageState]] = AverageState

    def _state(
        self, log_probs: Any, probs: Any, labels: Any, weights: Any, is_binary: bool
    ) -> Any:
        return self._average.from_values(-_pick(log_probs, labels), weights)


@state
class PerplexityState(AverageState):
    """An `AverageState` whose value is the exponential of the mean."""

    def compute(self) -> Any:
        """`exp(mean)`; inf if that is too large, NaN if nothing counts."""
        if is_traced((self.total, self.count)):
            return jnp.exp(super().compute())
        if float(np.asarray(self.count.hi)) == 0:
            return self.empty_value()
        mean = super().compute()
        return math.inf if mean > 709 else math.exp(mean)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Perplexity(LogLoss):
    """The exponential of the mean of `-log p(token)`; inputs: see `LogLoss`.

    The mean is over all tokens of all batches, not over means of batches.
    """

    higher_is_better = False
    range = (1.0, math.inf)

    State = PerplexityState
    _average: ClassVar[type[AverageState]] = PerplexityState


@dataclasses.dataclass(frozen=True, kw_only=True)
class Brier(_Probabilities):
    """The mean squared distance of the probabilities from the answer.

    Over classes it is `Σ (p - onehot)²`, 0 to 2; for yes and no `(p - y)²`. Inputs:
    see `LogLoss`.
    """

    higher_is_better = False
    range = (0.0, 2.0)

    State = AverageState

    def _state(
        self, log_probs: Any, probs: Any, labels: Any, weights: Any, is_binary: bool
    ) -> Any:
        onehot = labels[..., None] == jnp.arange(probs.shape[-1])
        values = jnp.sum((probs - onehot) ** 2, axis=-1)
        # Of two classes both are off by the same.
        values = values / 2 if is_binary else values
        is_class = (labels >= 0) & (labels < probs.shape[-1])
        return AverageState.from_values(jnp.where(is_class, values, jnp.nan), weights)


@state
class CalibrationState(AutoState):
    """Sums per bin of the confidence, each `[bins]`.

    Attributes:
      weight: how many examples.
      confidence: their confidences.
      correct: how many were right.
    """

    weight: Any = sum_field()
    confidence: Any = sum_field()
    correct: Any = sum_field()

    def compute(self) -> float:
        """The gap of confidence and accuracy over the bins."""
        weight = np.asarray(self.weight)
        if weight.sum() == 0:
            return self.empty_value()
        return _gap(weight, self.confidence, self.correct, norm=self.parent.norm)


@state
class ConfidencesState(AutoState):
    """All confidences, kept on the host; each `[m]`.

    Attributes:
      weight: of the examples.
      confidence: of the answers.
      correct: whether they were right.
    """

    weight: Any = concat_field()
    confidence: Any = concat_field()
    correct: Any = concat_field()

    def compute(self) -> float:
        """The gap over bins of equal weight."""
        if self.weight is None or not (self.weight != 0).any():
            return self.empty_value()
        keep = self.weight != 0
        weight = self.weight[keep].astype(np.float64)
        confidence, correct = self.confidence[keep], self.correct[keep]
        if np.isnan(confidence).any():
            return math.nan
        # Equal confidences go together, into the bin of the middle of their weight.
        _, group = np.unique(confidence, return_inverse=True)
        group = group.ravel()
        mass = np.bincount(group, weight)
        middle = (np.cumsum(mass) - mass / 2) / mass.sum()
        bins = self.parent.bins
        place = np.minimum((middle * bins).astype(int), bins - 1)[group]
        sums = (
            np.bincount(place, weight * x, bins) for x in (1.0, confidence, correct)
        )
        return _gap(*sums, norm=self.parent.norm)


def _gap(
    weight: np.ndarray, confidence: np.ndarray, correct: np.ndarray, *, norm: str
) -> float:
    """The gap of confidence and accuracy, from sums per bin."""
    filled = weight > 0
    gap = np.abs(confidence - correct)[filled]
    if norm == "max":
        return float((gap / weight[filled]).max())
    return float(gap.sum() / weight.sum())


@dataclasses.dataclass(frozen=True, kw_only=True)
class CalibrationError(_Probabilities):
    """The gap between confidence and accuracy, over bins of the confidence (ECE, MCE).

    The confidence is the highest probability, and for yes and no the probability of
    yes. Bins are (lower, upper], the first one closed on both sides.

    Reference: M. P. Naeini, G. F. Cooper, M. Hauskrecht, Obtaining well calibrated
    probabilities using Bayesian binning (2015).

    Attributes:
      bins: the number of bins.
      norm: "mean": weighted by the examples in the bins (ECE). "max": the worst bin
        (MCE).
      strategy: "width": bins of equal width, which are counted in fixed memory and on
        the device. "mass": bins with equally many examples, as far as equal
        confidences let them be; all confidences are kept on the host.

    Raises:
      ValueError: an option is not known.
    """

    higher_is_better = False
    range = (0.0, 1.0)

    State = CalibrationState

    bins: Count = 15
    norm: Literal["mean", "max"] = "mean"
    strategy: Literal["width", "mass"] = "width"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.norm not in ("mean", "max"):
            raise ValueError(
                f"CalibrationError: norm={self.norm!r} is not known\n"
                'use "mean" or "max"'
            )
        if self.strategy not in ("width", "mass"):
            raise ValueError(
                f"CalibrationError: strategy={self.strategy!r} is not known\n"
                'use "width" or "mass"'
            )

    def empty(self) -> Any:
        """The state of no data."""
        if self.strategy == "width":
            return super().empty()
        return ConfidencesState.empty().with_parent(self)

    def _state(
        self, log_probs: Any, probs: Any, labels: Any, weights: Any, is_binary: bool
    ) -> Any:
        if is_binary:
            confidence, correct = probs[..., 1], labels == 1
        else:
            confidence, correct = probs.max(axis=-1), probs.argmax(axis=-1) == labels
        is_class = (labels >= 0) & (labels < probs.shape[-1])
        confidence = jnp.where(is_class, confidence, jnp.nan)
        weight = to_float32(weights).ravel()
        if self.strategy == "mass":
            return ConfidencesState(
                weight=weight, confidence=confidence.ravel(), correct=correct.ravel()
            )
        upper = jnp.asarray(np.linspace(0, 1, self.bins + 1)[1:], jnp.float32)
        place = jnp.searchsorted(upper, confidence.ravel(), side="left")
        place = jnp.clip(place, 0, self.bins - 1)

        # The fields of the state, in their order.
        columns = (jnp.ones_like(confidence), confidence, to_float32(correct))
        columns = jnp.stack([column.ravel() for column in columns])
        kept = jnp.where(weight != 0, columns * weight, 0.0)
        sums = jax.vmap(lambda column: sum_bins(place, self.bins, column))(kept)
        return CalibrationState(*map(Pair, *sums))


# One compiled call when used outside jit, and plain operations inside.
@functools.partial(
    jax.jit, static_argnums=0, static_argnames=("is_logits", "is_binary"), inline=True
)
def _state_of(
    metric: _Probabilities,
    scores: jax.Array,
    labels: jax.Array,
    weights: Any,
    *,
    is_logits: bool,
    is_binary: bool,
) -> Any:
    scores = fill_masked(scores, weights, 0.5)
    log_probs = jax.nn.log_softmax(scores) if is_logits else jnp.log(scores)
    probs = jnp.exp(log_probs) if is_logits else scores
    return metric._state(log_probs, probs, labels, weights, is_binary)


def _probabilities(name: str, probs: jax.Array, mask: Any | None) -> jax.Array:
    """`probs` with NaN for numbers that are none."""
    is_known = ((probs >= 0) & (probs <= 1)) | jnp.isnan(probs)
    if mask is None and not is_traced(is_known) and not bool(jnp.all(is_known)):
        raise ValueError(
            f"{name}: a probability is outside of [0, 1]\n"
            f"  got {float(probs[~is_known][0]):g}\n"
            "hand logits to logits=, or mask it out"
        )
    return jnp.where(is_known, probs, jnp.nan)


def _class_numbers(labels: jax.Array) -> jax.Array:
    """The labels as integers; -1, which is no class, for what is not whole."""
    if jnp.issubdtype(labels.dtype, jnp.integer):
        return labels
    whole = labels.astype(jnp.int32)
    return jnp.where(whole == labels, whole, -1)


def _pick(log_probs: jax.Array, labels: jax.Array) -> jax.Array:
    is_class = (labels >= 0) & (labels < log_probs.shape[-1])
    column = jnp.where(is_class, labels, 0)[..., None]
    chosen = jnp.take_along_axis(log_probs, column, axis=-1)[..., 0]
    return jnp.where(is_class, chosen, jnp.nan)
