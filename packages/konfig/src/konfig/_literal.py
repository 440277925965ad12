"""The value of a text from the command line."""

from __future__ import annotations

import ast
import json
import warnings
from typing import Any

from konfig._convert import is_path
from konfig._errors import short
from konfig._tree import Node
from konfig._types import Mismatch, fit, understood, union_members

_WORDS = {
    "nan": float("nan"),
    "inf": float("inf"),
    "+inf": float("inf"),
    "-inf": float("-inf"),
}


def literal(text: str) -> Any:
    """The Python literal, else the JSON value, else nan and inf, else the text."""
    stripped = text.strip()
    # Python reads a comment after '#', which nobody means on a command line.
    if not stripped or ("#" in stripped and stripped[0] not in "'\"[({"):
        return text
    try:
        with warnings.catch_warnings():
            # '1if' and '"\d"' are read with a warning by some versions.
            warnings.simplefilter("ignore")
            return ast.literal_eval(stripped)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        pass
    if stripped.lower() in _WORDS:
        return _WORDS[stripped.lower()]
    try:
        return json.loads(stripped, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return text


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def adapt(text: str, annotation: Any, current: Any) -> Any:
    """The value of a text for a field.

    Args:
      text: What was typed.
      annotation: What the field is declared as, or None.
      current: What it reads now, or None; its type decides where nothing is declared.

    Raises:
      Mismatch: When the text is no such value.
    """
    value = literal(text)
    if annotation is not None and annotation is not Any:
        hint = _hint(current)
        members = union_members(annotation)
        if members and hint is not None and value is not None:
            # `float | Schedule` with 0.1 now: 1 means 1.0.
            if hint in members or not understood(annotation):
                try:
                    return fit(value, hint, text=text)
                except Mismatch:
                    pass
        if members or understood(annotation):
            return fit(value, annotation, text=text)
    return _like(value, text, current)


def _hint(current: Any) -> Any:
    """The type that the current value asks for, or None."""
    if is_path(current):
        return type(current)
    for kind in (bool, int, float, complex, str, bytes, tuple, list):
        if isinstance(current, kind):
            return kind
    return None


def _like(value: Any, text: str, current: Any) -> Any:
    """The value like the current one, which None may always replace."""
    if value is None:
        return None
    if isinstance(current, Node):
        if isinstance(value, dict):
            return value
        raise Mismatch(
            f"a mapping, None or a py:: expression in place of {short(current, 40)}"
        )
    if isinstance(current, (set, frozenset)):
        return _like_set(value, type(current))
    hint = _hint(current)
    return value if hint is None else fit(value, hint, text=text)


def _like_set(value: Any, kind: Any) -> Any:
    if isinstance(value, (set, frozenset, list, tuple)):
        try:
            return kind(value)
        except TypeError:  # an item that no set can hold
            pass
    raise Mismatch(kind.__name__)
