"""The parts that a path is made of, and which values may be one."""

from __future__ import annotations

import enum
import math
from typing import Any, TypeAlias

from kontext._errors import PathTypeError


class Wildcard(enum.Enum):
    """A part of a `GlobPath` that stands for many."""

    STAR = "*"
    DOUBLE_STAR = "**"

    def __repr__(self) -> str:
        return self.name


STAR = Wildcard.STAR
DOUBLE_STAR = Wildcard.DOUBLE_STAR

# Recursive for tuples: ("a", (0, slice(1, 2))) is a legal path.
Part: TypeAlias = Any
Parts: TypeAlias = tuple[Part, ...]


class Missing(enum.Enum):
    """A value that no context can hold."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing.MISSING

_EXACT = frozenset({str, int, bool, type(None), type(Ellipsis)})


def normalize_parts(parts: Parts, *, glob: bool) -> Parts:
    """`parts` with exact types, so that equal paths print alike.

    Raises:
      PathTypeError: If a value cannot be a part of a path.
    """
    for part in parts:
        if type(part) not in _EXACT:
            return tuple(normalize_part(part, glob=glob) for part in parts)
    return parts


def normalize_part(part: Part, *, glob: bool = False) -> Part:
    """One part, of exact type: subclasses of `str` and `int` become plain ones.

    Raises:
      PathTypeError: If the value cannot be a part of a path.
    """
    match part:
        case None | bool():
            return part
        case str():
            return str.__str__(part)
        case int():
            return int.__int__(part)
        case float() | complex():
            return _finite(part)
        case slice():
            return _normalize_slice(part)
        case tuple():
            return tuple(normalize_part(item) for item in part)
        case Wildcard():
            if glob:
                return part
            raise PathTypeError(
                f"a Path holds no wildcard, got {part.value!r}\n"
                "  a GlobPath does: kontext.parse(text, glob=True)"
            )
    if part is Ellipsis:
        return part
    as_index = _as_index(part)
    if as_index is not None:
        return as_index
    raise PathTypeError(
        f"a {type(part).__name__} cannot be part of a path: {_clip(repr(part))}\n"
        "  a part is a str, int, bool, None, float, complex, slice, ... or tuple"
    )


def _as_index(value: Any) -> int | None:
    """The plain int for integers of other libraries, such as `numpy.int64`."""
    if hasattr(type(value), "__index__") and not getattr(value, "shape", ()):
        return int(value.__index__())
    return None


def _finite(number: Any) -> Any:
    """A plain float or complex; only finite ones have a text that reads back."""
    plain = complex(number) if isinstance(number, complex) else float(number)
    as_complex = complex(plain)
    if math.isfinite(as_complex.real) and math.isfinite(as_complex.imag):
        return plain
    raise PathTypeError(
        f"a part of a path must be finite, got {number!r}\n"
        "  nan and inf do not equal, or do not print as, themselves"
    )


def _normalize_slice(part: slice) -> slice:
    bounds = (part.start, part.stop, part.step)
    plain = [bound if bound is None else _as_index(bound) for bound in bounds]
    for bound, index in zip(bounds, plain, strict=True):
        if bound is not None and index is None:
            raise PathTypeError(f"slice bounds must be integers, got {bound!r}")
    if plain[2] == 0:
        raise PathTypeError("the step of a slice cannot be 0")
    return slice(*plain)


def is_axes(part: Part) -> bool:
    """Whether the part selects along axes of an array, as in `[..., 0]`."""
    return type(part) is tuple and bool(part) and all(map(_is_axis, part))


def _is_axis(item: Any) -> bool:
    return item is None or item is Ellipsis or type(item) in (int, slice)


def twin_part(part: Part) -> Part:
    """The other key with the same text: `0` for `'0'` and the reverse."""
    if type(part) is int:
        return str(part)
    if type(part) is str and part.lstrip("-").isdecimal() and part.isascii():
        number = int(part)
        return number if str(number) == part else None
    return None


def has_slice(part: Part) -> bool:
    """Whether the part holds a slice: no key, though Python 3.12 takes it for one."""
    if type(part) is tuple:
        return any(map(has_slice, part))
    return type(part) is slice


def has_wildcard(parts: Parts) -> bool:
    """Whether any part stands for many."""
    return any(type(part) is Wildcard for part in parts)


def _clip(text: str, width: int = 60) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
