"""Writing in one background thread, so that the training does not wait for disks."""

from __future__ import annotations

import dataclasses
import logging
import queue
import threading
from collections.abc import Callable, Mapping
from typing import Any

from ktrain import _errors
from ktrain.writers import _protocol, _values

_SLOW_S = 5.0

_logger = logging.getLogger("ktrain")


class StepOrderError(_errors.TrainError, ValueError):
    """A collection was given a step before its last one."""


def open_in_background(
    writer: _protocol.Writer,
    *,
    workdir: _protocol.Workdir,
    start_step: int,
    queue_size: int = 256,
) -> _protocol.WriterSession:
    """Opens a writer whose work is done by one background thread.

    Values are made plain in the calling thread, so that they may change afterwards
    and that an unwritable one is raised where it came from. When `queue_size` calls
    wait, the next one waits as well, and says so in the log after five seconds. An
    exception of the writer is raised by the next call, or by `close`.

    Raises:
      TrainerConfigError: The writer cannot work without a workdir.
      Exception: What a strict writer raised.
    """
    session = writer.open(workdir=workdir, start_step=start_step)
    return _BackgroundSession(session, queue_size)


@dataclasses.dataclass(frozen=True)
class _Call:
    doing: str
    run: Callable[[], None]
    done: threading.Event | None = None


class _BackgroundSession:
    def __init__(self, session: _protocol.WriterSession, queue_size: int):
        self._session = session
        self._queue: queue.Queue[_Call | None] = queue.Queue(queue_size)
        self._error: BaseException | None = None
        self._last_steps: dict[str, int] = {}
        self._closed = False
        self._thread = threading.Thread(
            target=self._work, name="ktrain-writer", daemon=True
        )
        self._thread.start()

    def scalars(
        self,
        collection: str,
        step: int,
        values: Mapping[str, Any],
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        flat = _values.flatten(values)
        # A copy: the caller may reuse the dict while the record waits.
        extra = dict(extra) if extra else None
        self._check(collection, step)
        self._put(
            _Call(
                f"writing {collection} at step {step}",
                lambda: self._session.scalars(collection, step, flat, extra),
            )
        )

    def text(self, collection: str, step: int, name: str, markdown: str) -> None:
        self._check(collection, step)
        self._put(
            _Call(
                f"writing {collection} at step {step}",
                lambda: self._session.text(collection, step, name, markdown),
            )
        )

    def flush(self) -> None:
        self._wait_for(_Call("flushing", self._session.flush, threading.Event()))

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._queue.put(_Call("closing", self._session.close))
        self._queue.put(None)
        self._thread.join()
        self._raise_error()

    def _check(self, collection: str, step: int) -> None:
        last = self._last_steps.get(collection)
        if last is None:
            _protocol.collection_parts(collection)
        elif step < last:
            raise StepOrderError(
                f"{collection}: step {step} comes after step {last}.\n"
                "  Steps of one collection never go back within a run; write to"
                " another collection, or open the writer anew with start_step="
                f"{step}."
            )
        self._last_steps[collection] = step

    def _wait_for(self, call: _Call) -> None:
        assert call.done is not None
        self._put(call)
        call.done.wait()
        self._raise_error()

    def _put(self, call: _Call) -> None:
        if self._closed:
            raise RuntimeError("this writer session is closed")
        try:
            self._queue.put(call, timeout=_SLOW_S)
        except queue.Full:
            _logger.warning(
                "the training waits for its writer: %d records are queued, and none"
                " was written for %g s",
                self._queue.maxsize,
                _SLOW_S,
            )
            self._queue.put(call)
        self._raise_error()

    def _raise_error(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _work(self) -> None:
        while (call := self._queue.get()) is not None:
            try:
                call.run()
            except BaseException as error:
                error.add_note(f"raised in the writer thread while {call.doing}")
                # The first one: the others follow from it.
                self._error = self._error or error
            finally:
                if call.done is not None:
                    call.done.set()
