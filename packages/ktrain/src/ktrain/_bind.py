"""Fields that take their value from the trainer, and the one pass that fills them.

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Pipeline(RootBound):
        seed: int = root("seed", default=0)

A trainer binds its parts when it is made: every field that still holds a
reference, or that a trainer filled before, gets the trainer's present value.
Explicit values always win, also after `replace`.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, TypeVar

from ktrain import _errors

_T = TypeVar("_T")
_NO_DEFAULT: Any = object()
_FROM_ROOT = "_ktrain_from_root"


class RootRef:
    """The promise of a value that the trainer has under `path`."""

    def __init__(self, path: str, default: Any = _NO_DEFAULT):
        """Takes the field name of the trainer, and the value without a trainer."""
        self.path = path
        self.default = default
        self.owner = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner = f"{owner.__name__}.{name}"

    def __repr__(self) -> str:
        return f"root({self.path!r})"

    def unbound(self) -> _errors.UnboundRootRefError:
        """Gives the error to raise when the value is needed and not there."""
        return _errors.UnboundRootRefError(
            f"{self.owner or 'a field'} takes its value from the trainer"
            f" (trainer.{self.path}), but is used without one.\n"
            f"  Set {self.owner.rpartition('.')[2] or 'it'}= explicitly, or use the"
            " object through a Trainer."
        )

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise self.unbound()

    __bool__ = __int__ = __index__ = __float__ = _refuse
    __call__ = __iter__ = __len__ = __getitem__ = __fspath__ = _refuse

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self.unbound()


def root(path: str, *, default: Any = _NO_DEFAULT) -> Any:
    """Gives the default of a dataclass field that is taken from the trainer.

    Args:
      path: Name of the trainer's field.
      default: What `value_of` gives when the object is used without a trainer; without
        it, such use raises `UnboundRootRefError`.

    Returns:
      A dataclass field.
    """
    return dataclasses.field(default=RootRef(path, default))


def value_of(value: Any) -> Any:
    """Gives a field's value; of an unbound reference its default.

    Raises:
      UnboundRootRefError: The reference is unbound and has no default.
    """
    if not isinstance(value, RootRef):
        return value
    if value.default is _NO_DEFAULT:
        raise value.unbound()
    return value.default


class RootBound:
    """Base of dataclasses with `root` fields: `replace` keeps them following."""

    def replace(self: _T, **changes: Any) -> _T:
        """Gives a copy with other field values; filled fields follow the trainer."""
        refs = getattr(self, _FROM_ROOT, {})
        follow = {name: ref for name, ref in refs.items() if name not in changes}
        return dataclasses.replace(self, **{**follow, **changes})  # pyrefly: ignore[bad-specialization]  # a mixin of dataclasses


def bind_fields(trainer: Any) -> None:
    """Fills the references in all fields of a trainer that is being made.

    Raises:
      AttributeError: A reference names a field that the trainer does not have.
    """
    for field in dataclasses.fields(trainer):
        value = getattr(trainer, field.name)
        bound = _bind(value, trainer)
        if bound is not value:
            object.__setattr__(trainer, field.name, bound)


def _bind(value: Any, trainer: Any) -> Any:
    if isinstance(value, RootRef):
        return getattr(trainer, value.path)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return value if _is_model(value) else _bind_dataclass(value, trainer)
    if isinstance(value, Mapping) and type(value).__module__ != "konfig._node":
        return _bind_mapping(value, trainer)
    if type(value) in {list, tuple}:
        bound = [_bind(item, trainer) for item in value]
        same = all(a is b for a, b in zip(bound, value, strict=True))
        return value if same else type(value)(bound)
    return value


def _is_model(value: Any) -> bool:
    # Flax modules are dataclasses too, but they own their fields (names, parents).
    return hasattr(type(value), "init") and hasattr(type(value), "apply")


def _bind_mapping(value: Mapping[str, Any], trainer: Any) -> Mapping[str, Any]:
    bound = {key: _bind(item, trainer) for key, item in value.items()}
    if all(bound[key] is item for key, item in value.items()):
        return value
    return bound


def _bind_dataclass(value: Any, trainer: Any) -> Any:
    refs: dict[str, RootRef] = dict(getattr(value, _FROM_ROOT, {}))
    changes: dict[str, Any] = {}
    for field in dataclasses.fields(value):
        current = getattr(value, field.name)
        if isinstance(current, RootRef):
            refs[field.name] = current
        source = refs.get(field.name, current)
        bound = _bind(source, trainer)
        if bound is not current:
            changes[field.name] = bound
    if not changes:
        return value
    result = copy.copy(value)
    _forget_computed(result)
    for name, bound in changes.items():
        object.__setattr__(result, name, bound)
    if refs:
        object.__setattr__(result, _FROM_ROOT, refs)
    return result


def _forget_computed(value: Any) -> None:
    """Drops cached properties: they were computed from the fields before."""
    for name in [*vars(value)]:
        if isinstance(getattr(type(value), name, None), functools.cached_property):
            del vars(value)[name]


def follows_root(value: Any, field: str) -> bool:
    """Tells whether a field of a bound object has its value from the trainer."""
    return field in getattr(value, _FROM_ROOT, {})
