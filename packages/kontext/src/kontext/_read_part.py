"""What one part of a path reads from a node.

Reading never changes a node: presence is asked with `in` or from the length, so
the `__missing__` of a `defaultdict` is not called.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from kontext._adapters import Adapter, adapter_of
from kontext._jax import registered_children
from kontext._nodes import Kind, forget_kinds, kind_of, stored_children
from kontext._parts import MISSING, Part, is_axes, twin_part

_METHODS = (
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
    types.MethodWrapperType,
    type,
)


def read_part(node: Any, part: Part) -> Any:
    """What `part` names directly below `node`, or `MISSING`.

    An exception of the user's own code (a property, `__kontext_get__`) goes
    through as it is.
    """
    return _reader(type(node))(node, part)


@lru_cache(maxsize=1024)
def _reader(cls: type) -> Callable[[Any, Part], Any]:
    """What reads one part of the instances of a class."""
    if hasattr(cls, "__kontext_get__"):
        return _read_delegated
    adapter = adapter_of(cls)
    if adapter is not None:
        return lambda node, part: _read_registered(adapter, node, part)
    return _READERS[kind_of(cls)]


def _read_delegated(node: Any, part: Part) -> Any:
    try:
        return node.__kontext_get__(part)
    except KeyError:
        return MISSING


def _read_registered(adapter: Adapter, node: Any, part: Part) -> Any:
    for key, value in adapter.children(node):
        if type(key) is type(part) and key == part:
            return value
    return _read_attribute(node, part)


def _read_leaf(node: Any, part: Part) -> Any:
    return MISSING


def _read_mapping(node: Any, part: Part) -> Any:
    try:
        is_there = part in node
    except TypeError:  # an unhashable part, as a slice is before Python 3.12
        return MISSING
    if is_there:
        return node[part]
    twin = twin_part(part)
    if twin is not None and twin in node:
        return node[twin]
    return _read_attribute(node, part)


def _read_sequence(node: Any, part: Part) -> Any:
    if type(part) is int:
        return node[part] if -len(node) <= part < len(node) else MISSING
    if type(part) is slice:
        return _read_item(node, part)
    return _read_attribute(node, part)


def _read_array(node: Any, part: Part) -> Any:
    if type(part) is str:
        return _read_attribute(node, part)
    axes = part if is_axes(part) else (part,)
    # JAX clamps an index that is out of range, where numpy raises.
    if is_axes(axes) and axes_fit(node.shape, axes):
        return _read_item(node, part)
    return MISSING


def axes_fit(shape: Sequence[int], axes: tuple[Any, ...]) -> bool:
    """Whether indices and slices along `axes` lie inside an array of that shape."""
    used = sum(axis is not None and axis is not Ellipsis for axis in axes)
    if used > len(shape) or axes.count(Ellipsis) > 1:
        return False
    position = 0
    for axis in axes:
        if axis is Ellipsis:
            position += len(shape) - used
        elif axis is not None:
            size = shape[position]
            if type(axis) is int and not -size <= axis < size:
                return False
            position += 1
    return True


def _read_object(node: Any, part: Part) -> Any:
    if type(part) is str and isinstance(getattr(type(node), part, None), property):
        # The children of registered types need no code of the class to be read.
        child = _read_registered_child(node, part)
        if child is not MISSING:
            return child
    found = read_own_part(node, part)
    return _read_registered_child(node, part) if found is MISSING else found


def read_own_part(node: Any, part: Part) -> Any:
    """The attribute or item of an object, whatever JAX knows of its class."""
    if type(part) is str:
        found = _read_attribute(node, part)
        if found is not MISSING or part.isidentifier():
            return found
    if hasattr(type(node), "__getitem__"):
        return _read_item(node, part)
    return MISSING


def _read_registered_child(node: Any, part: Part) -> Any:
    for key, value in registered_children(node) or ():
        if type(key) is type(part) and key == part:
            return value
    return MISSING


def _read_item(node: Any, part: Part) -> Any:
    try:
        return node[part]
    except (LookupError, TypeError):
        return MISSING


def _read_attribute(node: Any, part: Part) -> Any:
    """An attribute that holds data: no dunder name, and no method."""
    if type(part) is not str or (part.startswith("__") and part.endswith("__")):
        return MISSING
    try:
        value = getattr(node, part)
    except AttributeError as error:
        if _is_computed(type(node), part):
            error.add_note(f"raised inside {type(node).__qualname__}.{part}")
            raise
        return MISSING
    if isinstance(value, _METHODS) and not is_stored(node, part):
        return MISSING
    return value


def stored_part(node: Any, part: Part) -> Any:
    """What `part` names directly below a node, as the node itself holds it."""
    if kind_of(type(node)) is Kind.MAPPING and not isinstance(node, dict):
        for key, value in stored_children(node) or ():
            if type(key) is type(part) and key == part:
                return value
    return read_part(node, part)


def read_part_or_method(node: Any, part: Part) -> Any:
    """The same as `read_part`, but that methods of objects are values too."""
    found = read_part(node, part)
    has_methods = kind_of(type(node)) in (Kind.FIELDS, Kind.OBJECT, Kind.REGISTERED)
    if found is not MISSING or not has_methods or not is_method(node, part):
        return found
    return getattr(node, part)


def is_method(node: Any, part: Part) -> bool:
    """Whether a part is the name of a method, or of a class inside of the class."""
    cls = node if isinstance(node, type) else type(node)
    if type(part) is not str or (part.startswith("__") and part.endswith("__")):
        return False
    for base in cls.__mro__:
        if part in base.__dict__:
            found = base.__dict__[part]
            return isinstance(found, staticmethod | classmethod) or callable(found)
    return False


def forget_classes() -> None:
    """Forgets what is known of classes, since one of them was registered."""
    forget_kinds()
    _reader.cache_clear()


def _is_computed(cls: type, name: str) -> bool:
    """Whether code of the class runs when the attribute is read."""
    for base in cls.__mro__:
        if name in base.__dict__:
            # An empty slot is an unset field, not a failing property.
            return not isinstance(base.__dict__[name], types.MemberDescriptorType)
    return False


def is_stored(node: Any, name: str) -> bool:
    """Whether the instance itself holds the value: a function may be data.

    What a class holds are its methods.
    """
    if isinstance(node, type):
        return False
    if name in getattr(node, "__dict__", ()):
        return True
    for base in type(node).__mro__:
        if name in base.__dict__:
            found = base.__dict__[name]
            return isinstance(found, types.MemberDescriptorType) or (
                kind_of(type(node)) is Kind.NAMEDTUPLE and name in node._fields
            )
    return False


_READERS: dict[Kind, Callable[[Any, Part], Any]] = {
    Kind.LEAF: _read_leaf,
    Kind.MAPPING: _read_mapping,
    Kind.NAMEDTUPLE: _read_sequence,
    Kind.SEQUENCE: _read_sequence,
    Kind.ARRAY: _read_array,
    Kind.FIELDS: _read_object,
    Kind.OBJECT: _read_object,
}
