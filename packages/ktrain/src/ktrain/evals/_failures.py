"""Evaluations that failed while training went on."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterable

_log = logging.getLogger("ktrain")

_SHOWN = 5
"""Steps of one evaluator that a message lists."""


class EvalFailures:
    """The first error of each evaluator, and the steps at which it failed."""

    def __init__(self) -> None:
        """Starts without any."""
        self._first: dict[str, Exception] = {}
        self._steps: dict[str, list[int]] = {}

    def add(self, name: str, step: int, error: Exception) -> None:
        """Takes one failure; keeps no array of it alive."""
        _log.warning(
            "evaluator %r failed at step %d, training goes on: %s: %s",
            name,
            step,
            type(error).__name__,
            error,
        )
        traceback.clear_frames(error.__traceback__)
        self._first.setdefault(name, error)
        self._steps.setdefault(name, []).append(step)

    def raise_any(self) -> None:
        """Raises what was taken, if anything was.

        Raises:
          ExceptionGroup: The first error of each evaluator.
        """
        if not self._first:
            return
        for name, error in self._first.items():
            if later := self._steps[name][1:]:
                error.add_note(f"ktrain: it failed again at {_listed(later)}")
        names = ", ".join(map(repr, self._first))
        raise ExceptionGroup(
            f"the updates are done and saved; evaluators that failed: {names}",
            list(self._first.values()),
        )


def _listed(steps: Iterable[int]) -> str:
    steps = list(steps)
    more = len(steps) - _SHOWN
    shown = ", ".join(map(str, steps[:_SHOWN]))
    return f"steps {shown}" + (f" and {more} more" if more > 0 else "")
