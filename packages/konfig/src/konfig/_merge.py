"""Merging configs: references follow into what their config was merged into."""

from __future__ import annotations

from typing import Any

from konfig._const import dotted
from konfig._copy import Copier
from konfig._ref import Lazy
from konfig._tree import TARGET, Node


def merge(into: Node, incoming: Node, given: Any, *, copies: bool) -> None:
    """Sets the fields of one node as another has them; calls of one target merge.

    References to what was merged point to what took it in.

    Args:
      into: What is changed.
      incoming: The fields that it gets.
      given: The config or mapping that they were given as.
      copies: Whether nodes are copied that stand directly in it. Deeper ones of a node
        that is merged always are: they may refer to it.
    """
    taken: dict[int, Any] = {id(given): into}
    _pair(into, incoming, taken)
    copier = Copier(taken)
    _fill(into, incoming, copier, copies, {id(incoming)})
    copier.anchor()


def _pair(into: Node, incoming: Node, taken: dict[int, Any]) -> None:
    """Notes which nodes are merged into which, by identity."""
    taken[id(incoming)] = into
    for key, value in incoming._konfig_fields.items():
        current = into._konfig_fields.get(key)
        if not (isinstance(value, Node) and isinstance(current, Node)):
            continue
        if current is value:
            taken[id(value)] = value
        elif id(value) not in taken and _merges(current, value):
            _pair(current, value, taken)


def _fill(
    into: Any, incoming: Node, copier: Copier, copies: bool, done: set[int]
) -> None:
    for key, value in incoming._konfig_fields.items():
        current = into._konfig_fields.get(key)
        if not isinstance(value, Node):
            follows = copies or isinstance(value, Lazy)
            into[key] = copier.copy(value) if follows else value
        elif copier.knows(value, current):
            if id(value) not in done and current is not value:
                done.add(id(value))
                _fill(current, value, copier, True, done)
        else:
            into[key] = copier.copy(value) if copies else value


def _merges(current: Node, incoming: Node) -> bool:
    """Whether a node is changed by another, instead of being replaced by it."""
    new = incoming._konfig_fields.get(TARGET)
    if new is None:
        return True
    old = current._konfig_fields.get(TARGET)
    return isinstance(old, str) and dotted(old) == dotted(new)
