"""The config dicts of ml_collections as nodes: read, matched, flattened and changed.

kontext itself never imports ml_collections; whoever has such a config has.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from kontext._errors import PathTypeError
from kontext._parts import Part
from kontext._register import register_node

__all__ = ["register_config_dicts"]


def register_config_dicts() -> None:
    """Tells paths what lies below a `ConfigDict` and a `FrozenConfigDict`.

    `set` then writes existing fields of a `ConfigDict`, under its own rules about
    types; `update`, `filter` and `unflatten(like=...)` make copies, locked and
    type-safe as the original is. A copy holds the values of field references, not
    the references.

    Raises:
      PathTypeError: If ml_collections is not loaded.
    """
    library = sys.modules.get("ml_collections")
    if library is None:
        raise PathTypeError(
            "a config of ml_collections needs ml_collections: import it first"
        )
    register_node(
        library.ConfigDict, children=_children, rebuild=_rebuilt, write=_write
    )
    # A subclass that refuses to be written.
    register_node(library.FrozenConfigDict, children=_children, rebuild=_rebuilt)


def _children(node: Any) -> Iterable[tuple[Part, Any]]:
    return node.items()


def _rebuilt(node: Any, values: dict[Part, Any]) -> Any:
    made = type(node)(values, type_safe=node.is_type_safe)
    if node.is_locked and not made.is_locked:
        made.lock()
    return made


def _write(node: Any, part: Part, value: Any) -> None:
    node[part] = value
