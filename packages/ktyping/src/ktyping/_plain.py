"""Checkers for annotations that say nothing about arrays by themselves."""

import sys
import typing
from typing import Any

from ktyping._backends import backend_of
from ktyping._checker import (
    CLASS,
    NOTHING,
    VALUE,
    Checker,
    Trial,
    decided_by_class,
)
from ktyping._failure import Failure, summary
from ktyping._hypothesis import Hypotheses, distinct

_Any = typing.TypeVar("_Any")


class Anything(Checker):
    """Accepts every value."""

    __slots__ = ()
    depends = NOTHING

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Returns the hypotheses as they are."""
        return hypotheses

    def __repr__(self) -> str:
        return "Any"


class Nothing(Checker):
    """Accepts no value (`Never`, `NoReturn`)."""

    __slots__ = ()
    depends = NOTHING

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Fails."""
        return trial.fail("type", where, "there must be no value", "Never", value)

    def __repr__(self) -> str:
        return "Never"


ANYTHING = Anything()
NEVER = Nothing()


class ClassCheck(Checker):
    """Instances of a class, with the wider classes that Python's typing allows.

    Args:
      cls: The class named in the annotation.
      accepted: The classes that are accepted (`int` for `float`).
      scalar: Name of the array type to suggest for a scalar array, or None.
    """

    __slots__ = ("accepted", "cls", "depends", "scalar")

    def __init__(
        self, cls: type, accepted: tuple[type, ...], scalar: str | None = None
    ):
        self.cls = cls
        self.accepted = accepted
        self.scalar = scalar
        self.depends = CLASS if all(map(decided_by_class, accepted)) else VALUE

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Accepts an instance of one of the classes."""
        if isinstance(value, self.accepted):
            return hypotheses
        name = repr(self)
        message = f"{summary(value)} is not {name}"
        if self.scalar and backend_of(value):
            message += f"; `{self.scalar}` accepts {name}, scalar arrays and tracers"
        return trial.fail("type", where, message, name, value)

    def __repr__(self) -> str:
        return "None" if self.cls is type(None) else self.cls.__qualname__


class AnyOf(Checker):
    """A union: the readings of every member that fits are all kept."""

    __slots__ = ("depends", "has_arrays", "members", "text")

    def __init__(self, members: list[Checker]):
        self.members = members
        self.text = " | ".join(map(repr, members))
        self.depends = max(m.depends for m in members)
        self.has_arrays = any(m.has_arrays for m in members)

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Accepts what at least one member accepts."""
        if not self.has_arrays and trial.failures is None:
            return self._first(value, where, hypotheses, trial)
        found: list[Any] = []
        reasons: list[Failure] = []
        for member in self.members:
            own = Trial(trial.values, None, dict(trial.typevars), trial.owner)
            own.failures = None if trial.failures is None else []
            matched = member.match(value, where, hypotheses, own)
            found += matched
            if matched:
                trial.typevars.update(own.typevars)
            elif own.failures:
                deepest = max(own.failures, key=lambda f: f.depth)
                reasons.append(deepest._replace(expected=repr(member)))
        if not found and trial.failures is not None and reasons:
            trial.failures.append(self._explain(reasons))
        return distinct(found)

    def _first(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        for member in self.members:
            if matched := member.match(value, where, hypotheses, trial):
                return matched
        return ()

    def _explain(self, failures: list[Failure]) -> Failure:
        # That a value which is there is not None says nothing.
        failures = [f for f in failures if f.expected != "None"] or failures
        deepest = max(failures, key=lambda f: f.depth)
        if all(f.code == "type" and f.where == deepest.where for f in failures):
            message = f"{failures[0].actual} is not {self.text}"
            return deepest._replace(message=message, expected=self.text)
        return deepest._replace(alternatives=tuple(failures))

    def __repr__(self) -> str:
        return self.text


class Literals(Checker):
    """One of some values; `1` and `True` are different."""

    __slots__ = ("values",)

    def __init__(self, values: tuple[Any, ...]):
        self.values = values

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Accepts an equal value of the same class."""
        for wanted in self.values:
            if type(value) is type(wanted) and value == wanted:
                return hypotheses
        message = f"{summary(value)} is not {self!r}"
        return trial.fail("type", where, message, repr(self), value)

    def __repr__(self) -> str:
        return f"Literal[{', '.join(map(repr, self.values))}]"


class ClassObject(Checker):
    """A class that is the named class or below it (`type[T]`)."""

    __slots__ = ("wanted",)

    def __init__(self, wanted: type):
        self.wanted = wanted

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Accepts a subclass."""
        if isinstance(value, type) and issubclass(value, self.wanted):
            return hypotheses
        message = f"{summary(value)} is not {self!r}"
        return trial.fail("type", where, message, repr(self), value)

    def __repr__(self) -> str:
        return f"type[{self.wanted.__name__}]"


class ProtocolCheck(Checker):
    """An object with every member that a protocol names."""

    __slots__ = ("cls", "members")

    def __init__(self, cls: type):
        self.cls = cls
        self.members = _protocol_members(cls)

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Accepts an object that has the members."""
        missing = [name for name in self.members if not hasattr(value, name)]
        if not missing:
            return hypotheses
        message = f"{summary(value)} has no {', '.join(missing)}"
        return trial.fail("type", where, message, repr(self), value)

    def __repr__(self) -> str:
        return self.cls.__qualname__


def is_protocol(cls: type) -> bool:
    """Whether a class is a protocol, not a class that fulfils one."""
    return typing.Protocol in cls.__bases__


@typing.runtime_checkable
class _NoMembers(typing.Protocol[_Any]):
    """Has what Python itself puts into a protocol."""


_NEVER_MEMBERS = {
    *vars(_NoMembers),
    "__annotations__",
    "__slots__",
    "__orig_bases__",
    "__type_params__",
    "__match_args__",
}


def _protocol_members(cls: type) -> list[str]:
    if hasattr(typing, "get_protocol_members"):
        return sorted(typing.get_protocol_members(cls))
    names: dict[str, None] = {}
    for base in reversed(cls.__mro__):
        if is_protocol(base):
            names.update(dict.fromkeys(vars(base)))
            names.update(dict.fromkeys(getattr(base, "__annotations__", {})))
    own = (n for n in names if n not in _NEVER_MEMBERS and not n.startswith("_abc_"))
    return sorted(own)


class FileLike(Checker):
    """`IO`, `TextIO`, `BinaryIO`: what reads or writes; files need no common class."""

    __slots__ = ("name",)

    def __init__(self, cls: type):
        self.name = cls.__name__

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Accepts an object that can be read from or written to, and closed."""
        usable = hasattr(value, "read") or hasattr(value, "write")
        if usable and hasattr(value, "close"):
            return hypotheses
        message = f"{summary(value)} is not {self.name}"
        return trial.fail("type", where, message, self.name, value)

    def __repr__(self) -> str:
        return self.name


class Callables(Checker):
    """Something that can be called with the number of arguments named."""

    __slots__ = ("arity",)

    def __init__(self, args: tuple[Any, ...]):
        params = args[0] if args else ...
        self.arity = len(params) if isinstance(params, list) else None

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Accepts a callable whose signature, when known, takes the arguments."""
        if not callable(value):
            message = f"{summary(value)} is not callable"
            return trial.fail("type", where, message, repr(self), value)
        if self.arity is not None and not _takes(value, self.arity):
            message = f"cannot be called with {self.arity} arguments"
            return trial.fail("type", where, message, repr(self), value)
        return hypotheses

    def __repr__(self) -> str:
        return "Callable" if self.arity is None else f"Callable with {self.arity} args"


def _takes(function: Any, count: int) -> bool:
    import inspect  # start-up: only when such an annotation is met

    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


class SelfCheck(Checker):
    """`Self`: an instance of the class whose method is called."""

    __slots__ = ()

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Accepts an instance of the owner; everything outside of a method."""
        if trial.owner is None or isinstance(value, trial.owner):
            return hypotheses
        name = trial.owner.__qualname__
        return trial.fail("type", where, f"{summary(value)} is not {name}", name, value)

    def __repr__(self) -> str:
        return "Self"


class TypeVarCheck(Checker):
    """A type variable: its bound or constraints, and one class per call."""

    __slots__ = ("has_arrays", "variable", "wanted")

    def __init__(self, variable: typing.TypeVar, wanted: list[Checker]):
        self.variable = variable
        self.wanted = wanted
        self.has_arrays = any(w.has_arrays for w in wanted)

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Accepts a value whose class joins the class known for the variable."""
        if self.wanted:
            union = AnyOf(self.wanted)
            hypotheses = union.match(value, where, hypotheses, trial)
            if not hypotheses:
                return ()
        cls = _class_of(value)
        known = trial.typevars.get(self.variable, cls)
        if not issubclass(cls, known) and not issubclass(known, cls):
            name = f"{self!r} = {known.__qualname__}"
            message = f"{summary(value)} is not {known.__qualname__}, but {name}"
            return trial.fail("type", where, message, name, value)
        trial.typevars[self.variable] = known if issubclass(cls, known) else cls
        return hypotheses

    def __repr__(self) -> str:
        return self.variable.__name__


def _class_of(value: Any) -> type:
    # Arrays and tracers of jax stand for each other: one class for both.
    return sys.modules["jax"].Array if backend_of(value) == "jax" else type(value)
