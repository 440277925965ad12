"""Overlays: a copy that follows its base until a field is set."""

from __future__ import annotations

from typing import Any

from konfig._errors import ConfigTypeError, short
from konfig._list import ConfigList
from konfig._node import ConfigDict
from konfig._ref import Ref
from konfig._tree import TARGET, Node, new_node, places_of, walk


def ref_copy(base: Any) -> Any:
    """A copy whose fields read those of the base, until the copy sets its own.

    Changes of the base flow into the copy, never back. Nodes and lists are copied with
    references for what they hold; fields and items that the base gets later do not
    appear in the copy.

    Args:
      base: A `ConfigDict`.

    Raises:
      ConfigTypeError: When it is none.
      ConfigCycleError: When it contains itself.
    """
    if not isinstance(base, ConfigDict):
        raise ConfigTypeError(f"ref_copy takes a ConfigDict, not {short(base)}")
    for _ in walk(base):  # raises for a config that contains itself
        pass
    return _node(base, {})


def _node(base: Any, known: dict[int, Any]) -> Any:
    if id(base) in known:
        return known[id(base)]
    fields: dict[Any, Any] = {}
    origin = places_of(base).copy()
    twin = new_node(type(base), fields, base._konfig_flags, origin)
    known[id(base)] = twin
    for key, value in base._konfig_fields.items():
        own = key == TARGET
        fields[key] = value if own else _value(value, base, (key,), known)
    return twin


def _value(value: Any, anchor: Any, path: tuple[Any, ...], known: Any) -> Any:
    if isinstance(value, Node):
        return _node(value, known)
    if isinstance(value, list):
        items = enumerate(list.__iter__(value))
        return ConfigList(
            [_value(item, anchor, (*path, index), known) for index, item in items]
        )
    return Ref(anchor, path)
