"""A metric for each group of examples."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

import kontext
from kmetrics._options import Count, Flag, Text, Whole
from kmetrics._register import state
from kmetrics._replicated import Replicated, ReplicatedState

__all__ = ["Grouped"]


@state
class GroupedState(ReplicatedState):
    """The states of the groups, in the order of their names."""

    def compute(self) -> dict[str, Any]:
        """Name of the group to value; a group without data computes as the metric."""
        return dict(zip(self.parent.names, self.values(), strict=True))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Grouped(Replicated):
    """`metric` for each group of examples; computes a dict of group to value.

    An example belongs to the group whose number is its id. A group that occurs in no
    batch keeps its place, with the value of `metric` without data.

    Attributes:
      metric: the metric; its `get_state` takes a `mask`.
      by: path of the ids of the groups, integers `[b]` or `[b, 1]`.
      groups: the names of the groups 0, 1, ..., or how many there are.
      other: the name under which all other ids count; None: they count nowhere.
      include_overall: whether "overall" tells the value over all groups.

    Raises:
      ValueError: two groups have one name.
    """

    State = GroupedState
    numbers_key = "by"

    by: kontext.Key = kontext.REQUIRED
    groups: Count | tuple[Text | Whole, ...] = ()
    other: Text | None = "other"
    include_overall: Flag = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self._group_names:
            raise ValueError("Grouped: groups must name one group or more")
        if len(set(self.names)) != len(self.names):
            raise ValueError(
                f"Grouped: two groups have one name\n  got {', '.join(self.names)}"
            )

    @property
    def _group_names(self) -> tuple[str, ...]:
        named = range(self.groups) if isinstance(self.groups, int) else self.groups
        return tuple(map(str, named))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the groups, of the rest, and "overall", as far as asked for."""
        rest = () if self.other is None else (self.other,)
        return (*self._group_names, *rest, *(["overall"] * self.include_overall))

    def metric_names(self) -> tuple[str, ...]:
        """Those of the groups; if the metric has several results, "group/result"."""
        inner = self.metric.metric_names()
        if inner is None:
            return self.names
        return tuple(f"{name}/{part}" for name in self.names for part in inner)

    @property
    def _num_states(self) -> int:
        return len(self.names)

    def _masks(self, numbers: jax.Array) -> jax.Array:
        """Which examples belong where, bool `[len(names), b]`."""
        by = numbers
        count = len(self._group_names)
        rows = [by[None] == jnp.arange(count)[:, None]]
        if self.other is not None:
            rows.append(((by < 0) | (by >= count))[None])
        if self.include_overall:
            rows.append(jnp.ones((1, *by.shape), bool))
        return jnp.concatenate(rows)
