"""Why a value has no form in a file, and where it lies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from konfig._errors import SerializationError, short
from konfig._origin import describe
from konfig._paths import format_path
from konfig._ref import Expr, LocalFunction
from konfig._tree import path_items, walk


def refused(value: Any, root: Any) -> SerializationError:
    """The error for a value of a type that no tag stands for."""
    if isinstance(value, LocalFunction):
        return SerializationError(
            f"a reference calls {value!r}, which has no importable name",
            path=path_of(value, root),
            hint="define it at the top level of a module, or use refs='resolve'",
            origin=describe(value.origin),
        )
    hint = "make a config of it first: konfig.ConfigDict(value=…)"
    return SerializationError(
        f"{type(value).__qualname__} has no form in JSON: {short(value)}",
        path=path_of(value, root),
        hint=hint if value is root else None,
    )


def endless_int(root: Any) -> SerializationError:
    """The error for an int that Python does not write in decimal digits."""

    def found(part: Any) -> bool:
        return isinstance(part, int) and part.bit_length() > 2_000 and not _digits(part)

    return SerializationError(
        "an int of so many digits has no form in a file: Python would not read it back",
        path=_path_where(root, found),
        hint="describe the call that makes it: konfig.call(pow, 10, 5000)",
    )


def large_int(root: Any) -> SerializationError:
    """The error for an int beyond the 64 bits of TOML."""

    def found(part: Any) -> bool:
        return type(part) is int and not -(2**63) <= part < 2**63

    return SerializationError(
        "TOML has no integer of more than 64 bits",
        path=_path_where(root, found),
        hint="write the config to a .json file",
    )


def _digits(number: int) -> str:
    try:
        return str(number)
    except ValueError:  # sys.get_int_max_str_digits() says how many are written
        return ""


def lone_surrogate(root: Any, kind: str) -> SerializationError:
    """The error for a text with half a character, where a format has no escape."""

    def found(part: Any) -> bool:
        return isinstance(part, str) and any("\ud800" <= c <= "\udfff" for c in part)

    return SerializationError(
        f"a text with a lone surrogate has no form in {kind}",
        path=_path_where(root, found),
        hint="write it to a .json file, or as bytes",
    )


def _path_where(root: Any, found: Callable[[Any], bool]) -> str | None:
    """The path of the first key or value that is found; None when all are unlike it."""
    for parts, value in walk(root):
        if found(value) or (parts and found(parts[-1])):
            return format_path(parts, "cfg")
    return None


def path_of(wanted: Any, root: Any) -> str | None:
    """Where a stored value or a key lies, itself or inside an expression."""
    for parts, value in walk(root):
        for key, item in path_items(value):
            if item is wanted or key is wanted or _holds(item, wanted):
                return format_path((*parts, key), "cfg")
    return None


def _holds(value: Any, wanted: Any) -> bool:
    if not isinstance(value, Expr):
        return False
    operands = (*value.__konfig_args__, *value.__konfig_kwargs__.values())
    return any(item is wanted or _holds(item, wanted) for item in operands)
