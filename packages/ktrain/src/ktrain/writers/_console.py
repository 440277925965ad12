"""One readable line on stdout for each report."""

from __future__ import annotations

import dataclasses
import shutil
import sys
from collections.abc import Mapping
from typing import Any

from ktrain import run
from ktrain.writers import _protocol, _values

_GROUPS = ("losses", "metrics", "schedules")
_SPEED = "perf/steps_per_s"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ConsoleWriter:
    """Prints `train  step=100  loss=0.4312  acc=0.912  steps/s=215` to stdout.

    Names lose "losses/" and "metrics/" where no two become equal; the total loss is
    `loss`. Columns keep their place from line to line. On a terminal, columns that do
    not fit are counted at the end; a file gets all of them, and no colours. Of
    "perf/..." only the speed is shown, of a text its first line; the files have the
    rest. Lines go above the progress bar when there is one. No workdir is needed.
    """

    def open(
        self, *, workdir: _protocol.Workdir = None, start_step: int = 0
    ) -> _protocol.WriterSession:
        """Starts to print."""
        return _ConsoleSession()


class _ConsoleSession:
    def __init__(self) -> None:
        self._widths: dict[tuple[str, str], int] = {}

    def scalars(
        self,
        collection: str,
        step: int,
        values: Mapping[str, Any],
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        cells = {"": collection, "step": f"step={int(step)}"}
        for label, value in _labelled(_values.flatten(values)).items():
            cells[label] = f"{label}={_format(value)}"
        padded = [
            self._padded("" if label in {"", "step"} else collection, label, cell)
            for label, cell in cells.items()
        ]
        run.print_line(_fitted(padded))

    def text(self, collection: str, step: int, name: str, markdown: str) -> None:
        lines = markdown.strip().splitlines() or [""]
        more = f"  (and {len(lines) - 1} more lines)" if len(lines) > 1 else ""
        run.print_line(f"{collection}  step={int(step)}  {name}: {lines[0]}{more}")

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def _padded(self, collection: str, label: str, cell: str) -> str:
        width = max(self._widths.get((collection, label), 0), len(cell))
        self._widths[collection, label] = width
        return cell.ljust(width)


def _labelled(values: _values.FlatValues) -> dict[str, _values.Scalar]:
    """Gives the values to show by short names: loss, losses, metrics, rest, speed."""
    scalars: dict[str, _values.Scalar] = {**values.numbers(), **values.texts()}
    shown = {k: v for k, v in scalars.items() if not k.startswith("perf/")}
    losses = [name for name in shown if name.startswith("losses/")]
    if len(losses) == 2 and "losses/total" in losses:
        # The total of one loss says nothing new.
        losses.remove("losses/total")
        del shown[losses[0]]
    order = ["losses/total", *sorted(shown, key=_rank)]
    short = {name: _short(name) for name in order if name in shown}
    taken = list(short.values())
    labels = {n: s if taken.count(s) == 1 else n for n, s in short.items()}
    labelled = {label: shown[name] for name, label in labels.items()}
    if _SPEED in scalars:
        labelled["steps/s"] = scalars[_SPEED]
    return labelled


def _rank(name: str) -> int:
    group = name.partition("/")[0]
    return _GROUPS.index(group) if group in _GROUPS else len(_GROUPS)


def _short(name: str) -> str:
    if name == "losses/total":
        return "loss"
    group, slash, rest = name.partition("/")
    return rest if slash and group in _GROUPS else name


def _format(value: _values.Scalar) -> str:
    if isinstance(value, str):
        line = " ".join(value.split())
        return repr(line if len(line) <= 40 else line[:39] + "…")
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def _fitted(cells: list[str]) -> str:
    line = "  ".join(cells).rstrip()
    width = shutil.get_terminal_size().columns
    if not sys.stdout.isatty() or len(line) <= width:
        return line
    for left_out in range(1, len(cells) - 2):
        line = "  ".join(cells[:-left_out]).rstrip() + f"  +{left_out} more"
        if len(line) <= width:
            break
    return line
