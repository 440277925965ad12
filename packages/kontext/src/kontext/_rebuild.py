"""Copies of a container with some children replaced; the original stays as it is."""

from __future__ import annotations

import copy
from collections.abc import MutableSequence
from typing import Any

from kontext._adapters import adapter_of
from kontext._errors import PathTypeError
from kontext._format import describe_part
from kontext._jax import registered_children, registered_rebuild
from kontext._nodes import (
    PLAIN_LEAVES,
    Kind,
    field_names,
    has_child,
    is_delegated,
    kind_of,
    stored_children,
)
from kontext._parts import Part


def with_children(node: Any, changes: list[tuple[Part, Any]]) -> Any:
    """A node of the same type in which each part has its new value.

    Raises:
      PathTypeError: If nodes of this type cannot be copied with a change.
    """
    kind = kind_of(type(node))
    for part, _ in changes:
        is_indexed = kind in (Kind.SEQUENCE, Kind.ARRAY)
        if (is_indexed and type(part) is str) or (
            is_delegated(node) and not has_child(node, part)
        ):
            raise computed_error(node, part)
    match kind:
        case Kind.MAPPING:
            return _mapping_with(node, changes)
        case Kind.NAMEDTUPLE:
            return _namedtuple_with(node, changes)
        case Kind.SEQUENCE:
            return _sequence_with(node, changes)
        case Kind.ARRAY:
            return _array_with(node, changes)
        case Kind.REGISTERED:
            return _adapted_with(node, dict(changes))
        case Kind.FIELDS | Kind.OBJECT:
            return _fields_with(node, dict(changes))
        case _:
            raise PathTypeError(f"a {type(node).__name__} has no parts to update")


def _mapping_with(node: Any, changes: list[tuple[Part, Any]]) -> Any:
    items = dict(stored_children(node) or ())
    for key, value in changes:
        is_view = type(value) is type(node) and type(items.get(key)) is dict
        # A view of what a node holds as a dict, as a function of the user gives it.
        items[key] = dict(stored_children(value) or ()) if is_view else value
    return made_anew(node, items)


def _namedtuple_with(node: Any, changes: list[tuple[Part, Any]]) -> Any:
    items, names = list(node), node._fields
    for part, value in changes:
        if type(part) is str and part not in names:
            raise computed_error(node, part)
        items[names.index(part) if type(part) is str else part] = value
    return node._replace(**dict(zip(names, items, strict=True)))


def _sequence_with(node: Any, changes: list[tuple[Part, Any]]) -> Any:
    items = list(node)
    for part, value in changes:
        items[part] = value
    return made_anew(node, items)


def made_anew(node: Any, items: Any) -> Any:
    """A mapping or sequence of the type of `node` that holds other items.

    Args:
      node: A container; what it has beside its items is kept where it can be copied.
      items: A dict, or a list, of at most as many items.

    Raises:
      PathTypeError: If what its class makes of the items does not hold them.
    """
    cls = type(node)
    if cls is dict or cls is list:
        return items
    if not isinstance(items, dict) and not isinstance(node, tuple | MutableSequence):
        raise _no_copy_error(node)
    try:
        made = _filled_copy(node, items) if _has_own_copy(node) else cls(items)
    except Exception as error:
        error.add_note(
            f"raised by {cls.__name__} when it was made with other items\n"
            "  kontext.register_node(cls, children=..., rebuild=...) says how"
        )
        raise
    if not _holds(made, items):
        raise _no_copy_error(node)
    return made


def _has_own_copy(node: Any) -> bool:
    """Whether a shallow copy holds its items itself; those of others may share them."""
    if isinstance(node, dict | list):
        return True
    return isinstance(node, MutableSequence) and hasattr(type(node), "__copy__")


def _filled_copy(node: Any, items: Any) -> Any:
    copied = copy.copy(node)
    if isinstance(items, dict):
        copied.clear()
        copied.update(items)
        return copied
    while len(copied) > len(items):
        copied.pop()
    for position, item in enumerate(items):
        copied[position] = item
    return copied


def _holds(made: Any, items: Any) -> bool:
    """Whether a new container has the items; what it makes of nodes is its own."""
    if len(made) != len(items):
        return False
    if isinstance(items, dict):
        return made.keys() == items.keys() and all(
            map(_is_same, map(made.__getitem__, items), items.values())
        )
    return all(map(_is_same, made, items))


def _is_same(held: Any, given: Any) -> bool:
    return held is given or type(given) not in PLAIN_LEAVES or held == given


def _array_with(node: Any, changes: list[tuple[Part, Any]]) -> Any:
    if hasattr(node, "at"):
        for part, value in changes:
            node = node.at[part].set(value)
        return node
    copied = node.copy()
    for part, value in changes:
        copied[part] = value
    return copied


def _fields_with(node: Any, changes: dict[Any, Any]) -> Any:
    declared = field_names(node) if kind_of(type(node)) is Kind.FIELDS else ()
    is_declared = all(part in declared for part in changes)
    registered = None if is_declared else registered_children(node)
    if registered is not None:
        return _registered_with(node, registered, changes)
    if hasattr(type(node), "__dataclass_fields__"):
        return _dataclass_with(node, changes)
    return _object_with(node, changes)


def _registered_with(
    node: Any, registered: list[tuple[Part, Any]], changes: dict[Any, Any]
) -> Any:
    known = {part for part, _ in registered}
    for part in changes:
        if part not in known:
            raise computed_error(node, part)
    return registered_rebuild(node, [changes.get(p, old) for p, old in registered])


def _adapted_with(node: Any, changes: dict[Any, Any]) -> Any:
    adapter = adapter_of(type(node))
    assert adapter is not None
    if adapter.rebuild is None:
        raise _no_copy_error(node)
    known = dict(adapter.children(node))
    for part in changes:
        if part not in known:
            raise computed_error(node, part)
    return adapter.rebuild(node, {**known, **changes})


def _dataclass_with(node: Any, changes: dict[Any, Any]) -> Any:
    # Already imported by whoever made the class.
    import dataclasses

    is_init = {field.name: field.init for field in dataclasses.fields(node)}
    if all(is_init.get(name) for name in changes):
        return dataclasses.replace(node, **changes)
    for name in changes:
        if name not in is_init:
            raise computed_error(node, name)
    return _object_with(node, changes)


def _object_with(node: Any, changes: dict[Any, Any]) -> Any:
    copied = copy.copy(node)
    for name, value in changes.items():
        if not isinstance(name, str) or isinstance(
            getattr(type(node), name, None), property
        ):
            raise computed_error(node, name)
        # The copy is new, so a frozen class may still be filled.
        object.__setattr__(copied, name, value)
    return copied


def computed_error(node: Any, part: Part) -> PathTypeError:
    """The error for a part that a node computes when it is read."""
    return PathTypeError(
        f"{describe_part(part)} of a {type(node).__name__} cannot be changed: "
        "it is computed, not stored"
    )


def _no_copy_error(node: Any) -> PathTypeError:
    return PathTypeError(
        f"a {type(node).__name__} cannot be copied with a change\n"
        "  kontext.register_node(cls, children=..., rebuild=...) says how"
    )
