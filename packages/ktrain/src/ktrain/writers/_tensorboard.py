"""TensorBoard event files, through tensorboardX: no TensorFlow anywhere."""

from __future__ import annotations

import dataclasses
import itertools
import os
import pathlib
import time
from collections.abc import Mapping
from typing import Any, ClassVar, cast

from ktrain.writers import _protocol, _values

_COUNTER = itertools.count()


@dataclasses.dataclass(frozen=True, kw_only=True)
class TensorBoardWriter:
    """Writes event files to `<workdir>/tb/<collection>/`; view with `tensorboard`.

    Numbers are scalars, texts and tables go to the text tab; images and videos,
    histograms and point clouds to tabs of their own. A run that goes on adds a file
    which tells TensorBoard to forget the steps that it repeats. `extra` is left out.
    """

    needs_workdir: ClassVar[bool] = True

    def open(
        self, *, workdir: _protocol.Workdir, start_step: int
    ) -> _protocol.WriterSession:
        """Starts to write; tensorboardX is imported by the first value."""
        folder = _protocol.required_workdir(self, workdir) / "tb"
        return _TensorBoardSession(folder, start_step)


class _TensorBoardSession:
    def __init__(self, folder: pathlib.Path, start_step: int):
        self._folder = folder
        self._start_step = start_step
        self._files: dict[str, _EventFile] = {}
        self._closed = False

    def scalars(
        self,
        collection: str,
        step: int,
        values: Mapping[str, Any],
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        flat = _values.flatten(values)
        file = self._file(collection, step)
        file.add_numbers(step, flat.numbers())
        for name, text in flat.texts().items():
            file.add_text(step, name, text)
        for name, media in flat.media().items():
            file.add_media(step, name, media)
        # A process that is killed must not take hours of curves with it.
        file.flush()

    def text(self, collection: str, step: int, name: str, markdown: str) -> None:
        self._file(collection, step).add_text(step, name, markdown)

    def flush(self) -> None:
        for file in self._files.values():
            file.flush()

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        self._files = {}
        self._closed = True

    def _file(self, collection: str, step: int) -> _EventFile:
        file = self._files.get(collection)
        if self._closed:
            raise RuntimeError("this writer session is closed")
        if file is None:
            folder = self._folder.joinpath(*_protocol.collection_parts(collection))
            purge = _purge_step(folder, self._start_step, step)
            file = self._files[collection] = _EventFile(folder, purge)
        return file


def _purge_step(folder: pathlib.Path, start_step: int, first_step: int) -> int | None:
    """Gives the step from which on older files are void; None without older files."""
    if not any(folder.glob("events.out.tfevents.*")):
        return None
    # What was written at the step of the checkpoint stays, unless it comes again.
    repeats = start_step == 0 or first_step <= start_step
    return start_step if repeats else start_step + 1


class _EventFile:
    """One event file, written in the calling thread.

    tensorboardX's SummaryWriter adds a queue, a thread and an exit hook for each
    file, and its flush does not wait for the queue; its parts below have none of that.
    """

    def __init__(self, folder: pathlib.Path, purge_step: int | None):
        from tensorboardX import event_file_writer, summary
        from tensorboardX.proto import event_pb2, summary_pb2

        # Made by protobuf while they are imported: no checker knows what is in them.
        self._events = cast(Any, event_pb2)
        self._summaries = cast(Any, summary_pb2)
        self._text_summary = summary.text
        folder.mkdir(parents=True, exist_ok=True)
        # The file name itself counts seconds. Without the suffix, files of one second
        # overwrite each other; with the time in front of it, readers see them in order.
        suffix = f".{time.time_ns()}.{os.getpid()}.{next(_COUNTER)}"
        self._writer = event_file_writer.EventsWriter(str(folder / "events"), suffix)
        if purge_step is not None:
            log = self._events.SessionLog(status=self._events.SessionLog.START)
            self._add(purge_step, session_log=log)

    def add_numbers(self, step: int, numbers: Mapping[str, float]) -> None:
        """Adds scalars at one step."""
        value = self._summaries.Summary.Value
        items = [value(tag=k, simple_value=float(v)) for k, v in numbers.items()]
        if items:
            self._add(step, summary=self._summaries.Summary(value=items))

    def add_text(self, step: int, name: str, markdown: str) -> None:
        """Adds a text at one step."""
        self._add(step, summary=self._text_summary(name, markdown))

    def add_media(self, step: int, name: str, media: Any) -> None:
        """Adds what a summary of kmetrics computed at one step."""
        from ktrain.writers import _tensorboard_media

        summary = _tensorboard_media.summary_of(name, media)
        if summary is not None:
            self._add(step, summary=summary)

    def _add(self, step: int, **what: Any) -> None:
        event = self._events.Event(step=int(step), wall_time=time.time(), **what)
        self._writer.write_event(event)

    def flush(self) -> None:
        """Hands the events to the operating system."""
        self._writer.flush()

    def close(self) -> None:
        """Flushes and closes the file."""
        self._writer.close()
