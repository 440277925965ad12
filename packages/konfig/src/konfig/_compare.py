"""Equality of configs, by structure: references by what they say, not by value."""

from __future__ import annotations

from collections.abc import Mapping

from konfig._const import dotted
from konfig._placeholder import UNSET, Placeholder
from konfig._ref import Expr, Lazy, Ref
from konfig._tree import TARGET, Node, node_paths, unending
from konfig._typing import Any


def equal(left: Any, right: Any) -> bool:
    """Whether two config values say the same; the order of fields does not count.

    Not-a-number equals itself here: a config that was written and read again is equal
    to what it was.
    """
    try:
        return Comparison(left, right).equal(left, right)
    except RecursionError:
        raise unending(left) from None


class Comparison:
    def __init__(self, left: Any, right: Any):
        self._roots = (left, right)
        self._paths: tuple[dict[int, Any], dict[int, Any]] | None = None
        self._assumed: set[tuple[int, int]] = set()

    def equal(self, left: Any, right: Any) -> bool:
        if left is right:
            return True
        left, right = _plain(left), _plain(right)
        if isinstance(left, Lazy) or isinstance(right, Lazy):
            return self._same_lazy(left, right)
        if isinstance(left, (Node, Mapping)):
            pair = (id(left), id(right))
            if pair in self._assumed:
                return True
            self._assumed.add(pair)
            same = isinstance(right, (Node, Mapping)) and self._same_fields(
                _fields(left), _fields(right)
            )
            if not same:
                self._assumed.discard(pair)
            return same
        if isinstance(left, (list, tuple)):
            return self._same_items(left, right)
        if isinstance(left, Placeholder) or isinstance(right, Placeholder):
            return _same_placeholder(left, right)
        if isinstance(left, (float, complex)) and left != left:
            return type(left) is type(right) and repr(left) == repr(right)
        return bool(left == right)

    def _same_fields(self, left: Mapping[Any, Any], right: Mapping[Any, Any]) -> bool:
        if len(left) != len(right):
            return False
        for key, value in left.items():
            if key not in right:
                return False
            other = right[key]
            if key == TARGET and isinstance(value, str) and isinstance(other, str):
                if dotted(value) != dotted(other):
                    return False
            elif not self.equal(value, other):
                return False
        return True

    def _same_items(self, left: Any, right: Any) -> bool:
        kind: Any = list if isinstance(left, list) else tuple
        if not isinstance(right, kind) or len(left) != len(right):
            return False
        for one, other in zip(kind.__iter__(left), kind.__iter__(right), strict=True):
            if not self.equal(one, other):
                return False
        return True

    def _same_lazy(self, left: Any, right: Any) -> bool:
        if isinstance(left, Ref) and isinstance(right, Ref):
            return self._place(left, 0) == self._place(right, 1)
        if not (isinstance(left, Expr) and isinstance(right, Expr)):
            return False
        return (
            left.__konfig_op__ == right.__konfig_op__
            and self._same_items(left.__konfig_args__, right.__konfig_args__)
            and self._same_fields(left.__konfig_kwargs__, right.__konfig_kwargs__)
        )

    def _place(self, ref: Any, side: int) -> Any:
        """The path of a reference from the root of its side, or its foreign anchor."""
        if self._paths is None:
            self._paths = node_paths(self._roots[0]), node_paths(self._roots[1])
        anchor = ref.__konfig_anchor__
        above = self._paths[side].get(id(anchor))
        if above is None:
            return (id(anchor), ref.__konfig_path__)
        return (None, above + ref.__konfig_path__)


def _plain(value: Any) -> Any:
    """A set placeholder counts as its value."""
    if isinstance(value, Placeholder) and value.value is not UNSET:
        return value.value
    return value


def _fields(value: Any) -> Mapping[Any, Any]:
    return value._konfig_fields if isinstance(value, Node) else value


def _same_placeholder(left: Any, right: Any) -> bool:
    return (
        isinstance(left, Placeholder)
        and isinstance(right, Placeholder)
        and (left.type_names, left.default, left.required)
        == (right.type_names, right.default, right.required)
    )
