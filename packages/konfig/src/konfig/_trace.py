"""Errors of targets, told in the terms of the config: notes, and fewer frames."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any

from konfig._errors import KonfigError, short
from konfig._origin import describe, is_ours
from konfig._tree import ORIGIN, Node, places_of, target_of, where


def explain(error: BaseException, path: str, node: Node | None) -> None:
    """Adds to an error where in the config it happened, once per resolve."""
    if isinstance(error, KonfigError):
        if error.path is None:
            error.path = path
        if error.origin is None and node is not None:
            error.origin = where(node)
        return
    error.add_note(f"konfig: while resolving {path}")
    if node is None:
        return
    error.add_note(f"  target:  {target_of(node)}")
    error.add_note(f"  call:    {short(node, 200)}")
    created = where(node)
    if created:
        error.add_note(f"  created: {created}{_later(node)}")


def _later(node: Node) -> str:
    """What the command line set in this node after it was made."""
    marks = [mark for key, mark in places_of(node).items() if key != ORIGIN]
    flags = [describe(mark) for mark in marks if isinstance(mark, str)]
    return f"   (changed by {', '.join(map(str, flags[:3]))})" if flags else ""


def pruned(error: BaseException) -> Any:
    """The error with the frames of konfig taken out of its traceback.

    `KONFIG_FULL_TRACEBACK=1` in the environment keeps them.
    """
    if os.environ.get("KONFIG_FULL_TRACEBACK") == "1":
        return error
    kept: list[TracebackType] = []
    trace = error.__traceback__
    while trace is not None:
        if not is_ours(trace.tb_frame.f_code.co_filename):
            kept.append(trace)
        trace = trace.tb_next
    chain: TracebackType | None = None
    for step in reversed(kept):
        chain = TracebackType(chain, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return error.with_traceback(chain)
