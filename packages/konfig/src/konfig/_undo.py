"""Changes that are made as a whole or not at all."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from konfig._convert import ATOMS
from konfig._tree import Node, is_container


@contextmanager
def undone_on_error(root: Any) -> Generator[None]:
    """Puts everything below a config back as it was when the block raises."""
    kept = list(_kept(root))
    try:
        yield
    except BaseException:
        for before in kept:
            put_back(before)
        raise


Kept = tuple[Any, Any, dict[str, Any]]
"""A node or list, what it holds and, for a node, what is noted of it."""


def keep(part: Any) -> Kept:
    """What a node or list is like now."""
    if not isinstance(part, Node):
        return part, list.copy(part), {}
    origin = part._konfig_origin
    origin = origin.copy() if isinstance(origin, dict) else origin
    notes = {"_konfig_origin": origin, "_konfig_flags": part._konfig_flags}
    return part, part._konfig_fields.copy(), notes


def put_back(kept: Kept) -> None:
    """Makes a node or list what it was like."""
    part, held, notes = kept
    if isinstance(part, Node):
        part._konfig_fields.clear()
        part._konfig_fields.update(held)
        for name, value in notes.items():
            object.__setattr__(part, name, value)
    else:
        list.__setitem__(part, slice(None), held)


def _kept(root: Any) -> Generator[Kept]:
    """What every node and list below a config is like."""
    seen: set[int] = set()
    left = [root]
    while left:
        value = left.pop()
        if not is_container(value) or id(value) in seen:
            continue
        seen.add(id(value))
        items = value
        if not isinstance(value, tuple):
            before = keep(value)
            yield before
            items = before[1].values() if isinstance(value, Node) else before[1]
        left.extend([item for item in items if type(item) not in ATOMS])
