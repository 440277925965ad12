"""The branches of nested data that a pattern names, or all others."""

from __future__ import annotations

from typing import Any, NamedTuple

from kontext._errors import PathTypeError
from kontext._format import format_item, format_parts
from kontext._match import legal_part, matches, outermost
from kontext._nodes import Kind, kind_of, stored_children
from kontext._parts import MISSING, Part, Parts
from kontext._path import PathLike, as_path
from kontext._rebuild import made_anew, with_children
from kontext._targets import no_target_error


def filter_by_path(
    obj: Any,
    path: PathLike,
    *,
    invert: bool = False,
    compact: bool = True,
    missing_ok: bool = False,
) -> Any:
    """A copy of nested data that keeps what a path names, and the way to it.

    Mappings, lists and tuples keep their type, or become plain ones if their class
    cannot be made from its items. A dataclass or namedtuple keeps it as long as all of
    its fields stay; otherwise it becomes a dict of those that do.

    Args:
      obj: Nested data.
      path: A path or a glob path; a slice selects items of a list.
      invert: Whether to keep everything else instead.
      compact: Whether later items of a list or tuple move up; otherwise
        `kontext.MISSING` takes the places of those that are gone.
      missing_ok: Whether a path that names no place is fine. Nothing is kept then,
        or with `invert` everything.

    Raises:
      PathLookupError: If there is no such place.
      PathTypeError: If a place lies inside of a leaf or an array.
    """
    pattern = as_path(path, glob=True).parts
    found = outermost(matches(obj, pattern))
    if not found and not missing_ok:
        raise no_target_error(obj, pattern)
    keep = _Keep(invert=invert, compact=compact)
    kept = keep.below(obj, (), [match.parts for match in found])
    return _with_only(obj, [], compact=True) if kept is MISSING else kept


class _Keep(NamedTuple):
    """How `filter_by_path` keeps nodes; `below` walks one of them."""

    invert: bool
    compact: bool

    def below(self, node: Any, at: Parts, paths: list[Parts]) -> Any:
        """What is kept of `node`, or `MISSING`.

        Args:
          node: A node of the original.
          at: Its path.
          paths: The paths, from `node` on, that the pattern names.
        """
        if not paths:
            return node if self.invert else MISSING
        if () in paths:
            return MISSING if self.invert else node
        items = stored_children(node)
        if items is None:
            raise PathTypeError(
                f"{format_parts((*at, *paths[0]))!r} lies inside of a "
                f"{type(node).__name__}, which is kept whole or not at all"
            )
        tails = _by_first_part(paths)
        pairs = []
        for key, value in items:
            part = legal_part(key)
            text = "" if part is MISSING else format_item(part)
            kept = self.below(value, (*at, part), tails.get(text, []))
            pairs.append((key, kept))
        return _with_only(node, pairs, compact=self.compact)


def _by_first_part(paths: list[Parts]) -> dict[str, list[Parts]]:
    tails: dict[str, list[Parts]] = {}
    for path in paths:
        tails.setdefault(format_item(path[0]), []).append(path[1:])
    return tails


def _with_only(node: Any, pairs: list[tuple[Part, Any]], *, compact: bool) -> Any:
    """A node like `node` with these children; those that are `MISSING` are gone."""
    kept = [(part, value) for part, value in pairs if value is not MISSING]
    kind = kind_of(type(node))
    if kind is Kind.SEQUENCE:
        return _like(node, [value for _, value in (kept if compact else pairs)])
    if kind is Kind.MAPPING:
        return _like(node, dict(kept))
    if pairs and len(kept) == len(pairs):
        return with_children(node, kept)
    return dict(kept)


def _like(node: Any, items: Any) -> Any:
    """A container of the type of `node`, or a plain one if its class makes none."""
    try:
        return made_anew(node, items)
    except Exception:
        return tuple(items) if isinstance(node, tuple) else items
