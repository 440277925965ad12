"""Metrics of classifiers that are read off the table of labels and predictions."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import numpy as np

from kmetrics._class_table import ConfusionState as ConfusionState
from kmetrics._class_table import OfTable
from kmetrics._metric import Metric
from kmetrics._options import Positive

__all__ = [
    "BalancedAccuracy",
    "CohenKappa",
    "ConfusionMatrix",
    "FBeta",
    "MatthewsCorrelation",
    "MeanIoU",
    "Precision",
    "Recall",
    "Specificity",
]

Average = Literal["micro", "macro", "weighted", "none"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ConfusionMatrix(OfTable):
    """The table of true classes (rows) and predicted ones (columns), `[n, n]`.

    For this and all metrics of this module: a label or prediction that is no class is
    an error, and under jit the value is NaN; so it is for a row of logits with a NaN.

    Attributes:
      logits: path of real numbers `[*b, n]`.
      pred_labels: path of predicted classes, shaped as `labels`; instead of `logits`,
        with `num_classes`.
      labels: path of the true classes, integers `[*b, 1]` or `[*b]`.
      mask: path of bools or non-negative numbers `[*b, 1]`, `[*b]`, or fewer axes.
      num_classes: the number of classes; None: as many as the logits have columns.
      ignore_index: a label whose examples do not count, such as -1.
      source: another metric of the table, whose inputs and whose options above this one
        has. In one `Collection` all metrics with one source share its table.
      on_empty: the value if nothing counts: "nan", "zero", or "raise".
      normalize: "true": each row adds up to 1. "pred": each column. "all": the table.
        A row or column without examples becomes NaN.
    """

    normalize: Literal["true", "pred", "all"] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_option(self, "normalize", (None, "true", "pred", "all"))

    def from_counts(self, counts: np.ndarray) -> Any:
        """The table, normalised as asked for."""
        if self.normalize is None:
            return counts
        axis = {"true": 1, "pred": 0, "all": None}[self.normalize]
        return _ratio(counts, counts.sum(axis=axis, keepdims=True), np.nan)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _PerClass(OfTable):
    average: Average = "macro"
    zero_division: float | Literal["nan"] = "nan"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_option(self, "average", ("micro", "macro", "weighted", "none"))
        _check_option(self, "zero_division", (0, 1, "nan"))

    def from_counts(self, counts: np.ndarray) -> Any:
        """The value over the classes, or one per class."""
        hit = np.diag(counts)
        support, chosen = counts.sum(axis=1), counts.sum(axis=0)
        parts = (
            hit,
            chosen - hit,
            support - hit,
            counts.sum() - support - chosen + hit,
        )
        if self.average == "micro":
            parts = tuple(part.sum() for part in parts)
        missing = np.nan if self.zero_division == "nan" else float(self.zero_division)
        values = _ratio(*self._fraction(*parts), missing)
        if self.average in ("micro", "none"):
            return values
        weights = support if self.average == "weighted" else np.ones(len(counts))
        defined = ~np.isnan(values)
        total = weights[defined].sum()
        return (values * weights)[defined].sum() / total if total else np.nan

    def _fraction(self, tp: Any, fp: Any, fn: Any, tn: Any) -> tuple[Any, Any]:
        raise NotImplementedError


class Precision(_PerClass):
    """The share of the predictions of a class that are right.

    Inputs: as for `ConfusionMatrix`.

    Attributes:
      average: "macro": the mean over the classes. "weighted": by how often they occur.
        "micro": from the counts of all classes together. "none": one value per class.
      zero_division: the value of a class whose denominator is 0: 0, 1, or "nan", which
        also leaves the class out of the averages.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    def _fraction(self, tp: Any, fp: Any, fn: Any, tn: Any) -> tuple[Any, Any]:
        return tp, tp + fp


class Recall(_PerClass):
    """The share of the examples of a class that are found.

    Inputs: as for `ConfusionMatrix`.

    Attributes:
      average: "macro": the mean over the classes. "weighted": by how often they occur.
        "micro": from the counts of all classes together. "none": one value per class.
      zero_division: the value of a class whose denominator is 0: 0, 1, or "nan", which
        also leaves the class out of the averages.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    def _fraction(self, tp: Any, fp: Any, fn: Any, tn: Any) -> tuple[Any, Any]:
        return tp, tp + fn


class Specificity(_PerClass):
    """The share of the examples of other classes that are not taken for a class.

    Inputs: as for `ConfusionMatrix`.

    Attributes:
      average: "macro": the mean over the classes. "weighted": by how often they occur.
        "micro": from the counts of all classes together. "none": one value per class.
      zero_division: the value of a class whose denominator is 0: 0, 1, or "nan", which
        also leaves the class out of the averages.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    def _fraction(self, tp: Any, fp: Any, fn: Any, tn: Any) -> tuple[Any, Any]:
        return tn, tn + fp


class MeanIoU(_PerClass):
    """The intersection of predictions and examples of a class over their union.

    Inputs: as for `ConfusionMatrix`.

    Attributes:
      average: "macro": the mean over the classes. "weighted": by how often they occur.
        "micro": from the counts of all classes together. "none": one value per class.
      zero_division: the value of a class whose denominator is 0: 0, 1, or "nan", which
        also leaves the class out of the averages.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    def _fraction(self, tp: Any, fp: Any, fn: Any, tn: Any) -> tuple[Any, Any]:
        return tp, tp + fp + fn


@dataclasses.dataclass(frozen=True, kw_only=True)
class FBeta(_PerClass):
    """The weighted harmonic mean of precision and recall, F1 by default.

    Inputs and averages: as for `Precision`.

    Attributes:
      beta: how many times the recall matters more than the precision.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    beta: Positive = 1.0

    def _fraction(self, tp: Any, fp: Any, fn: Any, tn: Any) -> tuple[Any, Any]:
        square = self.beta**2
        return (1 + square) * tp, (1 + square) * tp + square * fn + fp


class BalancedAccuracy(OfTable):
    """The mean of the recalls of the classes that occur; inputs: see `ConfusionMatrix`.

    It is `Recall` with its defaults.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    def from_counts(self, counts: np.ndarray) -> float:
        """The mean recall."""
        return float(np.nanmean(_ratio(np.diag(counts), counts.sum(axis=1), np.nan)))


class MatthewsCorrelation(OfTable):
    """The correlation of labels and predictions, -1 to 1; see `ConfusionMatrix`.

    It is 0 if only one class occurs, or only one is predicted.

    Reference: J. Gorodkin, Comparing two K-category assignments by a K-category
    correlation coefficient (2004), equation 8.
    """

    higher_is_better = True
    range = (-1.0, 1.0)

    def from_counts(self, counts: np.ndarray) -> float:
        """The correlation."""
        total, support, chosen = counts.sum(), counts.sum(axis=1), counts.sum(axis=0)
        covariance = np.trace(counts) * total - support @ chosen
        spread = (total**2 - chosen @ chosen) * (total**2 - support @ support)
        return float(covariance / np.sqrt(spread)) if spread > 0 else 0.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class CohenKappa(OfTable):
    """Agreement of labels and predictions beyond chance; see `ConfusionMatrix`.

    It is NaN if a single class occurs on both sides.

    Reference: J. Cohen, Weighted kappa (1968).

    Attributes:
      weights: how a confusion of the classes i and j weighs: None: 1. "linear":
        abs(i - j). "quadratic": (i - j)².
    """

    higher_is_better = True
    range = (-1.0, 1.0)

    weights: Literal["linear", "quadratic"] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_option(self, "weights", (None, "linear", "quadratic"))

    def from_counts(self, counts: np.ndarray) -> float:
        """The kappa."""
        gap = np.abs(np.subtract.outer(*[np.arange(len(counts))] * 2)).astype(float)
        power = {None: 0, "linear": 1, "quadratic": 2}[self.weights]
        cost = np.where(gap == 0, 0.0, gap**power)
        chance = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
        expected = (cost * chance).sum()
        return float(1 - (cost * counts).sum() / expected) if expected else np.nan


def _ratio(top: Any, bottom: Any, missing: float) -> Any:
    nothing = np.asarray(bottom) == 0
    return np.where(nothing, missing, top / np.where(nothing, 1.0, bottom))


def _check_option(metric: Metric, name: str, known: tuple[Any, ...]) -> None:
    value = getattr(metric, name)
    if value not in known:
        raise ValueError(
            f"{type(metric).__name__}: {name}={value!r} is not known\n"
            f"use one of {', '.join(map(repr, known))}"
        )
