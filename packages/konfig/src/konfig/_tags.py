"""What the tagged objects of JSON stand for, and which of them are broken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import NoneType
from typing import Any

from konfig._const import check_qualname, make_const
from konfig._convert import convert
from konfig._errors import ConfigValueError, short
from konfig._keys import RESERVED
from konfig._ref import BINARY, COMPARE, OPERATIONS, UNARY
from konfig._tree import TARGET

HEADERS = ("__id__", "__konfig__", "__origin__")
COMPANIONS = {"__ref__": ("__anchor__",), "__expr__": ("__kwargs__",)}

_Decode = Callable[[Any], Any]


def operation(data: Any, named: Any) -> tuple[str, list[Any]]:
    """The operation of an expression, and as many operands as it takes.

    Args:
      data: The name and the operands.
      named: Operands by name, which calls and templates alone take.
    """
    op, *args = _listed(data)
    if op not in OPERATIONS:
        raise ConfigValueError(f"unknown operation {op!r} in a reference")
    least, most = _OPERANDS.get(op, (1, None))
    count = len(args)
    if count < least or (most is not None and count > most):
        what = f"has {count} operands: {short(data)}"
        raise ConfigValueError(f"the operation {op!r} of a reference {what}")
    if named and op not in ("call", "format"):
        what = f"has operands by name: {short(named)}"
        raise ConfigValueError(f"the operation {op!r} of a reference {what}")
    text = {"attr": -1, "format": 0}.get(op)
    if text is not None and not isinstance(args[text], str):
        raise ConfigValueError(f"the operation {op!r} of a reference needs a text")
    return op, args


def _listed(data: Any) -> Any:
    if not isinstance(data, (list, tuple)):
        raise TypeError("not an array")
    return data


def _bytes(decode: _Decode, data: Any) -> bytes:
    import binascii

    return binascii.a2b_base64(data, strict_mode=True)


SIMPLE: dict[str, Callable[[_Decode, Any], Any]] = {
    "__tuple__": lambda decode, data: tuple([decode(item) for item in _listed(data)]),
    "__set__": lambda decode, data: {decode(item) for item in _listed(data)},
    "__frozenset__": lambda decode, data: frozenset(map(decode, _listed(data))),
    "__float__": lambda decode, data: float(data),
    "__bytes__": _bytes,
    "__complex__": lambda decode, data: complex(*[decode(part) for part in data]),
    "__slice__": lambda decode, data: convert(slice(*map(decode, data))),
    "__ellipsis__": lambda decode, data: ...,
    "__path__": lambda decode, data: Path(data),
}

_OPERANDS: dict[str, tuple[int, int | None]] = {
    **dict.fromkeys((*BINARY, *COMPARE, "divmod", "getitem", "attr"), (2, 2)),
    **dict.fromkeys((*UNARY, "abs", "floor", "ceil", "trunc", "not"), (1, 1)),
    **dict.fromkeys(("all_of", "any_of"), (0, None)),
    "round": (1, 2),
    "where": (3, 3),
}
"""How many operands an operation takes; the others take one or more."""

_TAGS = frozenset((*SIMPLE, *COMPANIONS, "__const__", "__placeholder__", "__items__"))
_NOT_ALONE = RESERVED - _TAGS - set(HEADERS)


MARKS = _TAGS | _NOT_ALONE | {"__id__"}


def tag_of(data: Mapping[Any, Any]) -> str | None:
    """The tag of an object, which stands first or behind the header."""
    for key in data:
        if isinstance(key, str) and key[:2] == "__":
            if key in _TAGS:
                return key
            if key in _NOT_ALONE:
                raise ConfigValueError(f"{key!r} stands alone")
            if key == TARGET:
                if "__const__" in data:
                    raise ConfigValueError(
                        "both '__qualname__' and '__const__' in one object"
                    )
                return None
    return None


def class_of(name: str) -> Any:
    """A built-in class by its name; any other class stays a name."""
    import builtins

    module, _, rest = check_qualname(name).partition(":")
    found = getattr(builtins, rest, None) if module == "builtins" else None
    if isinstance(found, type):
        return found
    return NoneType if name == "builtins:NoneType" else make_const(name, True)
