"""The states of many metrics with all their numbers in a few vectors.

Most states hold nothing but sums, kept as float32 pairs, and some the lowest or highest
of float32 numbers. Side by side the sums are one array `[2, n]`, and the extremes are
another: one operation each merges them all, and one transfer brings them to the host.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any, NamedTuple, NoReturn, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from kmetrics._numerics import Pair, add_pairs
from kmetrics._state import State

Vectors: TypeAlias = tuple[Any, Any, Any]
MergeEach: TypeAlias = Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]

# Which vector the numbers of a lane stand in, and the sign that makes the lowest win.
_SUMS, _LOWEST, _LOWEST_BUT_NAN = range(3)
_VECTORS = {
    "sum": (_SUMS, 1),
    "min": (_LOWEST, 1),
    "max": (_LOWEST, -1),
    "min_but_nan": (_LOWEST_BUT_NAN, 1),
    "max_but_nan": (_LOWEST_BUT_NAN, -1),
}


class Place(NamedTuple):
    """Where one pair or array of a state stands.

    Attributes:
      lane: how it merges, a key of `_VECTORS`.
      start: index of its first number.
      shape: its shape.
    """

    lane: str
    start: int
    shape: tuple[int, ...]


class Slot(NamedTuple):
    """Where one state stands.

    Attributes:
      structure: the pytree of the state, with pairs and arrays as leaves.
      places: one per leaf.
    """

    structure: Any
    places: tuple[Place, ...]


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


class States(Mapping[str, Any]):
    """Name to state, in order; a pytree, and not to be changed.

    Attributes:
      vectors: `sums`, `lowest` and `lowest_but_nan`, each None if nothing is in it:
        float32 `[2, n]`, the upper and lower halves of all packed sums; float32 `[m]`,
        the packed minima, and the maxima times -1; the same of fields that ignore NaN.
        Leading axes, from vmap or scan, belong to every state.
      rest: name to state for the states that hold other things.
      layout: the names, and where the packed states stand.
    """

    vectors: Vectors
    rest: dict[str, Any]
    layout: Layout

    def __init__(self, vectors: Vectors, rest: dict[str, Any], layout: Layout):
        # jit makes one at each call: this is the quickest that `__setattr__` leaves.
        own = self.__dict__
        own["vectors"] = vectors
        own["rest"] = rest
        own["layout"] = layout

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise dataclasses.FrozenInstanceError(
            f"cannot set {name!r} of the states of a collection\n"
            "make a dict of them and change that"
        )

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
        sums = self.vectors[_SUMS]
        return sums[..., 0, :], sums[..., 1, :]

    def _unpacked(self, slot: Slot) -> Any:
        leaves: list[Any] = []
        for lane, start, shape in slot.places:
            if lane == "sum":
                hi, lo = self._halves
                leaves.append(Pair(_part(hi, start, shape), _part(lo, start, shape)))
                continue
            vector, sign = _VECTORS[lane]
            leaves.append(sign * _part(self.vectors[vector], start, shape))
        return slot.structure.unflatten(leaves)


jax.tree_util.register_dataclass(
    States, data_fields=["vectors", "rest"], meta_fields=["layout"]
)


def unpacked(states: Mapping[str, Any]) -> States:
    """`states` as they are.

    Raises:
      TypeError: they are no mapping.
    """
    if isinstance(states, States):
        return states
    if not isinstance(states, Mapping):
        raise TypeError(
            f"states are kept by name, got a {type(states).__name__}\n"
            "give what get_states, merge or empty of the collection returned"
        )
    return States((None, None, None), dict(states), Layout(tuple(states), {}))


def packed(states: Mapping[str, Any]) -> States:
    """`states`, those that are made of sums and extremes alone side by side."""
    slots: dict[str, Slot] = {}
    # As many rows as a vector has halves.
    columns: tuple[list[tuple[Any, ...]], ...] = ([], [], [])
    sizes = [0, 0, 0]
    for name, state in states.items():
        lanes = state.lanes if isinstance(state, State) else None
        if lanes is None:
            continue
        own, structure = jax.tree.flatten(state, is_leaf=_is_pair)
        places = []
        for lane, leaf in zip(lanes, own, strict=True):
            vector, sign = _VECTORS[lane]
            column = leaf if vector == _SUMS else (leaf if sign == 1 else -leaf,)
            columns[vector].append(column)
            shape = np.shape(column[0])
            places.append(Place(lane, sizes[vector], shape))
            sizes[vector] += math.prod(shape)
        slots[name] = Slot(structure, tuple(places))
    sums, low, low_but_nan = (_side_by_side(own) if own else None for own in columns)
    return States(
        vectors=(
            sums,
            None if low is None else low[0],
            None if low_but_nan is None else low_but_nan[0],
        ),
        rest={name: state for name, state in states.items() if name not in slots},
        layout=Layout(tuple(states), slots),
    )


def merge_packed(a: States, b: States, merge_each: MergeEach) -> States:
    """The states of both; `merge_each` merges what does not lie side by side."""
    if not a.layout.slots or a.layout.slots != b.layout.slots:
        return packed(merge_each(a, b))
    names = tuple(dict.fromkeys([*a, *b]))
    pairs = zip(_MERGES, a.vectors, b.vectors, strict=True)
    sums, low, low_but_nan = (None if x is None else f(x, y) for f, x, y in pairs)
    return States(
        vectors=(sums, low, low_but_nan),
        rest=merge_each(a.rest, b.rest),
        layout=_reordered(a.layout, names),
    )


def _add(a: Any, b: Any) -> Any:
    halves = (Pair(sums[..., 0, :], sums[..., 1, :]) for sums in (a, b))
    return jnp.stack(add_pairs(*halves), axis=-2)


_MERGES = (_add, jnp.minimum, jnp.fmin)


def without(states: States, names: Set[str]) -> States:
    """`states` less those with these names, none of which is packed."""
    kept = tuple(name for name in states if name not in names)
    rest = {name: state for name, state in states.rest.items() if name not in names}
    return States(states.vectors, rest, _reordered(states.layout, kept))


def joined(a: States, rest: Mapping[str, Any], names: tuple[str, ...]) -> States:
    """`a` and `rest` in the order of `names`."""
    return States(a.vectors, {**a.rest, **rest}, _reordered(a.layout, names))


def _part(vector: Any, start: int, shape: tuple[int, ...]) -> Any:
    if not shape:
        return vector[..., start]
    part = vector[..., start : start + math.prod(shape)]
    return part.reshape((*vector.shape[:-1], *shape))


# The same layout object again and again: jit then compares it by identity.
@functools.lru_cache(maxsize=256)
def _reordered(layout: Layout, names: tuple[str, ...]) -> Layout:
    return layout if layout.names == names else Layout(names, layout.slots)


def _side_by_side(pairs: list[Any]) -> Any:
    """A row per half of the pairs, `[halves, n]`."""
    if all(isinstance(half, np.ndarray | np.generic) for p in pairs for half in p):
        return _stack(pairs, np)
    return _stack_compiled(pairs)


def _stack(pairs: list[Any], xp: Any) -> Any:
    halves = zip(*pairs, strict=True)
    return xp.stack([xp.concatenate([xp.ravel(x) for x in half]) for half in halves])


_stack_compiled = jax.jit(functools.partial(_stack, xp=jnp), inline=True)


def _is_pair(value: Any) -> bool:
    return type(value) is Pair
