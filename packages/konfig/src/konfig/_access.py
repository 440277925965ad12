"""Reading and writing by path: `get_path(cfg, "model.layers[0].hidden")`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from konfig import _convert
from konfig._const import Const
from konfig._errors import (
    ConfigIndexError,
    ConfigKeyError,
    ConfigTypeError,
    KonfigError,
    short,
)
from konfig._keys import count_positional, is_call, is_index
from konfig._node import ConfigDict
from konfig._paths import Parts, advanced, format_below, format_path, keys_of, started
from konfig._placeholder import Placeholder
from konfig._ref import Lazy
from konfig._ref_eval import read, reader
from konfig._tree import (
    TARGET,
    Node,
    field_key,
    is_container,
    path_items,
    stored_items,
    unending,
    where,
)

_MISSING: Any = object()
_NOT_THERE = (ConfigKeyError, ConfigIndexError)


def get_path(cfg: Any, path: str | Parts, default: Any = _MISSING) -> Any:
    """Reads the value at a path.

    Args:
      cfg: A config value.
      path: The text of a path, or its keys.
      default: What to give when there is nothing; without it that is an error.

    Raises:
      ConfigKeyError: When a key on the way is not there, with near names.
      ConfigIndexError: When an index is out of range.
    """
    parts = keys_of(path)
    at = cfg
    for index, key in enumerate(parts):
        try:
            at = child(at, key)
        except KonfigError as error:
            if default is not _MISSING and isinstance(error, _NOT_THERE):
                return default
            error.path, error.owner = format_path(parts[: index + 1], "cfg"), None
            raise
    return at


def set_path(cfg: Any, path: str | Parts, value: Any) -> None:
    """Writes the value at a path whose parents are there.

    Raises:
      ConfigKeyError: When a parent is not there.
      ConfigTypeError: When the value cannot stand in a config.
    """
    change_at(cfg, path, lambda container, key: assign(container, key, value))


def del_path(cfg: Any, path: str | Parts) -> None:
    """Removes the field or item at a path.

    Raises:
      ConfigKeyError: When it is not there.
    """
    change_at(cfg, path, delete)


def change_at(cfg: Any, path: str | Parts, act: Callable[[Any, Any], Any]) -> Any:
    """Changes the last container of a path; errors name the whole path.

    Returns:
      The config, or the tuple that takes its place.
    """
    parts = keys_of(path)
    get_path(cfg, parts[:-1])
    try:
        return change(cfg, parts, act)
    except KonfigError as error:
        below = error.path if error.owner else format_below(parts[-1:])
        error.path = f"{format_path(parts[:-1], 'cfg')}{below}"
        error.owner = None
        raise


def glob_paths(cfg: Any, pattern: str | Parts) -> list[Parts]:
    """The paths below a config that a pattern with `*` and `**` names, in order."""
    pattern = keys_of(pattern, glob=True)
    found: list[Parts] = []
    open_: set[int] = set()

    def look(value: Any, parts: Parts, reached: frozenset[int]) -> None:
        if len(pattern) in reached:
            found.append(parts)
        if not is_container(value) or id(value) in open_:
            return
        open_.add(id(value))
        for key, item in path_items(value):
            after = advanced(pattern, reached, key)
            if after:
                look(item, (*parts, key), after)
        open_.discard(id(value))

    try:
        look(cfg, (), started(pattern))
    except RecursionError:
        raise unending(cfg) from None
    return found


def flatten(cfg: Any) -> dict[str, Any]:
    """The leaves by path, as plain values that trackers and `json.dumps` take.

    References give their values, constants their names; what JSON lacks is given as
    its text. Lists of scalars stay lists.

    Raises:
      ConfigCycleError: When the config contains itself.
    """
    flat: dict[str, Any] = {}
    try:
        _flatten(cfg, (), flat, reader(cfg))
    except RecursionError:  # a reference may read what it stands in
        raise unending(cfg) from None
    return flat


def arguments(node: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The positional and the keyword arguments of a call node, references read.

    Raises:
      ConfigTypeError: When it is no call node.
    """
    if not isinstance(node, ConfigDict) or not is_call(node):
        raise ConfigTypeError(f"only a call has arguments, not {short(node)}")
    count = count_positional(node)
    names = [key for key in node if key != TARGET and not str(key).isdecimal()]
    return tuple([node[i] for i in range(count)]), {key: node[key] for key in names}


def origin(cfg: Any, path: str | Parts = "") -> str | None:
    """Where a field was written: `"configs/vit.py:41 in get_config"`, or None.

    Args:
      cfg: A config value.
      path: The field; the empty path asks for the config itself.

    Raises:
      ConfigKeyError: When there is no such field.
    """
    parts = keys_of(path)
    if not parts:
        return where(cfg) if isinstance(cfg, Node) else None
    found = get_path(cfg, parts)
    owner = get_path(cfg, parts[:-1])
    if isinstance(owner, Node):
        return where(owner, field_key(owner, parts[-1]))
    return where(found) if isinstance(found, Node) else None


def child(container: Any, key: Any) -> Any:
    """The value under one key, references read.

    Raises:
      ConfigKeyError: When the container has no such field.
      ConfigIndexError: When the index is out of range.
    """
    if isinstance(container, ConfigDict):
        return container[field_key(container, key)]
    if isinstance(container, (list, tuple)):
        _check_index(container, key)
        found = container[key]
        # A list reads by itself.
        return read(found) if isinstance(found, (Lazy, Placeholder)) else found
    raise ConfigKeyError(f"{short(container)} has no fields, so no {key!r}")


def change(
    container: Any, parts: Parts, act: Callable[[Any, Any], Any], create: bool = False
) -> Any:
    """Acts on the last container of a path; tuples on the way are rebuilt.

    Args:
      container: Where the path begins.
      parts: The keys; at least one.
      act: From the last container and key to the container, or its successor.
      create: Whether missing parents are made.

    Returns:
      The container, or the tuple that replaces it.
    """
    if not parts:
        raise ConfigKeyError("the path is empty: the config itself cannot be replaced")
    key, rest = parts[0], parts[1:]
    if not rest:
        return act(container, key)
    if create and isinstance(container, ConfigDict):
        if field_key(container, key) not in container._konfig_fields:
            assign(container, key, {})
    below = child(container, key)
    after = change(below, rest, act, create)
    return container if after is below else assign(container, key, after)


def assign(container: Any, key: Any, value: Any) -> Any:
    """Stores one value; gives the container or, for a tuple, its successor."""
    if isinstance(container, tuple):
        _check_index(container, key)
        items = list(container)
        try:
            items[key] = _convert.convert(value)
        except ConfigTypeError as error:
            raise _convert.below(error, key, "the tuple") from None
        return tuple(items)
    if isinstance(container, list):
        _check_index(container, key)
    elif not isinstance(container, ConfigDict):
        raise ConfigTypeError(f"{short(container)} has no fields, so no {key!r}")
    else:
        key = field_key(container, key)
    container[key] = value
    return container


def delete(container: Any, key: Any) -> Any:
    """Removes one key; gives the container or, for a tuple, its successor."""
    if isinstance(container, tuple):
        _check_index(container, key)
        items = list(container)
        del items[key]
        return tuple(items)
    if isinstance(container, list):
        _check_index(container, key)
    elif not isinstance(container, ConfigDict):
        raise ConfigKeyError(f"{short(container)} has no fields, so no {key!r}")
    else:
        key = field_key(container, key)
    del container[key]
    return container


def _check_index(items: Any, key: Any) -> None:
    kind = "list" if isinstance(items, list) else "tuple"
    if not is_index(key):
        raise ConfigKeyError(f"a {kind} has positions, not the field {key!r}")
    if not -len(items) <= key < len(items):
        length = len(items)
        allowed = f"0 to {length - 1}" if length else "none"
        raise ConfigIndexError(
            f"no position {key} in a {kind} of {length}; positions: {allowed}"
        )


def _flatten(value: Any, parts: Parts, flat: dict[str, Any], read: Any) -> None:
    if isinstance(value, (Lazy, Placeholder)):
        try:
            value = read(value)
        except KonfigError:
            value = repr(value)
    nested = is_container(value) and any(
        is_container(item) or isinstance(item, (Lazy, Placeholder))
        for _, item in stored_items(value)
    )
    if (isinstance(value, Node) and len(value._konfig_fields)) or nested:
        for key, item in path_items(value):
            _flatten(item, (*parts, key), flat, read)
        return
    flat[format_path(parts)] = _leaf(value)


def _leaf(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Const):
        return value.__const__
    if isinstance(value, (list, tuple)):
        return [_leaf(item) for item in value]
    return {} if isinstance(value, Node) else str(value)
