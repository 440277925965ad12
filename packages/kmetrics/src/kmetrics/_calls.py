"""What an error inside of a metric tells of the call that led to it."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Generator, Mapping
from typing import Any

import kontext

_SHOWN = 8


@contextlib.contextmanager
def reading(metric: Any) -> Generator[None]:
    """Adds to an error in `metric` from which paths its inputs were read."""
    try:
        yield
    except Exception as error:
        paths = {k: v for k, v in kontext.get_keypaths(metric).items() if v is not None}
        read = [f"{key} from {str(path)!r}" for key, path in paths.items()][:_SHOWN]
        brief = f"in {type(metric).__name__}"
        note_once(error, f"{brief}, which reads {', '.join(read)}", instead_of=brief)
        raise


@contextlib.contextmanager
def inside(metric: Any) -> Generator[None]:
    """Adds to an error in which metric it is."""
    try:
        yield
    except Exception as error:
        note_once(error, f"in {type(metric).__name__}")
        raise


def explain(
    error: Exception,
    metric: Any,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    inputs: Mapping[str, Any],
) -> None:
    """Adds to `error` in which metric it is; to be called before it is raised again.

    Args:
      error: the error.
      metric: the metric.
      function: it has the parameters of the call.
      args: those given by position.
      inputs: those given by name.

    Raises:
      TypeError: the inputs are not those that `function` takes, which was the reason.
    """
    if type(error) is TypeError:
        signature = inspect.signature(function)
        try:
            signature.bind(*args, **inputs)
        except TypeError as misfit:
            raise TypeError(
                f"{type(metric).__name__}: {misfit}\n"
                f"  it takes {', '.join(signature.parameters)}"
            ) from None
    note_once(error, f"in {type(metric).__name__}")


def note_once(error: Exception, note: str, *, instead_of: str | None = None) -> None:
    """Adds a note to an error that does not have it, in the place of another one."""
    notes = getattr(error, "__notes__", [])
    if instead_of is not None and instead_of in notes:
        notes[notes.index(instead_of)] = note
    elif note not in notes:
        error.add_note(note)
