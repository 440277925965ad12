"""States of a series of batches, in which the later ones count more."""

from __future__ import annotations

import functools
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from kmetrics._metric import like_nothing
from kmetrics._numerics import Pair, is_traced, scale_pair
from kmetrics._register import state
from kmetrics._state import EmptyState, State, join_parts


@state
class EmaState(State):
    """Sums in which every batch counts less than the one after it.

    Attributes:
      sums: a state that adds up.
      factor: float32 scalar, what the batches before these are multiplied by.
    """

    sums: Any
    factor: Any

    def merge(self, other: Self) -> Self:
        """The sums of both, those of `self` as the older ones."""
        parent = self.merged_parent(other)
        older = self.sums
        if jax.tree.leaves(older):
            older = jax.tree.map(
                lambda pair: scale_pair(pair, other.factor), older, is_leaf=_is_pair
            )
        return self.replace(
            sums=older.merge(other.sums),
            factor=jnp.float32(self.factor) * other.factor,
            _parent=parent,
        )

    def merge_parts(self, other: Self) -> Self:
        """The sums of both, as old as one another."""
        return self.replace(
            sums=join_parts(self.sums, other.sums),
            factor=jnp.minimum(self.factor, other.factor),
            _parent=self.merged_parent(other),
        )

    def empty_like(self) -> Self:
        """The state of no data, with the shapes of this one."""
        return self.replace(sums=self.sums.empty_like(), factor=np.float32(1))

    def compute(self) -> Any:
        """The value of the metric on the sums."""
        return self.sums.compute()


@state
class LastState(State):
    """The state of the latest batch.

    Attributes:
      latest: a state; an `EmptyState` before any batch.
      is_there: bool scalar, False before any batch.
    """

    latest: Any
    is_there: Any = np.True_

    @classmethod
    def empty(cls) -> Self:
        """The state of no batch."""
        return cls(latest=EmptyState(), is_there=np.False_)

    def empty_like(self) -> Self:
        """The state of no batch, with the shapes of this one."""
        return self.replace(latest=like_nothing(self.latest), is_there=np.False_)

    @property
    def merges_on_device(self) -> bool:
        """Whether the state of a batch does."""
        return bool(getattr(self.latest, "merges_on_device", False))

    def merge(self, other: Self) -> Self:
        """The later of both, which is `other` if it holds a batch."""
        parent = self.merged_parent(other)
        if isinstance(self.latest, EmptyState) or isinstance(other.latest, EmptyState):
            later = self if isinstance(other.latest, EmptyState) else other
        elif is_traced(other.is_there) and other.merges_on_device:
            pick = functools.partial(jnp.where, other.is_there)
            later = jax.tree.map(pick, other, self.replace(_parent=other._parent))
        else:
            # Of what is collected on the host the sizes differ, and none is a start.
            there = is_traced(other.is_there) or other.is_there
            later = other if there else self
        return later.replace(_parent=parent)

    def merge_parts(self, other: Self) -> Self:
        """The state of the batch of which both hold a part."""
        if isinstance(self.latest, EmptyState) or isinstance(other.latest, EmptyState):
            return self.merge(other)
        return self.replace(
            latest=join_parts(self.latest, other.latest),
            is_there=self.is_there | other.is_there,
            _parent=self.merged_parent(other),
        )

    def compute(self) -> Any:
        """The value on the latest batch; without any what `on_empty` says."""
        if not is_traced(self.is_there) and not self.is_there:
            return self.empty_value()
        return self.latest.compute()


def _is_pair(value: Any) -> bool:
    return type(value) is Pair
