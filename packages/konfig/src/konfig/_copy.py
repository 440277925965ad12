"""Copies of configs: references inside a copy point into the copy."""

from __future__ import annotations

from collections.abc import Mapping

from konfig._convert import ATOMS
from konfig._placeholder import UNSET, Placeholder
from konfig._ref import Expr, Lazy, Ref
from konfig._tree import Items, Node, new_list, new_node, too_deep
from konfig._typing import Any


def deepcopy(value: Any, memo: dict[int, Any] | None = None) -> Any:
    """A copy that shares nothing mutable with the original.

    What is shared inside stays shared inside the copy; locks are not copied. A
    reference follows the copy when its anchor is copied too, and keeps its anchor
    otherwise.

    Args:
      value: A config value.
      memo: What was copied already, by identity, as `copy.deepcopy` passes it.
    """
    copier = Copier({} if memo is None else memo)
    try:
        result = copier.copy(value)
    except RecursionError:  # lists and tuples in each other
        raise too_deep() from None
    copier.anchor()
    return result


def shallow(node: Node) -> Any:
    """A copy of the top level; references of its fields to it point to the copy."""
    fields = node._konfig_fields.copy()
    twin = _twin(node, fields)
    copier = Copier({id(node): twin})
    for key, value in node._konfig_fields.items():
        if isinstance(value, Lazy):
            fields[key] = copier.copy(value)
    copier.anchor()
    return twin


def moved(node: Node, old: Any, new: Any) -> Any:
    """A copy of a node whose references to `old` or to it point to `new` instead."""
    fields: dict[Any, Any] = {}
    copier = Copier({id(node): new, id(old): new})
    for key, value in node._konfig_fields.items():
        fields[key] = copier.copy(value)
    copier.anchor()
    return _twin(node, fields)


def _twin(node: Node, fields: dict[Any, Any]) -> Any:
    origin = node._konfig_origin
    if type(origin) is dict:
        origin = origin.copy()
    return new_node(type(node), fields, node._konfig_flags, origin)


class Copier:
    """Copies values that share parts, which stay shared.

    Args:
      memo: What takes the place of what, by identity; copies are added.
      anchors: What references point to in place of something else.
    """

    # Nodes whose fields are still those of the original wait in a stack.
    def __init__(self, memo: dict[int, Any], anchors: Mapping[int, Any] | None = None):
        self._memo = memo
        self._anchors = anchors or {}
        self._refs: list[Ref] = []
        self._waiting: list[dict[Any, Any]] = []

    def copy(self, value: Any) -> Any:
        """The copy of a value, the same for the same value."""
        made = self._begin(value)
        waiting, begin, atoms = self._waiting, self._begin, ATOMS
        while waiting:
            fields = waiting.pop()
            for key, item in fields.items():
                if type(item) not in atoms:
                    fields[key] = begin(item)
        return made

    def _begin(self, value: Any) -> Any:
        # Never by way of `copy`, which would go through all that waits: what stands
        # below one expression must not be deeper than it is.
        memo, mark = self._memo, id(value)
        known = memo.get(mark)
        if known is not None:
            return known
        if isinstance(value, Node):
            fields = value._konfig_fields.copy()
            origin = value._konfig_origin
            if type(origin) is dict:
                origin = origin.copy()
            twin = new_node(type(value), fields, value._konfig_flags, origin)
            memo[mark] = twin
            self._waiting.append(fields)
            return twin
        if isinstance(value, Items):
            twin = memo[mark] = new_list(type(value))
            if len(value):
                items = list.copy(value)
                for index, item in enumerate(items):
                    if type(item) not in ATOMS:
                        items[index] = self._begin(item)
                list.extend(twin, items)
            return twin
        if isinstance(value, Lazy):
            twin = memo[mark] = self._copy_lazy(value)
            return twin
        return self._copy_value(value)

    def _copy_value(self, value: Any) -> Any:
        if isinstance(value, Placeholder):
            held = UNSET if value.value is UNSET else self._begin(value.value)
            return Placeholder(
                value.type, value.default, value.required, value.doc, held
            )
        if isinstance(value, (tuple, list)):
            items = [self._begin(item) for item in value]
            return items if isinstance(value, list) else tuple(items)
        return set(value) if isinstance(value, set) else value

    def _copy_lazy(self, value: Any) -> Any:
        trusted = value.__konfig_trusted__
        if isinstance(value, Ref):
            twin = Ref(value.__konfig_anchor__, value.__konfig_path__, trusted)
            self._refs.append(twin)
            return twin
        args, named = [], value.__konfig_kwargs__.copy()
        for arg in value.__konfig_args__:
            args.append(arg if type(arg) in ATOMS else self._begin(arg))
        for key, arg in named.items():
            named[key] = self._begin(arg)
        return Expr(value.__konfig_op__, tuple(args), named, trusted)

    def anchor(self) -> None:
        """Points the copied references into the copy.

        Done last: an anchor may be copied after a reference to it.
        """
        for ref in self._refs:
            old = ref.__konfig_anchor__
            new = self._memo.get(id(old), old)
            new = self._anchors.get(id(old), new)
            object.__setattr__(ref, "__konfig_anchor__", new)
