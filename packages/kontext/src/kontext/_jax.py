"""The two things of JAX that paths know: key paths and registered node types.

JAX is never imported: key paths are recognised by their attributes, and a program
that has no JAX loaded has no node types registered with it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from kontext._errors import PathTypeError
from kontext._format import format_parts
from kontext._parts import Part, Parts, normalize_part, twin_part


def part_of_jax_key(entry: Any) -> Part:
    """The part for one entry of a key path.

    Raises:
      PathTypeError: If the entry has none of the attributes `key`, `name`, `idx`,
        or its key cannot be part of a path.
    """
    for attribute in ("name", "key", "idx"):
        if hasattr(entry, attribute):
            return normalize_part(getattr(entry, attribute))
    raise PathTypeError(
        f"not an entry of a JAX key path: {type(entry).__name__} {entry!r:.60}\n"
        "  expected an attribute 'key', 'name' or 'idx'"
    )


def jax_key_path(parts: Parts, like: Any) -> tuple[Any, ...]:
    """The key path by which JAX names `parts` in `like`.

    Raises:
      PathTypeError: If JAX sees no such place in `like`, or is not imported.
    """
    jax = sys.modules.get("jax")
    if jax is None:
        raise PathTypeError(
            "a key path of JAX needs JAX, which this program has not imported"
        )
    entries = []
    node = like
    for depth, part in enumerate(parts):
        below = _one_level(jax, node)[0]
        wanted = _own_part(node, part)
        for key_path, value in below:
            if key_path and _same(part_of_jax_key(key_path[0]), wanted):
                entries.append(key_path[0])
                node = value
                break
        else:
            above = repr(format_parts(parts[:depth])) if depth else "the top of `like`"
            raise PathTypeError(
                f"JAX sees nothing below {above} that is called "
                f"{format_parts((part,))!r}"
            )
    return tuple(entries)


def _own_part(node: Any, part: Part) -> Part:
    """What a node itself calls a part: no negative index, no index of a field."""
    if isinstance(node, list | tuple) and type(part) is int:
        if not -len(node) <= part < len(node):
            return part
        fields = getattr(node, "_fields", None)
        return part % len(node) if fields is None else fields[part]
    if isinstance(node, dict) and type(part) in (int, str) and part not in node:
        return twin_part(part)
    return part


def _same(one: Part, other: Part) -> bool:
    return type(one) is type(other) and one == other


def registered_children(node: Any) -> list[tuple[Part, Any]] | None:
    """The children of a node whose type is registered with JAX, else `None`."""
    jax = sys.modules.get("jax")
    if jax is None:
        return None
    pairs, _ = _one_level(jax, node)
    if len(pairs) == 1 and not pairs[0][0]:
        return None
    return [(part_of_jax_key(key_path[0]), value) for key_path, value in pairs]


def registered_rebuild(node: Any, values: Iterable[Any]) -> Any:
    """A node like `node` with other children, in the order of its own."""
    _, structure = _one_level(sys.modules["jax"], node)
    return structure.unflatten(values)


def _one_level(jax: Any, node: Any) -> Any:
    return jax.tree_util.tree_flatten_with_path(
        node, is_leaf=lambda below: below is not node
    )
