"""The storage of a config: what a node keeps, and walks over it as stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from konfig._errors import ConfigCycleError
from konfig._origin import Origin, describe
from konfig._paths import Parts, format_path
from konfig._typing import Any

TRUSTED = 1
"""The program itself wrote the target, not data from outside."""
CHECKED = 2
"""Keywords are checked against the signature of the target."""

TYPED = 4
"""Arguments are checked against the annotations of the target."""

TARGET = "__qualname__"
ORIGIN = "__origin__"


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
        "_konfig_origin",
    )
    _konfig_fields: dict[Any, Any]
    _konfig_flags: int
    _konfig_lock: str | None
    _konfig_origin: Origin | dict[Any, Origin]


def setup(node: Node, fields: dict[Any, Any], flags: int, origin: Any) -> None:
    """Fills the storage of a fresh node."""
    put = object.__setattr__
    put(node, "_konfig_fields", fields)
    put(node, "_konfig_flags", flags)
    put(node, "_konfig_lock", None)
    put(node, "_konfig_origin", origin)


class _Fresh(Node):
    """A node before it gets its class: here attributes are set without any check."""

    __slots__ = ()


def new_node(kind: Any, fields: dict[Any, Any], flags: int, origin: Any) -> Any:
    """A node of a class of configs, without its `__init__`."""
    node: Any = _Fresh()
    node._konfig_fields = fields
    node._konfig_flags = flags
    node._konfig_lock = None
    node._konfig_origin = origin
    try:
        node.__class__ = kind
    except TypeError:  # a subclass with attributes of its own
        node = kind.__new__(kind)
        setup(node, fields, flags, origin)
    return node


class Items(list):
    """What a `ConfigList` keeps: the items as they were stored, and its lock."""

    __slots__ = ("_konfig_lock",)
    _konfig_lock: str | None


def new_list(kind: Any, stored: Iterable[Any] | None = None) -> Any:
    """A list of a class of configs, of values that are stored as they are."""
    made: Any = Items() if stored is None else Items(stored)
    made._konfig_lock = None
    made.__class__ = kind
    return made


def target_of(node: Node) -> str | None:
    """The name that a call node calls, or None for a plain mapping."""
    return node._konfig_fields.get(TARGET)


def mark(node: Node, key: Any, origin: Any) -> None:
    """Notes where a field was set after its node had been made."""
    places = node._konfig_origin
    if type(places) is not dict:
        places = {ORIGIN: places}
        object.__setattr__(node, "_konfig_origin", places)
    places[key] = origin


def places_of(node: Node) -> dict[Any, Any]:
    """Where a node was written, under `ORIGIN`, and the fields that were set later."""
    places = node._konfig_origin
    return places if type(places) is dict else {ORIGIN: places}


def where(node: Node, key: Any = None) -> str | None:
    """Where the field, or else its node, was written."""
    places = places_of(node)
    return describe(places[key] if key in places else places[ORIGIN])


def set_flag(node: Node, flag: int, on: bool) -> None:
    """Sets or clears one of the flags of a node."""
    flags = node._konfig_flags
    object.__setattr__(node, "_konfig_flags", flags | flag if on else flags & ~flag)


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


def path_items(value: Any) -> Iterator[tuple[Any, Any]]:
    """What `stored_items` gives, with the keys as a path writes them.

    Positions of a call are numbers there, as those of a list: `cfg.model[0]`.
    """
    for key, item in stored_items(value):
        yield path_key(value, key), item


def path_key(container: Any, key: Any) -> Any:
    """A stored key as a path writes it."""
    if type(key) is not str or not key.isdecimal() or not isinstance(container, Node):
        return key
    position = TARGET in container._konfig_fields and len(key) < 10
    return int(key) if position and str(int(key)) == key else key


def field_key(node: Node, key: Any) -> Any:
    """The stored key for a key of a path; a number may be the text key of a mapping."""
    fields = node._konfig_fields
    number = isinstance(key, int) and not isinstance(key, bool)
    return str(key) if number and key not in fields and str(key) in fields else key


def stored_at(container: Any, key: Any) -> Any:
    """What a container holds under a key of a path, as it was stored."""
    if isinstance(container, Node):
        return container._konfig_fields[field_key(container, key)]
    kind: Any = list if isinstance(container, list) else tuple
    return kind.__getitem__(container, key)


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
        below = [((*parts, key), item, False) for key, item in path_items(value)]
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


def unending(root: Any) -> ConfigCycleError:
    """The error for a walk below a config that ended in a `RecursionError`.

    It names the circle where there is one.
    """
    try:
        for _ in walk(root):
            pass
    except ConfigCycleError as error:
        return error
    return too_deep()


def _middle(text: str, limit: int = 90) -> str:
    half = limit // 2
    return text if len(text) <= limit else f"{text[:half]}…{text[-half:]}"


def node_paths(root: Any) -> dict[int, Parts]:
    """The first path of every node below the root, by identity."""
    return {id(value): parts for parts, value in walk(root) if isinstance(value, Node)}
