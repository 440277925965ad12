"""Locks: which changes a config forbids."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from konfig import _faults
from konfig._errors import ConfigValueError
from konfig._tree import Node, walk
from konfig._typing import Any

_MODES = ("keys", "all")


def lock(root: Any, mode: str) -> None:
    """Forbids new fields (`"keys"`) or every change (`"all"`), here and below."""
    if mode not in _MODES:
        raise ConfigValueError(f"lock mode is 'keys' or 'all', not {mode!r}")
    for part in _lockable(root):
        object.__setattr__(part, "_konfig_lock", mode)


@contextmanager
def unlocked(root: Any) -> Generator[None]:
    """Lifts the locks inside the block and puts back those that were there."""
    before = [(part, part._konfig_lock) for part in _lockable(root)]
    for part, _ in before:
        object.__setattr__(part, "_konfig_lock", None)
    try:
        yield
    finally:
        for part, mode in before:
            object.__setattr__(part, "_konfig_lock", mode)
        if root._konfig_lock is not None:
            # What came in during the block is locked like its surroundings.
            lock(root, root._konfig_lock)


def check(node: Node, key: Any, *, removing: bool = False) -> None:
    """Refuses a change that the lock of the node forbids."""
    mode = node._konfig_lock
    if mode is None:
        return
    if mode == "all" or removing or key not in node._konfig_fields:
        raise _faults.locked(node, key, "all" if removing else mode)


def inherit(node: Node, value: Any) -> None:
    """Locks what enters a locked node like the node itself."""
    if node._konfig_lock is not None and isinstance(value, (Node, list, tuple)):
        lock(value, node._konfig_lock)


def _lockable(root: Any) -> list[Any]:
    return [part for _, part in walk(root) if isinstance(part, (Node, list))]
