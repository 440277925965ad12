"""Options of metrics, held against what their annotations say they may be.

`eps: Positive = 1e-8` is a float for a type checker, and at construction anything but a
finite number above 0 is an error that names the metric and the option.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import numbers
import types
import typing
from collections.abc import Callable, Iterator
from typing import Annotated, Any, NamedTuple, TypeAlias


class Option(NamedTuple):
    """What an option may be.

    Attributes:
      kind: what it is, such as "a number", for errors.
      fits: whether a value is of that kind.
      rule: which of that kind are allowed, such as "above 0"; empty for all.
      holds: whether a value of that kind is allowed.
    """

    kind: str
    fits: Callable[[Any], bool]
    rule: str = ""
    holds: Callable[[Any], bool] = lambda value: True


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def check_whole(what: str, value: Any, *, lowest: int | None = None) -> None:
    """Raises an error if `value` is not a whole number, or below `lowest`.

    Raises:
      TypeError: it is of another kind.
      ValueError: it is lower.
    """
    if not _is_whole(value):
        raise TypeError(f"{what} must be a whole number\n  got {_shown(value)}")
    if lowest is not None and value < lowest:
        raise ValueError(f"{what} must be {lowest} or more\n  got {value}")


def check_number(what: str, value: Any) -> None:
    """Raises TypeError if `value` is not a number."""
    if not _is_number(value):
        raise TypeError(f"{what} must be a number\n  got {_shown(value)}")


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def whole(rule: str = "", holds: Callable[[Any], bool] = lambda value: True) -> Option:
    """An integer."""
    return Option("a whole number", _is_whole, rule, holds)


def number(rule: str, holds: Callable[[Any], bool]) -> Option:
    """An integer or a float."""
    return Option("a number", _is_number, rule, holds)


def two_numbers(rule: str, holds: Callable[[Any], bool]) -> Option:
    """A pair of numbers."""
    return Option("a tuple of two numbers", _is_pair, rule, holds)


def _ascends(value: Any) -> bool:
    return math.isfinite(value[0]) and value[0] < value[1] < math.inf


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(map(_is_number, value))


Flag: TypeAlias = Annotated[bool, Option("True or False", _is_flag)]
Function: TypeAlias = Annotated[Callable[..., Any], Option("a function", callable)]
Text: TypeAlias = Annotated[
    str, Option("a text", lambda x: isinstance(x, str), "not empty", bool)
]
Whole: TypeAlias = Annotated[int, whole()]
Natural: TypeAlias = Annotated[int, whole("0 or more", lambda x: x >= 0)]
Count: TypeAlias = Annotated[int, whole("1 or more", lambda x: x >= 1)]
Finite: TypeAlias = Annotated[float, number("finite", math.isfinite)]
TwoOrMore: TypeAlias = Annotated[int, whole("2 or more", lambda x: x >= 2)]
Positive: TypeAlias = Annotated[
    float, number("above 0, and finite", lambda x: 0 < x < math.inf)
]
NotNegative: TypeAlias = Annotated[
    float, number("0 or more, and finite", lambda x: 0 <= x < math.inf)
]
Proportion: TypeAlias = Annotated[float, number("in [0, 1]", lambda x: 0 <= x <= 1)]
Share: TypeAlias = Annotated[float, number("in (0, 1)", lambda x: 0 < x < 1)]
ShareBelow1: TypeAlias = Annotated[float, number("in [0, 1)", lambda x: 0 <= x < 1)]
Span: TypeAlias = Annotated[
    tuple[float, float], two_numbers("finite, and ascend", _ascends)
]


def check_options(metric: Any) -> None:
    """Raises an error if an option is not what its annotation allows.

    Raises:
      TypeError: it is of another kind.
      ValueError: it is out of range.
    """
    for name, option, default in _options_of(type(metric)):
        value = getattr(metric, name)
        if value is default:
            continue
        where = f"{type(metric).__name__}: {name} must be"
        if not option.fits(value):
            raise TypeError(f"{where} {option.kind}\n  got {_shown(value)}")
        if not option.holds(value):
            raise ValueError(f"{where} {option.rule}\n  got {_shown(value)}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


@functools.cache
def _options_of(cls: type) -> tuple[tuple[str, Option, Any], ...]:
    """Name, option and default of each field whose annotation says what it may be."""
    return tuple(
        (field.name, option, field.default)
        for field, hint in _own_hints(cls)
        if (option := _option_in(hint)) is not None
    )


def _own_hints(cls: Any) -> Iterator[tuple[dataclasses.Field[Any], Any]]:
    """The fields of a dataclass with annotations that are no texts."""
    owner = {
        name: base
        for base in reversed(cls.__mro__)
        for name in inspect.get_annotations(base)
    }
    for field in dataclasses.fields(cls):
        yield field, _hints_of(owner[field.name]).get(field.name)


@functools.cache
def _hints_of(cls: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except (NameError, TypeError):
        # Of a class inside a function, say; its options are its own matter.
        return {}


def _option_in(hint: Any) -> Option | None:
    """The option that an annotation stands for; None if it does not say."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return next((mark for mark in parts[1:] if isinstance(mark, Option)), None)
    if origin is tuple and len(parts) == 2 and parts[1] is Ellipsis:
        each = _option_in(parts[0])
        return None if each is None else _tuple_of(each)
    if origin in (typing.Union, types.UnionType):
        own = [_option_in(part) for part in parts]
        rest = [_choice(part) for part in parts]
        return _any_of(own, rest)
    return None


def _choice(hint: Any) -> Option | None:
    """None, or one of some texts, as a part of a union."""
    if hint is type(None):
        return Option("None", lambda value: value is None)
    if typing.get_origin(hint) is typing.Literal:
        known = typing.get_args(hint)
        texts = " or ".join(f'"{value}"' for value in known)
        return Option(texts, lambda v: isinstance(v, str), texts, lambda v: v in known)
    return None


def _any_of(own: list[Option | None], rest: list[Option | None]) -> Option | None:
    """What one of the parts of a union allows; each is in one of the lists."""
    pairs = zip(own, rest, strict=True)
    options = [part for pair in pairs for part in pair if part is not None]
    if len(options) < len(own) or not any(own):
        return None
    return Option(
        ", or ".join(part.kind for part in options),
        lambda value: any(part.fits(value) for part in options),
        ", or ".join(part.rule or part.kind for part in options),
        lambda value: any(part.fits(value) and part.holds(value) for part in options),
    )


def _tuple_of(each: Option) -> Option:
    return Option(
        f"a tuple, each of it {each.kind}",
        lambda value: isinstance(value, tuple) and all(map(each.fits, value)),
        f"{each.rule} each",
        lambda value: all(map(each.holds, value)),
    )
