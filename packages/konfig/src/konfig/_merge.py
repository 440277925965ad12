"""Merging configs: references follow into what their config was merged into."""

from __future__ import annotations

from typing import Any

from konfig import _faults
from konfig._const import dotted
from konfig._copy import Copier
from konfig._ref import Lazy
from konfig._tree import TARGET, Node
from konfig._undo import Kept, keep, put_back


def merge(into: Node, incoming: Node, given: Any, *, copies: bool) -> None:
    """Sets the fields of one node as another has them; calls of one target merge.

    What names another target takes the place of all that was there. When a field is
    refused nothing is changed. References to what was merged point to what took it in.
    Where a node that is merged in one place stands in another one as well, it is copied
    there.

    Args:
      into: What is changed.
      incoming: The fields that it gets.
      given: The config or mapping that they were given as.
      copies: Whether nodes are copied that stand directly in it. Deeper ones of a node
        that is merged always are: they may refer to it.
    """
    taken: dict[int, Any] = {id(given): into}
    _pair(into, incoming, taken)
    copier = Copier({id(given): into, id(incoming): into}, taken)
    kept: dict[int, Kept] = {}
    try:
        if _merges(into, incoming):
            _fill(into, incoming, copier, copies, kept)
        else:
            _replace(into, incoming, copier, copies, kept)
    except BaseException:
        for before in kept.values():
            put_back(before)
        raise
    copier.anchor()


def _replace(
    into: Any, incoming: Node, copier: Copier, copies: bool, kept: dict[int, Kept]
) -> None:
    """Makes a node the call that another one is."""
    if into._konfig_lock is not None:
        raise _faults.locked(into, TARGET, "all")
    kept[id(into)] = keep(into)
    into._konfig_fields.clear()
    _fill(into, incoming, copier, copies, kept)
    object.__setattr__(into, "_konfig_flags", incoming._konfig_flags)


def _pair(into: Any, incoming: Node, taken: dict[int, Any]) -> None:
    """Notes into which nodes others are merged, by identity."""
    taken[id(incoming)] = into
    for key, value in incoming._konfig_fields.items():
        current = into._konfig_fields.get(key)
        if id(value) not in taken and _merges(current, value):
            _pair(current, value, taken)


def _fill(
    into: Any,
    incoming: Node,
    copier: Copier,
    copies: bool,
    kept: dict[int, Kept],
    done: set[tuple[int, int]] | None = None,
) -> None:
    done = set() if done is None else done
    done.add((id(into), id(incoming)))
    if id(into) not in kept:
        kept[id(into)] = keep(into)
    for key, value in incoming._konfig_fields.items():
        current = into._konfig_fields.get(key)
        if _merges(current, value):
            if current is not value and (id(current), id(value)) not in done:
                _fill(current, value, copier, True, kept, done)
        else:
            follows = copies or isinstance(value, Lazy)
            into[key] = copier.copy(value) if follows else value


def _merges(current: Any, incoming: Any) -> bool:
    """Whether a value is changed by another, instead of being replaced by it."""
    if not (isinstance(current, Node) and isinstance(incoming, Node)):
        return False
    if current is incoming:
        return True
    new = incoming._konfig_fields.get(TARGET)
    if new is None:
        return True
    old = current._konfig_fields.get(TARGET)
    return isinstance(old, str) and dotted(old) == dotted(new)
