"""A checkpoint folder in use: save in the background, list, restore."""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from ktrain import _errors
from ktrain.checkpoint import _manifest, _steps
from ktrain.checkpoint._group import Group
from ktrain.checkpoint._restore import Reader, Restored
from ktrain.checkpoint._save import Snapshot, Writer
from ktrain.checkpoint._schedule import Schedule

_log = logging.getLogger("ktrain")


class CheckpointSession:
    """The checkpoints of one run; made by `Checkpointer.open`.

    At most one save is under way. A save that fails in the background raises its
    `CheckpointError` once, from the next `check`, `save`, `wait`, `restore` or `close`;
    its folder is gone by then, and the same step can be saved again.

    Attributes:
      root: The folder that holds one folder for each step.
    """

    def __init__(
        self,
        *,
        root: Path,
        group: Group,
        schedule: Schedule,
        writer: Writer,
        reader: Reader,
    ):
        """Takes the folder (which need not exist) and who does the work."""
        self.root = root
        self._group = group
        self._schedule = schedule
        self._writer = writer
        self._reader = reader
        self._background = _Background()
        self._is_clean = False
        weakref.finalize(self, self._background.report_unseen)

    def steps(self) -> list[int]:
        """Gives the committed steps, ascending, as they are on disk now."""
        return _steps.committed(self.root)

    def latest(self) -> int | None:
        """Gives the newest committed step; None if there is none."""
        newest_first = reversed(_steps.present(self.root))
        return next(
            (s for s in newest_first if _steps.is_committed(self.root, s)), None
        )

    def due(self, step: int) -> bool:
        """Says whether a state with `step` updates is to be saved."""
        return self._schedule.due(step)

    def next_due(self, step: int) -> int | None:
        """Gives the first step after `step` that is due; None if there is none."""
        return self._schedule.next_due(step)

    def save(
        self,
        step: int,
        state: Any,
        *,
        data: Mapping[str, Any] | None,
        clock: Mapping[str, Any] | None = None,
        metrics: Mapping[str, Any] | None = None,
        config_digest: str | None = None,
        blocking: bool = False,
    ) -> bool:
        """Saves a state; returns when the arrays may be overwritten.

        With several processes every one calls this with its global arrays, and it
        returns when the step is committed.

        Args:
          step: Number of updates in the state.
          state: Pytree of jax or numpy arrays, typed random keys and Python numbers.
          data: State of the training data's iterator, plain JSON data.
          clock: State of the timers, plain JSON data.
          metrics: Values known at this step; numpy and jax numbers are welcome.
          config_digest: Digest of the config of the run.
          blocking: Return only when the step is committed.

        Returns:
          False if the step is committed already: it is left as it is, and this is
          logged.

        Raises:
          CheckpointError: The save before this one failed; this one did (if
            `blocking`); or something has no place in a checkpoint.
        """
        self.wait()
        self._require_writer()
        self._clean()
        if _steps.is_committed(self.root, step):
            _log.info("step %d is in %s already; not saved again", step, self.root)
            return False
        extras = {
            "data": _manifest.json_ready(data, "data"),
            "clock": _manifest.json_ready(clock, "clock"),
            "metrics": _manifest.json_ready(metrics, "metrics", finite=False),
            "config_digest": config_digest,
        }
        alone = self._group.processes == 1
        snapshot = Snapshot.take(step, state, extras, to_host=alone)
        if not alone:
            self._writer.write(snapshot)
            return True
        self._background.start(lambda: self._writer.write(snapshot))
        if blocking:
            self.wait()
        return True

    def restore(self, like: Any, *, step: int | None = None) -> Restored | None:
        """Reads a state back; the newest good one unless a step is named.

        A newer step that is damaged is renamed to `step_N.corrupt-<reason>` with a
        warning, and the one before it is used. A step of another model is not damaged:
        it is an error, and nothing is renamed.

        Args:
          like: The state's structure with abstract arrays (`jax.ShapeDtypeStruct`) or
            arrays; their shardings are those of the result. Arrays stay valid.
          step: The step to read; nothing else is tried then.

        Returns:
          What was saved, or None if the folder holds no step at all.

        Raises:
          CheckpointNotFoundError: The step asked for does not exist; lists those there.
          CheckpointMismatchError: Paths, shapes or dtypes differ; lists them. No array
            was read.
          CheckpointError: No step can be used; nothing was changed.
        """
        self.wait()
        self._clean()
        if step is None:
            return self._reader.newest(like)
        return self._reader.exactly(step, like)

    def check(self) -> None:
        """Raises the error of a save that failed since the last look; never waits."""
        self._background.raise_error()

    def wait(self) -> None:
        """Waits until the save under way is committed; raises its error."""
        self._background.join()
        self._background.raise_error()

    def close(self) -> None:
        """Waits as `wait` does. The session needs no other ending."""
        self.wait()

    def __enter__(self) -> CheckpointSession:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.close()
        except _errors.CheckpointError as failure:
            if error is None:
                raise
            error.add_note(f"besides, {failure}")

    def _require_writer(self) -> None:
        if self._group.processes == 1 and not self._group.primary:
            raise _errors.CheckpointError(
                f"{self.root} was opened with primary=False, for reading only\n"
                "  Open it with primary=True in the process that trains."
            )

    def _clean(self) -> None:
        if self._is_clean:
            return
        if self._group.primary:
            _steps.clean(self.root)
        self._group.all_ok(True)  # nobody lists the folder before it is clean
        self._is_clean = True


class _Background:
    """One thread at a time, and the error it ended with."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def start(self, job: Callable[[], None]) -> None:
        self._thread = threading.Thread(
            target=self._run, args=(job,), name="ktrain-checkpoint"
        )
        self._thread.start()

    def join(self) -> None:
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def raise_error(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error

    def report_unseen(self) -> None:
        """Logs the error that nobody came to see, when the session ends unclosed."""
        if self._error is not None:
            _log.error("a checkpoint session was not closed: %s", self._error)

    def _run(self, job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException as error:
            self._error = error
