"""Signals that ask a run to stop: noted at once, acted on between steps.

SIGTERM and SIGUSR1 mean "save and leave" (schedulers send them before they kill);
SIGINT (Ctrl-C) the same for a person. A second signal ends the process at once.
"""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Literal

import jax
import numpy as np

_PREEMPTING = (signal.SIGTERM, signal.SIGUSR1)

StopReason = Literal["preempted", "interrupted"]


class Interrupts:
    """Notes signals within a `with` block; earlier handlers are put back after it.

    Handlers can be set in the main thread only; elsewhere nothing is noted.
    """

    def __init__(self, *, preempt: bool = True):
        """Prepares; with `preempt=False` SIGTERM and SIGUSR1 are left alone."""
        self._signals = [signal.SIGINT, *(_PREEMPTING if preempt else ())]
        self._before: dict[int, Any] = {}
        self._noted: int | None = None
        self._processes = jax.process_count()

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in self._signals:
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._noted is not None:
            if number == signal.SIGINT:
                raise KeyboardInterrupt
            os._exit(128 + number)
        self._noted = number

    def noted(self) -> bool:
        """Tells whether this process may stop now; never in a group of processes.

        One of several processes must not leave a loop of collectives alone; the
        group decides in `agreed`.
        """
        return self._noted is not None and self._processes == 1

    def agreed(self) -> StopReason | None:
        """Gives why to stop, the same in all processes; all must ask together."""
        number = self._noted or 0
        if self._processes > 1:
            from jax.experimental import multihost_utils

            number = int(np.max(multihost_utils.process_allgather(np.int32(number))))
        if not number:
            return None
        return "interrupted" if number == signal.SIGINT else "preempted"
