"""Errors of targets, told in the terms of the config: notes, and fewer frames."""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from konfig._errors import KonfigError, short
from konfig._origin import describe, is_ours
from konfig._ref import Lazy
from konfig._tree import ORIGIN, Node, places_of, stored_items, target_of, where


def explain(
    error: BaseException,
    path: str,
    node: Node | None,
    way_out: Sequence[tuple[Any, Any]] = (),
) -> None:
    """Adds to an error where in the config it happened, once per resolve.

    Args:
      error: What was raised.
      path: Where it was raised.
      node: The call that raised it; None when something else did: a reference.
      way_out: The containers and keys that it passed, the innermost first.
    """
    created = _created(node, way_out)
    if isinstance(error, KonfigError):
        error.path = path if error.path is None else error.path
        error.origin = created if error.origin is None else error.origin
        return
    error.add_note(f"konfig: while resolving {path}")
    if node is not None:
        error.add_note(f"  target:  {target_of(node)}")
        error.add_note(f"  call:    {short(node, 200)}")
    elif way_out:
        container, key = way_out[0]
        stored = dict(stored_items(container)).get(key)
        if isinstance(stored, Lazy):
            error.add_note(f"  reads:   {short(stored, 200)}")
    if created:
        later = "" if node is None else _later(node)
        error.add_note(f"  created: {created}{later}")


def _created(node: Node | None, way_out: Sequence[tuple[Any, Any]]) -> str | None:
    """Where the call was written, or else the nearest field."""
    if node is not None:
        return where(node)
    fields = (step for step in way_out if isinstance(step[0], Node))
    field = next(fields, None)
    return where(*field) if field else None


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
