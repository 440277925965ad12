"""Where a run is now, for schedulers and people: `<workdir>/status.json`."""

from __future__ import annotations

import datetime
import logging
import os
import pathlib
import socket
import time
from collections.abc import Mapping
from typing import Any

from ktrain.run import _json_file

_NAME = "status.json"

_logger = logging.getLogger("ktrain")


class StatusFile:
    """Rewrites `<workdir>/status.json`, at most once in `interval_s` seconds.

    The file is replaced as a whole: a reader never sees half of one.
    """

    def __init__(self, workdir: str | os.PathLike[str], *, interval_s: float = 5.0):
        """Takes the folder of the run, and the least seconds between two writes."""
        self.path = pathlib.Path(workdir) / _NAME
        self.interval_s = interval_s
        self._next = float("-inf")
        self._has_failed = False

    def write(
        self,
        *,
        phase: str,
        step: int,
        num_train_steps: int | None = None,
        steps_per_s: float | None = None,
        eta_s: float | None = None,
        metrics: Mapping[str, Any] | None = None,
        force: bool = False,
    ) -> bool:
        """Writes the file, unless it was written a moment ago.

        Args:
          phase: What the run does: "init", "train", "eval test", "done", ...
          step: Updates done.
          num_train_steps: Updates in all.
          steps_per_s: Updates per second now.
          eta_s: Seconds to the end; taken from `steps_per_s` when absent.
          metrics: The last values, of JSON types.
          force: Writes in any case; for a change of phase and for the end.

        Returns:
          Whether the file was written. When the disk refuses it, that is said once in
          the log: no run ends because nobody can see where it is.
        """
        now = time.monotonic()
        if now < self._next and not force:
            return False
        if eta_s is None and steps_per_s and num_train_steps is not None:
            eta_s = max(num_train_steps - step, 0) / steps_per_s
        record = {
            "phase": phase,
            "step": int(step),
            "num_train_steps": num_train_steps,
            "steps_per_s": steps_per_s,
            "eta_s": eta_s,
            "metrics": dict(metrics or {}),
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "updated_at": datetime.datetime.now(datetime.UTC).isoformat(),
        }
        # Not durable: after a power cut nobody asks where the run was.
        self._next = now + self.interval_s
        try:
            _json_file.write_json(self.path, record, durable=False)
        except OSError as error:
            if not self._has_failed:
                _logger.warning("cannot write %s: %s", self.path, error)
            self._has_failed = True
            return False
        return True


def read_status(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Gives the status in a workdir, or in a status file itself.

    Raises:
      FileNotFoundError: The run has not written one.
    """
    file = pathlib.Path(path)
    return _json_file.read_json(file / _NAME if file.is_dir() else file)
