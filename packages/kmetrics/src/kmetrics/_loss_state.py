"""`LossState`: a loss summed over batches, raw and weighted."""

from __future__ import annotations

from typing import Any, Self

import jax.numpy as jnp
import numpy as np

from kmetrics._average import host_mean, mean_of
from kmetrics._numerics import Pair, add_each, is_traced, zero_pair
from kmetrics._register import state
from kmetrics._state import State


@state
class LossState(State):
    """A loss on some batches, raw and weighted.

    Attributes:
      weighted: scalar `Pair`, Σ over batches of weight · Σ values.
      raw: scalar `Pair`, Σ values.
      count: scalar `Pair`, how much counts: what the sums are divided by, unless the
        loss is a sum.
    """

    weighted: Pair
    raw: Pair
    count: Pair

    @property
    def adds_up(self) -> bool:
        """True, unless a subclass merges in another way."""
        return type(self).merge is LossState.merge

    @property
    def divisor(self) -> Pair:
        """Scalar `Pair`, what the sums are divided by; 0 if nothing counts.

        Of a sum it is 1 over all batches together, so that the sum of a merged state is
        that of all data.
        """
        if getattr(self.parent, "normalize_by", None) != "sum":
            return self.count
        xp = jnp if is_traced(self.count) else np
        counts = xp.asarray(self.count.hi) != 0
        return Pair(xp.asarray(counts, np.float32), xp.zeros_like(self.count.hi))

    @classmethod
    def empty(cls) -> Self:
        """The state of no values."""
        return cls(weighted=zero_pair(), raw=zero_pair(), count=zero_pair())

    def merge(self, other: Self) -> Self:
        """The loss on the data of both."""
        parent = self.merged_parent(other)
        own = (self.weighted, self.raw, self.count)
        others = (other.weighted, other.raw, other.count)
        weighted, raw, count = add_each(own, others)
        return type(self)(weighted=weighted, raw=raw, count=count, _parent=parent)

    def compute(self) -> Any:
        """The weighted loss, as a float; 0 if nothing counts. Traced under jit."""
        return self._mean(self.weighted)

    def compute_raw(self) -> Any:
        """The loss without its weight, as a float; 0 if nothing counts."""
        return self._mean(self.raw)

    def _mean(self, total: Pair) -> Any:
        if is_traced(total):
            return mean_of(total, self.divisor, empty=0.0)
        return host_mean(total, self.divisor, if_empty=float)
