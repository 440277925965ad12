"""From device values to what is written: one log step late, never waiting.

A reporting step's arrays start their way to the host at once and are read when the
next report (or an evaluation, a save, the end) comes.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax

from ktrain.evals import EvalResult
from ktrain.health import HealthPolicy
from ktrain.measures import Measures
from ktrain.run import EventLog, ProgressSession, StatusFile
from ktrain.step import Report
from ktrain.timer import Chrono
from ktrain.writers import WriterSession, flatten


@dataclasses.dataclass(kw_only=True)
class Reporter:
    """Takes reports of the loop and hands values to writer, progress and status.

    Attributes:
      last_step: Step of the newest values; None before the first.
      last_values: The newest values of training.
    """

    measures: Measures
    health: HealthPolicy
    writer: WriterSession
    progress: ProgressSession
    chrono: Chrono
    status: StatusFile | None
    events: EventLog | None
    num_train_steps: int
    last_step: int | None = None
    last_values: dict[str, Any] = dataclasses.field(default_factory=dict)
    _pending: tuple[int, Report, dict[str, float]] | None = None

    def take(self, step: int, report: Report) -> None:
        """Takes the report of the update with number `step`, still on the device."""
        self.flush()
        for leaf in jax.tree.leaves(report):
            # Without jit some are on the host already.
            if isinstance(leaf, jax.Array):
                leaf.copy_to_host_async()
        self._pending = (step, report, self.chrono.report(step))

    def flush(self) -> None:
        """Reads and writes what was taken.

        Raises:
          NonFiniteError: As the health policy says.
        """
        if self._pending is None:
            return
        (step, report, perf), self._pending = self._pending, None
        values = self._compute(step, report.states)
        grad_norm, schedules = jax.device_get((report.grad_norm, report.schedules))
        values["perf/grad_norm"] = float(grad_norm)
        values |= {f"schedules/{name}": float(v) for name, v in schedules.items()}
        values |= perf
        self.last_step, self.last_values = step, values
        self.writer.scalars("train", step, values)
        self.tick(step)
        self.health.check(step, values, float(grad_norm))

    def _compute(self, step: int, states: Any) -> dict[str, Any]:
        try:
            return self.measures.compute(states)
        except Exception as error:
            error.add_note(f"ktrain: computing the metrics of step {step}")
            raise

    def evaluated(self, name: str, result: EvalResult) -> None:
        """Takes the result of an evaluation."""
        extra = {"num_examples": result.num_examples, "seconds": result.seconds}
        self.writer.scalars(name, result.step, result.values, extra)
        self.event("eval", result.step, name=name, **extra)

    def event(self, kind: str, step: int, **fields: Any) -> None:
        """Writes one line of `events.jsonl`."""
        if self.events is not None:
            self.events.add(kind, step, **fields)

    def tick(self, step: int) -> None:
        """Shows how far training is; cheap, but not for every step."""
        speed = self.last_values.get("perf/steps_per_s")
        loss = self.last_values.get("losses/total")
        self.progress.update(step, loss=loss, steps_per_s=speed)
        self.show_status(step, phase="train")

    def show_status(self, step: int, *, phase: str, force: bool = False) -> None:
        """Writes `status.json`; unless forced, not more often than it allows."""
        if self.status is not None:
            self.status.write(
                force=force,
                phase=phase,
                step=step,
                num_train_steps=self.num_train_steps,
                steps_per_s=self.last_values.get("perf/steps_per_s"),
                metrics=flatten(self.last_values).numbers(),
            )
