"""Key paths of JAX, recognised by their attributes; JAX is not imported."""

from __future__ import annotations

from typing import Any

from kontext._errors import PathTypeError
from kontext._parts import Part, normalize_part


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
