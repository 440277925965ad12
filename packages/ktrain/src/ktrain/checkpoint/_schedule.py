"""When a state is due to be saved."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Schedule:
    """Every `interval` steps (None: never), step 0 only on request."""

    interval: int | None
    step_zero: bool

    def due(self, step: int) -> bool:
        """Says whether a state with `step` updates is to be saved."""
        if self.interval is None or (step == 0 and not self.step_zero):
            return False
        return step % self.interval == 0

    def next_due(self, step: int) -> int | None:
        """Gives the first step after `step` that is due; None if there is none."""
        if self.interval is None:
            return None
        following = (step // self.interval + 1) * self.interval
        return following if self.due(following) else following + self.interval
