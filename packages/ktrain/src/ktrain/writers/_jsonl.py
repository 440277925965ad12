"""Metrics as JSON lines: `<workdir>/metrics/<collection>.jsonl`, never rewritten."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import time
from collections.abc import Mapping
from typing import Any, ClassVar

from ktrain import run
from ktrain.writers import _protocol, _values

_OWN_FIELDS = frozenset({"step", "time", "values", "texts", "resume"})


@dataclasses.dataclass(frozen=True, kw_only=True)
class JsonlWriter:
    """Appends one line for each report to `<workdir>/metrics/<collection>.jsonl`.

    A line is `{"step": 100, "time": 1735689600.0, "values": {"losses/total": 0.5}}`,
    with texts under "texts". NaN and infinities are the texts "NaN", "Infinity" and
    "-Infinity", so that each line is standard JSON; media are not numbers and are left
    to other writers. A run that goes on at step 80
    adds a line `{"resume": 80, ...}` and leaves the old ones; `read_jsonl` gives each
    step once.
    """

    needs_workdir: ClassVar[bool] = True

    def open(
        self, *, workdir: _protocol.Workdir, start_step: int
    ) -> _protocol.WriterSession:
        """Starts to write; a file is made by its first record."""
        folder = _protocol.required_workdir(self, workdir) / "metrics"
        return _JsonlSession(folder, start_step)


class _JsonlSession:
    def __init__(self, folder: pathlib.Path, start_step: int):
        self._folder = folder
        self._start_step = start_step
        self._files: dict[str, run.JsonLines] = {}
        self._closed = False

    def scalars(
        self,
        collection: str,
        step: int,
        values: Mapping[str, Any],
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        flat = _values.flatten(values)
        record = {**_head(step), **_checked_extra(extra), "values": flat.numbers()}
        texts = flat.texts()
        if texts:
            record["texts"] = texts
        self._file(collection).append(record)

    def text(self, collection: str, step: int, name: str, markdown: str) -> None:
        self._file(collection).append({**_head(step), "texts": {name: markdown}})

    def flush(self) -> None:
        for file in self._files.values():
            file.sync()

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        self._files = {}
        self._closed = True

    def _file(self, collection: str) -> run.JsonLines:
        file = self._files.get(collection)
        if self._closed:
            raise RuntimeError("this writer session is closed")
        if file is None:
            *folders, name = _protocol.collection_parts(collection)
            path = self._folder.joinpath(*folders, f"{name}.jsonl")
            file = self._files[collection] = run.JsonLines(path)
            if self._start_step > 0 or not file.was_empty:
                file.append({"resume": self._start_step, "time": _now()})
        return file


def _head(step: int) -> dict[str, Any]:
    return {"step": int(step), "time": _now()}


def _now() -> float:
    return round(time.time(), 3)


def _checked_extra(extra: Mapping[str, Any] | None) -> Mapping[str, Any]:
    taken = _OWN_FIELDS.intersection(extra or ())
    if taken:
        raise ValueError(
            f"extra cannot hold {', '.join(sorted(taken))}: a record has such a field"
        )
    return extra or {}


def read_jsonl(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Gives the records of a metrics file, each step once, in order of steps.

    Where a run went on at step k, the records of the attempt before with steps beyond
    k are left out, and one at k itself if it was written again. What one attempt
    wrote at one step is one record. Half a line that a crash left is passed over.

    Returns:
      Dicts with "step", "time", "values" (floats, also NaN and infinities), "texts"
      if there are any, and what was given as extra.

    Raises:
      FileNotFoundError: There is no such file.
    """
    records: dict[int, dict[str, Any]] = {}
    current: set[int] = set()
    for record in run.read_json_lines(path):
        if "resume" in record:
            last = record["resume"]
            # Nothing was restored at 0: the run began anew.
            kept = records.items() if last > 0 else ()
            records = {step: old for step, old in kept if step <= last}
            current = set()
        elif "step" in record:
            step = record["step"]
            before = records.get(step, {}) if step in current else {}
            records[step] = _joined(before, record)
            current.add(step)
    return [records[step] for step in sorted(records)]


def _joined(before: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    new = record.get("values", {})
    values = {name: run.from_json_number(value) for name, value in new.items()}
    joined = {**before, **record, "values": {**before.get("values", {}), **values}}
    if "texts" in before and "texts" in record:
        joined["texts"] = {**before["texts"], **record["texts"]}
    return joined
