"""Structures of trees: how one is told, and how two are compared."""

import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_MAX_SHOWN = 60


class Structure:
    """A tree without its leaves.

    Attributes:
      node: What the node is, equal for equal nodes.
      steps: The step of the path to each child, such as `['a']`.
      children: The structures below.
      text: The node in words.
    """

    __slots__ = ("children", "node", "steps", "text")

    def __init__(
        self,
        node: Any,
        steps: tuple[str, ...],
        children: tuple["Structure", ...],
        text: str,
    ):
        self.node = node
        self.steps = steps
        self.children = children
        self.text = text

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Structure)
            and self.node == other.node
            and self.children == other.children
        )

    def __hash__(self) -> int:
        return hash((self.node, self.children))

    def __str__(self) -> str:
        shown = _shown(self)
        return shown if len(shown) <= _MAX_SHOWN else shown[: _MAX_SHOWN - 3] + "..."


LEAF = Structure((), (), (), "a leaf")


class TreeFact(NamedTuple):
    """What one tree says about a named structure.

    Attributes:
      name: The name, with `$`.
      relation: `is`, `begins` (the tree begins so) or `ends`.
      structure: The structure of the tree.
      source: Path of the tree.
    """

    name: str
    relation: str
    structure: Structure
    source: str


def one_level(value: Any) -> tuple[Any, list[tuple[str, Any]], str] | None:
    """Returns (node, [(step, child)], node in words) of a tree; None for a leaf.

    When jax is loaded it tells what is a node, else dicts, lists and tuples are.
    """
    tree_util = getattr(sys.modules.get("jax"), "tree_util", None)
    if tree_util is None:
        return _own_level(value)
    pairs, node = tree_util.tree_flatten_with_path(
        value, is_leaf=lambda inner: inner is not value
    )
    if len(pairs) == 1 and pairs[0][1] is value:
        return None
    parts = [(tree_util.keystr(path), child) for path, child in pairs]
    # In a tuple, because some versions of jax refuse to compare a treedef with others.
    return ("jax", node), parts, _in_words(value, [step for step, _ in parts])


def _own_level(value: Any) -> tuple[Any, list[tuple[str, Any]], str] | None:
    if value is None:
        parts, keys = [], ()
    elif isinstance(value, Mapping):
        keys = tuple(_in_order(value))
        parts = [(f"[{key!r}]", value[key]) for key in keys]
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        keys = value._fields
        parts = [(f".{name}", getattr(value, name)) for name in keys]
    elif isinstance(value, list | tuple):
        keys = (len(value),)
        parts = [(f"[{index}]", item) for index, item in enumerate(value)]
    else:
        return None
    words = _in_words(value, [step for step, _ in parts])
    return (type(value), keys), parts, words


def _in_order(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        return list(mapping)


def _in_words(value: Any, steps: list[str]) -> str:
    if value is None:
        return "None"
    name = type(value).__name__
    if isinstance(value, Mapping):
        keys = ", ".join(step[1:-1] for step in steps[:5])
        more = ", ..." if len(steps) > 5 else ""
        return f"a {name} with keys {keys}{more}" if steps else f"an empty {name}"
    return f"a {name} of length {len(steps)}"


def structure_of(value: Any) -> Structure:
    """Returns the structure of a tree."""
    level = one_level(value)
    if level is None:
        return LEAF
    node, parts, text = level
    steps = tuple(step for step, _ in parts)
    return Structure(
        node, steps, tuple(structure_of(child) for _, child in parts), text
    )


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yields (path, leaf) of a tree."""
    tree_util = getattr(sys.modules.get("jax"), "tree_util", None)
    if tree_util is not None:
        for keys, leaf in tree_util.tree_leaves_with_path(value):
            yield path + tree_util.keystr(keys), leaf
        return
    level = _own_level(value)
    if level is None:
        yield path, value
        return
    for step, child in level[1]:
        yield from leaves(child, path + step)


def agrees(known: TreeFact, new: TreeFact) -> bool:
    """Whether two facts can hold together.

    Only a structure that is known whole can contradict; of beginnings and ends alone
    there is always one that fits, a single leaf.
    """
    return known.name != new.name or disagreement(known, new) is None


def disagreement(known: TreeFact, new: TreeFact) -> tuple[str, str, str] | None:
    """Returns (path, what one has there, what the other has there), or None."""
    if known.relation != "is":
        known, new, swapped = new, known, True
    else:
        swapped = False
    if known.relation != "is":
        return None
    compare = {"is": _differs, "begins": _begins, "ends": _ends}[new.relation]
    found = compare(known.structure, new.structure, "")
    if found is None or not swapped:
        return found
    path, left, right = found
    return path, right, left


Difference = tuple[str, str, str] | None


def _differs(whole: Structure, tree: Structure, path: str) -> Difference:
    if whole.node != tree.node:
        return path, whole.text, tree.text
    return _first(_differs, whole, tree, path)


def _begins(whole: Structure, tree: Structure, path: str) -> Difference:
    if whole is LEAF:
        return None
    if whole.node != tree.node:
        return path, whole.text, tree.text
    return _first(_begins, whole, tree, path)


def _first(compare: Any, whole: Structure, tree: Structure, path: str) -> Difference:
    for step, left, right in zip(
        whole.steps, whole.children, tree.children, strict=True
    ):
        found = compare(left, right, path + step)
        if found is not None:
            return found
    return None


def _ends(whole: Structure, tree: Structure, path: str) -> Difference:
    if whole == tree or whole is LEAF:
        return None
    if tree is LEAF:
        return path, whole.text, tree.text
    for step, child in zip(tree.steps, tree.children, strict=True):
        found = _ends(whole, child, path + step)
        if found is not None:
            return found
    return None


def _shown(structure: Structure) -> str:
    if structure is LEAF:
        return "*"
    if structure.text == "None":
        return "None"
    inside = [_shown(child) for child in structure.children]
    if structure.steps == tuple(f"[{n}]" for n in range(len(inside))):
        opens, closes = "()" if structure.text.startswith("a tuple") else "[]"
        return opens + ", ".join(inside) + closes
    steps = [s[1:-1] if s.startswith("[") else s for s in structure.steps]
    pairs = zip(steps, inside, strict=True)
    return "{" + ", ".join(f"{step}: {child}" for step, child in pairs) + "}"
