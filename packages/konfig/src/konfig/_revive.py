"""Nodes in pickles: alive before their fields, and no deeper than pickle reaches."""

from __future__ import annotations

from typing import Any

from konfig._convert import ATOMS
from konfig._origin import place
from konfig._tree import Node, new_node

# Pickle descends three calls per level, and the recursion limit counts them all.
_LEVELS = 50


def reduced(node: Node) -> tuple[Any, ...]:
    """What pickle is told of a node: how to make it, and its fields.

    The nodes of every 50th level below go ahead of the fields, the deepest first: each
    is known to pickle when those above it are written.
    """
    origin: Any = node._konfig_origin
    if type(origin) is dict:
        origin = {key: place(written) for key, written in origin.items()}
    else:
        origin = place(origin)
    made = type(node), node._konfig_flags, origin
    if node._konfig_lock is not None:
        made = (*made, node._konfig_lock)
    ahead = _below(node)
    fields = node._konfig_fields
    return revived, made, (ahead, fields) if ahead else fields


def _below(node: Node) -> list[Node]:
    found: list[Node] = []
    seen = {id(node)}
    level: list[Any] = [node]
    depth = 0
    while level:
        inner: list[Any] = []
        for value in level:
            if isinstance(value, Node):
                items: Any = value._konfig_fields.values()
            else:
                items = list.__iter__(value) if isinstance(value, list) else value
            for item in items:
                if type(item) in ATOMS or id(item) in seen:
                    continue
                if isinstance(item, Node) or (
                    isinstance(item, (list, tuple)) and len(item)
                ):
                    seen.add(id(item))
                    inner.append(item)
        level = inner
        depth += 1
        if depth % _LEVELS == 0:
            found += [item for item in level if isinstance(item, Node)]
    return found[::-1]


def revived(kind: Any, flags: int, origin: Any, lock: str | None = None) -> Any:
    """A node without fields: references may point to it before it is filled."""
    node = new_node(kind, {}, flags, origin)
    if lock is not None:
        object.__setattr__(node, "_konfig_lock", lock)
    return node
