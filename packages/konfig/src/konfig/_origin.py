"""Where a node was written: file, line and function, never a frame."""

from __future__ import annotations

import os
import sys
from types import FrameType
from typing import Any

Origin = tuple[tuple[str, int, str], ...]

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_DEPTH = 4
# By file name, which is asked for at every call and assignment.
_OURS: dict[str, bool] = {}


def capture(depth: int = _DEPTH) -> Origin:
    """The callers outside konfig, innermost first, at most `depth`.

    Frames are read and dropped: a kept frame would keep the locals of the config
    function alive as long as the config.
    """
    frame: FrameType | None = sys._getframe(1)
    known = _OURS
    found: list[tuple[str, int, str]] = []
    while frame is not None:
        code = frame.f_code
        file = code.co_filename
        ours = known.get(file)
        if ours is None:
            ours = known[file] = file.startswith(_PACKAGE)
        if not ours:
            found.append((file, frame.f_lineno, code.co_name))
            if len(found) == depth:
                break
        elif found:
            break
        frame = frame.f_back
    return tuple(found)


def describe(origin: Any) -> str | None:
    """`"configs/vit.py:41 in get_config"`, or None where nothing is known."""
    if not origin:
        return None
    if isinstance(origin, str):
        return origin
    file, line, function = origin[0]
    return f"{_near(file)}:{line} in {function}"


def _near(file: str) -> str:
    """The path from the current folder, where that is shorter to read."""
    here = os.getcwd() + os.sep
    return file[len(here) :] if file.startswith(here) else file


def is_ours(file: str) -> bool:
    """Whether a file belongs to this package."""
    return file.startswith(_PACKAGE)
