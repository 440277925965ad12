"""One call of `Trainer.train`: opens the parts, runs the loop, closes the parts."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections.abc import Iterator, Mapping
from typing import Any

import jax

from ktrain import overview, records, startup
from ktrain.checkpoint import CheckpointSession, Restored
from ktrain.evals import EvalFailures, EvalResult, EvalSession
from ktrain.interrupts import Interrupts
from ktrain.loop import Loop
from ktrain.reporting import Reporter
from ktrain.run import (
    EventLog,
    Progress,
    ProgressSession,
    StatusFile,
    write_json,
)
from ktrain.state import TrainState
from ktrain.step import CompiledStep
from ktrain.timer import Chrono
from ktrain.writers import NoopWriter, open_in_background

_log = logging.getLogger("ktrain")


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainResult:
    """What a call of `Trainer.train` gives; unpacks to `(state, last_metrics)`.

    Attributes:
      state: The state after the last update.
      last_metrics: The newest logged values of training, `losses/total` and so on.
      last_metrics_step: The step they describe; None when nothing was logged.
      evals: The newest result of each evaluator in this call.
      stop_reason: `"done"`, `"already_complete"`, `"stop_after_steps"`, `"preempted"`
        or `"interrupted"`.
      start_step: Number of updates in the state that the call began with.
      steps_run: Updates done in this call.
      workdir: Folder of the run; None without one.
    """

    state: TrainState
    last_metrics: Mapping[str, Any]
    last_metrics_step: int | None
    evals: Mapping[str, EvalResult]
    stop_reason: str
    start_step: int
    steps_run: int
    workdir: Any

    def __iter__(self) -> Iterator[Any]:
        return iter((self.state, self.last_metrics))


def run(trainer: Any) -> TrainResult:
    """Trains; see `Trainer.train`."""
    layout = trainer.sharding.layout()
    primary = jax.process_index() == 0
    with contextlib.ExitStack() as stack:
        # All that can be wrong with config and data shows before anything is written.
        startup.check_eval_errors(trainer)
        layout.check_batch_size(trainer.train_ds.batch_size, what="train_ds")
        evals = [evaluator.open(name) for name, evaluator in trainer.evals.items()]
        batches = stack.enter_context(contextlib.closing(startup.open_batches(trainer)))
        startup.check_length(trainer, batches)
        if trainer.checkpointer is not None:
            batches.state(lag=0)
        step = CompiledStep(trainer.trainstep, layout)
        step.trace(trainer.state_spec, trainer.train_ds.element_spec)

        workdir = startup.enter_workdir(trainer, stack, primary)
        checkpoints = startup.open_checkpoints(trainer, stack, primary)
        accepted = startup.check_drift(trainer, workdir, checkpoints)
        restored = startup.restore(trainer, checkpoints)
        if restored is not None and startup.is_complete(trainer, restored, workdir):
            return _already_complete(restored, workdir)
        if restored is not None:
            batches.restore(restored.data)
        attempt = _Attempt(
            trainer=trainer,
            step=step,
            layout=layout,
            workdir=workdir,
            files=workdir if primary else None,
            batches=batches,
            evals=evals,
            checkpoints=checkpoints,
            restored=restored,
            accepted_drift=accepted,
        )
        return attempt.run(stack)


def _already_complete(restored: Restored, workdir: Any) -> TrainResult:
    return TrainResult(
        state=restored.state,
        last_metrics={},
        last_metrics_step=None,
        evals={},
        stop_reason="already_complete",
        start_step=restored.step,
        steps_run=0,
        workdir=workdir,
    )


def _headline(start: int, state: TrainState) -> str:
    if start:
        return f"resumed from step {start}, at its position in the data"
    return overview.params_table(state.params)


@dataclasses.dataclass(kw_only=True)
class _Attempt:
    """A start or a resume, from its first line in `run.json` to its last."""

    trainer: Any
    step: CompiledStep
    layout: Any
    workdir: Any
    files: Any
    batches: Any
    evals: list[EvalSession]
    checkpoints: CheckpointSession | None
    restored: Restored | None
    accepted_drift: list[str]
    loop: Loop | None = None

    def run(self, stack: contextlib.ExitStack) -> TrainResult:
        trainer, restored = self.trainer, self.restored
        start = 0 if restored is None else restored.step
        state = trainer.init_state() if restored is None else restored.state
        self._write_start(start, state)
        events = self._open_events(stack, start)
        try:
            return self._run(stack, state, start, events)
        except BaseException as error:
            step = start if self.loop is None else self.loop.k
            self._write_failure(error, step, events)
            raise

    def _run(
        self,
        stack: contextlib.ExitStack,
        state: TrainState,
        start: int,
        events: EventLog | None,
    ) -> TrainResult:
        trainer = self.trainer
        progress = self._open_progress(stack, start, state)
        writer = stack.enter_context(self._open_writer(start))
        interrupts = stack.enter_context(
            Interrupts(preempt=trainer.on_preempt == "save_exit")
        )
        failures = EvalFailures() if trainer.on_eval_error == "continue" else None
        loop = self.loop = Loop(
            step=self.step,
            batches=self.batches,
            place=self.layout.place,
            num_train_steps=trainer.num_train_steps,
            end=self._end(start),
            log_every=trainer.log_metrics_every,
            show_every=trainer.log_summaries_every if trainer.train_summaries else None,
            evals=self.evals,
            failures=failures,
            checkpoints=self.checkpoints,
            config_digest=records.config_digest(trainer.raw_cfg),
            reporter=self._reporter(writer, progress, events, start),
            interrupts=interrupts,
            state=state,
            k=start,
            evaluated=set(self._clock().get("evaluated", ())),
            saved=None if self.restored is None else start,
        )
        reason = loop.run()
        if self.checkpoints is not None:
            self.checkpoints.wait()
        writer.flush()
        if failures is not None and reason in {"done", "stop_after_steps"}:
            # Not complete: the next run evaluates again what failed at the end.
            failures.raise_any()
        self._write_end(loop, reason)
        return self._result(loop, reason, start)

    def _clock(self) -> Mapping[str, Any]:
        return (self.restored.clock if self.restored is not None else None) or {}

    def _end(self, start: int) -> int:
        more = self.trainer.stop_after_steps
        total = self.trainer.num_train_steps
        return total if more is None else min(total, start + more)

    def _open_progress(
        self, stack: contextlib.ExitStack, start: int, state: TrainState
    ) -> ProgressSession:
        shown = self.trainer.progress if jax.process_index() == 0 else None
        session = (shown or Progress(mode="off")).start(
            total_steps=self.trainer.num_train_steps,
            start_step=start,
            description="train",
        )
        stack.callback(session.close)
        if session.shown:
            session.print(_headline(start, state))
        return session

    @contextlib.contextmanager
    def _open_writer(self, start: int) -> Iterator[Any]:
        writer = self.trainer.writer if jax.process_index() == 0 else NoopWriter()
        opened = open_in_background(writer, workdir=self.files, start_step=start)
        try:
            yield opened
        finally:
            opened.close()

    def _open_events(self, stack: contextlib.ExitStack, start: int) -> EventLog | None:
        if self.files is None:
            return None
        events = EventLog(self.files)
        stack.callback(events.close)
        events.add("start" if self.restored is None else "resume", start)
        return events

    def _reporter(
        self, writer: Any, progress: Any, events: Any, start: int
    ) -> Reporter:
        chrono = Chrono(batch_size=self.trainer.train_ds.batch_size)
        if self._clock():
            chrono.restore(self._clock())
        chrono.start(start)
        return Reporter(
            measures=self.step.step.measures,
            health=self.trainer.health,
            writer=writer,
            progress=progress,
            chrono=chrono,
            status=StatusFile(self.files) if self.files is not None else None,
            events=events,
            num_train_steps=self.trainer.num_train_steps,
        )

    def _write_failure(
        self, error: BaseException, step: int, events: EventLog | None
    ) -> None:
        if self.files is None or events is None:
            return
        text = f"{type(error).__name__}: {error}"
        records.finish_attempt(self.files, stop_reason="error", error=text)
        events.add("error", step, error=text)

    def _write_start(self, start: int, state: TrainState) -> None:
        if self.files is None:
            return
        trainer = self.trainer
        (self.files / "train_complete.json").unlink(missing_ok=True)
        records.write_config(self.files, trainer.raw_cfg, trainer)
        if self.restored is None:
            records.write_shapes(
                self.files,
                batch_spec=trainer.train_ds.element_spec,
                params=state.params,
                context=self.step.context_spec,
            )
        records.append_attempt(
            self.files,
            records.start_record(
                seed=trainer.seed, start_step=start, drift=self.accepted_drift
            ),
        )

    def _write_end(self, loop: Loop, reason: str) -> None:
        if self.files is None:
            return
        loop.reporter.show_status(loop.k, phase=reason, force=True)
        records.finish_attempt(self.files, stop_reason=reason, step=loop.k)
        if reason != "done":
            return
        complete = {
            "step": loop.k,
            "metrics": records.plain(loop.reporter.last_values),
            "evals": {
                name: {"step": r.step, "num_examples": r.num_examples}
                | records.plain(r.values)
                for name, r in loop.results.items()
            },
        }
        write_json(self.files / "train_complete.json", complete)
        loop.reporter.event("complete", loop.k)

    def _result(self, loop: Loop, reason: str, start: int) -> TrainResult:
        return TrainResult(
            state=loop.state,
            last_metrics=loop.reporter.last_values,
            last_metrics_step=loop.reporter.last_step,
            evals=loop.results,
            stop_reason=reason,
            start_step=start,
            steps_run=loop.k - start,
            workdir=self.workdir,
        )
