"""What a writer is: a description that a trainer holds, and a live session."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from ktrain import _errors

Workdir = str | os.PathLike[str] | None


class WriterSession(Protocol):
    """A writer at work. Calls come from one thread at a time."""

    def scalars(
        self,
        collection: str,
        step: int,
        values: Mapping[str, Any],
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """Writes what metrics computed at one step.

        Args:
          collection: "train", "eval/test", ...; each has its own axis of steps.
          step: The step that the values belong to.
          values: Numbers, 0-d arrays, vectors of at most 16 numbers, texts, media of
            `kmetrics.summaries`, or dicts of these, by name. A writer without a place
            for media leaves them out.
          extra: More facts about the record, of JSON types; a writer without a place
            for them leaves them out.
        """
        ...

    def text(self, collection: str, step: int, name: str, markdown: str) -> None:
        """Writes a text in Markdown."""
        ...

    def flush(self) -> None:
        """Returns when everything so far is on disk."""
        ...

    def close(self) -> None:
        """Flushes and ends the session; closing twice is allowed."""
        ...


@runtime_checkable
class Writer(Protocol):
    """Says where values go, and opens a session that brings them there.

    A writer that writes files has `needs_workdir = True`, so that a trainer without a
    workdir is refused before it starts.
    """

    def open(self, *, workdir: Workdir, start_step: int) -> WriterSession:
        """Starts to write.

        Args:
          workdir: The folder of the run, or None.
          start_step: The step that the run goes on from; 0 for a new run. What an
            earlier attempt wrote after it is superseded.
        """
        ...


def needs_workdir(writer: Writer) -> bool:
    """Whether the writer can only be opened with a workdir."""
    return bool(getattr(writer, "needs_workdir", False))


def required_workdir(writer: Writer, workdir: Workdir) -> pathlib.Path:
    """Gives the workdir as a path.

    Raises:
      TrainerConfigError: There is none.
    """
    if workdir is None or not os.fspath(workdir):
        raise _errors.TrainerConfigError(
            f"{type(writer).__name__} writes files, but there is no workdir.\n"
            "  Set workdir=..., or use writers.ConsoleWriter() or writers.NoopWriter()."
        )
    return pathlib.Path(workdir)


def collection_parts(collection: str) -> tuple[str, ...]:
    """Gives the folders of a collection's name.

    Raises:
      TrainerConfigError: The name is no relative path that stays inside.
    """
    parts = tuple(collection.split("/"))
    bad = any(part.strip(". ") == "" or part != part.strip() for part in parts)
    if bad or "\\" in collection or not collection.isprintable():
        raise _errors.TrainerConfigError(
            f"{collection!r} cannot name a collection: it becomes a file.\n"
            "  Give names like 'train' or 'eval/test': parts of letters, digits, '_',"
            " '-', '.', with '/' between them."
        )
    return parts
