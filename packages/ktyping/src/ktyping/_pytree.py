"""`PyTree[T]`: every leaf of a nested structure matches `T`."""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from ktyping._checker import Checker, Trial, union_of
from ktyping._hypothesis import Hypotheses


class PyTreeType:
    """A structure of dicts, lists and tuples with leaves of one kind.

    None is a structure without leaves. When jax is loaded, the structures that are
    registered with it count as well.
    """

    __slots__ = ("leaf",)

    def __init__(self, leaf: Any = Any):
        self.leaf = leaf

    def __getitem__(self, leaf: Any) -> "PyTreeType":
        if isinstance(leaf, tuple) or self.leaf is not Any:
            raise TypeError(
                f"PyTree[...] takes the type of the leaves, got {leaf!r}.\n"
                'Write `PyTree[Float["..."]]`.'
            )
        return PyTreeType(leaf)

    def __or__(self, other: Any) -> Any:
        return union_of(self, other)

    def __ror__(self, other: Any) -> Any:
        return union_of(other, self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PyTreeType) and other.leaf == self.leaf

    def __hash__(self) -> int:
        return hash((PyTreeType, self.leaf))

    def __repr__(self) -> str:
        return "PyTree" if self.leaf is Any else f"PyTree[{self.leaf!r}]"


PyTree = PyTreeType()


class PyTreeCheck(Checker):
    """The leaves of a structure, each with its path."""

    __slots__ = ("has_arrays", "leaf")

    def __init__(self, leaf: Checker):
        self.leaf = leaf
        self.has_arrays = leaf.has_arrays

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Accepts a structure whose leaves fit."""
        for path, leaf in _leaves(value):
            hypotheses = self.leaf.match(leaf, where + path, hypotheses, trial)
            if not hypotheses:
                return ()
        return hypotheses

    def __repr__(self) -> str:
        return f"PyTree[{self.leaf!r}]"


def _leaves(value: Any) -> Iterator[tuple[str, Any]]:
    jax = sys.modules.get("jax")
    tree_util = getattr(jax, "tree_util", None)
    if tree_util is None:
        yield from _own_leaves(value, "")
        return
    for path, leaf in tree_util.tree_leaves_with_path(value):
        yield tree_util.keystr(path), leaf


def _own_leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if value is None:
        return
    if isinstance(value, Mapping):
        parts = [(f"[{key!r}]", item) for key, item in value.items()]
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        parts = [(f".{name}", getattr(value, name)) for name in value._fields]
    elif isinstance(value, list | tuple):
        parts = [(f"[{index}]", item) for index, item in enumerate(value)]
    else:
        yield path, value
        return
    for step, item in parts:
        yield from _own_leaves(item, path + step)
