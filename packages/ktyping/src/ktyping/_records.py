"""Checkers for values with named fields: dataclasses, TypedDict, NamedTuple."""

import sys
import typing
from collections.abc import Callable, Mapping
from typing import Any

from ktyping._checker import Checker, Trial
from ktyping._config import config
from ktyping._failure import shown_key, summary
from ktyping._hints import Unresolved, annotations_of, module_names, resolve
from ktyping._hypothesis import EMPTY, Hypotheses
from ktyping._unread import reading, report_unread

CheckerFor = Callable[[Any], Checker]
# Decorated dataclass -> local names that its annotations may use.
checked_dataclasses: dict[type, Mapping[str, Any]] = {}


def record_checker(cls: type, checker_for: CheckerFor) -> Checker | None:
    """Returns the checker of a class whose fields are checked, None for others."""
    if typing.is_typeddict(cls):
        return TypedDictCheck(cls, checker_for)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return NamedTupleCheck(cls, checker_for)
    if is_checked_dataclass(cls):
        return DataclassCheck(cls, checker_for)
    return None


def is_checked_dataclass(cls: type) -> bool:
    """Whether a class, or one above it, is a dataclass under `typechecked`."""
    return any(c in checked_dataclasses for c in cls.__mro__)


def field_annotations(cls: type, local: Mapping[str, Any]) -> dict[str, Any]:
    """Returns name -> annotation of a class and the classes above it, resolved."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        own = annotations_of(base)
        names = module_names(base.__module__)
        known = {**local, **checked_dataclasses.get(base, {}), base.__name__: base}
        for name, annotation in own.items():
            found[name] = resolve(annotation, names, known, in_class=True)
    return found


class _Fields(Checker):
    """Shared part: the checkers of the fields, made when first needed."""

    __slots__ = ("_checkers", "checker_for", "cls")
    has_arrays = True

    def __init__(self, cls: type, checker_for: CheckerFor):
        self.cls = cls
        self.checker_for = checker_for
        self._checkers: dict[str, Checker] | None = None

    def checkers(self) -> dict[str, Checker]:
        # Made late: a field may name a class that is defined after this one.
        if self._checkers is None:
            self._checkers = field_checkers(self.cls, self.checker_for)
        return self._checkers

    def wrong_class(self, value: Any, where: str, trial: Trial) -> Hypotheses:
        name = self.cls.__qualname__
        message = f"{summary(value)} is not {name}"
        return trial.fail("type", where, message, name, value)

    def __repr__(self) -> str:
        return self.cls.__qualname__


def field_checkers(cls: type, checker_for: CheckerFor) -> dict[str, Checker]:
    """Returns field name -> checker; fields of unknown annotation are left out."""
    found: dict[str, Checker] = {}
    for name, annotation in field_annotations(cls, {}).items():
        with reading(f" of {name!r} in {cls.__module__}.{cls.__qualname__}"):
            if isinstance(annotation, Unresolved):
                report_unread(annotation.annotation, annotation.reason)
            else:
                found[name] = checker_for(annotation)
    return found


class _Share:
    """`Annotated[D, share]`: the dims of a dataclass are those of the function."""

    def __repr__(self) -> str:
        return "ktyping.share"

    def __reduce__(self) -> str:
        return "share"


share = _Share()


class DataclassCheck(_Fields):
    """An instance of a decorated dataclass, its fields checked as they are now.

    Its dims are its own, not tied to those of the function, unless `shares` is set.
    """

    __slots__ = ("shares",)

    def __init__(self, cls: type, checker_for: CheckerFor, shares: bool = False):
        super().__init__(cls, checker_for)
        self.shares = shares

    def sharing(self) -> "DataclassCheck":
        """Returns the check that ties the fields to the dims of the function."""
        return DataclassCheck(self.cls, self.checker_for, shares=True)

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Accepts an instance whose fields fit together."""
        if not isinstance(value, self.cls):
            return self.wrong_class(value, where, trial)
        if self.shares:
            return self.check_fields(value, where, trial, hypotheses)
        return hypotheses if self.check_fields(value, where, trial) else ()

    def check_fields(
        self, value: Any, where: str, trial: Trial, own: Hypotheses = (EMPTY,)
    ) -> Hypotheses:
        """Matches the fields, in a scope of their own unless one is given."""
        prefix = f"{where}." if where else ""
        fields = field_names(type(value))
        values = {name: getattr(value, name) for name in fields if hasattr(value, name)}
        inner = Trial({"self": value, **values}, trial.failures)
        for name, checker in self.checkers().items():
            if name in values:
                own = checker.match(values[name], f"{prefix}{name}", own, inner)
                if not own:
                    return ()
        return own


def field_names(cls: type) -> tuple[str, ...]:
    """Returns the names of the fields of a dataclass, NamedTuple or attrs class."""
    if hasattr(cls, "__dataclass_fields__"):
        # `fields` leaves out ClassVar and InitVar.
        return tuple(f.name for f in sys.modules["dataclasses"].fields(cls))
    if hasattr(cls, "__attrs_attrs__"):
        return tuple(attribute.name for attribute in cls.__attrs_attrs__)
    return tuple(getattr(cls, "_fields", ()))


class TypedDictCheck(_Fields):
    """A dict with the keys of a TypedDict; its dims are its own."""

    __slots__ = ("_keys",)

    def __init__(self, cls: type, checker_for: CheckerFor):
        super().__init__(cls, checker_for)
        self._keys: tuple[frozenset[str], frozenset[str]] | None = None

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Accepts a dict with all required keys, no other keys, fitting values."""
        if not isinstance(value, Mapping):
            return self.wrong_class(value, where, trial)
        required, allowed = self.keys()
        missing = sorted(required - value.keys())
        refused = value.keys() - allowed if config.extra_keys == "refuse" else ()
        extra = sorted(map(shown_key, refused))
        if missing or extra:
            parts = (
                [f"missing keys: {', '.join(map(repr, missing))}"] if missing else []
            )
            parts += [f"unexpected keys: {', '.join(extra)}"] if extra else []
            message = "; ".join(parts)
            return trial.fail("structure", where, message, repr(self), value)
        return self.check_values(value, where, hypotheses, trial)

    def check_values(
        self, value: Mapping[str, Any], where: str, hypotheses: Hypotheses, trial: Trial
    ) -> Hypotheses:
        """Matches the values, in a scope of their own."""
        fits = self.match_values(value, where, (EMPTY,), trial)
        return hypotheses if fits else ()

    def match_values(
        self, value: Mapping[str, Any], where: str, hypotheses: Hypotheses, trial: Trial
    ) -> Hypotheses:
        """Matches the values that are there."""
        for name, checker in self.checkers().items():
            if name in value:
                path = f"{where}[{name!r}]"
                hypotheses = checker.match(value[name], path, hypotheses, trial)
                if not hypotheses:
                    return ()
        return hypotheses

    def keys(self) -> tuple[frozenset[str], frozenset[str]]:
        """Returns the keys that must be there and those that may be there."""
        if self._keys is None:
            required = set(getattr(self.cls, "__required_keys__", ()))
            allowed = required | set(getattr(self.cls, "__optional_keys__", ()))
            # Python does not see NotRequired in an annotation that is a string.
            for name, annotation in field_annotations(self.cls, {}).items():
                if typing.get_origin(annotation) is typing.NotRequired:
                    required.discard(name)
                elif typing.get_origin(annotation) is typing.Required:
                    required.add(name)
            self._keys = frozenset(required), frozenset(allowed)
        return self._keys


class KeywordCheck(TypedDictCheck):
    """All of `**kwargs: Unpack[TD]`; the dims are those of the function."""

    __slots__ = ()

    def check_values(
        self, value: Mapping[str, Any], where: str, hypotheses: Hypotheses, trial: Trial
    ) -> Hypotheses:
        """Matches the values, tied to the dims of the function."""
        return self.match_values(value, where, hypotheses, trial)


class NamedTupleCheck(_Fields):
    """A NamedTuple; its dims are those of the function, as for a plain tuple."""

    __slots__ = ()

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Accepts an instance whose fields fit."""
        if not isinstance(value, self.cls):
            return self.wrong_class(value, where, trial)
        for name, checker in self.checkers().items():
            item = getattr(value, name)
            hypotheses = checker.match(item, f"{where}.{name}", hypotheses, trial)
            if not hypotheses:
                return ()
        return hypotheses
