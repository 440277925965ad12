"""Append-only files of one JSON object per line that survive a crash."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any

from ktrain.run import _json_file


class JsonLines:
    """A file that grows by whole lines.

    A process that died may have left half a line at the end. The next one that
    opens the file ends that line, so that its own records stay readable, and
    `read_json_lines` passes over the half.
    """

    def __init__(self, path: str | os.PathLike[str]):
        """Opens or makes the file, and the folders above it."""
        self.path = pathlib.Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Unbuffered: what was appended outlives the process, however it ends.
        self._file = open(self.path, "ab", buffering=0)
        self.was_empty = self._file.tell() == 0
        self._is_torn = not self.was_empty and not self._ends_with_newline()

    def _ends_with_newline(self) -> bool:
        with open(self.path, "rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"

    def append(self, record: Mapping[str, Any]) -> None:
        """Adds one line.

        Raises:
          TypeError: A part of the record is not JSON; nothing is written then.
          OSError: The disk is full, ...; the lines before and after stay readable.
        """
        line = _json_file.dumps(record).encode() + b"\n"
        # One call for a whole line, so that lines of two processes do not mix.
        data = b"\n" + line if self._is_torn else line
        self._is_torn = True
        while data:
            data = data[self._file.write(data) :]
        self._is_torn = False

    def sync(self) -> None:
        """Waits until the disk holds every line."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Syncs and closes the file; closing twice is allowed."""
        if not self._file.closed:
            self.sync()
            self._file.close()


def read_json_lines(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """Gives the objects of a file in their order; passes over broken lines.

    Raises:
      FileNotFoundError: There is no such file.
    """
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                continue
            if isinstance(record, dict):
                yield record
