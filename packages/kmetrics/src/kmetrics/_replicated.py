"""One metric under many masks at once: groups of examples, resampled examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

import jax
import jax.numpy as jnp

from kmetrics._errors import MaskNotAcceptedError, MergeError
from kmetrics._masks import combine_masks
from kmetrics._metric import Metric, accepts_mask, like_nothing
from kmetrics._register import state
from kmetrics._state import State


@state
class ReplicatedState(State):
    """States of one metric side by side.

    Attributes:
      states: a state whose arrays have a leading axis `[n]`.
    """

    states: Any

    @property
    def merges_on_device(self) -> bool:
        """Whether the inner states do."""
        return bool(getattr(self.states, "merges_on_device", False))

    @property
    def adds_up(self) -> bool:
        """Whether the inner states do, and a subclass merges in no other way."""
        return type(self).merge is ReplicatedState.merge and self.states.adds_up

    def empty_like(self) -> Self:
        """As many states of no data."""
        return self.replace(states=jax.vmap(like_nothing)(self.states))

    def merge(self, other: Self) -> Self:
        """The states of both, place by place."""
        parent = self.merged_parent(other)
        sizes = [_size(self.states), _size(other.states)]
        if None in sizes:
            merged = other.states if sizes[0] is None else self.states
        elif sizes[0] != sizes[1]:
            raise MergeError(f"the states are {sizes[0]} and {sizes[1]} side by side")
        else:
            merged = _merge_side_by_side(self.states, other.states)
        return self.replace(states=merged, _parent=parent)

    def each(self) -> Iterator[Any]:
        """The states, one by one, on the host."""
        fetched = jax.device_get(self.states)
        for i in range(_size(fetched) or 0):
            yield jax.tree.map(lambda x, i=i: x[i], fetched)

    def values(self) -> list[Any]:
        """The values of all states."""
        return [state.compute() for state in self.each()]


# Compiled once per kind of state, also when merging outside jit.
_merge_side_by_side = jax.jit(jax.vmap(lambda a, b: a.merge(b)), inline=True)


def _size(states: Any) -> int | None:
    leaves = jax.tree.leaves(states)
    return len(leaves[0]) if leaves else None


def example_ids(what: str, ids: Any) -> jax.Array:
    """Integers `[b]` or `[b, 1]` as `[b]`; bools are 0 and 1.

    Raises:
      ValueError: they are something else; `what` names them.
    """
    ids = jnp.asarray(ids)
    is_whole = ids.dtype == jnp.bool_ or jnp.issubdtype(ids.dtype, jnp.integer)
    if not is_whole or ids.ndim == 0 or any(size != 1 for size in ids.shape[1:]):
        raise ValueError(
            f"{what} must be integers, one per example\n"
            f"  got {ids.dtype} {list(ids.shape)}, expected [b] or [b, 1]"
        )
    ids = ids.reshape(ids.shape[0])
    return ids.astype(jnp.int32) if ids.dtype == jnp.bool_ else ids


def empty_replicas(metric: Metric, n: int) -> Any:
    """The states of no data, `n` side by side."""
    return jax.tree.map(
        lambda x: jnp.broadcast_to(x, (n, *jnp.shape(x))), metric.empty()
    )


def replicated(
    metric: Metric, get_state: Callable[[Any], Any], masks: Any, mask: Any | None
) -> Any:
    """The states of `metric` under each row of `masks`, side by side.

    Args:
      metric: the metric, for errors.
      get_state: the state under a mask `[b]`.
      masks: bools or numbers `[n, b]`.
      mask: joined with each row.

    Raises:
      MaskNotAcceptedError: the metric takes no mask.
    """
    if not accepts_mask(metric.get_state):
        raise MaskNotAcceptedError(
            f"{type(metric).__name__} cannot look at some of the examples alone\n"
            "  its get_state takes no argument mask\n"
            "add mask=None to get_state and hand it on, for example to "
            "AverageState.from_values"
        )
    return jax.vmap(lambda row: get_state(combine_masks(row, mask)))(masks)
