"""What every annotation becomes: an object that matches values."""

import typing
from collections.abc import Mapping
from typing import Any

from ktyping._failure import Failure, summary
from ktyping._hypothesis import Hypotheses

# What a verdict depends on, beside the dims: nothing, the class of the value, its
# class with shape and dtype, or the value itself.
NOTHING, CLASS, ARRAY, VALUE = range(4)


class Trial:
    """One attempt to match the values of a call.

    Attributes:
      values: Argument name -> value, for `{name}` in specs.
      failures: A list that collects reasons, or None when only the verdict counts.
      typevars: TypeVar -> the class it stands for in this call.
      owner: The class of the method that is called, for `Self`.
    """

    __slots__ = ("failures", "owner", "typevars", "values")

    def __init__(
        self,
        values: Mapping[str, Any] | None = None,
        failures: list[Failure] | None = None,
        typevars: dict[Any, type] | None = None,
        owner: type | None = None,
    ):
        self.values = values
        self.failures = failures
        self.typevars = {} if typevars is None else typevars
        self.owner = owner

    def explaining(self) -> "Trial":
        """Returns the same attempt with reasons collected."""
        return Trial(self.values, [], dict(self.typevars), self.owner)

    def fail(
        self, code: str, where: str, message: str, expected: str, value: Any
    ) -> Hypotheses:
        """Notes a reason when reasons are wanted; returns no hypothesis."""
        if self.failures is not None:
            actual = summary(value)
            self.failures.append(Failure(code, where, message, expected, actual))
        return ()


class Checker:
    """Matches values against one annotation.

    Attributes:
      depends: What the verdict depends on: NOTHING, CLASS, ARRAY or VALUE.
      has_arrays: Whether array types are part of the annotation.
    """

    __slots__ = ()
    depends: int = VALUE
    has_arrays: bool = False

    def match(
        self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial
    ) -> Hypotheses:
        """Returns the hypotheses extended by the value; empty if it does not fit."""
        raise NotImplementedError


def decided_by_class(cls: type) -> bool:
    """Whether `isinstance(x, cls)` can be answered from the class of `x`."""
    check = getattr(type(cls), "__instancecheck__", None)
    return check is type.__instancecheck__


def union_of(*members: Any) -> Any:
    """Returns the `typing` union of annotations, also where `|` means another thing.

    A string becomes a forward reference.
    """
    union: Any = typing.Union
    return union[members]
