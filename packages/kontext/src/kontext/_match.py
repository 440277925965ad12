"""Which places of a context a glob path names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

from kontext._errors import Explanation, PathLookupError, nesting_error
from kontext._format import format_parts
from kontext._nodes import LEAF_TYPES, Kind, children, field_names, has_child, kind_of
from kontext._parts import (
    DOUBLE_STAR,
    MISSING,
    STAR,
    Part,
    Parts,
    normalize_part,
    twin_part,
)
from kontext._read_part import read_part
from kontext._suggest import nearest

_MAX_NAMES = 2000


class Match(NamedTuple):
    """A place that a pattern names; the root has no parent.

    A place that is only to be made has the value `MISSING`; `missing` are then the
    names below `part` for which there are no dicts yet.
    """

    parts: Parts
    parent: Any
    value: Any
    missing: Parts = ()

    @property
    def part(self) -> Part:
        """What the parent calls the place."""
        return self.parts[-1 - len(self.missing)]


# The constructor of a NamedTuple is a function of Python; this one is not.
_new_match = partial(tuple.__new__, Match)


def matches(
    root: Any, pattern: Parts, *, step: Callable[[Any, Part], Any] = read_part
) -> list[Match]:
    """The places that `pattern` names, in reading order; `step` reads one part.

    A node comes before what lies below it, and none comes twice. Indices are counted
    from the start. A slice selects items of a list; in arrays it is a part.
    """
    return matches_below(Match((), None, root), pattern, step=step)


def matches_below(
    at: Match, pattern: Parts, *, step: Callable[[Any, Part], Any] = read_part
) -> list[Match]:
    """The same, from a place on."""
    search = _Search([], step)
    pattern = _simplified(pattern)
    try:
        search.collect(at.parts, at.parent, at.value, pattern)
    except RecursionError:
        raise nesting_error() from None
    # A second `**` finds places again.
    if pattern.count(DOUBLE_STAR) > 1:
        return list({_key(match.parts): match for match in search.found}.values())
    return search.found


def _simplified(pattern: Parts) -> Parts:
    """The pattern with one `**` where several stand in a row: they mean the same."""
    if pattern.count(DOUBLE_STAR) < 2:
        return pattern
    pairs = zip((None, *pattern), pattern, strict=False)
    return tuple(
        part
        for before, part in pairs
        if not (part is DOUBLE_STAR and before is DOUBLE_STAR)
    )


def outermost(found: list[Match]) -> list[Match]:
    """Leaves out places inside of another one: they change with it."""
    depths = {len(match.parts) for match in found}
    if len(depths) < 2:
        return found
    kept: dict[Any, Match] = {}
    for match in found:
        parts = match.parts
        above = (parts[:depth] for depth in depths if depth < len(parts))
        if not any(_key(parts) in kept for parts in above):
            kept[_key(parts)] = match
    return list(kept.values())


def _key(parts: Parts) -> Any:
    """Parts as a key of a dict; slices are none before Python 3.12."""
    try:
        hash(parts)
    except TypeError:
        return format_parts(parts)
    return parts


class _Search(NamedTuple):
    """A walk in reading order: what was found so far, and what reads one part."""

    found: list[Match]
    step: Callable[[Any, Part], Any]

    def collect(self, parts: Parts, parent: Any, node: Any, pattern: Parts) -> None:
        """Finds what `pattern` names from a node on."""
        if not pattern:
            self.found.append(Match(parts, parent, node))
            return
        part, rest = pattern[0], pattern[1:]
        if part is DOUBLE_STAR:
            self.collect_subtree(parts, parent, node, rest)
            return
        for key in child_parts(node, part):
            value = self.step(node, key)
            if value is not MISSING:
                self.collect((*parts, key), node, value, rest)

    def collect_subtree(
        self, parts: Parts, parent: Any, node: Any, rest: Parts
    ) -> None:
        """Finds `rest` at a node and at every node below it."""
        if type(node) is dict and len(rest) == 1 and _is_plain_name(rest[0]):
            self.collect_named(parts, node, rest)
            return
        below = children(node)
        wanted = rest[0] if rest else None
        if type(node) is dict and type(wanted) is str and wanted in node:
            self.collect((*parts, wanted), node, node[wanted], rest[1:])
        elif not rest or (below is not None and _may_store(node, wanted, below)):
            # What a node computes is no place of the tree: `**.T` finds no transpose.
            self.collect(parts, parent, node, rest)
        for key, value in below or ():
            if rest and type(value) in LEAF_TYPES:
                continue
            part = key if type(key) is str else legal_part(key)
            if part is not MISSING:
                self.collect_subtree((*parts, part), node, value, rest)

    def collect_named(self, parts: Parts, node: dict[Any, Any], rest: Parts) -> None:
        """The same for one name at a plain dict: the hot loop of `**.bias`."""
        name = rest[0]
        if name in node:
            self.found.append(_new_match(((*parts, name), node, node[name], ())))
        for key, value in node.items():
            cls = type(value)
            if cls in LEAF_TYPES:
                continue
            part = key if type(key) is str else legal_part(key)
            if part is MISSING:
                continue
            if cls is dict:
                self.collect_named((*parts, part), value, rest)
            else:
                self.collect_subtree((*parts, part), node, value, rest)


def _is_plain_name(part: Part) -> bool:
    """Whether only the key of this very text is meant, not an index of the text."""
    return type(part) is str and twin_part(part) is None


def _may_store(node: Any, part: Part, below: Iterable[tuple[Part, Any]]) -> bool:
    """Whether a part can name a child of a node, not a computed attribute."""
    if type(node) is dict and type(part) is str:
        return part in node or twin_part(part) is not None
    kind = kind_of(type(node))
    if kind is Kind.FIELDS and type(part) is str:
        return part in field_names(node) or any(part == key for key, _ in below)
    if kind is Kind.REGISTERED and type(part) is str:
        return has_child(node, part)
    return True


def legal_part(key: Any) -> Part:
    """The part for the key of a mapping; `MISSING` for a key no path can name."""
    if type(key) is str or type(key) is int:
        return key
    try:
        return normalize_part(key)
    except TypeError:
        return MISSING


def child_parts(node: Any, part: Part) -> list[Part]:
    """The parts below `node` that one part of a pattern stands for."""
    if part is STAR:
        keys = [legal_part(key) for key, _ in children(node) or ()]
        return [key for key in keys if key is not MISSING]
    is_sequence = kind_of(type(node)) in (Kind.SEQUENCE, Kind.NAMEDTUPLE)
    if is_sequence and type(part) is slice:
        indices = sorted(range(*part.indices(len(node))))
        return [canonical_part(node, index) for index in indices]
    return [canonical_part(node, part)]


def canonical_part(node: Any, part: Part) -> Part:
    """The part by which a node itself names what `part` names."""
    kind = kind_of(type(node))
    if kind is Kind.NAMEDTUPLE and type(part) is int:
        return node._fields[part] if -len(node) <= part < len(node) else part
    if type(part) is int and part < 0:
        if kind is Kind.SEQUENCE and -len(node) <= part:
            return part + len(node)
        if kind is Kind.ARRAY and node.shape and -node.shape[0] <= part:
            return part + node.shape[0]
    if kind is Kind.MAPPING and type(part) in (int, str) and part not in node:
        twin = twin_part(part)
        return twin if twin is not None and twin in node else part
    return part


def no_match_error(root: Any, pattern: Parts, advice: str = "") -> PathLookupError:
    """The error for a pattern that names nothing."""
    return PathLookupError(
        lambda: _explain_no_match(root, pattern, advice),
        path=format_parts(pattern),
        part=pattern[-1] if pattern else None,
    )


def _explain_no_match(root: Any, pattern: Parts, advice: str) -> Explanation:
    """Names the wanted names that occur nowhere, with those that resemble them."""
    text = format_parts(pattern)
    names = _all_names(root)
    wanted = [part for part in pattern if type(part) is str and part not in names]
    near = [name for part in wanted for name in nearest(part, names)]
    lines = [f"nothing matches {text!r}"]
    if wanted:
        lines.append(f"  not in the context: {', '.join(map(repr, wanted))}")
    if near:
        lines.append(f"  did you mean: {' or '.join(near)} ?")
    if advice:
        lines.append(f"  {advice}")
    return Explanation("\n".join(lines), tuple(names)[:20], tuple(near))


def _all_names(root: Any) -> dict[str, None]:
    """The names anywhere in a context, as far as an error may look."""
    names: dict[str, None] = {}
    queue = [root]
    for node in queue:
        for key, value in children(node) or ():
            if len(queue) > _MAX_NAMES:
                return names
            queue.append(value)
            if isinstance(key, str):
                names[key] = None
    return names
