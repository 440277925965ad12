"""One metric under many masks at once: groups of examples, resampled examples."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterator
from typing import Any, ClassVar, Self

import jax
import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._calls import inside
from kmetrics._errors import HostOnlyError, MaskNotAcceptedError, MergeError
from kmetrics._masks import check_weights, combine_masks
from kmetrics._metric import Inner, Metric, accepts_mask, like_nothing, own_state
from kmetrics._numerics import is_traced
from kmetrics._register import state
from kmetrics._state import State, join, join_parts


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
        return self._joined(other, join)

    def merge_parts(self, other: Self) -> Self:
        """The states of parts of the same batches, place by place."""
        return self._joined(other, join_parts)

    def _joined(self, other: Self, how: Callable[[Any, Any], Any]) -> Self:
        parent = self.merged_parent(other)
        sizes = [_size(self.states), _size(other.states)]
        if None in sizes:
            states = other.states if sizes[0] is None else self.states
        elif sizes[0] != sizes[1]:
            raise MergeError(f"the states are {sizes[0]} and {sizes[1]} side by side")
        elif self.merges_on_device:
            states = _merge_side_by_side(how, self.states, other.states)
        else:
            pairs = zip(self.each(), other.each(), strict=True)
            states = _side_by_side([how(*pair) for pair in pairs])
        return self.replace(states=states, _parent=parent)

    def each(self) -> Iterator[Any]:
        """The states, one by one, on the host."""
        fetched = jax.device_get(self.states)
        for i in range(_size(fetched) or 0):
            yield jax.tree.map(lambda x, i=i: x[i], fetched)

    def values(self) -> list[Any]:
        """The values of all states."""
        return [state.compute() for state in self.each()]


# Compiled once per kind of state, also when merging outside jit.
@functools.partial(jax.jit, static_argnums=0, inline=True)
def _merge_side_by_side(how: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    return jax.vmap(how)(a, b)


def _side_by_side(states: list[Any]) -> Any:
    return jax.tree.map(lambda *leaves: np.stack(leaves), *jax.device_get(states))


def _size(states: Any) -> int | None:
    leaves = jax.tree.leaves(states)
    return len(leaves[0]) if leaves else None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Replicated(Metric):
    """`metric` under several masks of the examples at once.

    A subclass has a key for a number per example, names it in `numbers_key`, makes
    masks of the numbers, and says how many.

    Attributes:
      metric: the metric, or loss; its `get_state` takes a `mask`.
    """

    numbers_key: ClassVar[str]

    metric: Inner

    def __kontext_keys__(self) -> dict[str, Any]:
        own = {self.numbers_key: self._path}
        return {**kontext.forward_keys(self.metric.state_source), **own}

    def keypaths(self) -> tuple[str, ...]:
        """The paths that the metric reads, and that of the numbers."""
        return tuple(dict.fromkeys([*self.metric.keypaths(), str(self._path)]))

    @property
    def _path(self) -> Any:
        return getattr(self, self.numbers_key)

    def empty(self) -> Any:
        """The state of no data."""
        n = self._num_states
        states = jax.tree.map(
            lambda x: jnp.broadcast_to(x, (n, *jnp.shape(x))), self.metric.empty()
        )
        return self._replicated(states)

    def get_state(self, *, mask: Any | None = None, **inputs: Any) -> Any:
        """The state of one batch.

        Args:
          mask: which examples count, as for the metric.
          **inputs: the inputs of the metric, and one integer per example, `[b]` or
            `[b, 1]`, under the name of their key.

        Raises:
          TypeError: there are no integers.
          ValueError: they do not fit the examples, or the mask cannot weigh.
        """
        if self.numbers_key not in inputs:
            raise TypeError(
                f"{type(self).__name__}: missing a required argument: "
                f"{self.numbers_key!r}\n  got {', '.join(inputs)}"
            )
        numbers = self._numbers(inputs.pop(self.numbers_key), inputs)
        return self._states(
            lambda keep: self.metric.get_state(mask=keep, **inputs), numbers, mask
        )

    def get_state_from_context(
        self,
        context: Any,
        *,
        mask: Any | None = None,
        example_roots: Collection[str] | None = None,
    ) -> Any:
        """The state of one batch.

        Args, errors: as for `Metric.get_state_from_context`.
        """
        name = self.numbers_key
        with inside(self):
            numbers = kontext.resolve_from_keypaths(context, {name: self._path})[name]
        inputs = {
            path: kontext.get_by_path(context, path)
            for path in self.metric.keypaths()
            if "*" not in path and kontext.has(context, path)
        }
        return self._states(
            lambda keep: self.metric.get_state_from_context(context, mask=keep),
            self._numbers(numbers, inputs),
            mask if self.reads_from(example_roots) else None,
        )

    @property
    def _num_states(self) -> int:
        raise NotImplementedError

    def _masks(self, numbers: jax.Array) -> jax.Array:
        """How the examples `[b]` count in each state, `[n, b]`."""
        raise NotImplementedError

    def _numbers(self, numbers: Any, inputs: dict[str, Any]) -> jax.Array:
        where = f"{type(self).__name__}: {self.numbers_key}"
        numbers = _whole_numbers(where, numbers)
        sizes = {np.shape(x)[0] for x in jax.tree.leaves(inputs) if np.ndim(x)}
        if sizes and len(numbers) not in sizes:
            shapes = (f"{name} {_shapes(x)}" for name, x in inputs.items())
            raise ValueError(
                f"{where} must be integers, one per example\n"
                f"  {self.numbers_key} [{len(numbers)}], {', '.join(shapes)}"
            )
        return numbers

    def _states(
        self, get_state: Callable[[Any], Any], numbers: jax.Array, mask: Any | None
    ) -> Any:
        if not accepts_mask(self.metric.get_state):
            raise MaskNotAcceptedError(
                f"{type(self.metric).__name__} cannot look at some of the examples "
                "alone\n  its get_state takes no argument mask\n"
                "add mask=None to get_state and hand it on, for example to "
                "AverageState.from_values"
            )
        # Here, because vmap traces the masks of the states.
        check_weights(mask)
        masks = self._masks(numbers)

        def under(row: Any) -> Any:
            return get_state(combine_masks(row, mask))

        try:
            states = jax.vmap(under)(masks)
        except HostOnlyError:
            if is_traced((masks, mask)):
                raise
            states = _side_by_side([under(row) for row in np.asarray(masks)])
        return self._replicated(states)

    def _replicated(self, states: Any) -> Any:
        kind: Any = self.State
        return own_state(self, kind(states=states))


def _whole_numbers(where: str, numbers: Any) -> jax.Array:
    """Integers `[b]` or `[b, 1]` as `[b]`; bools are 0 and 1.

    Raises:
      ValueError: they are something else.
    """
    dtype = getattr(numbers, "dtype", None) or np.asarray(numbers).dtype
    shape = np.shape(numbers)
    is_whole = dtype == jnp.bool_ or jnp.issubdtype(dtype, jnp.integer)
    if not is_whole or not shape or any(size != 1 for size in shape[1:]):
        raise ValueError(
            f"{where} must be integers, one per example\n"
            f"  got {dtype} {list(shape)}, expected [b] or [b, 1]"
        )
    numbers = jnp.asarray(numbers).reshape(shape[0])
    return numbers.astype(jnp.int32) if numbers.dtype == jnp.bool_ else numbers


def _shapes(tree: Any) -> str:
    return ", ".join(str(list(np.shape(leaf))) for leaf in jax.tree.leaves(tree))
