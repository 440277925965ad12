"""Nested data as a flat dict of paths, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kontext._errors import PathError, PathTypeError, nesting_error
from kontext._format import format_child, format_item, format_parts
from kontext._nodes import LEAF_TYPES, children, stored_children
from kontext._parts import MISSING, Part, Parts, has_slice, normalize_part
from kontext._path import PathLike, as_path
from kontext._rebuild import with_children


def flatten_with_path(
    obj: Any,
    *,
    prefix: PathLike = "",
    separator: str | None = None,
    is_leaf: Callable[[Any], bool] | None = None,
    keep_empty: bool = False,
) -> dict[str, Any]:
    """The leaves of nested data, by the text of their path.

    Mappings, lists, tuples, dataclasses and what is registered with JAX (if JAX is
    loaded) are expanded in their own order; everything else is a leaf.

    Args:
      obj: Nested data; a leaf has the path `prefix`.
      prefix: A path put before all others.
      separator: Joins the bare parts instead of the path notation, as in `a/b/0`.
      is_leaf: Tells nodes that are to be kept whole.
      keep_empty: Whether `None` and empty containers are leaves; they are left out
        otherwise.

    Raises:
      PathError: If two leaves would have the same text, which only a separator can
        bring about.
      PathTypeError: If a key cannot be part of a path, or `separator` is not a text
        of one character or more.
    """
    head = as_path(prefix)
    if separator is not None:
        _refuse_separator(separator)
    leaves: dict[str, Any] = {}
    try:
        if separator is not None:
            return _flatten_joined(obj, head.parts, separator, is_leaf, keep_empty)
        _collect(obj, str(head), leaves, is_leaf, keep_empty)
    except RecursionError:
        raise nesting_error() from None
    return leaves


def _collect(
    node: Any,
    text: str,
    leaves: dict[str, Any],
    is_leaf: Callable[[Any], bool] | None,
    keep_empty: bool,
) -> None:
    """Puts the leaves below a node into `leaves`: the hot loop."""
    below = None
    if is_leaf is None or not is_leaf(node):
        if node is None and not keep_empty:
            return
        below = children(node)
    if below is None:
        leaves[text] = node
        return
    empty = True
    for key, value in below:
        empty = False
        if type(key) is str and key.isidentifier():
            child = f"{text}.{key}" if text else key
        else:
            child = format_child(text, _legal(key, text))
        if is_leaf is None and type(value) in LEAF_TYPES:
            leaves[child] = value
        else:
            _collect(value, child, leaves, is_leaf, keep_empty)
    if empty and keep_empty:
        leaves[text] = node


def iter_leaves(
    node: Any,
    parts: Parts,
    is_leaf: Callable[[Any], bool] | None,
    keep_empty: bool,
) -> Iterator[tuple[Parts, Any]]:
    """The parts and the value of each leaf, as `flatten_with_path` finds them."""
    below = None
    if is_leaf is None or not is_leaf(node):
        if node is None and not keep_empty:
            return
        below = children(node)
    if below is None:
        yield parts, node
        return
    empty = True
    for key, value in below:
        empty = False
        part = _legal(key, format_parts(parts))
        yield from iter_leaves(value, (*parts, part), is_leaf, keep_empty)
    if empty and keep_empty:
        yield parts, node


def _legal(key: Any, text: str) -> Part:
    try:
        return normalize_part(key)
    except PathTypeError as error:
        where = f"below {text!r}" if text else "at the top"
        error.add_note(f"a key {where}; is_leaf= keeps such a mapping whole")
        raise


def _flatten_joined(
    obj: Any,
    head: Parts,
    separator: str,
    is_leaf: Callable[[Any], bool] | None,
    keep_empty: bool,
) -> dict[str, Any]:
    leaves: dict[str, Any] = {}
    origins: dict[str, Parts] = {}
    for parts, leaf in iter_leaves(obj, head, is_leaf, keep_empty):
        text = _join(parts, separator)
        if text in leaves:
            raise PathError(
                f"two leaves have the name {text!r} with separator {separator!r}\n"
                f"  {format_parts(origins[text])}\n"
                f"  {format_parts(parts)}\n"
                "  use another separator, or none: paths are never ambiguous"
            )
        leaves[text] = leaf
        origins[text] = parts
    return leaves


def _refuse_separator(separator: Any) -> None:
    if not isinstance(separator, str) or not separator:
        raise PathTypeError(
            f"a separator is a text such as '/', got {separator!r:.60}\n"
            "  without one, names are paths, which are never ambiguous"
        )


def _join(parts: Parts, separator: str) -> str:
    return separator.join(p if type(p) is str else format_item(p) for p in parts)


def unflatten(
    mapping: Mapping[str, Any], *, separator: str | None = None, like: Any = MISSING
) -> Any:
    """Nested data from a flat mapping: the inverse of `flatten_with_path`.

    Args:
      mapping: Text of a path to leaf.
      separator: What joins the parts, if it is not the path notation; parts that
        are digits then become indices.
      like: Nested data whose containers are rebuilt with the new leaves. Without
        it, parts 0 to n-1 make a list, and all others a dict. `None` and empty
        containers in it need no entry in `mapping`.

    Raises:
      PathError: If paths contradict each other, if indices have gaps, or if the
        paths are not those of `like`.
      PathTypeError: If `mapping` is not a mapping from paths, or from texts where
        there is a separator.
    """
    if not isinstance(mapping, Mapping):
        raise PathTypeError(
            f"unflatten takes a mapping from paths to leaves, got "
            f"{type(mapping).__name__} {mapping!r:.60}"
        )
    if separator is not None:
        _refuse_separator(separator)
    try:
        if like is not MISSING:
            return _fill_like(like, mapping, separator)
        root = _Branch()
        for text, leaf in mapping.items():
            root.insert(_split(text, separator), leaf, text)
        return root.build("")
    except RecursionError:
        raise nesting_error() from None


def _split(text: str, separator: str | None) -> Parts:
    if separator is None:
        return as_path(text).parts
    if not isinstance(text, str):
        raise PathTypeError(
            f"with separator={separator!r} a name is a text, got "
            f"{type(text).__name__} {text!r:.60}"
        )
    if not text:
        return ()
    return tuple(map(_bare_part, text.split(separator)))


def _bare_part(text: str) -> Part:
    digits = text.isascii() and text.isdigit() and str(int(text)) == text
    return int(text) if digits else text


class _Branch:
    """A node under construction: what is known to lie below it, or its leaf."""

    def __init__(self) -> None:
        self.below: dict[Part, _Branch] = {}
        self.leaf: Any = self
        self.origin = ""

    def insert(self, parts: Parts, leaf: Any, origin: str) -> None:
        branch = self
        for part in parts:
            if has_slice(part):
                raise PathError(
                    f"{origin!r} has a slice, which names several places\n"
                    "  unflatten takes the path of each leaf"
                )
            branch.refuse_leaf(origin)
            branch.origin = origin
            branch = branch.below.setdefault(part, _Branch())
        branch.refuse_leaf(origin)
        if branch.below:
            raise _contradiction(origin, branch.origin)
        branch.leaf = leaf
        branch.origin = origin

    def refuse_leaf(self, origin: str) -> None:
        if self.leaf is not self:
            raise _contradiction(self.origin, origin)

    def build(self, text: str) -> Any:
        if self.leaf is not self:
            return self.leaf
        built = {
            part: branch.build(format_child(text, part))
            for part, branch in self.below.items()
        }
        if not built or any(type(part) is not int for part in built):
            return built
        if sorted(built) != list(range(len(built))):
            raise PathError(
                f"the indices below {text!r} have gaps: {sorted(built)[:10]}\n"
                "  a list needs 0 to n-1; unflatten(..., like=tree) rebuilds others"
            )
        return [built[index] for index in range(len(built))]


def _contradiction(leaf: str, other: str) -> PathError:
    return PathError(
        f"{leaf!r} is a leaf, but {other!r} says otherwise\n"
        "  one path cannot lie below, or equal, another"
    )


def _fill_like(like: Any, mapping: Mapping[str, Any], separator: str | None) -> Any:
    rest = dict(mapping)
    missing: list[str] = []
    # With a separator a container and a leaf elsewhere may have one text.
    leaves: dict[str, Parts] = {}
    if separator is not None:
        own = iter_leaves(like, (), None, True)
        leaves = {_join(parts, separator): parts for parts, _ in own}

    def build(node: Any, parts: Parts) -> Any:
        text = format_parts(parts) if separator is None else _join(parts, separator)
        if text in rest and leaves.get(text, parts) == parts:
            return rest.pop(text)
        below = stored_children(node)
        pairs = None if below is None else list(below)
        if node is None or pairs == []:
            return node
        if pairs is None:
            missing.append(text)
            return None
        return with_children(
            node,
            [(key, build(value, (*parts, _legal(key, text)))) for key, value in pairs],
        )

    built = build(like, ())
    if missing or rest:
        raise PathError(
            "the paths are not those of `like`\n"
            f"  missing: {_some(missing)}\n"
            f"  unknown: {_some(list(rest))}"
        )
    return built


def _some(texts: list[str]) -> str:
    more = f", … (+{len(texts) - 5} more)" if len(texts) > 5 else ""
    return (", ".join(map(repr, texts[:5])) or "none") + more
