"""Areas under curves of rankings: ROC and precision-recall."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._auto import AutoState
from kmetrics._bins import count_bins
from kmetrics._class_inputs import columns
from kmetrics._fields import concat_field, static_field, sum_field
from kmetrics._metric import Metric, OnEmpty
from kmetrics._numerics import Pair
from kmetrics._options import Span, TwoOrMore
from kmetrics._register import state
from ktyping import Array, Bool, Real, typechecked

__all__ = ["AveragePrecision", "PrAuc", "RocAuc"]

Average = Literal["macro", "weighted", "micro", "none"]


@state
class ScoresState(AutoState):
    """All scores, kept on the host.

    Attributes:
      scores: `[m, n]`, one column per question.
      targets: bool `[m, n]`.
      weights: `[m]`.
    """

    scores: Any = concat_field()
    targets: Any = concat_field()
    weights: Any = concat_field()

    def compute(self) -> Any:
        """The area, from the parts of the metric."""
        if self.scores is None:
            return self.empty_value()
        weights = np.asarray(self.weights, np.float64)
        keep = weights != 0
        if not keep.any():
            return self.empty_value()
        scores, targets = self.scores[keep], self.targets[keep]
        return self.parent.from_scores(scores, targets, weights[keep])


@state
class BinnedState(AutoState):
    """How many scores lie in each bin; of fixed size.

    Attributes:
      yes: `[n, bins]`, weight of the examples whose answer is yes, ascending.
      no: `[n, bins]`, weight of the others.
    """

    yes: Any = sum_field()
    no: Any = sum_field()
    bins: int = static_field(default=0)

    def compute(self) -> Any:
        """The area, and how far it can be off."""
        yes, no = np.asarray(self.yes), np.asarray(self.no)
        if (yes.sum() + no.sum()) == 0:
            empty = self.empty_value()
            return {"value": empty, "bound": empty}
        return self.parent.from_bins(yes, no)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Curve(Metric):
    logits: kontext.Key = kontext.REQUIRED
    labels: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    average: Average = "macro"
    on_empty: OnEmpty = "nan"

    State = ScoresState

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.average not in ("macro", "weighted", "micro", "none"):
            raise ValueError(
                f"{type(self).__name__}: average={self.average!r} is not known\n"
                'use one of "macro", "weighted", "micro", "none"'
            )

    @typechecked
    def get_state(
        self,
        logits: Real[Array, "..."],
        labels: Real[Array, "..."] | Bool[Array, "..."],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        scores, targets, weights, _ = columns(type(self).__name__, logits, labels, mask)
        return ScoresState(scores=scores, targets=targets, weights=weights)

    def from_scores(
        self, scores: np.ndarray, targets: np.ndarray, weights: np.ndarray
    ) -> Any:
        """The area of scores and answers `[m, n]`."""
        if self.average == "micro":
            weights = np.repeat(weights, scores.shape[1])
            scores, targets = scores.reshape(-1, 1), targets.reshape(-1, 1)
        areas, support = [], []
        for column, answers in zip(scores.T, targets.T, strict=True):
            yes, no = _counts(column, answers, weights)
            areas.append(self._area(yes, no))
            support.append(yes.sum())
        return self._mean(np.array(areas), np.array(support))

    def _area(self, yes: np.ndarray, no: np.ndarray) -> float:
        raise NotImplementedError

    def _mean(self, areas: np.ndarray, support: np.ndarray) -> Any:
        """Over the columns that have an area."""
        if self.average == "none":
            return areas
        defined = ~np.isnan(areas)
        weights = support if self.average == "weighted" else np.ones(len(areas))
        total = weights[defined].sum()
        return (areas * weights)[defined].sum() / total if total else np.nan


@dataclasses.dataclass(frozen=True, kw_only=True)
class RocAuc(_Curve):
    """The chance that an example of a class ranks above one of another; a tie is ½.

    NaN where all examples, or none, are of the class, or a score is NaN; such classes
    leave the average. A label that is no class gives NaN; outside jit, and without a
    mask, it raises ValueError.

    Attributes:
      logits: path of real numbers: `[*b, n]`, of a softmax over classes; or scores
        shaped as `labels`.
      labels: path of the classes, `[*b, 1]` or `[*b]`; or of yes and no, shaped as the
        scores, whose last axis is then one question each (`[b]` is one question).
      mask: path of bools or non-negative numbers `[*b, 1]`, `[*b]`, or fewer axes.
      average: "macro": the mean over the classes. "weighted": by how often they occur.
        "micro": all answers in one ranking. "none": one value per class.
      on_empty: the value if nothing counts: "nan", "zero", or "raise".
      multi_class: "ovr": each class against all others. "ovo": the mean over all
        ordered pairs of classes, of one against the other.
      method: "exact" keeps all scores on the host. "binned" counts them in bins, in
        fixed memory and on the device, and computes `value` and the `bound` of its
        error.
      bins: the number of bins.
      score_range: the lowest and highest score of "binned"; scores outside count as
        these. The probabilities of classes lie in [0, 1].

    Raises:
      ValueError: an option is not known, or two do not go together.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    multi_class: Literal["ovr", "ovo"] = "ovr"
    method: Literal["exact", "binned"] = "exact"
    bins: TwoOrMore = 4096
    score_range: Span = (0.0, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.multi_class not in ("ovr", "ovo"):
            raise ValueError(
                f"RocAuc: multi_class={self.multi_class!r} is not known\n"
                'use "ovr" or "ovo"'
            )
        if self.method not in ("exact", "binned"):
            raise ValueError(
                f'RocAuc: method={self.method!r} is not known\nuse "exact" or "binned"'
            )
        if self.multi_class == "ovo" and (
            self.method == "binned" or self.average != "macro"
        ):
            raise ValueError(
                'RocAuc: multi_class="ovo" needs method="exact" and average="macro"\n'
                f"  got {self.method!r} and {self.average!r}"
            )

    def empty(self) -> Any:
        """The state of no data."""
        if self.method == "exact":
            return super().empty()
        return BinnedState.empty(bins=self.bins).with_parent(self)

    def metric_names(self) -> tuple[str, ...] | None:
        """`value` and `bound` if binned."""
        return ("value", "bound") if self.method == "binned" else None

    @typechecked
    def get_state(
        self,
        logits: Real[Array, "..."],
        labels: Real[Array, "..."] | Bool[Array, "..."],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        scores, targets, weights, is_multiclass = columns(
            "RocAuc", logits, labels, mask
        )
        if self.multi_class == "ovo" and not is_multiclass:
            raise ValueError(
                'RocAuc: multi_class="ovo" needs labels that are numbers of classes\n'
                f"  got labels {list(jnp.shape(labels))}"
            )
        if self.method == "exact":
            return ScoresState(scores=scores, targets=targets, weights=weights)
        yes, no = self._counts(scores, targets, weights)
        return BinnedState(yes=yes, no=no, bins=self.bins)

    # One compiled call when used outside jit, and plain operations inside.
    @functools.partial(jax.jit, static_argnums=0, inline=True)
    def _counts(
        self, scores: jax.Array, targets: jax.Array, weights: jax.Array
    ) -> list[Pair]:
        """How many of each answer lie in each bin, `[n, bins]`."""
        low, high = self.score_range
        place = jnp.floor((scores - low) / (high - low) * self.bins).astype(jnp.int32)
        place = jnp.clip(place, 0, self.bins - 1)
        # As with all scores: one that is NaN leaves no ranking.
        counts = (weights != 0)[:, None]
        known = jnp.where(jnp.any(jnp.isnan(scores) & counts, axis=0), jnp.nan, 0.0)
        both = [
            jax.vmap(lambda at, is_in: count_bins(at, self.bins, weights * is_in))(
                place.T, side.T
            )
            for side in (targets, ~targets)
        ]
        return [Pair(side.hi + known[:, None], side.lo) for side in both]

    def from_scores(
        self, scores: np.ndarray, targets: np.ndarray, weights: np.ndarray
    ) -> Any:
        """The area of scores and answers `[m, n]`."""
        if self.multi_class == "ovr":
            return super().from_scores(scores, targets, weights)
        areas = []
        for one, other in itertools.permutations(range(scores.shape[1]), 2):
            both = targets[:, one] | targets[:, other]
            counts = _counts(scores[both, one], targets[both, one], weights[both])
            areas.append(self._area(*counts))
        defined = [area for area in areas if not np.isnan(area)]
        return float(np.mean(defined)) if defined else np.nan

    def from_bins(self, yes: np.ndarray, no: np.ndarray) -> dict[str, Any]:
        """The area and its bound from counts `[n, bins]`."""
        if self.average == "micro":
            yes, no = yes.sum(axis=0, keepdims=True), no.sum(axis=0, keepdims=True)
        areas = [self._area(*sides) for sides in zip(yes, no, strict=True)]
        mixed = (yes * no).sum(axis=1)
        pairs = yes.sum(axis=1) * no.sum(axis=1)
        bounds = np.where(pairs > 0, mixed / np.where(pairs > 0, 2 * pairs, 1), np.nan)
        support = yes.sum(axis=1)
        return {
            "value": self._mean(np.array(areas), support),
            "bound": self._mean(bounds, support),
        }

    def _area(self, yes: np.ndarray, no: np.ndarray) -> float:
        pairs = yes.sum() * no.sum()
        if not pairs > 0:
            return np.nan
        below = np.cumsum(no) - no
        return float((yes * (below + no / 2)).sum() / pairs)


@dataclasses.dataclass(frozen=True, kw_only=True)
class AveragePrecision(_Curve):
    """The precision at each score, weighted by the recall it adds: Σ (Rₙ - Rₙ₋₁) Pₙ.

    All scores are kept on the host.

    Attributes:
      logits: as for `RocAuc`.
      labels: as for `RocAuc`.
      mask: as for `RocAuc`.
      average: as for `RocAuc`.
      on_empty: as for `RocAuc`.
      absent: the value of a class that no example is of: "nan", which also leaves it
        out of the average, or "zero".

    Raises:
      ValueError: an option is not known.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    absent: Literal["nan", "zero"] = "nan"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.absent not in ("nan", "zero"):
            raise ValueError(
                f"{type(self).__name__}: absent={self.absent!r} is not known\n"
                'use "nan" or "zero"'
            )

    def _area(self, yes: np.ndarray, no: np.ndarray) -> float:
        if yes.sum() == 0:
            # Without any score the ranking is unknown, rather than without a yes.
            unknown = self.absent == "nan" or no.sum() == 0
            return np.nan if unknown else 0.0
        found = np.cumsum(yes[::-1])
        precision = found / (found + np.cumsum(no[::-1]))
        return self._under(found / found[-1], precision)

    def _under(self, recall: np.ndarray, precision: np.ndarray) -> float:
        """The area under a curve, from the highest score down."""
        return float((np.diff(recall, prepend=0.0) * precision).sum())


class PrAuc(AveragePrecision):
    """The area under precision and recall, with straight lines between the scores.

    They begin at recall 0 with precision 1. The lines are optimistic: nothing between
    two scores can be reached; `AveragePrecision` is the honest sum. Inputs and options
    are the same.

    Reference: J. Davis, M. Goadrich, The relationship between precision-recall and ROC
    curves (2006), section 4.
    """

    def _under(self, recall: np.ndarray, precision: np.ndarray) -> float:
        recall, precision = np.append(0.0, recall), np.append(1.0, precision)
        return float((np.diff(recall) * (precision[1:] + precision[:-1]) / 2).sum())


def _counts(
    scores: np.ndarray, answers: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The weight of yes and of no at each distinct score, ascending.

    A NaN makes the whole ranking unknown: there is no score then.
    """
    if np.isnan(scores).any():
        return np.zeros(1), np.zeros(1)
    _, place = np.unique(scores, return_inverse=True)
    size = place.max() + 1 if len(place) else 1
    place = place.ravel()
    return (
        np.bincount(place, weights * answers, size),
        np.bincount(place, weights * ~answers, size),
    )
