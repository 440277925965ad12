"""Where a node was written: file, line and function, never a frame."""

from __future__ import annotations

import os
import sys
from types import CodeType, FrameType

from konfig._typing import Any

Origin = tuple[CodeType, int] | tuple[str, int, str] | str | None
"""Code and instruction as captured, a place as unpickled, or a text to show."""

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
# By file name, which is asked for at every call and assignment.
_OURS: dict[str, bool] = {}
_Lines = tuple[CodeType, list[int], list[int | None], dict[int, tuple[str, int, str]]]
_LINES: dict[int, _Lines] = {}


def capture(inside: int = 1) -> Origin:
    """The nearest caller outside konfig: its code, and the instruction it is at.

    Args:
      inside: How many callers are konfig's own for certain.

    The frame is dropped: it would keep the locals of the config function alive as long
    as the config. The line is left to `place`, since looking it up takes longer than
    all the rest of making a node.
    """
    frame: FrameType | None = sys._getframe(inside + 1)
    known = _OURS
    while frame is not None:
        code = frame.f_code
        ours = known.get(code.co_filename)
        if ours is None:
            file = code.co_filename
            ours = known[file] = file.startswith(_PACKAGE)
        if not ours:
            return code, frame.f_lasti
        frame = frame.f_back
    return None


def place(origin: Any) -> tuple[str, int, str] | str | None:
    """File, line and function of what was captured; anything else as it is."""
    if not isinstance(origin, tuple) or len(origin) != 2:
        return origin
    code, at = origin
    _, starts, lines, places = _lines_of(code)
    known = places.get(at)
    if known is None:
        from bisect import bisect_right  # not needed before a place is shown

        line = lines[bisect_right(starts, at) - 1] or code.co_firstlineno
        known = places[at] = (code.co_filename, line, code.co_name)
    return known


def _lines_of(code: CodeType) -> _Lines:
    """Where the lines of a function begin among its instructions; places known."""
    known = _LINES.get(id(code))
    if known is None:
        if len(_LINES) >= 100:
            _LINES.clear()
        table = [(start, line) for start, _, line in code.co_lines()]
        starts, lines = map(list, zip(*table, strict=True))
        # With the code itself, whose identity is not given away while it is here.
        known = _LINES[id(code)] = (code, starts, lines, {})
    return known


def describe(origin: Any) -> str | None:
    """`"configs/vit.py:41 in get_config"`, or None where nothing is known."""
    found = place(origin)
    if not found or isinstance(found, str):
        return found or None
    file, line, function = found
    return f"{_near(file)}:{line} in {function}"


def _near(file: str) -> str:
    """The path from the current folder, where that is shorter to read."""
    here = os.getcwd() + os.sep
    return file[len(here) :] if file.startswith(here) else file


def is_ours(file: str) -> bool:
    """Whether a file belongs to this package."""
    return file.startswith(_PACKAGE)
