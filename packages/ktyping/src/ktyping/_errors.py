"""The exceptions of ktyping: one class per kind of mistake."""

from collections.abc import Mapping
from typing import Any


class KTypingError(Exception):
    """What every exception of ktyping is."""


class KTypeCheckError(KTypingError, TypeError):
    """A value does not fit its annotation.

    No array and no frame is kept: all fields are text, numbers, or containers of
    them, and the exception can be pickled.

    Attributes:
      code: What kind of mismatch: `rank`, `size`, `dtype`, `backend`, `type` or
        `structure`.
      subject: The value in the user's words: `argument y`, `return value`, `xs[1]`.
      value_summary: The value as dtype and shape, such as `np.f32[9,5]`.
      axis: Index of the axis that fails, counted from the left, or None.
      expected: What was wanted, as text.
      actual: What was found, as text.
      bindings: Sizes known from the rest of the call (name -> sizes), taken from
        the first reading when there are several.
      hypotheses: Every reading of the rest of the call that is still possible.
      pending: Constraints that wait for a size.
      arguments: Name -> summary of each argument of the call.
      origin: `function name (file:line)`, or None outside a function.
      brief: The beginning of the message: the first line, the picture of the axes, the
        members of a union, and the dims.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "type",
        subject: str = "value",
        value_summary: str = "",
        axis: int | None = None,
        expected: str | None = None,
        actual: str | None = None,
        bindings: Mapping[str, tuple[Any, ...]] | None = None,
        hypotheses: tuple[Mapping[str, tuple[Any, ...]], ...] = (),
        pending: tuple[str, ...] = (),
        arguments: Mapping[str, str] | None = None,
        origin: str | None = None,
        brief: str | None = None,
    ):
        super().__init__(message)
        self.code = code
        self.subject = subject
        self.value_summary = value_summary
        self.axis = axis
        self.expected = expected
        self.actual = actual
        self.bindings = dict(bindings or {})
        self.hypotheses = hypotheses
        self.pending = pending
        self.arguments = dict(arguments or {})
        self.origin = origin
        self.brief = message if brief is None else brief


class ShapeSpecSyntaxError(KTypingError, ValueError):
    """A shape spec cannot be read.

    Attributes:
      code: Kind of mistake, one word (`space`, `comma`, `postfix`, ...).
      column: Where it is in the spec, counted from 1.
      hint: What to write instead, or an empty string.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "syntax",
        column: int = 1,
        hint: str = "",
    ):
        super().__init__(message)
        self.code = code
        self.column = column
        self.hint = hint


class SpecInterpolationError(KTypingError, ValueError):
    """A `{name}` in a shape spec has no value, or one that is no size."""


class UnresolvedAnnotationError(KTypingError, TypeError):
    """An annotation cannot be read, and `config.strict` is set."""


class ShapeError(KTypingError, ValueError):
    """`shape(...)` cannot be computed as non-negative whole sizes."""


class AmbiguityLimitError(KTypingError, RuntimeError):
    """A spec can be read in more ways than the limit allows."""


class NoActiveScopeError(KTypingError, RuntimeError):
    """The code that asks for dims is not inside a checked function or block."""


class ScopeDisabledError(NoActiveScopeError):
    """The code that asks for dims runs while checking is off."""


class _LookupError(KTypingError, KeyError):
    # KeyError prints the repr of its argument, which would escape line ends.
    def __str__(self) -> str:
        return str(self.args[0])


class UnboundDimensionError(_LookupError):
    """A dim is read that nothing has bound."""


class AmbiguousDimensionError(_LookupError):
    """A dim is read that has different sizes in the readings still possible."""


class KTypeCheckWarning(UserWarning):
    """What a mismatch is in mode `warn`."""


class UnresolvedAnnotationWarning(UserWarning):
    """An annotation is of an unknown kind, or names what cannot be found.

    It accepts every value.
    """
