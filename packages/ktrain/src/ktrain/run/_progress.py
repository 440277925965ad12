"""How far a run is: a bar on a terminal, plain lines elsewhere, both on stderr."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
import time
from collections.abc import Iterator
from typing import Literal, Protocol

from ktrain import _errors
from ktrain.run import _report

ProgressMode = Literal["auto", "bar", "lines", "off"]
_MODES = ("auto", "bar", "lines", "off")
_OFF_VARIABLE = "KTRAIN_NO_PROGRESS"
_MIN_UPDATE_S = 0.1


@dataclasses.dataclass(frozen=True, kw_only=True)
class Progress:
    """Shows step, loss, speed and remaining time while a run goes on.

    It writes to stderr, so that stdout holds the results alone. With the environment
    variable KTRAIN_NO_PROGRESS=1 nothing is shown, whatever `mode` says.

    Attributes:
      mode: "bar" draws a bar, "lines" prints `step=20/100 loss=0.51 steps/s=9.8
        eta=0:00:08`, "off" shows nothing; "auto" is "bar" when stderr is a terminal
        and else "lines".
      interval_s: Seconds between two lines. The first and the last step always have
        one.
    """

    mode: ProgressMode = "auto"
    interval_s: float = 5.0

    def __post_init__(self) -> None:
        """Checks the fields."""
        if self.mode not in _MODES:
            raise _errors.TrainerConfigError(
                f"Progress.mode cannot be {self.mode!r}"
                f"{_errors.did_you_mean(str(self.mode), _MODES)}\n"
                f"  Known: {', '.join(_MODES)}."
            )
        if not self.interval_s >= 0:
            raise _errors.TrainerConfigError(
                "Progress.interval_s must be 0 or more seconds, got"
                f" {self.interval_s!r}"
            )

    def start(
        self, total_steps: int | None, start_step: int = 0, description: str = "train"
    ) -> ProgressSession:
        """Begins to show; `close` the session, or use it as a context manager.

        Args:
          total_steps: Steps of the whole run; None when not known.
          start_step: Where this run starts.
          description: What stands before the bar.
        """
        mode = self._mode_now()
        display: _Display
        if mode == "off":
            display = _NoDisplay()
        elif mode == "bar":
            from ktrain.run import _progress_bar

            display = _progress_bar.BarDisplay(
                total_steps, start_step, description, force=self.mode == "bar"
            )
        else:
            display = _LineDisplay(self.interval_s)
        return ProgressSession(display, total_steps, start_step)

    def _mode_now(self) -> ProgressMode:
        if os.environ.get(_OFF_VARIABLE, "") not in {"", "0"}:
            return "off"
        if self.mode != "auto":
            return self.mode
        is_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        return "bar" if is_terminal else "lines"


class _Display(Protocol):
    def show(self, report: _report.Report, *, last: bool) -> None: ...
    def close(self) -> None: ...


class ProgressSession:
    """A running display; made by `Progress.start`.

    `update` may be called after every step: within 0.1 s of the last time it only
    notes the numbers.
    """

    def __init__(
        self, display: _Display, total_steps: int | None, start_step: int
    ) -> None:
        """Takes what shows the reports."""
        self._display = display
        self._total = total_steps
        self._step = start_step
        self._loss: float | None = None
        self._given_speed: float | None = None
        self._phases: list[str] = []
        self._next = float("-inf")
        # Speed is counted from the first update on, so that compiling is left out.
        self._origin: tuple[float, int] | None = None
        self._closed = False

    @property
    def shown(self) -> bool:
        """Whether anything is shown at all."""
        return not isinstance(self._display, _NoDisplay)

    def __enter__(self) -> ProgressSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def update(
        self, step: int, loss: float | None = None, steps_per_s: float | None = None
    ) -> None:
        """Says where the run is.

        Args:
          step: Updates done.
          loss: The last loss that is on the host; the one before stays when absent.
          steps_per_s: Updates per second; measured by the session when never given.
        """
        self._step = step
        if loss is not None:
            self._loss = loss
        if steps_per_s is not None:
            self._given_speed = steps_per_s
        now = time.monotonic()
        if now < self._next or self._closed:
            return
        self._next = now + _MIN_UPDATE_S
        if self._origin is None:
            self._origin = (now, step)
        self._display.show(self._snapshot(now), last=False)

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Shows what the run does instead of training, such as "eval test"."""
        self._phases.append(name)
        self._show_now()
        try:
            yield
        finally:
            self._phases.pop()
            self._show_now()

    def print(self, line: str) -> None:
        """Prints a line to stdout; above the bar when both are on the terminal."""
        _report.print_line(line)

    def close(self) -> None:
        """Shows the last state and ends; closing twice is allowed."""
        if self._closed:
            return
        self._closed = True
        if self._origin is not None:
            self._display.show(self._snapshot(time.monotonic()), last=True)
        self._display.close()

    def _show_now(self) -> None:
        if not self._closed:
            self._display.show(self._snapshot(time.monotonic()), last=False)

    def _snapshot(self, now: float) -> _report.Report:
        speed = self._given_speed
        if speed is None and self._origin is not None and now > self._origin[0]:
            speed = (self._step - self._origin[1]) / (now - self._origin[0]) or None
        eta = None
        if speed and self._total is not None:
            eta = max(self._total - self._step, 0) / speed
        phase = self._phases[-1] if self._phases else ""
        return _report.Report(self._step, self._total, self._loss, speed, eta, phase)


class _NoDisplay:
    def show(self, report: _report.Report, *, last: bool) -> None:
        pass

    def close(self) -> None:
        pass


class _LineDisplay:
    """`key=value` pairs, one line in a while."""

    def __init__(self, interval_s: float) -> None:
        self._interval_s = interval_s
        self._next = float("-inf")
        self._shown: tuple[int, str] | None = None

    def show(self, report: _report.Report, *, last: bool) -> None:
        now = time.monotonic()
        if last and self._shown == (report.step, report.phase):
            return
        if now < self._next and not last:
            return
        self._next = now + self._interval_s
        self._shown = (report.step, report.phase)
        print(_report.format_report(report), file=sys.stderr, flush=True)

    def close(self) -> None:
        pass
