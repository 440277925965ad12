"""Changing by path: in place (`set_by_path`, `delete`) or as a copy (`update`)."""

from __future__ import annotations

from typing import Any

from kontext._errors import nesting_error
from kontext._format import format_item, format_parts
from kontext._parts import DOUBLE_STAR, MISSING, Part, Parts
from kontext._path import PathLike, as_path
from kontext._read_part import stored_part
from kontext._rebuild import with_children
from kontext._targets import (
    existing_targets,
    no_target_error,
    refuse_copies,
    refuse_other_length,
    refuse_root,
    refuse_subtree,
    settable_targets,
)
from kontext._write import delete_all, set_places


def set_by_path(
    obj: Any,
    path: PathLike,
    value: Any,
    *,
    create: bool = False,
    missing_ok: bool = False,
) -> list[str]:
    """Sets the value at each place that a path names, in place.

    All places are found and checked before the first is written. A place inside of
    another one is left alone: it goes away with the old value.

    Args:
      obj: Nested data; what holds the places must be mutable.
      path: A path, which may name a new key of a mapping, or a glob path such as
        `**.lr`, which names what exists.
      value: The new value; the same object for every place.
      create: Whether missing dicts on the way are made, and whether names behind a
        `*` may be new.
      missing_ok: Whether a path that names no place is fine.

    Returns:
      The canonical paths that were set, in reading order.

    Raises:
      PathLookupError: If there is no such place.
      PathTypeError: If a place is in an immutable node; `update` takes these.
    """
    pattern = as_path(path, glob=True).parts
    return set_places(obj, pattern, value, create=create, missing_ok=missing_ok)


def delete(obj: Any, path: PathLike, *, missing_ok: bool = False) -> list[str]:
    """Removes each place that a path names, in place; later items move up in lists.

    Args:
      obj: Nested data; what holds the places must be mutable.
      path: A path or a glob path.
      missing_ok: Whether a path that names no place is fine.

    Returns:
      The canonical paths that were removed, as they were before, in reading order.

    Raises:
      PathLookupError: If there is no such place.
      PathTypeError: If a place is in a node that is immutable or has fixed fields.
    """
    pattern = as_path(path, glob=True).parts
    refuse_root(pattern, "deleted")
    targets = existing_targets(obj, pattern)
    if not targets and not missing_ok:
        raise no_target_error(obj, pattern)
    if DOUBLE_STAR not in pattern:
        refuse_copies(obj, targets)
    delete_all(targets)
    return [format_parts(target.parts) for target in targets]


def update(
    obj: Any, path: PathLike, value_or_fn: Any, *, missing_ok: bool = False
) -> Any:
    """A copy of nested data with a new value at each place that a path names.

    Branches without such a place are shared with the original, which stays as it
    is. Containers keep their type, also immutable ones: tuples, frozen dataclasses,
    frozen mappings, JAX arrays.

    Args:
      obj: Nested data.
      path: A path, which may name a new key of a mapping, or a glob path.
      value_or_fn: The new value; a callable gets the old value and gives the new.
      missing_ok: Whether a path that names no place is fine.

    Raises:
      PathLookupError: If there is no such place.
      PathTypeError: If a node cannot be copied with a change, or a slice of a list
        would get another number of items.
    """
    pattern = as_path(path, glob=True).parts
    if not pattern:
        return _new_value(value_or_fn, obj)
    refuse_subtree(pattern)
    targets = settable_targets(obj, pattern, create=False)
    lacks_old = callable(value_or_fn) and any(t.value is MISSING for t in targets)
    if lacks_old or not targets:
        if missing_ok and not lacks_old:
            return obj
        raise no_target_error(obj, pattern)
    changes = []
    for target in targets:
        try:
            new = _new_value(value_or_fn, target.value)
        except Exception as error:
            error.add_note(f"raised by the function for {format_parts(target.parts)!r}")
            raise
        refuse_other_length(target, new)
        changes.append((target.parts, new))
    try:
        return _rebuild(obj, changes)
    except RecursionError:
        raise nesting_error() from None
    except Exception as error:
        more = len(changes) - 1
        rest = f" and {more} more place{'s' if more > 1 else ''}" if more else ""
        error.add_note(f"while updating {format_parts(changes[0][0])!r}{rest}")
        raise


def _new_value(value_or_fn: Any, old: Any) -> Any:
    return value_or_fn(old) if callable(value_or_fn) else value_or_fn


def _rebuild(node: Any, changes: list[tuple[Parts, Any]]) -> Any:
    """Copies the nodes on the way to the changes, from the leaves up."""
    if not changes[0][0]:
        return changes[0][1]
    by_part: dict[str, tuple[Part, list[tuple[Parts, Any]]]] = {}
    for parts, new in changes:
        _, below = by_part.setdefault(format_item(parts[0]), (parts[0], []))
        below.append((parts[1:], new))
    new = [(p, _rebuild(stored_part(node, p), below)) for p, below in by_part.values()]
    return with_children(node, new)
