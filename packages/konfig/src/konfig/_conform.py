"""Whether a stored value is what an annotation asks for; nothing is converted.

What is not understood is accepted: an annotation that cannot be read, an argument
whose object only `resolve` can know.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from konfig._const import Const
from konfig._errors import ConfigTypeError, short
from konfig._placeholder import UNSET, Placeholder
from konfig._ref import Lazy
from konfig._signature import Parameters, parameters_of, returns
from konfig._target import loaded
from konfig._tree import TARGET, Node, target_of
from konfig._types import (
    Mismatch,
    describe,
    fit,
    is_path_class,
    taken_apart,
    understood,
    union_members,
)

_SCALARS = (bool, int, float, complex, str, bytes, type(None))


def mismatch(value: Any, annotation: Any) -> str | None:
    """What was expected instead of a value, or None when it may stand there.

    Args:
      value: A stored value with references read.
      annotation: What the parameter is declared as.
    """
    if isinstance(value, Placeholder) and value.value is not UNSET:
        value = value.value
    unknown = isinstance(value, (Lazy, Placeholder))
    if annotation is None or annotation is Any or unknown:
        return None
    members = union_members(annotation)
    if members is not None:
        if any(mismatch(value, member) is None for member in members):
            return None
        return describe(annotation)
    origin, args = taken_apart(annotation)
    if origin is not None:
        return _container(value, annotation, origin, args)
    if not isinstance(annotation, type):
        return None
    if isinstance(value, Node) and TARGET in value._konfig_fields:
        return _made(value, annotation)
    if isinstance(value, Const):
        found = loaded(value.__const__)
        unlike = found is not None and not _is_instance(found, annotation)
        return describe(annotation) if unlike and _checkable(annotation) else None
    return _plain(value, annotation)


def check_value(node: Node, key: Any, value: Any) -> None:
    """Refuses an argument that its parameter is not declared for.

    Raises:
      ConfigTypeError: Naming the parameter and what it is declared as.
    """
    target = target_of(node)
    parameters = None if target is None else parameters_of(target)
    if target is None or parameters is None:
        return
    name, annotation = declared(parameters, key)
    expected = None if name is None else mismatch(value, annotation)
    if expected is not None:
        raise ConfigTypeError(
            f"{target} expects {expected} for {name!r}, got {short(value)}"
        )


def declared(parameters: Parameters, key: Any) -> tuple[str | None, Any]:
    """The name and the annotation of the parameter that a stored key addresses."""
    if isinstance(key, str) and key.isdecimal():
        index = int(key)
        if index >= len(parameters.positional):
            return None, None
        key = parameters.positional[index]
    if key == TARGET or not isinstance(key, str):
        return None, None
    return key, parameters.annotation(key)


def _container(value: Any, annotation: Any, origin: Any, args: Any) -> str | None:
    if isinstance(value, Node) and TARGET in value._konfig_fields:
        return None if origin == "literal" else _made(value, origin)
    if origin == "literal":
        if isinstance(value, Const) and any(isinstance(a, enum.Enum) for a in args):
            return None
        try:
            fit(value, annotation)
        except Mismatch as error:
            return error.expected
        return None
    if origin is dict:
        return _mapping(value, annotation, args)
    if isinstance(value, Const):
        return None
    if not isinstance(value, (list, tuple)):
        return describe(annotation)
    iterate: Any = list.__iter__ if isinstance(value, list) else tuple.__iter__
    items = list(iterate(value))
    if origin is list or (len(args) == 2 and args[1] is Ellipsis):
        each = args[:1] * len(items)
    else:
        each = args
        if args and len(args) != len(items):
            return f"a tuple of {len(args)} items"
    if any(mismatch(item, kind) for item, kind in zip(items, each, strict=False)):
        return describe_all(annotation)
    return None


def _mapping(value: Any, annotation: Any, args: Any) -> str | None:
    if isinstance(value, Const):
        return None
    if not isinstance(value, Mapping):
        return describe(annotation)
    fields = value._konfig_fields if isinstance(value, Node) else value
    pairs = fields.items() if len(args) == 2 else ()
    if any(mismatch(k, args[0]) or mismatch(v, args[1]) for k, v in pairs):
        return describe_all(annotation)
    return None


def describe_all(annotation: Any) -> str:
    """The annotation with its arguments: `list[int]`."""
    return str(annotation).replace("typing.", "")


def _made(node: Node, annotation: Any) -> str | None:
    """Whether what a call gives can be an instance of a class."""
    target = loaded(node._konfig_fields[TARGET])
    kind = target if isinstance(target, type) else returns(target)
    if not isinstance(kind, type) or not _checkable(annotation):
        return None
    if isinstance(target, type) and not _plainly_made(target):
        return None
    try:
        fits = issubclass(kind, annotation) or (kind, annotation) in _PROMOTED
    except TypeError:
        return None
    return None if fits else f"{describe(annotation)}, not a {kind.__qualname__}"


_PROMOTED = {(int, float), (int, complex), (float, complex), (bool, float)}


def _plainly_made(kind: type) -> bool:
    """Whether calling a class gives an instance of it."""
    return type(kind).__call__ is type.__call__ and (
        kind.__new__ is object.__new__ or kind.__module__ == "builtins"
    )


def _checkable(annotation: Any) -> bool:
    return isinstance(annotation, type) and not getattr(
        annotation, "_is_protocol", False
    )


def _plain(value: Any, annotation: type) -> str | None:
    if issubclass(annotation, enum.Enum):
        values = [member.value for member in annotation]
        if isinstance(value, str) and issubclass(annotation, str) and value in values:
            return None
        return "one of " + ", ".join(annotation.__members__)
    if is_path_class(annotation):
        return None if isinstance(value, annotation) else "a path"
    if understood(annotation):
        try:
            fit(value, annotation)
        except Mismatch as error:
            return error.expected
        return None
    fields = hasattr(annotation, "__dataclass_fields__")
    if fields and isinstance(value, (*_SCALARS, list, tuple, Node)):
        return None if _is_instance(value, annotation) else describe(annotation)
    return None


def _is_instance(value: Any, annotation: type) -> bool:
    try:
        return isinstance(value, annotation)
    except TypeError:
        return True
