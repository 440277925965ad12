"""The training loop: the order of events, in one place.

*Boundary k* is the moment when exactly k updates are in the state. Evaluations and
checkpoints happen at boundaries; the log of step k describes the state before
update k. N steps are exactly N updates: the last boundary is N.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax

from ktrain import _errors
from ktrain.checkpoint import CheckpointSession
from ktrain.evals import EvalFailures, EvalResult, EvalSession
from ktrain.interrupts import Interrupts
from ktrain.reporting import Reporter
from ktrain.state import TrainState
from ktrain.step import CompiledStep

_MAX_CHUNK = 50
"""Steps between two looks at the clock, the progress bar and other processes."""


def _due(every: int | None, step: int) -> bool:
    return every is not None and step % every == 0


@dataclasses.dataclass(kw_only=True)
class Loop:
    """The parts of a run, and the loop over them.

    Attributes:
      step: The compiled step.
      batches: Iterator of host batches with `state(lag)`.
      place: Moves a host batch to the devices.
      num_train_steps: Number of updates of the whole training.
      end: Number of updates after which this run stops, at most `num_train_steps`.
      log_every: Updates between two logs; None for no log.
      show_every: Updates between two logs with summaries; None for none.
      evals: Evaluators.
      failures: Takes the errors of evaluators; None lets them end the run.
      checkpoints: Where the state is saved; None for nowhere.
      clock: Gives what is saved with a checkpoint about time.
      state: The newest state.
      k: Number of updates in it.
      evaluated: Names of the evaluators that have run at boundary `k`.
      results: The newest result of each evaluator.
      saved: The newest step that is saved; None for none.
    """

    step: CompiledStep
    batches: Any
    place: Callable[[Any], Any]
    num_train_steps: int
    end: int
    log_every: int | None
    show_every: int | None
    evals: Sequence[EvalSession]
    failures: EvalFailures | None
    checkpoints: CheckpointSession | None
    config_digest: str | None
    reporter: Reporter
    interrupts: Interrupts
    state: TrainState
    k: int
    evaluated: set[str] = dataclasses.field(default_factory=set)
    results: dict[str, EvalResult] = dataclasses.field(default_factory=dict)
    saved: int | None = None
    _fetched: int = 0
    _called: set[str] = dataclasses.field(default_factory=set)

    def __post_init__(self) -> None:
        self._start = self.k

    def run(self) -> str:
        """Trains; gives why it stopped.

        Returns:
          `"done"` after the last update, `"stop_after_steps"`, `"preempted"` or
          `"interrupted"`; the state is saved in every case.
        """
        try:
            while (reason := self._boundary()) is None:
                self._advance()
            return reason
        except BaseException as error:
            error.add_note(f"ktrain: after {self.k} of {self.num_train_steps} updates")
            self._rescue(error)
            raise

    def _boundary(self) -> str | None:
        if self.checkpoints is not None:
            self.checkpoints.check()
        reason = self.interrupts.agreed() or self._evaluate()
        last = self.k == self.end
        if reason or last or (self.checkpoints and self.checkpoints.due(self.k)):
            self.reporter.flush()
            self.reporter.health.check_params(self.k, self.state.params)
            self._save(blocking=bool(reason) or last)
        if reason:
            self.reporter.event("preempt", self.k, reason=reason)
            return reason
        if last:
            self.reporter.flush()
            self.reporter.tick(self.k)
            return "done" if self.k == self.num_train_steps else "stop_after_steps"
        return None

    def _evaluate(self) -> str | None:
        for session in self.evals:
            due = session.run.due(self.k, self.num_train_steps)
            if not due or session.name in self.evaluated:
                continue
            self.reporter.flush()
            try:
                result = self._evaluate_one(session)
            except Exception as error:
                error.add_note(f"ktrain: evaluator {session.name!r} at step {self.k}")
                if self.failures is None:
                    raise
                self._go_on(session.name, error)
                continue
            if result is None:
                return self.interrupts.agreed()
            self.evaluated.add(session.name)
            self.results[session.name] = result
            self.reporter.evaluated(session.name, result)
        return None

    def _evaluate_one(self, session: EvalSession) -> EvalResult | None:
        with (
            self.reporter.chrono.phase("eval"),
            self.reporter.progress.phase(f"eval {session.name}"),
        ):
            return session.evaluate(
                self.state, step=self.k, interrupted=self.interrupts.noted
            )

    def _go_on(self, name: str, error: Exception) -> None:
        text = f"{type(error).__name__}: {error}"
        self.reporter.event("eval_error", self.k, name=name, error=text)
        assert self.failures is not None
        self.failures.add(name, self.k, error)

    def _advance(self) -> None:
        """Runs the updates up to the next boundary at which something is due."""
        shows = _due(self.show_every, self.k)
        if shows or _due(self.log_every, self.k):
            k, batch = self.k, self._next_batch()
            program = self.step.show if shows else self.step.report
            with self._first_call("show" if shows else "report"):
                self.state, report = program(self.state, batch)
                self.k += 1
            self.reporter.take(k, report)
        else:
            stop = self._next_event()
            quiet, noted = self.step.quiet, self.interrupts.noted
            with self._first_call("quiet"):
                self.state = quiet(self.state, self._next_batch())
                self.k += 1
            while self.k < stop and not noted():
                self.state = quiet(self.state, self._next_batch())
                self.k += 1
            # The device has work queued: reading the last report leaves it no gap.
            self.reporter.flush()
            self.reporter.tick(self.k)
        self.evaluated.clear()

    @contextlib.contextmanager
    def _first_call(self, variant: str) -> Iterator[None]:
        """Books the first call of a variant, which compiles it, as compilation."""
        if variant in self._called:
            yield
            return
        self._called.add(variant)
        with (
            self.reporter.chrono.phase("compile"),
            self.reporter.progress.phase("compile"),
        ):
            yield

    def _next_event(self) -> int:
        """Gives the first boundary after `k` that must not be run over."""
        k = self.k
        events = [self.end, k + _MAX_CHUNK]
        for every in (self.log_every, self.show_every):
            if every is not None:
                events.append(k - k % every + every)
        events += [s.run.next_due(k, self.num_train_steps) for s in self.evals]
        if self.checkpoints is not None:
            events.append(self.checkpoints.next_due(k) or self.end)
        return min(event for event in events if event > k)

    def _next_batch(self) -> Any:
        try:
            batch = next(self.batches)
        except StopIteration:
            raise _errors.DataExhausted(
                f"the training data ended after {self.k} of {self.num_train_steps}"
                " updates.\n  Use num_epochs=None to repeat the data, or"
                f" num_train_steps={self.k}."
            ) from None
        self._fetched += 1
        return self.place(batch)

    def _save(self, *, blocking: bool, lag: int = 0) -> None:
        if self.checkpoints is None or self.saved == self.k:
            return
        with self.reporter.chrono.phase("checkpoint"):
            self.checkpoints.save(
                self.k,
                self.state,
                data=self.batches.state(lag=lag),
                clock={
                    **self.reporter.chrono.state(),
                    "evaluated": sorted(self.evaluated),
                },
                metrics=self._eval_metrics(),
                config_digest=self.config_digest,
                blocking=blocking,
            )
        self.saved = self.k
        self.reporter.event("checkpoint", self.k)

    def _eval_metrics(self) -> Mapping[str, float]:
        return {
            f"{name}.{key.removeprefix('metrics/')}": float(value)
            for name, result in self.results.items()
            if result.step == self.k
            for key, value in result.values.items()
            if isinstance(value, (int, float))
        }

    def _rescue(self, error: BaseException) -> None:
        """Saves the state of a run that failed, where that is worth something."""
        unhealthy = isinstance(error, (_errors.NonFiniteError, _errors.CheckpointError))
        # One process of several cannot save alone: the others may be anywhere.
        alone = jax.process_count() == 1
        if unhealthy or not alone or self.k == 0 or self.state.is_deleted():
            return
        try:
            # An interrupt may have come between an update and its count.
            self.k = int(self.state.step)
            self.reporter.health.check_params(self.k, self.state.params)
            self._save(blocking=True, lag=self._fetched - (self.k - self._start))
        except Exception as second:
            error.add_note(f"ktrain: the state could not be saved either: {second}")
