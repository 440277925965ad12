"""Wraps classes of fields: those of every new instance are checked together."""

import functools
from collections.abc import Callable
from types import FrameType
from typing import Any

from ktyping._blame import Item, blame
from ktyping._check import checker_for
from ktyping._checker import Trial
from ktyping._config import config
from ktyping._hints import class_names
from ktyping._hypothesis import EMPTY
from ktyping._records import DataclassCheck, checked_dataclasses, field_names
from ktyping._report import Context, make_error, warn_mismatch
from ktyping._traced import is_traced

_checks: dict[type, DataclassCheck] = {}
_MARK = "__ktyping_init__"


def has_fields(cls: type) -> bool:
    """Whether a class is a dataclass, a NamedTuple or a class of attrs."""
    if issubclass(cls, tuple):
        return hasattr(cls, "_fields")
    return hasattr(cls, "__dataclass_fields__") or hasattr(cls, "__attrs_attrs__")


def wrap_class(cls: type, *, mode: str | None, frame: FrameType | None) -> type:
    """Makes every new instance of a class of fields check them."""
    if not issubclass(cls, tuple):
        return wrap_dataclass(cls, mode=mode, frame=frame)
    if cls not in checked_dataclasses:
        checked_dataclasses[cls] = class_names(cls, frame)
        _wrap_named_tuple(cls, mode)
    return cls


def _wrap_named_tuple(cls: Any, mode: str | None) -> None:
    # `_replace` makes its copy by `_make`.
    new, make = cls.__new__, cls._make

    @functools.wraps(new)
    def __new__(klass: type, *args: Any, **kwargs: Any) -> Any:
        made = new(klass, *args, **kwargs)
        check_instance(made, mode)
        return made

    @functools.wraps(make)
    def _make(klass: type, iterable: Any) -> Any:
        made = make.__func__(klass, iterable)
        check_instance(made, mode)
        return made

    cls.__new__, cls._make = __new__, classmethod(_make)


def wrap_dataclass(cls: type, *, mode: str | None, frame: FrameType | None) -> type:
    """Makes `__init__` of a dataclass check the fields when it is done.

    Classes below it inherit the check, and their own fields are checked as well.
    """
    if cls in checked_dataclasses:
        return cls
    checked_dataclasses[cls] = class_names(cls, frame)
    _wrap_init(cls, mode)
    _wrap_new(cls, mode)
    return cls


def _wrap_new(cls: Any, mode: str | None) -> None:
    """Makes `__new__` look at the class first, for the sake of classes below.

    A dataclass below has an `__init__` of its own, made after the class was; the
    first instance is the first time that it can be wrapped for certain.
    """
    new = cls.__new__
    ready: set[type] = {cls}

    def __new__(klass: type, *args: Any, **kwargs: Any) -> Any:
        if klass not in ready:
            if "__init__" in vars(klass):
                _wrap_init(klass, mode)
            ready.add(klass)
        if new is object.__new__:
            return new(klass)
        return new(klass, *args, **kwargs)

    cls.__new__ = __new__


def _wrap_init(cls: Any, mode: str | None) -> None:
    init: Callable[..., None] = cls.__init__
    if getattr(init, _MARK, None) is cls:
        return

    @functools.wraps(init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        # Only the outermost __init__ sees all fields: a subclass calls this one
        # from its own, or inherits it.
        if getattr(type(self).__init__, _MARK, None) is cls:
            check_instance(self, mode)

    setattr(__init__, _MARK, cls)
    cls.__init__ = __init__


def check_instance(value: Any, mode: str | None) -> None:
    """Checks the fields of an instance, in a scope of their own."""
    mode = mode or config.mode_in(type(value).__module__)
    if mode in ("off", "dims"):
        return
    if mode == "trace" and not is_traced((value,)):
        return
    check = _check_of(type(value))
    if check.check_fields(value, "", Trial()):
        return
    error = _error(check, value)
    if mode == "warn":
        warn_mismatch(error)
        return
    raise error


def _check_of(cls: type) -> DataclassCheck:
    if cls not in _checks:
        _checks[cls] = DataclassCheck(cls, checker_for)
    return _checks[cls]


def _error(check: DataclassCheck, value: Any) -> Exception:
    names = field_names(type(value))
    fields = {name: getattr(value, name, None) for name in names}
    items = [
        Item(name, fields[name], checker)
        for name, checker in check.checkers().items()
        if name in fields
    ]
    trial = Trial({"self": value, **fields})
    verdict = blame(items, (EMPTY,), trial)
    context = Context("field", fields, f"class {type(value).__qualname__}")
    return make_error(items[verdict.index], verdict, context)
