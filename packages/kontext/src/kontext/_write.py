"""Writes checked targets in place; if one write fails, all are taken back."""

from __future__ import annotations

from typing import Any

from kontext._adapters import adapter_of
from kontext._format import format_item, format_parts
from kontext._match import Match
from kontext._nodes import Kind, kind_of
from kontext._parts import DOUBLE_STAR, MISSING, Part, Parts
from kontext._targets import (
    has_items,
    immutable_error,
    nested,
    no_target_error,
    refuse_copies,
    refuse_fixed,
    refuse_other_length,
    refuse_root,
    refuse_subtree,
    refuse_undeletable,
    refuse_unwritable,
    settable_targets,
)


def set_places(
    root: Any, pattern: Parts, value: Any, *, create: bool, missing_ok: bool
) -> list[str]:
    """Sets every place that `pattern` names; see `kontext.set_by_path`."""
    refuse_root(pattern, "set")
    refuse_subtree(pattern)
    targets = settable_targets(root, pattern, create=create)
    if not targets and not missing_ok:
        error = no_target_error(root, pattern)
        if not create and settable_targets(root, pattern, create=True):
            error.add_note("create=True makes missing dicts, and names behind a *")
        raise error
    if DOUBLE_STAR not in pattern:
        refuse_copies(root, targets)
    set_all(targets, value)
    return [format_parts(target.parts) for target in targets]


def set_all(targets: list[Match], value: Any) -> None:
    """Sets every target to `value`.

    Raises:
      PathTypeError: If the parent of a target is immutable; nothing is written.
    """
    if all(type(parent) is dict and not names for _, parent, _, names in targets):
        # The usual case, in which no write can fail.
        for parts, parent, _, _ in targets:
            parent[parts[-1]] = value
        return
    targets = _distinct(targets)
    for target in targets:
        refuse_fixed(target)
        refuse_unwritable(target)
        refuse_other_length(target, value)
    written = []
    at = targets[0]
    try:
        for target in targets:
            at = target
            old = _kept(target)
            _set(target, value)
            written.append((target, old))
    except BaseException as error:
        for target, old in reversed(written):
            _take_back(target, old)
        error.add_note(f"while setting {format_parts(at.parts)!r}; nothing was changed")
        raise


def delete_all(targets: list[Match]) -> None:
    """Removes every target.

    Raises:
      PathTypeError: If a target cannot be removed; nothing is then.
    """
    targets = _distinct(targets)
    for target in targets:
        refuse_fixed(target)
        refuse_undeletable(target)
    # From the end, so that the indices of a list stay what they were.
    for target in sorted(targets, key=_index, reverse=True):
        _delete_child(target.parent, target.part)


def _index(target: Match) -> int:
    return target.part if type(target.part) is int else 0


def _distinct(targets: list[Match]) -> list[Match]:
    """One target for each child of a node, which may itself lie at several places."""
    found: dict[tuple[int, str], Match] = {}
    for target in targets:
        found.setdefault((id(target.parent), format_item(target.part)), target)
    return list(found.values())


def _set(target: Match, value: Any) -> None:
    try:
        _set_child(target.parent, target.part, nested(target.missing, value))
    except AttributeError as error:
        # Dataclasses and attrs have one of that name each.
        if type(error).__name__ != "FrozenInstanceError":
            raise
        raise immutable_error(target) from error


def _set_child(node: Any, part: Part, value: Any) -> None:
    adapter = adapter_of(type(node))
    if adapter is not None and adapter.write is not None:
        adapter.write(node, part, value)
    elif has_items(node, part):
        node[part] = value
    else:
        setattr(node, part, value)


def _delete_child(node: Any, part: Part) -> None:
    if has_items(node, part):
        del node[part]
    else:
        delattr(node, part)


def _kept(target: Match) -> Any:
    """The old value, safe from the write: a part of an array is a view of it."""
    if kind_of(type(target.parent)) is Kind.ARRAY and hasattr(target.value, "copy"):
        return target.value.copy()
    return target.value


def _take_back(target: Match, old: Any) -> None:
    if old is MISSING:
        _delete_child(target.parent, target.part)
    else:
        _set_child(target.parent, target.part, old)
