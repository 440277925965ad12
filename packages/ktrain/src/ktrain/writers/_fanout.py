"""Several writers as one, and the writer that writes nothing."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections.abc import Callable, Mapping
from typing import Any

from ktrain import _errors
from ktrain.writers import _protocol, _values
from ktrain.writers._console import ConsoleWriter
from ktrain.writers._jsonl import JsonlWriter
from ktrain.writers._tensorboard import TensorBoardWriter

_logger = logging.getLogger("ktrain")


@dataclasses.dataclass(frozen=True, init=False)
class MultiWriter:
    """Gives everything to several writers: `MultiWriter(jsonl=..., tracker=...)`.

    A writer that fails is reported once in the log, by its name, and then left out:
    a full disk or a lost tracker never ends a training. With `strict=True` its
    exception is raised instead. A value that nobody can write is raised always.

    Attributes:
      writers: The writers by name.
      strict: Whether a failing writer's exception is raised.
    """

    writers: Mapping[str, _protocol.Writer]
    strict: bool = False

    def __init__(
        self,
        *,
        writers: Mapping[str, _protocol.Writer] | None = None,
        strict: bool = False,
        **named: _protocol.Writer,
    ):
        """Takes writers by name, as keywords or as one mapping.

        Raises:
          TrainerConfigError: Something given is no writer, or a name is given twice.
        """
        both = set(writers or ()).intersection(named)
        if both:
            raise _errors.TrainerConfigError(
                f"MultiWriter got the writer {sorted(both)[0]!r} twice"
            )
        children = {**(writers or {}), **named}
        for name, child in children.items():
            if isinstance(child, type) or not isinstance(child, _protocol.Writer):
                raise _errors.TrainerConfigError(
                    f"MultiWriter({name}=...) needs a writer, got {child!r}.\n"
                    "  Give an object such as writers.JsonlWriter()."
                )
        object.__setattr__(self, "writers", children)
        object.__setattr__(self, "strict", strict)

    @property
    def needs_workdir(self) -> bool:
        """Whether one of the writers does."""
        return any(map(_protocol.needs_workdir, self.writers.values()))

    def open(
        self, *, workdir: _protocol.Workdir, start_step: int
    ) -> _protocol.WriterSession:
        """Opens every writer.

        Raises:
          TrainerConfigError: A writer cannot work with this trainer at all.
        """
        session = _MultiSession(self.strict)
        for name, writer in self.writers.items():
            session.open_child(name, writer, workdir, start_step)
        return session


class _MultiSession:
    def __init__(self, strict: bool):
        self._strict = strict
        self._children: dict[str, _protocol.WriterSession] = {}

    def open_child(
        self,
        name: str,
        writer: _protocol.Writer,
        workdir: _protocol.Workdir,
        start_step: int,
    ) -> None:
        try:
            self._children[name] = writer.open(workdir=workdir, start_step=start_step)
        except Exception as error:
            if self._strict or isinstance(error, _errors.TrainerConfigError):
                self._close_all_quietly()
                raise
            _report(name, "opening", error)

    def scalars(
        self,
        collection: str,
        step: int,
        values: Mapping[str, Any],
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        flat = _values.flatten(values)
        self._each(
            f"writing {collection} at step {step}",
            lambda child: child.scalars(collection, step, flat, extra),
        )

    def text(self, collection: str, step: int, name: str, markdown: str) -> None:
        self._each(
            f"writing {collection} at step {step}",
            lambda child: child.text(collection, step, name, markdown),
        )

    def flush(self) -> None:
        self._each("flushing", lambda child: child.flush())

    def close(self) -> None:
        children, self._children = self._children, {}
        failures = []
        for name, child in children.items():
            try:
                child.close()
            except Exception as error:
                error.add_note(f"raised by the writer {name!r} while closing")
                failures.append(error)
                if not self._strict:
                    _report(name, "closing", error)
        if failures and self._strict:
            raise failures[0]

    def _each(
        self, doing: str, call: Callable[[_protocol.WriterSession], None]
    ) -> None:
        for name, child in list(self._children.items()):
            try:
                call(child)
            except Exception as error:
                if self._strict:
                    error.add_note(f"raised by the writer {name!r} while {doing}")
                    raise
                del self._children[name]
                _report(name, doing, error)
                with contextlib.suppress(Exception):
                    child.close()

    def _close_all_quietly(self) -> None:
        children, self._children = self._children, {}
        for child in children.values():
            with contextlib.suppress(Exception):
                child.close()


def _report(name: str, doing: str, error: Exception) -> None:
    _logger.warning(
        "the writer %r failed while %s and is left out from here on; the training and"
        " the other writers go on (%s: %s)",
        name,
        doing,
        type(error).__name__,
        error,
        exc_info=error,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class NoopWriter:
    """Writes nothing; values are still checked, so that mistakes show."""

    def open(
        self, *, workdir: _protocol.Workdir = None, start_step: int = 0
    ) -> _protocol.WriterSession:
        """Gives a session that does nothing."""
        return _NoopSession()


class _NoopSession:
    def scalars(
        self,
        collection: str,
        step: int,
        values: Mapping[str, Any],
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        _values.flatten(values)

    def text(self, collection: str, step: int, name: str, markdown: str) -> None:
        pass

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


def default_writer() -> MultiWriter:
    """Gives what a trainer has by default: JSON lines, TensorBoard and console."""
    return MultiWriter(
        jsonl=JsonlWriter(), tensorboard=TensorBoardWriter(), console=ConsoleWriter()
    )
