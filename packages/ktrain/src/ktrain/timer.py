"""Where the time of a run goes, on the host, read only at events.

Nothing here waits for the device or runs once per step: the loop calls `report`
where it logs, and enters a phase where it stops training.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_TRAIN = "train"
_COMPILE_EVENT = "/jax/core/compile/backend_compile_duration"


class Chrono:
    """Speed, shares of phases, total time, and compilations.

    JAX sends work to the device and returns at once, so a speed is right over a
    window between two reports, not for one step.

    Attributes:
      batch_size: Examples per step, over all processes; None leaves the examples per
        second out.
    """

    def __init__(
        self,
        *,
        batch_size: int | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ):
        """Takes the batch size, and where the time comes from (seconds)."""
        self.batch_size = batch_size
        self._clock = clock
        self._seconds_before = 0.0
        self._started: float | None = None
        self._last_step = 0
        self._mark = 0.0
        self._phases = [_TRAIN]
        self._spent = {_TRAIN: 0.0}
        self._compiled_before = (0, 0.0)

    def start(self, step: int) -> None:
        """Begins to count, at a number of steps done."""
        _compilations.listen()
        self._compiled_before = _compilations.read()
        self._started = self._mark = self._clock()
        self._last_step = step
        self._spent = {_TRAIN: 0.0}

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Counts the time inside as `name`, and not as training.

        In a phase within a phase, time counts for the inner one alone.
        """
        self._book()
        self._phases.append(name)
        try:
            yield
        finally:
            self._book()
            self._phases.pop()

    def _book(self) -> None:
        """Adds the time since the last call to the phase that it was spent in."""
        now = self._clock()
        name = self._phases[-1]
        self._spent[name] = self._spent.get(name, 0.0) + now - self._mark
        self._mark = now

    def report(self, step: int) -> dict[str, float]:
        """Gives the numbers of the window since the last report, and begins a new one.

        Args:
          step: Steps done now.

        Returns:
          "perf/steps_per_s" and, with a batch size, "perf/examples_per_s", both over
          the time outside of phases and absent when no step was done;
          "perf/share_<phase>" of each phase in the window and "perf/share_train" of
          the rest, in [0, 1]; "perf/total_seconds" of the run with its restarts;
          "perf/compile_count" and "perf/compile_seconds" since `start`.

        Raises:
          RuntimeError: The chrono was not started.
        """
        if self._started is None:
            raise RuntimeError("Chrono.report needs Chrono.start before")
        self._book()
        training, window = self._spent[_TRAIN], sum(self._spent.values())
        values: dict[str, float] = {}
        steps = step - self._last_step
        if steps > 0 and training > 0:
            values["perf/steps_per_s"] = steps / training
            if self.batch_size is not None:
                values["perf/examples_per_s"] = steps * self.batch_size / training
        if window > 0 and len(self._spent) > 1:
            for name, seconds in self._spent.items():
                values[f"perf/share_{name.replace(' ', '_')}"] = seconds / window
        values["perf/total_seconds"] = self.total_seconds
        values["perf/compile_count"] = self.compile_count
        values["perf/compile_seconds"] = self.compile_seconds
        self._last_step = step
        self._spent = {_TRAIN: 0.0}
        return values

    @property
    def total_seconds(self) -> float:
        """Seconds since `start`, and those of the restored runs before."""
        now = 0.0 if self._started is None else self._clock() - self._started
        return self._seconds_before + now

    @property
    def compile_count(self) -> int:
        """Programs that XLA compiled in this process since `start`."""
        return _compilations.read()[0] - self._compiled_before[0]

    @property
    def compile_seconds(self) -> float:
        """Seconds that these compilations took."""
        return _compilations.read()[1] - self._compiled_before[1]

    def state(self) -> dict[str, float]:
        """Gives what a later run goes on from, for a checkpoint; plain JSON."""
        return {"total_seconds": self.total_seconds}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on from the `state` of an earlier run; before or after `start`."""
        self._seconds_before = float(state["total_seconds"])


class _Compilations:
    """Counts compilations of the process, once JAX is asked to tell of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listening = False
        self._count = 0
        self._seconds = 0.0

    def listen(self) -> None:
        with self._lock:
            if self._listening:
                return
            self._listening = True
        import jax.monitoring

        # Once for the process: a listener for each trainer would outlive it.
        jax.monitoring.register_event_duration_secs_listener(self._on_duration)

    def _on_duration(self, event: str, duration_secs: float, **_: Any) -> None:
        if event == _COMPILE_EVENT:
            # Programs may be compiled in several threads at once.
            with self._lock:
                self._count += 1
                self._seconds += duration_secs

    def read(self) -> tuple[int, float]:
        with self._lock:
            return self._count, self._seconds


_compilations = _Compilations()
