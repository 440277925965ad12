"""`LossState`: a loss summed over batches, raw and weighted."""

from __future__ import annotations

from typing import Any, Self

from kmetrics._average import host_mean, mean_of
from kmetrics._numerics import Pair, add_pairs, is_traced, zero_pair
from kmetrics._register import state
from kmetrics._state import State


@state
class LossState(State):
    """A loss on some batches, raw and weighted.

    Attributes:
      weighted: scalar `Pair`, Σ over batches of weight · Σ values.
      raw: scalar `Pair`, Σ values.
      count: scalar `Pair`, what the sums are divided by.
    """

    weighted: Pair
    raw: Pair
    count: Pair

    @property
    def adds_up(self) -> bool:
        """True, unless a subclass merges in another way."""
        return type(self).merge is LossState.merge

    @classmethod
    def empty(cls) -> Self:
        """The state of no values."""
        return cls(weighted=zero_pair(), raw=zero_pair(), count=zero_pair())

    def merge(self, other: Self) -> Self:
        """The loss on the data of both."""
        parent = self.merged_parent(other)
        return type(self)(
            weighted=add_pairs(self.weighted, other.weighted),
            raw=add_pairs(self.raw, other.raw),
            count=add_pairs(self.count, other.count),
            _parent=parent,
        )

    def compute(self) -> Any:
        """The weighted loss, as a float; 0 if nothing counts. Traced under jit."""
        return self._mean(self.weighted)

    def compute_raw(self) -> Any:
        """The loss without its weight, as a float; 0 if nothing counts."""
        return self._mean(self.raw)

    def _mean(self, total: Pair) -> Any:
        if is_traced(total):
            return mean_of(total, self.count, empty=0.0)
        return host_mean(total, self.count, if_empty=float)
