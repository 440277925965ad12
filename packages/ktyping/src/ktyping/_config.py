"""On, warn, dims or off: for the process, for a block of code, from the environment."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from ktyping._errors import KTypingError

MODES = ("on", "warn", "dims", "off")
VARIABLE = "KTYPING"

OVERRIDE: ContextVar[str | None] = ContextVar("ktyping_mode", default=None)


class Config:
    """Whether checks run.

    `on` raises KTypeCheckError, `warn` warns KTypeCheckWarning instead, `dims` says
    nothing but binds dims for those who read them, `off` runs functions unchecked.
    The environment variable KTYPING sets the first mode.

    Attributes:
      mode: The mode of the process; `override` goes before it.
      off_at_import: Whether KTYPING was `off`: then `typechecked` returns
        functions as they are.
    """

    __slots__ = ("mode", "off_at_import")

    def __init__(self, mode: str = "on"):
        self.mode = _checked(mode, VARIABLE)
        self.off_at_import = mode == "off"

    def set(self, mode: str) -> None:
        """Sets the mode of the process: `on`, `warn`, `dims` or `off`."""
        self.mode = _checked(mode, "config.set")

    @contextmanager
    def override(self, mode: str) -> Generator[None, None, None]:
        """Sets the mode for a block of code, in this thread and task alone."""
        token = OVERRIDE.set(_checked(mode, "config.override"))
        try:
            yield
        finally:
            OVERRIDE.reset(token)

    @property
    def current(self) -> str:
        """The mode in force here."""
        return OVERRIDE.get() or self.mode

    def __repr__(self) -> str:
        return f"<ktyping config: mode {self.current}>"


def _checked(mode: str, where: str) -> str:
    if mode not in MODES:
        raise ModeError(
            f"{where} got the mode {mode!r}.\nThe modes are {', '.join(MODES)}."
        )
    return mode


class ModeError(KTypingError, ValueError):
    """A mode that does not exist."""


config = Config(os.environ.get(VARIABLE) or "on")
