"""Metrics of predicted numbers."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._auto import AutoState
from kmetrics._average import AverageState
from kmetrics._covariance import CovarianceState
from kmetrics._directions import length
from kmetrics._field_kinds import moments_field
from kmetrics._fields import max_field
from kmetrics._masks import align_left, check_weights
from kmetrics._metric import Metric, OnEmpty
from kmetrics._moments import MomentsState
from kmetrics._numerics import is_traced, to_float32
from kmetrics._rank_correlation import PairsState, Spearman
from kmetrics._register import state
from ktyping import Array, Bool, Real, typechecked

__all__ = [
    "ExplainedVariance",
    "MaxError",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanSquaredError",
    "MeanSquaredLogError",
    "MedianAbsoluteError",
    "Pearson",
    "R2",
    "RootMeanSquaredError",
    "Spearman",
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Regression(Metric):
    preds: kontext.Key = kontext.REQUIRED
    targets: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    on_empty: OnEmpty = "nan"

    @typechecked
    def get_state(
        self,
        preds: Real[Array, "*b"] | Bool[Array, "*b"],
        targets: Real[Array, "*b"] | Bool[Array, "*b"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        # Before subtracting: 0 - 16 is 240 in uint8.
        return self._state(to_float32(preds), to_float32(targets), mask)

    def _state(self, preds: jax.Array, targets: jax.Array, mask: Any | None) -> Any:
        raise NotImplementedError


@dataclasses.dataclass(frozen=True, kw_only=True)
class MeanSquaredError(_Regression):
    """The mean of `(preds - targets)²` over all elements.

    Attributes:
      preds: path of real numbers of any shape.
      targets: path of real numbers, same shape.
      mask: path of bools or non-negative numbers, lined up from the left.
      on_empty: the value if nothing counts: "nan", "zero", or "raise".
    """

    higher_is_better = False
    range = (0.0, math.inf)

    State = AverageState

    def _state(self, preds: jax.Array, targets: jax.Array, mask: Any | None) -> Any:
        return AverageState.from_values((preds - targets) ** 2, mask)


class MeanAbsoluteError(MeanSquaredError):
    """The mean of `|preds - targets|`; see `MeanSquaredError`."""

    higher_is_better = False
    range = (0.0, math.inf)

    def _state(self, preds: jax.Array, targets: jax.Array, mask: Any | None) -> Any:
        return AverageState.from_values(jnp.abs(preds - targets), mask)


class MeanAbsolutePercentageError(MeanSquaredError):
    """The mean of `|preds - targets| / |targets|`, 1 for 100 %; see `MeanSquaredError`.

    A target of 0 gives inf, or NaN if the prediction is 0 as well.
    """

    higher_is_better = False
    range = (0.0, math.inf)

    def _state(self, preds: jax.Array, targets: jax.Array, mask: Any | None) -> Any:
        share = jnp.abs(preds - targets) / jnp.abs(targets)
        return AverageState.from_values(share, mask)


class MeanSquaredLogError(MeanSquaredError):
    """The mean of `(log(1 + preds) - log(1 + targets))²`; see `MeanSquaredError`."""

    higher_is_better = False
    range = (0.0, math.inf)

    def _state(self, preds: jax.Array, targets: jax.Array, mask: Any | None) -> Any:
        gap = jnp.log1p(preds) - jnp.log1p(targets)
        return AverageState.from_values(gap**2, mask)


@state
class RootState(AverageState):
    """An `AverageState` whose value is the root of the mean."""

    def compute(self) -> Any:
        """The root; what `on_empty` of the metric says if nothing counts."""
        mean = super().compute()
        return jnp.sqrt(mean) if is_traced(mean) else np.sqrt(mean)


@dataclasses.dataclass(frozen=True, kw_only=True)
class RootMeanSquaredError(_Regression):
    """The root of the mean squared error.

    Attributes:
      preds: path of real numbers `[b, ...]`.
      targets: path of real numbers, same shape.
      mask: path of bools or non-negative numbers, lined up from the left; `[b]` unless
        the mode is "average_all".
      on_empty: the value if nothing counts: "nan", "zero", or "raise".
      mode: "average_all": the root of the mean over all elements. "trad": the squares
        of one example are summed, then comes the mean over the examples and the root.
        "per_sample_sqrt": the mean over the examples of the root of that sum.

    Raises:
      ValueError: the mode is not known, or a mask does not select examples.
    """

    higher_is_better = False
    range = (0.0, math.inf)

    mode: Literal["average_all", "trad", "per_sample_sqrt"] = "average_all"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mode not in ("average_all", "trad", "per_sample_sqrt"):
            raise ValueError(
                f"RootMeanSquaredError: mode={self.mode!r} is not known\n"
                'use "average_all", "trad" or "per_sample_sqrt"'
            )

    def empty(self) -> Any:
        """The state of no data."""
        return self._kind.empty().with_parent(self)

    @property
    def _kind(self) -> type[AverageState]:
        return AverageState if self.mode == "per_sample_sqrt" else RootState

    def _state(self, preds: jax.Array, targets: jax.Array, mask: Any | None) -> Any:
        gap = preds - targets
        rows = self.mode != "average_all" and gap.ndim > 1
        if rows and mask is not None:
            mask = _per_example(jnp.asarray(mask))
        if self.mode == "per_sample_sqrt":
            shape = (*gap.shape[:1], math.prod(gap.shape[1:]))
            values = length(gap.reshape(shape))
        else:
            values = gap**2
            if rows:
                values = values.sum(axis=tuple(range(1, values.ndim)))
        return self._kind.from_values(values, mask)


@state
class JointMomentsState(AutoState):
    """Moments of the targets, and of the difference from the predictions."""

    targets: Any = moments_field()
    gap: Any = moments_field()

    def compute(self) -> Any:
        """The value, from `from_moments` of the metric."""
        count = float(self.targets.count)
        if count == 0:
            return self.empty_value()
        values = [float(m.deviations) for m in (self.targets, self.gap)]
        return self.parent.from_moments(*values, count * float(self.gap.mean) ** 2)


class _OfMoments(_Regression):
    State = JointMomentsState

    def _state(self, preds: jax.Array, targets: jax.Array, mask: Any | None) -> Any:
        moments = (
            MomentsState.from_values(x, mask) for x in (targets, preds - targets)
        )
        return JointMomentsState(*moments)

    def from_moments(self, targets: float, gap: float, bias: float) -> float:
        """The value.

        Args:
          targets: Σ (target - their mean)².
          gap: Σ (pred - target - their mean)².
          bias: count · (mean of pred - target)².
        """
        raise NotImplementedError


class R2(_OfMoments):
    """`1 - Σ (preds - targets)² / Σ (targets - their mean)²`; see `MeanSquaredError`.

    NaN if all targets are equal.
    """

    higher_is_better = True
    range = (-math.inf, 1.0)

    def from_moments(self, targets: float, gap: float, bias: float) -> float:
        """The coefficient of determination."""
        return 1 - (gap + bias) / targets if 0 < targets < math.inf else math.nan


class ExplainedVariance(_OfMoments):
    """`1 - var(preds - targets) / var(targets)`; see `MeanSquaredError`.

    NaN if all targets are equal.
    """

    higher_is_better = True
    range = (-math.inf, 1.0)

    def from_moments(self, targets: float, gap: float, bias: float) -> float:
        """The share of the variance."""
        return 1 - gap / targets if 0 < targets < math.inf else math.nan


@state
class CorrelationState(CovarianceState):
    """Mean and scatter of predictions and targets."""

    def compute(self) -> Any:
        """The correlation; NaN if one of both has no spread, or an infinite one."""
        count, _, scatter = self.moments()
        if count == 0:
            return self.empty_value()
        # Apart from each other: the product of both could overflow.
        spread = math.sqrt(scatter[0, 0]) * math.sqrt(scatter[1, 1])
        if not 0 < spread < math.inf:
            return math.nan
        return min(max(float(scatter[0, 1]) / spread, -1.0), 1.0)


class Pearson(_Regression):
    """The linear correlation of predictions and targets; see `MeanSquaredError`.

    NaN if all predictions, or all targets, are equal.
    """

    higher_is_better = True
    range = (-1.0, 1.0)

    State = CorrelationState

    def _state(self, preds: jax.Array, targets: jax.Array, mask: Any | None) -> Any:
        return CorrelationState.from_values(jnp.stack([preds, targets], -1), mask)


@state
class MaxErrorState(AutoState):
    """The largest error; -inf without data."""

    largest: Any = max_field()

    def compute(self) -> float:
        """The largest error."""
        largest = float(self.largest)
        return self.empty_value() if largest == -math.inf else largest


class MaxError(_Regression):
    """The largest `|preds - targets|`; see `MeanSquaredError`."""

    higher_is_better = False
    range = (0.0, math.inf)

    State = MaxErrorState

    def _state(self, preds: jax.Array, targets: jax.Array, mask: Any | None) -> Any:
        size = jnp.abs(preds - targets)
        if mask is not None:
            check_weights(mask)
            size = jnp.where(align_left(mask, size.shape) != 0, size, -jnp.inf)
        return MaxErrorState(largest=jnp.max(size, initial=-jnp.inf))


class _OfPairs(_Regression):
    State = PairsState
    mask_weighs = False

    def _state(self, preds: jax.Array, targets: jax.Array, mask: Any | None) -> Any:
        keep = jnp.ones(preds.shape, bool)
        if mask is not None:
            check_weights(mask)
            keep &= align_left(mask, preds.shape) != 0
        return PairsState(
            preds=preds.ravel(), targets=targets.ravel(), keep=keep.ravel()
        )

    def from_pairs(self, preds: np.ndarray, targets: np.ndarray) -> float:
        """The value of arrays `[n]`."""
        raise NotImplementedError


class MedianAbsoluteError(_OfPairs):
    """The median of `|preds - targets|`; see `MeanSquaredError`.

    All values are kept on the host, and a mask selects without weighing.
    """

    higher_is_better = False
    range = (0.0, math.inf)

    def from_pairs(self, preds: np.ndarray, targets: np.ndarray) -> float:
        """The median."""
        return float(np.median(np.abs(preds - targets)))


def _per_example(mask: jax.Array) -> jax.Array:
    if any(size != 1 for size in mask.shape[1:]):
        raise ValueError(
            "RootMeanSquaredError: the mask must select examples in this mode\n"
            f"  got {list(mask.shape)}\n"
            'give a mask [b], or use mode="average_all"'
        )
    return mask.reshape(mask.shape[:1])
