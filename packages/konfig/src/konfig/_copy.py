"""Copies of configs: references inside a copy point into the copy."""

from __future__ import annotations

from typing import Any

from konfig._placeholder import UNSET, Placeholder
from konfig._ref import Expr, Lazy, Ref
from konfig._tree import Node, setup


def deepcopy(value: Any, memo: dict[int, Any] | None = None) -> Any:
    """A copy that shares nothing mutable with the original.

    What is shared inside stays shared inside the copy; locks are not copied. A
    reference follows the copy when its anchor is copied too, and keeps its anchor
    otherwise.

    Args:
      value: A config value.
      memo: What was copied already, by identity, as `copy.deepcopy` passes it.
    """
    copier = _Copier({} if memo is None else memo)
    result = copier.copy(value)
    copier.anchor()
    return result


def shallow(node: Node) -> Any:
    """A copy of the top level; references of its fields to it point to the copy."""
    twin = _blank(node)
    copier = _Copier({id(node): twin})
    fields = twin._konfig_fields
    for key, value in node._konfig_fields.items():
        fields[key] = copier.copy(value) if isinstance(value, Lazy) else value
    copier.anchor()
    return twin


def moved(node: Node, old: Any, new: Any) -> Any:
    """A copy of a node whose references to `old` or to it point to `new` instead."""
    twin = _blank(node)
    copier = _Copier({id(node): new, id(old): new})
    for key, value in node._konfig_fields.items():
        twin._konfig_fields[key] = copier.copy(value)
    copier.anchor()
    return twin


def _blank(node: Node) -> Any:
    twin = type(node).__new__(type(node))
    setup(twin, {}, node._konfig_flags, node._konfig_origin)
    if node._konfig_marks:
        object.__setattr__(twin, "_konfig_marks", dict(node._konfig_marks))
    return twin


class _Copier:
    def __init__(self, memo: dict[int, Any]):
        self._memo = memo
        self._refs: list[Ref] = []

    def copy(self, value: Any) -> Any:
        if not isinstance(value, _WITH_PARTS):
            return value
        known = self._memo.get(id(value))
        if known is not None:
            return known
        if isinstance(value, Node):
            twin = _blank(value)
            self._memo[id(value)] = twin
            fields = twin._konfig_fields
            for key, item in value._konfig_fields.items():
                fields[key] = item if type(item) in _ATOMS else self.copy(item)
            return twin
        if isinstance(value, list):
            twin = type(value)()
            self._memo[id(value)] = twin
            for item in list.__iter__(value):
                list.append(twin, self.copy(item))
            return twin
        return self._copy_value(value)

    def _copy_value(self, value: Any) -> Any:
        if isinstance(value, Lazy):
            twin = self._copy_lazy(value)
            self._memo[id(value)] = twin
            return twin
        if isinstance(value, Placeholder):
            held = UNSET if value.value is UNSET else self.copy(value.value)
            return Placeholder(
                value.type, value.default, value.required, value.doc, held
            )
        if isinstance(value, tuple):
            return tuple([self.copy(item) for item in value])
        return set(value)

    def _copy_lazy(self, value: Any) -> Any:
        trusted = value.__konfig_trusted__
        if isinstance(value, Ref):
            twin = Ref(value.__konfig_anchor__, value.__konfig_path__, trusted)
            self._refs.append(twin)
            return twin
        args = tuple([self.copy(arg) for arg in value.__konfig_args__])
        named = {key: self.copy(arg) for key, arg in value.__konfig_kwargs__.items()}
        return Expr(value.__konfig_op__, args, named, trusted)

    def anchor(self) -> None:
        """Points the copied references into the copy.

        Done last: an anchor may be copied after a reference to it.
        """
        for ref in self._refs:
            old = ref.__konfig_anchor__
            new = self._memo.get(id(old), old)
            object.__setattr__(ref, "__konfig_anchor__", new)


_WITH_PARTS = (Node, list, tuple, set, Lazy, Placeholder)
_ATOMS = frozenset((type(None), bool, int, float, str))
