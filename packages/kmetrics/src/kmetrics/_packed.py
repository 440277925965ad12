"""The states of many metrics with all their sums in one vector.

Most states hold nothing but sums, kept as float32 pairs. Side by side they are one
array `[2, n]`: one addition merges them all, and one transfer brings them to the host.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from kmetrics._numerics import Pair, add_pairs
from kmetrics._state import State

MergeEach: TypeAlias = Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]


class Slot(NamedTuple):
    """Where the pairs of one state stand.

    Attributes:
      structure: the pytree of the state, with pairs as leaves.
      start: index of its first number.
      shapes: the shapes of its pairs.
    """

    structure: Any
    start: int
    shapes: tuple[tuple[int, ...], ...]


class Layout:
    """Which states are packed, and where; equal if two vectors can be added.

    It is a static part of `States`, hence compared whenever jit is called.
    """

    __slots__ = ("_hash", "names", "slots")

    def __init__(self, names: tuple[str, ...], slots: dict[str, Slot]):
        self.names = names
        self.slots = slots
        self._hash = hash((names, tuple(slots.items())))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        same_hash = isinstance(other, Layout) and self._hash == other._hash
        return same_hash and self.names == other.names and self.slots == other.slots

    def __repr__(self) -> str:
        return f"Layout({len(self.slots)} of {len(self.names)} packed)"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class States(Mapping[str, Any]):
    """Name to state, in order; frozen, and a pytree.

    Attributes:
      sums: float32 `[2, n]`, the upper and lower halves of all packed sums; None if
        nothing is packed. Leading axes, from vmap or scan, belong to every state.
      rest: name to state for the states that hold more than sums.
      layout: the names, and where the packed states stand.
    """

    sums: Any
    rest: dict[str, Any]
    layout: Layout

    def __getitem__(self, name: str) -> Any:
        if name in self.rest:
            return self.rest[name]
        return self._unpacked(self.layout.slots[name])

    def __contains__(self, name: object) -> bool:
        return name in self.layout.slots or name in self.rest

    def __iter__(self) -> Iterator[str]:
        return iter(self.layout.names)

    def __len__(self) -> int:
        return len(self.layout.names)

    def __repr__(self) -> str:
        return f"States({dict(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        # The structures inside the layout cannot be pickled; the states can.
        return unpacked, (dict(self),)

    @functools.cached_property
    def _halves(self) -> tuple[Any, Any]:
        return self.sums[..., 0, :], self.sums[..., 1, :]

    def _unpacked(self, slot: Slot) -> Any:
        at, pairs = slot.start, []
        hi, lo = self._halves
        for shape in slot.shapes:
            if shape:
                end = at + math.prod(shape)
                whole = (*hi.shape[:-1], *shape)
                halves = (half[..., at:end].reshape(whole) for half in (hi, lo))
            else:
                end = at + 1
                halves = (hi[..., at], lo[..., at])
            pairs.append(Pair(*halves))
            at = end
        return slot.structure.unflatten(pairs)


jax.tree_util.register_dataclass(
    States, data_fields=["sums", "rest"], meta_fields=["layout"]
)


def unpacked(states: Mapping[str, Any]) -> States:
    """`states` as they are."""
    if isinstance(states, States):
        return states
    return States(None, dict(states), Layout(tuple(states), {}))


def packed(states: Mapping[str, Any]) -> States:
    """`states` with the sums of all that hold nothing else in one vector."""
    slots: dict[str, Slot] = {}
    pairs: list[Pair] = []
    size = 0
    for name, state in states.items():
        if not (isinstance(state, State) and state.adds_up):
            continue
        own, structure = jax.tree.flatten(state, is_leaf=_is_pair)
        shapes = tuple(np.shape(pair.hi) for pair in own)
        slots[name] = Slot(structure, size, shapes)
        size += sum(map(math.prod, shapes))
        pairs += own
    return States(
        sums=_side_by_side(pairs) if pairs else None,
        rest={name: state for name, state in states.items() if name not in slots},
        layout=Layout(tuple(states), slots),
    )


def merge_packed(a: States, b: States, merge_each: MergeEach) -> States:
    """The states of both; `merge_each` merges what does not lie side by side."""
    if a.sums is None or a.layout.slots != b.layout.slots:
        return packed(merge_each(a, b))
    added = add_pairs(*(Pair(s.sums[..., 0, :], s.sums[..., 1, :]) for s in (a, b)))
    names = tuple(dict.fromkeys([*a, *b]))
    return States(
        sums=jnp.stack(added, axis=-2),
        rest=merge_each(a.rest, b.rest),
        layout=_reordered(a.layout, names),
    )


def without(states: States, names: Set[str]) -> States:
    """`states` less those with these names, none of which is packed."""
    kept = tuple(name for name in states if name not in names)
    rest = {name: state for name, state in states.rest.items() if name not in names}
    return States(states.sums, rest, _reordered(states.layout, kept))


def joined(a: States, rest: Mapping[str, Any], names: tuple[str, ...]) -> States:
    """`a` and `rest` in the order of `names`."""
    return States(a.sums, {**a.rest, **rest}, _reordered(a.layout, names))


# The same layout object again and again: jit then compares it by identity.
@functools.lru_cache(maxsize=256)
def _reordered(layout: Layout, names: tuple[str, ...]) -> Layout:
    return layout if layout.names == names else Layout(names, layout.slots)


def _side_by_side(pairs: list[Pair]) -> Any:
    if all(isinstance(half, np.ndarray | np.generic) for p in pairs for half in p):
        return _stack(pairs, np)
    return _stack_compiled(pairs)


def _stack(pairs: list[Pair], xp: Any) -> Any:
    halves = zip(*pairs, strict=True)
    return xp.stack([xp.concatenate([xp.ravel(x) for x in half]) for half in halves])


_stack_compiled = jax.jit(functools.partial(_stack, xp=jnp), inline=True)


def _is_pair(value: Any) -> bool:
    return type(value) is Pair
