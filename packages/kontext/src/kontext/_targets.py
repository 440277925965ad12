"""Which places a change is about, found before anything is written."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from types import SimpleNamespace
from typing import Any

from kontext._adapters import adapter_of
from kontext._errors import PathLookupError, PathTypeError
from kontext._format import format_parts
from kontext._match import (
    Match,
    canonical_part,
    matches,
    matches_below,
    no_match_error,
    outermost,
)
from kontext._nodes import Kind, has_child, is_delegated, kind_of
from kontext._parts import (
    DOUBLE_STAR,
    MISSING,
    Part,
    Parts,
    Wildcard,
    has_slice,
    has_wildcard,
)
from kontext._read import lookup_error, read
from kontext._read_part import is_stored, read_own_part, read_part
from kontext._rebuild import computed_error


def existing_targets(root: Any, pattern: Parts) -> list[Match]:
    """The places that `pattern` names, without those inside of another one."""
    if not has_wildcard(pattern):
        target = _place(Match((), None, root), pattern, create=False)
        return [] if target is None or target.value is MISSING else [target]
    found = matches(root, pattern)
    if found and not found[0].parts:  # the root has no parent, and comes first
        found = found[1:]
    return outermost(found)


def settable_targets(root: Any, pattern: Parts, *, create: bool) -> list[Match]:
    """The places a value can be set at: existing ones, and new keys of mappings.

    A path without wildcards may name a new key; behind a `*` that takes `create`,
    and behind a `**` a name is never new.
    """
    if not has_wildcard(pattern):
        target = _place(Match((), None, root), pattern, create=create)
        return [] if target is None else [target]
    if create and DOUBLE_STAR not in pattern:
        return list(_created_targets(root, pattern))
    return existing_targets(root, pattern)


def _created_targets(root: Any, pattern: Parts) -> Iterator[Match]:
    last = max(i for i, part in enumerate(pattern) if type(part) is Wildcard)
    for at in matches(root, pattern[: last + 1]):
        found = False
        for match in matches_below(at, pattern[last + 1 :]):
            found = True
            yield match
        target = None if found else _place(at, pattern[last + 1 :], create=True)
        if target is not None:
            yield target


def _place(at: Match, path: Parts, *, create: bool) -> Match | None:
    """The place of a path without wildcards, if it exists or can be made."""
    parts, node = at.parts, at.value
    for depth, wanted in enumerate(path):
        part = canonical_part(node, wanted)
        child = read_part(node, part)
        rest = path[depth + 1 :]
        if child is MISSING:
            names_only = all(type(name) is str for name in (part, *rest))
            if is_open(node, part) and (not rest or (create and names_only)):
                return Match((*parts, part, *rest), node, MISSING, rest)
            return None
        if not rest:
            return Match((*parts, part), node, child)
        parts, node = (*parts, part), child
    return None


def is_open(node: Any, part: Part) -> bool:
    """Whether a node takes a new part."""
    if isinstance(node, SimpleNamespace):
        return type(part) is str
    return kind_of(type(node)) is Kind.MAPPING and not has_slice(part)


def nested(names: Parts, value: Any) -> Any:
    """The value inside of one new dict for each name."""
    return {names[0]: nested(names[1:], value)} if names else value


def no_target_error(
    root: Any, pattern: Parts, advice: str = "missing_ok=True allows this"
) -> PathLookupError:
    """The error for a pattern, or a single path, that names no place."""
    if has_wildcard(pattern) or read(root, pattern) is not MISSING:
        return no_match_error(root, pattern, advice)
    return lookup_error(root, pattern)


def refuse_root(pattern: Parts, verb: str) -> None:
    """Raises for the empty path, which has no parent to change."""
    if not pattern:
        raise PathTypeError(f"the context itself cannot be {verb}: the path is empty")


def refuse_subtree(pattern: Parts) -> None:
    """Raises for a trailing `**`: a node and what is below it have no one value."""
    if pattern[-1] is DOUBLE_STAR:
        raise PathTypeError(
            f"{format_parts(pattern)!r}: a trailing ** names a node and all below it\n"
            "  a trailing * names every child"
        )


def refuse_fixed(target: Match) -> None:
    """Raises if the parent of a place cannot be changed."""
    node, part = target.parent, target.part
    if _is_fixed(node):
        raise immutable_error(target)
    kind = kind_of(type(node))
    is_told = kind is Kind.REGISTERED or is_delegated(node)
    if (kind in (Kind.SEQUENCE, Kind.ARRAY) and type(part) is str) or (
        is_told and not has_child(node, part)
    ):
        raise computed_error(node, part)


def refuse_unwritable(target: Match) -> None:
    """Raises for an item that can only be read, and for what only JAX calls so."""
    node, part = target.parent, target.part
    kind = kind_of(type(node))
    is_plain = kind is not Kind.REGISTERED and not is_delegated(node)
    is_item = has_items(node, part)
    if is_plain and is_item and not hasattr(type(node), "__setitem__"):
        raise immutable_error(target)
    is_there = target.value is not MISSING
    if is_plain and not is_item and is_there and read_own_part(node, part) is MISSING:
        raise immutable_error(target)


def refuse_undeletable(target: Match) -> None:
    """Raises if a place cannot be removed from its parent."""
    node, part = target.parent, target.part
    cls = type(node)
    if has_items(node, part):
        is_fixed = not hasattr(cls, "__delitem__")
    else:
        is_field = hasattr(cls, "__dataclass_fields__") or hasattr(
            cls, "__attrs_attrs__"
        )
        is_fixed = is_field or not is_stored(node, part)
    if is_fixed or kind_of(cls) in (Kind.ARRAY, Kind.REGISTERED):
        raise PathTypeError(
            f"cannot delete {format_parts(target.parts)!r}: "
            f"the parts of a {cls.__name__} are fixed"
        )


def has_items(node: Any, part: Part) -> bool:
    """Whether a part is an item of a node, not an attribute."""
    if isinstance(node, SimpleNamespace):
        return False
    if kind_of(type(node)) in (Kind.FIELDS, Kind.OBJECT):
        return type(part) is not str or not part.isidentifier()
    return True


def refuse_copies(root: Any, targets: list[Match]) -> None:
    """Raises for places in a node that is made anew when it is read.

    Such are slices of a list, and what some properties give: a value that is set in
    them would be lost. Parts of arrays are views, and pass.
    """
    for target in targets:
        depth = len(target.parts) - 1 - len(target.missing)
        if kind_of(type(target.parent)) is Kind.ARRAY:
            continue
        if read(root, target.parts[:depth]) is not target.parent:
            raise PathTypeError(
                f"cannot change {format_parts(target.parts)!r}: reading "
                f"{format_parts(target.parts[:depth])!r} makes a new "
                f"{type(target.parent).__name__} each time\n"
                "  set the items one by one, or use kontext.update"
            )


def refuse_other_length(target: Match, value: Any) -> None:
    """A slice takes as many items as it has, so that no other index moves."""
    is_list = kind_of(type(target.parent)) in (Kind.SEQUENCE, Kind.NAMEDTUPLE)
    if not is_list or type(target.part) is not slice:
        return
    wanted = len(target.value)
    given = len(value) if hasattr(value, "__len__") else None
    if given != wanted:
        got = type(value).__name__ if given is None else f"{given} items"
        raise PathTypeError(
            f"{format_parts(target.parts)!r} takes {wanted} items in a sequence, "
            f"got {got}"
        )


def immutable_error(target: Match) -> PathTypeError:
    """The error for a place whose parent cannot be changed."""
    return PathTypeError(
        f"cannot change {format_parts(target.parts)!r} in place: "
        f"{type(target.parent).__name__} is immutable\n"
        "  kontext.update gives a changed copy"
    )


def _is_fixed(node: Any) -> bool:
    match kind_of(type(node)):
        case Kind.MAPPING:
            return not isinstance(node, MutableMapping)
        case Kind.SEQUENCE:
            return not hasattr(type(node), "__setitem__")
        case Kind.NAMEDTUPLE | Kind.LEAF:
            return True
        case Kind.REGISTERED:
            adapter = adapter_of(type(node))
            return adapter is None or adapter.write is None
        case Kind.ARRAY:
            # JAX arrays have __setitem__, but only to refuse.
            flags = getattr(node, "flags", None)
            return hasattr(node, "at") or not getattr(flags, "writeable", True)
        case _:
            # Objects tell when they are written.
            return False
