"""What lies at a name or an index of a value, as far as its type tells."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final, Union, get_args, get_origin

from kontext._parts import Part

# The type of what nothing is known about; every part is fine there.
UNKNOWN = Any


def child_names(hint: Any) -> tuple[str, ...] | None:
    """The names below a value of that type; `None` if they are not known."""
    cls = _class_of(hint)
    if cls is None or (issubclass(cls, Mapping) and not _is_typed_dict(cls)):
        return None
    hints = field_hints(cls)
    return tuple(hints) if hints else None


def child_hint(hint: Any, part: Part) -> Any:
    """The type at one part below a value of that type.

    Raises:
      LookupError: If the type has names, and this is none of them; or if it is a
        sequence, which has none.
    """
    hint = _without_none(hint)
    if isinstance(part, str):
        if is_sequence(hint):
            raise LookupError(part)
        names = child_names(hint)
        if names is not None:
            cls = _class_of(hint)
            assert cls is not None
            if part in names:
                return field_hints(cls)[part]
            if isinstance(getattr(cls, part, None), property):
                return UNKNOWN
            raise LookupError(part)
    return _item_hint(hint, part)


def _item_hint(hint: Any, part: Part) -> Any:
    origin, args = get_origin(hint), get_args(hint)
    if not isinstance(origin, type) or not args:
        return UNKNOWN
    if issubclass(origin, Mapping):
        return args[-1]
    if issubclass(origin, tuple) and args[-1] is not Ellipsis:
        fits = type(part) is int and -len(args) <= part < len(args)
        return args[part] if fits else UNKNOWN
    if issubclass(origin, Sequence) and type(part) in (int, slice):
        return args[0] if type(part) is int else hint
    return UNKNOWN


def field_hints(cls: type) -> dict[str, Any]:
    """The annotated fields of a class; those that cannot be read are unknown."""
    try:
        return typing.get_type_hints(cls)
    except Exception:
        # One name that only type checkers see must not hide the other fields.
        names: dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            names.update(dict.fromkeys(annotation_names(base), UNKNOWN))
        return names


def annotation_names(cls: type) -> list[str]:
    """The names that the body of a class annotates."""
    import inspect

    return list(inspect.get_annotations(cls))


def is_sequence(hint: Any) -> bool:
    """Whether the type is a list or tuple, whose items are read by index."""
    cls = _class_of(hint)
    return cls is not None and issubclass(cls, list | tuple) and not child_names(hint)


def type_name(hint: Any) -> str:
    """The name of a type, as messages give it."""
    return getattr(_class_of(hint) or hint, "__name__", str(hint))


def _without_none(hint: Any) -> Any:
    """Looks through `Annotated`, and through `T | None` if nothing else is left."""
    while get_origin(hint) in (Annotated, ClassVar, Final):
        hint = get_args(hint)[0]
    if get_origin(hint) in (Union, types.UnionType):
        rest = [arg for arg in get_args(hint) if arg is not type(None)]
        return _without_none(rest[0]) if len(rest) == 1 else UNKNOWN
    return hint


def _class_of(hint: Any) -> type | None:
    hint = _without_none(hint)
    origin = get_origin(hint) or hint
    return origin if isinstance(origin, type) else None


def _is_typed_dict(cls: type) -> bool:
    return hasattr(cls, "__total__")
