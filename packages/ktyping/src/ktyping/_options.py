"""What `typechecked(...)` can be told about one function."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ktyping._config import MODES
from ktyping._errors import KTypingError


class OptionError(KTypingError, ValueError):
    """An option of `typechecked` that does not exist or does not go with another."""


class Options(NamedTuple):
    """The options of `typechecked`, which documents them."""

    new_scope: bool = True
    mode: str | None = None
    always: bool = False
    every: int = 1
    ties: tuple[tuple[str, str], ...] = ()

    @property
    def for_functions(self) -> bool:
        """Whether only calls of functions can have these options."""
        return self.every > 1 or bool(self.ties)


def checked_options(
    new_scope: bool,
    mode: str | None,
    always: bool,
    every: int,
    ties: Mapping[str, str] | None,
) -> Options:
    """Returns the options, or raises.

    Raises:
      OptionError: When one is not what it can be.
    """
    if mode is not None and mode not in MODES:
        raise OptionError(f"mode is {mode!r}; the modes are {', '.join(MODES)}.")
    if not isinstance(every, int) or isinstance(every, bool) or every < 1:
        raise OptionError(f"every is {every!r}; it is a whole number >= 1.")
    if ties and not new_scope:
        raise OptionError(
            "ties and new_scope=False do not go together: such a function has the dims "
            "of its caller.\nUse the same names in both."
        )
    if not isinstance(ties or {}, Mapping):
        raise OptionError(f"ties is {ties!r}; it maps names of dims to names of dims.")
    pairs = tuple((_name(k, "ties"), _name(v, "ties")) for k, v in (ties or {}).items())
    return Options(bool(new_scope), mode, bool(always), every, pairs)


def _name(given: Any, option: str) -> str:
    name = given.removeprefix("*") if isinstance(given, str) else ""
    if not name.isidentifier() or name.startswith("_"):
        raise OptionError(
            f"{option} has {given!r}; it maps names of dims to names of dims, as in "
            '`ties={"b": "global_batch"}`.'
        )
    return name
