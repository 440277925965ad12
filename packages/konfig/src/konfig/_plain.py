"""Configs as plain data: dicts and lists, and the JSON that other tools expect."""

from __future__ import annotations

import math
from types import EllipsisType

from konfig._const import Const
from konfig._convert import is_path
from konfig._errors import SerializationError, short
from konfig._placeholder import Placeholder
from konfig._ref import Lazy
from konfig._ref_eval import reader
from konfig._tree import Node, stored_items, unending, walk
from konfig._typing import Any


def plain_data(value: Any, sort_keys: bool = False) -> Any:
    """Dicts, lists and scalars: references read, tuples and sets as lists.

    Raises:
      SerializationError: For what has no such form.
      ConfigCycleError: When the config contains itself.
    """
    for _ in walk(value):  # raises for a config inside itself
        pass
    try:
        return _plain(value, sort_keys, reader(value))
    except RecursionError:  # a reference may read what it stands in
        raise unending(value) from None


def to_plain(value: Any) -> Any:
    """Nested dicts, lists and tuples with references read; scalars as they are.

    Raises:
      ConfigCycleError: When the config contains itself.
    """
    try:
        return _to_plain(value, reader(value))
    except RecursionError:
        raise unending(value) from None


def _to_plain(value: Any, read: Any) -> Any:
    if isinstance(value, (Lazy, Placeholder)):
        value = read(value)
    if isinstance(value, Node):
        return {key: _to_plain(item, read) for key, item in stored_items(value)}
    if isinstance(value, list):
        return [_to_plain(item, read) for _, item in stored_items(value)]
    if isinstance(value, tuple):
        return tuple([_to_plain(item, read) for item in value])
    return value


def _plain(value: Any, sort_keys: bool, read: Any) -> Any:
    if isinstance(value, (Lazy, Placeholder)):
        value = read(value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Node):
        pairs = [(_key(key), item) for key, item in stored_items(value)]
        if len({key for key, _ in pairs}) < len(pairs):
            raise SerializationError(
                f"two keys have one text in plain JSON: {short(value)}"
            )
        pairs = sorted(pairs, key=lambda pair: pair[0]) if sort_keys else pairs
        return {key: _plain(item, sort_keys, read) for key, item in pairs}
    if isinstance(value, (list, tuple)):
        return [_plain(item, sort_keys, read) for _, item in stored_items(value)]
    if isinstance(value, (set, frozenset)):
        return sorted((_plain(item, sort_keys, read) for item in value), key=repr)
    if isinstance(value, Const):
        return {"__const__": value.__const__}
    if isinstance(value, bytes):
        import binascii

        return binascii.b2a_base64(value, newline=False).decode()
    if is_path(value):
        return value.as_posix()
    if isinstance(value, (complex, slice, EllipsisType)):
        return str(value)
    raise SerializationError(
        f"{type(value).__qualname__} has no form in JSON: {short(value)}"
    )


def _key(key: Any) -> str:
    return key if isinstance(key, str) else str(key)
