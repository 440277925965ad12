"""The storage of a config: what a node keeps, and walks over it as stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from konfig._errors import ConfigCycleError
from konfig._origin import Origin, describe
from konfig._paths import Parts, format_path

TRUSTED = 1
"""The program itself wrote the target, not data from outside."""
CHECKED = 2
"""Keywords are checked against the signature of the target."""

TYPED = 4
"""Arguments are checked against the annotations of the target."""

TARGET = "__qualname__"


class Node:
    """What a `ConfigDict` keeps, under names that no field would have.

    Fields lie in one plain dict as they were stored: references and placeholders are
    evaluated by whoever reads, never here.
    """

    __slots__ = (
        "__weakref__",
        "_konfig_fields",
        "_konfig_flags",
        "_konfig_lock",
        "_konfig_marks",
        "_konfig_origin",
    )
    _konfig_fields: dict[Any, Any]
    _konfig_flags: int
    _konfig_lock: str | None
    _konfig_marks: dict[Any, Any] | None
    _konfig_origin: Origin | None


def setup(node: Node, fields: dict[Any, Any], flags: int, origin: Any) -> None:
    """Fills the storage of a fresh node."""
    put = object.__setattr__
    put(node, "_konfig_fields", fields)
    put(node, "_konfig_flags", flags)
    put(node, "_konfig_lock", None)
    put(node, "_konfig_marks", None)
    put(node, "_konfig_origin", origin)


def target_of(node: Node) -> str | None:
    """The name that a call node calls, or None for a plain mapping."""
    return node._konfig_fields.get(TARGET)


def mark(node: Node, key: Any, origin: Any) -> None:
    """Notes where a field was set after its node had been made."""
    marks = node._konfig_marks
    if marks is None:
        marks = {}
        object.__setattr__(node, "_konfig_marks", marks)
    marks[key] = origin


def where(node: Node, key: Any = None) -> str | None:
    """Where the field, or else its node, was written."""
    marks = node._konfig_marks
    if marks and key in marks:
        return describe(marks[key])
    return describe(node._konfig_origin)


def set_flag(node: Node, flag: int, on: bool) -> None:
    """Sets or clears one of the flags of a node."""
    flags = node._konfig_flags
    object.__setattr__(node, "_konfig_flags", flags | flag if on else flags & ~flag)


def blank(kind: Any) -> Any:
    """An empty node; pickle fills it later, so that references may point to it."""
    return kind.__new__(kind)


def state_of(node: Node) -> dict[str, Any]:
    """What a node keeps, by name, for pickle."""
    names = [name for name in Node.__slots__ if name.startswith("_konfig_")]
    return {name: getattr(node, name) for name in names}


def set_state(node: Node, state: dict[str, Any]) -> None:
    """Puts back what `state_of` gave."""
    for name, value in state.items():
        object.__setattr__(node, name, value)


def is_container(value: Any) -> bool:
    """Whether a stored value holds other values that a path can reach."""
    return isinstance(value, (Node, list, tuple))


def stored_items(value: Any) -> Iterator[tuple[Any, Any]]:
    """The keys and the stored values of a node, list or tuple."""
    if isinstance(value, Node):
        yield from value._konfig_fields.items()
    elif isinstance(value, list):
        yield from enumerate(list.__iter__(value))
    elif isinstance(value, tuple):
        yield from enumerate(value)


def walk(root: Any) -> Iterator[tuple[Parts, Any]]:
    """Every stored value below the root with its path, shared parts once.

    Raises:
      ConfigCycleError: When a container holds itself.
    """
    seen: set[int] = set()
    open_: dict[int, Parts] = {}
    # A stack in place of recursion: depth is bounded by memory alone.
    stack: list[tuple[Parts, Any, bool]] = [((), root, False)]
    while stack:
        parts, value, leaving = stack.pop()
        if leaving:
            del open_[id(value)]
            continue
        if not is_container(value):
            yield parts, value
            continue
        if id(value) in open_:
            raise cycle(parts, open_[id(value)])
        if id(value) in seen:
            continue
        yield parts, value
        seen.add(id(value))
        open_[id(value)] = parts
        stack.append((parts, value, True))
        below = [((*parts, key), item, False) for key, item in stored_items(value)]
        stack.extend(reversed(below))


def cycle(parts: Parts, first: Parts) -> ConfigCycleError:
    """The error for a container that was found inside itself."""
    here, there = format_path(parts, "cfg"), format_path(first, "cfg")
    return ConfigCycleError(
        f"the config contains itself: {_middle(here)} → {_middle(there)}",
        hint="use a reference (cfg.ref.…) or konfig.deepcopy",
    )


def too_deep() -> ConfigCycleError:
    """The error for a value that is deeper than the recursion limit allows."""
    return ConfigCycleError(
        "the value contains itself, or is nested too deeply for the recursion limit"
    )


def _middle(text: str, limit: int = 90) -> str:
    half = limit // 2
    return text if len(text) <= limit else f"{text[:half]}…{text[-half:]}"


def node_paths(root: Any) -> dict[int, Parts]:
    """The first path of every node below the root, by identity."""
    return {id(value): parts for parts, value in walk(root) if isinstance(value, Node)}
