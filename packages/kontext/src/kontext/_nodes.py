"""What a node of a context is, and what lies directly below it."""

from __future__ import annotations

import enum
import types
from collections.abc import Callable, Iterable, Mapping, MutableSequence, Sequence
from functools import lru_cache
from typing import Any

from kontext._adapters import adapter_of
from kontext._errors import PathTypeError
from kontext._jax import registered_children
from kontext._parts import MISSING, Part

_LEAVES = (str, bytes, bytearray, int, float, complex, bool, type(None))
# Of these types exactly, nothing has to be asked to know that they are leaves.
PLAIN_LEAVES = frozenset({str, bytes, int, float, complex, bool})
# Those, and the classes of arrays that were met. `None` is none: it may be left out.
LEAF_TYPES: set[type] = set(PLAIN_LEAVES)
_MAX_TYPES = 1024


class Kind(enum.Enum):
    """The kinds of node that paths know."""

    LEAF = "leaf"
    MAPPING = "mapping"
    NAMEDTUPLE = "namedtuple"
    SEQUENCE = "sequence"
    ARRAY = "array"
    FIELDS = "fields"
    OBJECT = "object"
    REGISTERED = "registered"


@lru_cache(maxsize=_MAX_TYPES)
def kind_of(cls: type) -> Kind:
    """The kind that the instances of a class are."""
    if adapter_of(cls) is not None:
        return Kind.REGISTERED
    if issubclass(cls, _LEAVES):
        return Kind.LEAF
    if issubclass(cls, Mapping):
        return Kind.MAPPING
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return Kind.NAMEDTUPLE
    if issubclass(cls, Sequence):
        return Kind.SEQUENCE
    # Boxes such as nnx.Variable forward to their array, but have no dtype of their own.
    if all(hasattr(cls, name) for name in ("shape", "dtype", "__getitem__")):
        return Kind.ARRAY
    if hasattr(cls, "__dataclass_fields__") or hasattr(cls, "__attrs_attrs__"):
        return Kind.FIELDS
    if issubclass(cls, types.SimpleNamespace):
        return Kind.FIELDS
    return Kind.OBJECT


def field_names(node: Any) -> tuple[str, ...]:
    """The declared fields of a dataclass, attrs class, namedtuple or namespace."""
    declared = _declared_fields(type(node))
    return tuple(vars(node)) if declared is None else declared


@lru_cache(maxsize=_MAX_TYPES)
def _declared_fields(cls: type) -> tuple[str, ...] | None:
    if hasattr(cls, "__dataclass_fields__"):
        # Not free to import, but whoever made the class has done so.
        import dataclasses

        return tuple(field.name for field in dataclasses.fields(cls))
    if hasattr(cls, "__attrs_attrs__"):
        return tuple(field.name for field in cls.__attrs_attrs__)
    if hasattr(cls, "_fields"):
        return tuple(cls._fields)
    return None


def children(node: Any) -> Iterable[tuple[Part, Any]] | None:
    """The parts and values directly below a container; `None` for a leaf.

    Containers are mappings, lists and tuples of all kinds, dataclasses, attrs
    classes, namespaces, and what is registered with JAX. Computed attributes and
    the contents of arrays are never touched. Keys of a mapping are given as they
    are, whether or not they are legal parts.
    """
    cls = type(node)
    if cls is dict:
        return node.items()
    expand = _expander(cls)
    return None if expand is None else expand(node)


def stored_children(node: Any) -> Iterable[tuple[Part, Any]] | None:
    """The children as the node itself holds them, for copies of it.

    A mapping may give its children as views of another class; what JAX sees is what
    it holds. Never to be written: an immutable mapping may hold plain dicts.
    """
    below = children(node)
    if kind_of(type(node)) is not Kind.MAPPING or isinstance(node, dict):
        return below
    try:
        stored = dict(registered_children(node) or ())
    except PathTypeError:  # a key that no path can name
        return below
    return [(key, stored.get(key, value)) for key, value in below or ()]


@lru_cache(maxsize=_MAX_TYPES)
def _expander(cls: type) -> Callable[[Any], Iterable[tuple[Part, Any]] | None] | None:
    """What lists the children of the instances of a class."""
    adapter = adapter_of(cls)
    if adapter is not None:
        return lambda node: list(adapter.children(node))
    match kind_of(cls):
        case Kind.LEAF | Kind.ARRAY:
            if cls is not type(None) and len(LEAF_TYPES) < _MAX_TYPES:
                LEAF_TYPES.add(cls)
            return None
        case Kind.MAPPING:
            return lambda node: [(key, node[key]) for key in node]
        case Kind.SEQUENCE if issubclass(cls, list | tuple | MutableSequence):
            return enumerate
        case Kind.NAMEDTUPLE:
            return lambda node: zip(node._fields, node, strict=True)
        case Kind.FIELDS:
            return _fields
        case _:
            return registered_children


def _fields(node: Any) -> list[tuple[Part, Any]]:
    registered = registered_children(node)
    if registered is not None:
        return registered
    # A declared field may be unset.
    pairs = [(name, getattr(node, name, MISSING)) for name in field_names(node)]
    return [(name, value) for name, value in pairs if value is not MISSING]


def has_child(node: Any, part: Part) -> bool:
    """Whether a part is one of the children of a node, not a computed attribute."""
    return any(
        type(key) is type(part) and key == part for key, _ in children(node) or ()
    )


def is_delegated(node: Any) -> bool:
    """Whether a node reads its parts by itself."""
    return hasattr(type(node), "__kontext_get__")


def forget_kinds() -> None:
    """Forgets what is known of classes, since one of them was registered."""
    kind_of.cache_clear()
    _expander.cache_clear()
    LEAF_TYPES.intersection_update(PLAIN_LEAVES)
