"""Nodes in pickles: alive before their fields, and no deeper than pickle reaches."""

from __future__ import annotations

from typing import Any

from konfig._convert import ATOMS
from konfig._origin import place
from konfig._tree import Node, is_container, new_node, places_of

# Pickle descends three calls per level, and the recursion limit counts them all.
_LEVELS = 50


def reduced(node: Node) -> tuple[Any, ...]:
    """What pickle is told of a node.

    The nodes of every 50th level below go ahead of the fields, the deepest first: each
    is known to pickle when those above it are written.
    """
    places = {key: place(origin) for key, origin in places_of(node).items()}
    made = type(node), node._konfig_flags, node._konfig_lock, places
    return _revived, made, (_below(node), node._konfig_fields), None, None, _fill


def _below(node: Node) -> list[Node]:
    found: list[Node] = []
    seen = {id(node)}
    level: list[Any] = [node]
    depth = 0
    while level:
        depth += 1
        inner = []
        for value in level:
            if isinstance(value, Node):
                items: Any = value._konfig_fields.values()
            else:
                items = list.__iter__(value) if isinstance(value, list) else value
            for item in items:
                if type(item) not in ATOMS and id(item) not in seen:
                    seen.add(id(item))
                    if is_container(item):
                        inner.append(item)
        level = inner
        if depth % _LEVELS == 0:
            found += [item for item in level if isinstance(item, Node)]
    return found[::-1]


def _revived(kind: Any, flags: int, lock: str | None, places: dict[Any, Any]) -> Any:
    """A node without fields: references may point to it before it is filled."""
    node = new_node(kind, {}, flags, places)
    object.__setattr__(node, "_konfig_lock", lock)
    return node


def _fill(node: Node, state: tuple[list[Node], dict[Any, Any]]) -> None:
    object.__setattr__(node, "_konfig_fields", state[1])
