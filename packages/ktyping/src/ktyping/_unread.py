"""Annotations that cannot be read: said once, or an error when `strict` is set."""

import os
import sys
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ktyping._config import config
from ktyping._errors import UnresolvedAnnotationError, UnresolvedAnnotationWarning
from ktyping._source import LABEL
from ktyping._stats import count_unread

_LIMIT = 4096
_told: set[str] = set()
_place: ContextVar[str] = ContextVar("ktyping_place", default="")


@contextmanager
def reading(place: str) -> Generator[None, None, None]:
    """Says whose annotation is read: ` of 'x' in f (file:line)`."""
    token = _place.set(place)
    try:
        yield
    finally:
        _place.reset(token)


def report_unread(annotation: Any, reason: str) -> None:
    """Warns once about an annotation that is not checked.

    Args:
      annotation: The annotation, or its text.
      reason: Why it cannot be read.

    Raises:
      UnresolvedAnnotationError: When `config.strict` is set.
    """
    place = _place.get()
    message = f"The annotation {annotation!r}{place} is not checked: {reason}."
    if config.strict:
        raise UnresolvedAnnotationError(
            f"{message}\nMake it readable, or accept it: config.set(strict=False)."
        )
    count_unread(f"{annotation}{place}")
    _warn_once(message)


def report_foreign(annotation: Any, read_as: Any) -> None:
    """Warns once about an annotation of another library that is read as ours."""
    _warn_once(f"The annotation {annotation!r} is read as {read_as!r}.")


def _warn_once(message: str) -> None:
    if message in _told:
        return
    if len(_told) >= _LIMIT:
        _told.clear()
    _told.add(message)
    warnings.warn(message, UnresolvedAnnotationWarning, stacklevel=user_level())


def user_level() -> int:
    """Returns the level of the nearest frame outside of ktyping, for a warning.

    It counts from the function that calls this one.
    """
    level, frame = 0, sys._getframe(0)
    here = os.path.dirname(__file__)
    while frame is not None and frame.f_code.co_filename.startswith((here, LABEL)):
        level, frame = level + 1, frame.f_back
    return level
