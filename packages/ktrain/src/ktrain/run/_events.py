"""What happened to a run, in order: `<workdir>/events.jsonl`."""

from __future__ import annotations

import logging
import os
import pathlib
import time
from typing import Any

from ktrain import _errors
from ktrain.run import _json_lines

_logger = logging.getLogger("ktrain")

_KINDS = (
    "start",
    "resume",
    "checkpoint",
    "eval",
    "eval_error",
    "preempt",
    "error",
    "complete",
)
_OWN_FIELDS = ("event", "step", "time")


class EventLog:
    """Appends events to `<workdir>/events.jsonl`; the file is made by the first one.

    A line is `{"event": kind, "step": 200, "time": seconds since 1970, ...}`.
    """

    def __init__(self, workdir: str | os.PathLike[str]):
        """Takes the folder of the run."""
        self.path = pathlib.Path(workdir) / "events.jsonl"
        self._lines: _json_lines.JsonLines | None = None

    def add(self, kind: str, step: int, /, **fields: Any) -> None:
        """Writes one event; when the disk refuses it, the log says so.

        Args:
          kind: "start", "resume", "checkpoint", "eval", "eval_error", "preempt",
            "error" or "complete".
          step: The number of updates done when it happened.
          **fields: More facts, of JSON types.

        Raises:
          ValueError: The kind is unknown, or a field is called like a fixed one.
          TypeError: A field is not JSON.
        """
        if kind not in _KINDS:
            raise ValueError(
                f"unknown event {kind!r}{_errors.did_you_mean(kind, _KINDS)}\n"
                f"  Known: {', '.join(_KINDS)}."
            )
        for name in _OWN_FIELDS:
            if name in fields:
                raise ValueError(f"an event has its own field {name!r}; rename yours")
        record = {"event": kind, "step": int(step), "time": round(time.time(), 3)}
        try:
            if self._lines is None:
                self._lines = _json_lines.JsonLines(self.path)
            self._lines.append(record | fields)
        except OSError as error:
            _logger.warning("the event %r is not in %s: %s", kind, self.path, error)

    def close(self) -> None:
        """Waits until the disk holds the events, and closes the file."""
        if self._lines is not None:
            self._lines.close()
            self._lines = None


def read_events(workdir: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Gives the events of a run in order; none when the run has no such file."""
    path = pathlib.Path(workdir) / "events.jsonl"
    return list(_json_lines.read_json_lines(path)) if path.exists() else []
