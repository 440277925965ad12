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
        for part, held, notes in kept:
            if isinstance(part, Node):
                part._konfig_fields.clear()
                part._konfig_fields.update(held)
                for name, value in notes.items():
                    object.__setattr__(part, name, value)
            else:
                list.__setitem__(part, slice(None), held)
        raise


def _kept(root: Any) -> Generator[tuple[Any, Any, dict[str, Any]]]:
    """Each node and list with what it holds and, for a node, what is noted of it."""
    seen: set[int] = set()
    left = [root]
    while left:
        value = left.pop()
        if not is_container(value) or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Node):
            held: Any = value._konfig_fields.copy()
            origin = value._konfig_origin
            origin = origin.copy() if isinstance(origin, dict) else origin
            flags = value._konfig_flags
            yield value, held, {"_konfig_origin": origin, "_konfig_flags": flags}
            items = held.values()
        elif isinstance(value, list):
            items = held = list.copy(value)
            yield value, held, {}
        else:
            items = value
        left.extend([item for item in items if type(item) not in ATOMS])
