"""What a value has to be: annotations read, values adapted or refused.

Only what is understood is checked. An annotation that is not understood accepts
everything; nothing is guessed.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Mapping

from konfig._convert import is_path
from konfig._typing import Any

_YES = frozenset(("true", "yes", "on", "1"))
_NO = frozenset(("false", "no", "off", "0"))


class Mismatch(Exception):
    """The value is not what the annotation asks for."""

    def __init__(self, expected: str):
        super().__init__(expected)
        self.expected = expected


def fit(value: Any, annotation: Any, *, text: str | None = None) -> Any:
    """The value as the annotation wants it.

    Args:
      value: A config value without a target of its own.
      annotation: A class, a union, `Literal`, `list[int]` and the like.
      text: What was typed on the command line, where it comes from there: a text
        field takes it as it is.

    Raises:
      Mismatch: When an understood annotation refuses the value.
    """
    known = _SCALARS.get(annotation) if _hashable(annotation) else None
    if known is not None:
        return known(value, text)
    members = union_members(annotation)
    if members is not None:
        return _fit_union(value, members, text)
    origin, args = taken_apart(annotation)
    if origin is not None:
        return _fit_generic(value, origin, args, text)
    if isinstance(annotation, type) and _is_enum(annotation):
        return _fit_enum(value, annotation)
    return _fit_path(value, annotation, text) if is_path_class(annotation) else value


def understood(annotation: Any) -> bool:
    """Whether `fit` checks every value against this annotation."""
    members = union_members(annotation)
    if members is not None:
        return all(understood(member) for member in members)
    if _hashable(annotation) and annotation in _SCALARS:
        return True
    if isinstance(annotation, type):
        if _is_enum(annotation) or is_path_class(annotation):
            return True
    origin, _ = taken_apart(annotation)
    return origin in (list, tuple, dict, "literal")


def describe(annotation: Any) -> str:
    """The annotation as a user writes it."""
    members = union_members(annotation)
    if members is not None:
        return " | ".join(describe(member) for member in members)
    if annotation is type(None):
        return "None"
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return annotation.__qualname__.rpartition(".")[2]
    text = str(annotation).replace("typing.", "").replace("collections.abc.", "")
    return text if len(text) <= 40 else text.partition("[")[0]


def union_members(annotation: Any) -> tuple[Any, ...] | None:
    """The members of a union in either spelling, or None."""
    if isinstance(annotation, types.UnionType):
        return annotation.__args__
    if getattr(annotation, "__origin__", None) is None:
        return None
    import typing

    if typing.get_origin(annotation) is typing.Union:
        return typing.get_args(annotation)
    return None


def _hashable(annotation: Any) -> bool:
    try:
        hash(annotation)
    except TypeError:
        return False
    return True


def _is_enum(annotation: type) -> bool:
    import enum

    return issubclass(annotation, enum.Enum)


def taken_apart(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """The container (or `"literal"`) that an annotation names, and its arguments."""
    if annotation in (list, tuple, dict) if _hashable(annotation) else False:
        return annotation, ()
    if getattr(annotation, "__origin__", None) is None:
        return None, ()
    import typing

    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return "literal", args
    if origin is typing.Annotated:
        return taken_apart(args[0])
    if origin in (list, tuple, dict):
        return origin, args
    return (dict, args) if origin is Mapping else (None, ())


def _fit_union(value: Any, members: tuple[Any, ...], text: str | None) -> Any:
    if value is None and type(None) in members:
        return None
    for member in members:
        if isinstance(member, type) and type(value) is member:
            # 5 for `int | str` is a number, though a text field would take it too
            return value
    # Text takes everything, so it is asked last.
    asked = sorted(members, key=lambda member: member is str)
    for member in asked:
        if not understood(member):
            continue
        try:
            return fit(value, member, text=text)
        except Mismatch:
            continue
    # A text never becomes an object of a class that is not understood.
    if all(understood(member) for member in members) or isinstance(value, str):
        raise Mismatch(" | ".join(describe(member) for member in members))
    return value


def _fit_generic(value: Any, origin: Any, args: Any, text: str | None) -> Any:
    if origin == "literal":
        return _fit_literal(value, args, text)
    if origin is dict:
        if isinstance(value, Mapping):
            return value
        raise Mismatch("a mapping")
    if not isinstance(value, (list, tuple)):
        raise Mismatch(origin.__name__)
    if origin is list:
        each = args * len(value) if args else ()
    elif len(args) == 2 and args[1] is Ellipsis:
        each = args[:1] * len(value)
    else:
        each = args
        if args and len(args) != len(value):
            raise Mismatch(f"a tuple of {len(args)} items")
    items = list(value)
    if each:
        items = [fit(item, kind) for item, kind in zip(items, each, strict=True)]
    return origin(items)


def _fit_literal(value: Any, members: tuple[Any, ...], text: str | None) -> Any:
    for member in members:
        if type(member) is type(value) and member == value:
            return member
    for member in members:
        if text is not None and isinstance(member, str) and member == text:
            return member
    raise Mismatch("one of " + ", ".join(repr(member) for member in members))


def _fit_enum(value: Any, annotation: Any) -> Any:
    if isinstance(value, str) and value in annotation.__members__:
        return annotation[value]
    raise Mismatch("one of " + ", ".join(annotation.__members__))


def _fit_bool(value: Any, text: str | None) -> bool:
    if isinstance(value, bool):
        return value
    word = None if text is None else text.strip().lower()
    if word in _YES or word in _NO:
        return word in _YES
    raise Mismatch("bool (true, false, yes, no, on, off, 1 or 0)")


def _fit_int(value: Any, text: str | None) -> int:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise Mismatch("int")


def _fit_float(value: Any, text: str | None) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    raise Mismatch("float")


def _fit_complex(value: Any, text: str | None) -> complex:
    if isinstance(value, (int, float, complex)) and not isinstance(value, bool):
        return complex(value)
    raise Mismatch("complex")


def _fit_str(value: Any, text: str | None) -> str:
    if text is not None:
        quoted = isinstance(value, str) and text[:1] in ("'", '"')
        return value if quoted else text
    if isinstance(value, str):
        return value
    if is_path(value):
        return str(value)
    raise Mismatch("str")


def _fit_bytes(value: Any, text: str | None) -> bytes:
    if isinstance(value, bytes):
        return value
    raise Mismatch("bytes")


def _fit_none(value: Any, text: str | None) -> None:
    if value is not None:
        raise Mismatch("None")


def _fit_path(value: Any, kind: Any, text: str | None) -> Any:
    if is_path(value):
        return value
    if text is None and not isinstance(value, str):
        raise Mismatch("a path")
    return kind(_fit_str(value, text))


def is_path_class(annotation: Any) -> bool:
    """Whether an annotation is a class of `pathlib`."""
    pathlib = sys.modules.get("pathlib")
    return (
        pathlib is not None
        and isinstance(annotation, type)
        and issubclass(annotation, pathlib.PurePath)
    )


_SCALARS: dict[Any, Callable[[Any, str | None], Any]] = {
    bool: _fit_bool,
    int: _fit_int,
    float: _fit_float,
    complex: _fit_complex,
    str: _fit_str,
    bytes: _fit_bytes,
    type(None): _fit_none,
    None: _fit_none,
}
