"""Errors on one screen, and the exit code that tells schedulers what happened."""

from __future__ import annotations

import contextlib
import pathlib
import sys
import traceback as traceback_lib
from collections.abc import Iterator

import click

import konfig
from ktrain import _errors

_STAGE = "_ktrain_stage"
_MAX_LINES = 40
_JAX_NOTE = "--------------------\nFor simplicity, JAX has removed"


@contextlib.contextmanager
def stage(name: str) -> Iterator[None]:
    """Marks errors that leave the block as errors of this stage (`"config"`)."""
    try:
        yield
    except (click.ClickException, SystemExit, KeyboardInterrupt):
        raise
    except Exception as error:
        with contextlib.suppress(AttributeError):
            setattr(error, _STAGE, name)
        raise


@contextlib.contextmanager
def one_screen(*, traceback: bool) -> Iterator[None]:
    """Prints an error that leaves the block on one screen and exits with its code."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, SystemExit):
        raise
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        sys.exit(_errors.EXIT_INTERRUPTED)
    except Exception as error:
        if traceback:
            traceback_lib.print_exc()
        else:
            click.echo(describe(error), err=True)
        sys.exit(exit_code(error))


def exit_code(error: Exception) -> int:
    """Gives the exit code for an error."""
    if isinstance(error, _errors.TrainError):
        return error.exit_code
    if isinstance(error, konfig.KonfigError) or getattr(error, _STAGE, "") == "config":
        return _errors.EXIT_CONFIG
    return _errors.EXIT_FAILED


def describe(error: Exception) -> str:
    """Gives class, message, notes and, for errors of user code, where it was raised."""
    lines = [*_lines(error)]
    if not isinstance(error, _OURS):
        lines.append("(--traceback shows all of it)")
    if len(lines) > _MAX_LINES:
        rest = len(lines) - _MAX_LINES
        lines = [*lines[:_MAX_LINES], f"… {rest} more lines (--traceback)"]
    return "\n".join(lines)


_OURS = (_errors.TrainError, konfig.KonfigError)


def _lines(error: BaseException) -> Iterator[str]:
    if isinstance(error, BaseExceptionGroup):
        yield f"{type(error).__name__}: {error.message}"
    else:
        yield from f"{type(error).__name__}: {error}".splitlines()
    for note in getattr(error, "__notes__", ()):
        if not note.startswith(_JAX_NOTE):
            yield from note.splitlines()
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from (f"  {line}" for line in _lines(inner))
    elif not isinstance(error, _OURS):
        yield from _user_frames(error)


def _user_frames(error: BaseException) -> list[str]:
    frames = traceback_lib.extract_tb(error.__traceback__)
    own = [f for f in frames if not _is_library(f.filename)][-3:]
    return [f"  at {f.filename}:{f.lineno} in {f.name}: {f.line}" for f in own]


def _is_library(filename: str) -> bool:
    path = pathlib.PurePath(filename)
    if "site-packages" in path.parts or filename.startswith("<"):
        return True
    return _HERE in path.parents or any(
        parent.name in {"konfig", "kontext", "ktyping", "kmetrics"}
        for parent in path.parents
    )


_HERE = pathlib.PurePath(__file__).parent.parent
