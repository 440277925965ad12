"""Metrics of predicted depth."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import jax
import jax.numpy as jnp

import kontext
from kmetrics._average import AverageState
from kmetrics._masks import combine_masks
from kmetrics._metric import Metric, OnEmpty
from kmetrics._numerics import to_float32
from ktyping import Array, Bool, Real, typechecked

__all__ = ["AbsRel", "Delta"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Depth(Metric):
    State = AverageState

    preds: kontext.Key = kontext.REQUIRED
    targets: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    on_empty: OnEmpty = "nan"

    @typechecked
    def get_state(
        self,
        preds: Real[Array, "*b"],
        targets: Real[Array, "*b"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        targets = to_float32(targets)
        is_known = targets > 0
        values = self._values(to_float32(preds), jnp.where(is_known, targets, 1.0))
        return AverageState.from_values(values, combine_masks(mask, is_known))

    def _values(self, preds: jax.Array, targets: jax.Array) -> jax.Array:
        """One value per depth, for targets above 0."""
        raise NotImplementedError


class AbsRel(_Depth):
    """The mean of `|preds - targets| / targets`, where the target is above 0.

    For this and all metrics of this module: a target of 0 or below, or NaN, is one
    that was not measured, and does not count.

    Reference: D. Eigen, C. Puhrsch, R. Fergus, Depth map prediction from a single image
    using a multi-scale deep network (2014), section 4.

    Attributes:
      preds: path of real numbers of any shape.
      targets: path of real numbers, same shape and unit.
      mask: path of bools or non-negative numbers, lined up from the left.
      on_empty: the value if nothing counts: "nan", "zero", or "raise".
    """

    higher_is_better = False
    range = (0.0, math.inf)

    def _values(self, preds: jax.Array, targets: jax.Array) -> jax.Array:
        return jnp.abs(preds - targets) / targets


@dataclasses.dataclass(frozen=True, kw_only=True)
class Delta(_Depth):
    """The share with `max(preds / targets, targets / preds) < threshold`.

    Inputs, and which targets count: as for `AbsRel`. A prediction of 0 or below is
    wrong.

    Attributes:
      threshold: above 1; papers use 1.25, 1.25² and 1.25³.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    threshold: float = 1.25

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.threshold > 1:
            raise ValueError(
                f"Delta: threshold must be above 1\n  got {self.threshold!r}"
            )

    def _values(self, preds: jax.Array, targets: jax.Array) -> jax.Array:
        # The same as the larger of both ratios, without a division by the prediction.
        is_near = preds < self.threshold * targets
        return is_near & (targets < self.threshold * preds)
