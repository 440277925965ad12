"""Errors of targets, told in the terms of the config: notes, and fewer frames."""

from __future__ import annotations

import os
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
    field: tuple[Any, Any] | None = None,
) -> None:
    """Adds to an error where in the config it happened, once per resolve.

    Args:
      error: What was raised.
      path: Where it was raised.
      node: The call that raised it, or None.
      field: The container and the key of what raised it otherwise: a reference.
    """
    created = where(node) if node is not None else None
    if node is None and field is not None and isinstance(field[0], Node):
        created = where(*field)
    if isinstance(error, KonfigError):
        error.path = path if error.path is None else error.path
        error.origin = created if error.origin is None else error.origin
        return
    error.add_note(f"konfig: while resolving {path}")
    if node is None:
        stored = dict(stored_items(field[0])).get(field[1]) if field else None
        if isinstance(stored, Lazy):
            error.add_note(f"  reads:   {short(stored, 200)}")
        if created:
            error.add_note(f"  created: {created}")
        return
    error.add_note(f"  target:  {target_of(node)}")
    error.add_note(f"  call:    {short(node, 200)}")
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
