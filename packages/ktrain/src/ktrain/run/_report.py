"""What is shown of a run at one moment, as text."""

from __future__ import annotations

import dataclasses
import sys


@dataclasses.dataclass(frozen=True)
class Report:
    """What is shown at one moment."""

    step: int
    total: int | None
    loss: float | None
    steps_per_s: float | None
    eta_s: float | None
    phase: str


def format_report(report: Report) -> str:
    """Gives the report as `key=value` pairs; what is not known is left out."""
    total = "" if report.total is None else f"/{report.total}"
    cells = [f"step={report.step}{total}"]
    if report.phase:
        cells.append(f"phase={report.phase.replace(' ', '_')}")
    return " ".join([*cells, *_numbers(report)])


def format_numbers(report: Report) -> str:
    """Gives loss, speed and remaining time alone."""
    return " ".join(_numbers(report))


def _numbers(report: Report) -> list[str]:
    cells = []
    if report.loss is not None:
        cells.append(f"loss={float(report.loss):.4g}")
    if report.steps_per_s is not None:
        cells.append(f"steps/s={report.steps_per_s:.3g}")
    if report.eta_s is not None:
        cells.append(f"eta={format_duration(report.eta_s)}")
    return cells


def format_duration(seconds: float) -> str:
    """Gives hours, minutes and seconds: `1:02:03`."""
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def print_line(line: str) -> None:
    """Prints a line to stdout in one write, so that two threads do not share it.

    A bar on the same terminal has put itself between, and draws the line above it.
    """
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
