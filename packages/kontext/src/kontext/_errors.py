"""The exceptions of kontext: one family, one layout of message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Explanation(NamedTuple):
    """What a failed lookup has to say, built when somebody reads it."""

    message: str
    available: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()


class PathError(Exception):
    """Base of every error that kontext raises about a path or a key."""

    __module__ = "kontext"


def nesting_error() -> PathError:
    """The error for data whose nodes never end."""
    return PathError(
        "the data is nested too deeply to be walked, or holds itself\n"
        "  a path without ** reads it all the same; flatten takes is_leaf="
    )


class PathSyntaxError(PathError, ValueError):
    """A text is not a path.

    Attributes:
      text: The text as it was given.
      column: Position of the problem in `text`, in characters from 0.
      reason: What is wrong, with a suggestion where there is one.
    """

    __module__ = "kontext"

    def __init__(self, text: str, column: int, reason: str) -> None:
        super().__init__(text, column, reason)
        self.text = text
        self.column = column
        self.reason = reason

    def __str__(self) -> str:
        text, caret = excerpt(self.text, self.column)
        shown = text.translate(_CONTROL_AS_SPACE)
        reason = self.reason.replace("\n", "\n  ")
        return f"not a path: {text!r}\n  {shown}\n  {' ' * caret}^\n  {reason}"


_CONTROL_AS_SPACE = dict.fromkeys([*range(32), 127], " ")


def excerpt(text: str, column: int = 0, *, size: int = 100) -> tuple[str, int]:
    """What a message shows of a text, and where `column` is in it.

    A text of more than `size` characters is cut to what stands around the column.
    """
    if len(text) <= size:
        return text, column
    start = max(0, min(column - size // 2, len(text) - size))
    end = start + size
    head, tail = "…" if start else "", "…" if end < len(text) else ""
    return f"{head}{text[start:end]}{tail}", column - start + len(head)


class PathTypeError(PathError, TypeError):
    """A value of the wrong kind: a path, a part of one, or a node that is fixed."""

    __module__ = "kontext"


class PathLookupError(PathError, KeyError):
    """A path names nothing in the context it was read from.

    The message is built when it is first read, so a lookup that is caught, or
    that has a default, never pays for it.

    Attributes:
      path: Canonical text of the path; of the first one if several failed.
      reached: Canonical text of the part of the path that does exist.
      part: The first part that does not.
      available: The names that exist at `reached`, at most 20.
      suggestions: Paths that were probably meant, the best first.
      errors: The single failures, if this error reports several; else empty.
    """

    __module__ = "kontext"

    def __init__(
        self,
        explain: Callable[[], Explanation],
        *,
        path: str,
        reached: str = "",
        part: Any = None,
        errors: Sequence[PathLookupError] = (),
    ) -> None:
        super().__init__(path)
        self.path = path
        self.reached = reached
        self.part = part
        self.errors = tuple(errors)
        self._explain: Callable[[], Explanation] | None = explain
        self._explanation: Explanation | None = None

    @property
    def explanation(self) -> Explanation:
        """The message with its lists, built once."""
        if self._explanation is None:
            assert self._explain is not None
            self._explanation = self._explain()
            # The closure holds the whole context; the text is all that is needed.
            self._explain = None
        return self._explanation

    @property
    def available(self) -> tuple[str, ...]:
        return self.explanation.available

    @property
    def suggestions(self) -> tuple[str, ...]:
        return self.explanation.suggestions

    def __str__(self) -> str:
        return self.explanation.message

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.path, self.reached, self.part, self.errors)
        return _restore_lookup_error, (self.explanation, *fields)


def _restore_lookup_error(
    explanation: Explanation, path: str, reached: str, part: Any, errors: Any
) -> PathLookupError:
    return PathLookupError(
        lambda: explanation, path=path, reached=reached, part=part, errors=errors
    )


class RequiredKeyError(PathError, ValueError):
    """Keys of a component were left `REQUIRED`.

    Attributes:
      owner: The class of the component; empty for keys without one.
      names: The fields that have to be set.
    """

    __module__ = "kontext"

    def __init__(self, owner: str, names: Sequence[str]) -> None:
        super().__init__(owner, tuple(names))
        self.owner = owner
        self.names = tuple(names)

    def __str__(self) -> str:
        shown = ", ".join(map(repr, self.names))
        example = ", ".join(f"{name}='batch...'" for name in self.names[:3])
        several = len(self.names) > 1
        prefix = f"{self.owner}: " if self.owner else ""
        how = f": {self.owner}({example})" if self.owner else ""
        return (
            f"{prefix}required key{'s' if several else ''} {shown} "
            f"{'are' if several else 'is'} not set\n"
            f"  set {'them' if several else 'it'} to a path into the context{how}"
        )


class SignatureMismatchError(PathError, TypeError):
    """The keys of a component do not fit the function that takes their values.

    Attributes:
      missing: Arguments without default that no key provides.
      unexpected: Keys that the function does not accept.
    """

    __module__ = "kontext"

    def __init__(
        self,
        owner: str,
        signature: str,
        *,
        missing: Sequence[str] = (),
        unexpected: Sequence[str] = (),
        unset: Sequence[str] = (),
    ) -> None:
        super().__init__(owner, signature)
        self.owner = owner
        self.signature = signature
        self.missing = tuple(missing)
        self.unexpected = tuple(unexpected)
        self.unset = tuple(unset)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.owner, self.signature), self.__dict__

    def __str__(self) -> str:
        lines = [f"{self.owner}: the keys do not fit {self.signature}"]
        if self.missing:
            lines.append(f"  arguments without a key: {', '.join(self.missing)}")
        if self.unexpected:
            lines.append(f"  keys without an argument: {', '.join(self.unexpected)}")
        if self.unset:
            lines.append(
                f"  {', '.join(self.unset)}: the key is None, which leaves the "
                "argument to its default, but it has none"
            )
        return "\n".join(lines)
