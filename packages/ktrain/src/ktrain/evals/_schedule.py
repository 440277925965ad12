"""When an evaluator runs."""

from __future__ import annotations

import dataclasses

from ktrain import _errors


@dataclasses.dataclass(frozen=True)
class EveryNSteps:
    """Evaluates the state with `0, n, 2n, …` updates, and the last one.

    Attributes:
      n: Updates between two evaluations, at least 1.
      first: Whether the untrained state is evaluated.
      last: Whether the last state is evaluated although n does not divide its step.
    """

    n: int
    first: bool = True
    last: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.n, bool) or not isinstance(self.n, int) or self.n < 1:
            raise _errors.TrainerConfigError(
                f"EveryNSteps(n={self.n!r}): n must be a whole number of at least 1.\n"
                "  Leave the evaluator out to evaluate nothing."
            )

    def due(self, step: int, num_train_steps: int) -> bool:
        """Tells whether the state with `step` updates is evaluated."""
        if step == 0 and not self.first:
            return False
        return step % self.n == 0 or (self.last and step == num_train_steps)

    def next_due(self, step: int, num_train_steps: int) -> int:
        """Gives the first step after `step` that may be due."""
        return min(step - step % self.n + self.n, num_train_steps)
