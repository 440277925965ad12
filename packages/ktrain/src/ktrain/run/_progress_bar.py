"""The bar on a terminal, drawn by rich; imported when a bar is wanted."""

from __future__ import annotations

import sys

import rich.console
import rich.progress

from ktrain.run import _report


class BarDisplay:
    """One line that is redrawn: description, bar, step/N, numbers.

    Two redraws a second, by rich's own thread: what the loop pays is the storing of
    the numbers.
    """

    def __init__(
        self, total: int | None, start: int, description: str, *, force: bool
    ) -> None:
        """Starts to draw; `force` draws also where no terminal is seen."""
        console = rich.console.Console(
            file=sys.stderr, force_terminal=True if force else None
        )
        self._description = description
        self._bar = rich.progress.Progress(
            rich.progress.TextColumn("{task.description}", markup=False),
            rich.progress.BarColumn(bar_width=None),
            rich.progress.MofNCompleteColumn(),
            rich.progress.TextColumn("{task.fields[numbers]}", markup=False),
            console=console,
            refresh_per_second=2,
            # Lines to a terminal must go above the bar, lines to a file to that file.
            redirect_stdout=sys.stdout.isatty(),
            redirect_stderr=True,
            expand=True,
        )
        self._task = self._bar.add_task(
            description, total=total, completed=start, numbers=""
        )
        self._bar.start()

    def show(self, report: _report.Report, *, last: bool) -> None:
        """Stores the numbers for the next redraw; the last are drawn at once."""
        numbers = _report.format_numbers(report)
        self._bar.update(
            self._task,
            completed=report.step,
            description=report.phase or self._description,
            numbers=numbers,
            refresh=last,
        )

    def close(self) -> None:
        """Leaves the bar as it is and gives the terminal back."""
        self._bar.stop()
