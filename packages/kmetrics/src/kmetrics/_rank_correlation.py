"""`Spearman`: the correlation of ranks, exact or from counts in fixed memory."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._auto import AutoState
from kmetrics._bins import count_bins
from kmetrics._fields import concat_field, static_field, sum_field
from kmetrics._masks import align_left, check_weights
from kmetrics._metric import Metric, OnEmpty
from kmetrics._numerics import Pair, to_float32
from kmetrics._options import Span, TwoOrMore
from kmetrics._register import state
from ktyping import Array, Bool, Real, typechecked


@state
class PairsState(AutoState):
    """All predictions and targets, kept on the host; each `[n]`."""

    preds: Any = concat_field()
    targets: Any = concat_field()
    keep: Any = concat_field()

    def compute(self) -> Any:
        """The value, from `from_pairs` of the metric."""
        if self.keep is None or not self.keep.any():
            return self.empty_value()
        pairs = (x[self.keep].astype(np.float64) for x in (self.preds, self.targets))
        return self.parent.from_pairs(*pairs)


@state
class JointBinsState(AutoState):
    """How often predictions and targets lie in each pair of bins; of fixed size.

    Attributes:
      counts: `[bins, bins]`, rows are the predictions, both ascending.
    """

    counts: Any = sum_field()
    bins: int = static_field(default=0)

    def compute(self) -> dict[str, float]:
        """`value`, and the `bound` of its error."""
        counts = np.asarray(self.counts)
        if counts.sum() == 0:
            return dict.fromkeys(("value", "bound"), self.empty_value())
        return self.parent.from_counts(counts)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Spearman(Metric):
    """The correlation of the ranks, -1 to 1; ties share the mean of theirs.

    A mask selects without weighing. NaN if all predictions, or all targets, are equal,
    or with "exact" one that counts is NaN.

    Attributes:
      preds: path of real numbers of any shape.
      targets: path of real numbers, same shape.
      mask: path of bools or numbers, lined up from the left; what is 0 does not count.
      on_empty: the value if nothing counts: "nan", "zero", or "raise".
      method: "exact" keeps all values on the host. "binned" counts them in pairs of
        bins, in fixed memory and on the device, and computes `value` and the `bound` of
        its error: numbers in one bin are taken for equal. A pair with a NaN is not
        counted.
      bins: the number of bins of each side.
      value_range: the lowest and highest number of "binned", of both sides; numbers
        outside count as these.

    Raises:
      ValueError: an option is not known or out of range.
    """

    State = PairsState
    mask_weighs = False
    higher_is_better = True
    range = (-1.0, 1.0)

    preds: kontext.Key = kontext.REQUIRED
    targets: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    on_empty: OnEmpty = "nan"
    method: Literal["exact", "binned"] = "exact"
    bins: TwoOrMore = 256
    value_range: Span = (0.0, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.method not in ("exact", "binned"):
            raise ValueError(
                f'Spearman: method={self.method!r} is not known\nuse "exact" or '
                '"binned"'
            )

    def empty(self) -> Any:
        """The state of no data."""
        if self.method == "exact":
            return super().empty()
        return JointBinsState.empty(bins=self.bins).with_parent(self)

    @typechecked
    def get_state(
        self,
        preds: Real[Array, "*b"] | Bool[Array, "*b"],
        targets: Real[Array, "*b"] | Bool[Array, "*b"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        preds, targets = to_float32(preds), to_float32(targets)
        keep = jnp.ones(preds.shape, bool)
        if mask is not None:
            check_weights(mask)
            keep &= align_left(mask, preds.shape) != 0
        if self.method == "exact":
            return PairsState(
                preds=preds.ravel(), targets=targets.ravel(), keep=keep.ravel()
            )
        keep &= ~(jnp.isnan(preds) | jnp.isnan(targets))
        low, high = self.value_range
        places = (
            jnp.floor((jnp.clip(x, low, high) - low) / (high - low) * self.bins)
            for x in (preds, targets)
        )
        row, column = (
            jnp.clip(jnp.nan_to_num(place), 0, self.bins - 1).astype(jnp.int32)
            for place in places
        )
        counts = count_bins(row * self.bins + column, self.bins**2, keep)
        table = (half.reshape(self.bins, self.bins) for half in counts)
        return JointBinsState(counts=Pair(*table), bins=self.bins)

    def metric_names(self) -> tuple[str, ...] | None:
        """`value` and `bound` if binned."""
        return ("value", "bound") if self.method == "binned" else None

    def from_pairs(self, preds: np.ndarray, targets: np.ndarray) -> float:
        """The correlation of arrays `[n]`."""
        if np.isnan(preds).any() or np.isnan(targets).any():
            # A sort would put it last, as if it were the largest.
            return math.nan
        one, two = (_ranks(x) - (len(x) + 1) / 2 for x in (preds, targets))
        spread = math.sqrt((one @ one) * (two @ two))
        return float(one @ two) / spread if spread else math.nan

    def from_counts(self, counts: np.ndarray) -> dict[str, float]:
        """The correlation of a table `[bins, bins]`, and its bound.

        The ranks of a side are those of its bins and a rest within the bins, at right
        angles to them. The rest turns the ranks by no more than the angle of its
        largest length, if no numbers are equal, and both sides turn at the worst in
        the same direction.
        """
        totals = counts.sum(axis=1), counts.sum(axis=0)
        one, two = (_centred(total) for total in totals)
        squares = [float(n @ r**2) for n, r in zip(totals, (one, two), strict=True)]
        if not all(squares):
            return {"value": math.nan, "bound": math.nan}
        value = float(one @ counts @ two) / math.sqrt(squares[0] * squares[1])
        value = min(max(value, -1.0), 1.0)
        turn = sum(
            math.atan(math.sqrt(float((n**3 - n).sum()) / 12 / square))
            for n, square in zip(totals, squares, strict=True)
        )
        angle = math.acos(value)
        worst = (math.cos(max(angle - turn, 0.0)), math.cos(min(angle + turn, math.pi)))
        return {"value": value, "bound": max(abs(end - value) for end in worst)}


def _ranks(x: np.ndarray) -> np.ndarray:
    _, place, counts = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[place.ravel()]


def _centred(counts: np.ndarray) -> np.ndarray:
    """The rank of each bin, less the mean of all."""
    return np.cumsum(counts) - counts / 2 - counts.sum() / 2
