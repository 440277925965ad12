"""Measures of a state over a data set, every example counted exactly once."""

from __future__ import annotations

import dataclasses
import logging
import numbers
import time
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import kmetrics
from ktrain import _bind, _errors
from ktrain.context import Context
from ktrain.evals._schedule import EveryNSteps
from ktrain.measures import Measures
from ktrain.rngs import RngStreams
from ktrain.sharding import ShardingStrategy
from ktrain.state import TrainState
from ktrain.step import TrainStep, split_mask

_log = logging.getLogger("ktrain")


@dataclasses.dataclass(frozen=True, kw_only=True)
class EvalResult:
    """What an evaluation found.

    Attributes:
      step: Number of updates in the evaluated state.
      values: `losses/<name>`, `losses/total`, `metrics/<name>`, `summaries/<name>`.
      num_examples: Examples that were counted, each once.
      seconds: Wall time, compilation included.
    """

    step: int
    values: Mapping[str, Any]
    num_examples: int
    seconds: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evaluator(_bind.RootBound):
    """Evaluates the state on a data set; what is not given is the trainer's.

    The last batch is padded and masked, so that every example counts exactly once.
    Metrics and summaries that an evaluation cannot have (they read `grads`,
    `updates`, …) are left out when they are inherited, and refused when given.

    Attributes:
      run: When to evaluate.
      ds: The data; by default the trainer's `eval_ds`.
      losses: Losses by name; by default the trainer's `train_losses`.
      metrics: Metrics by name; by default the trainer's `train_metrics`.
      summaries: Summaries by name; by default the trainer's `train_summaries`.
      num_batches: Batches to evaluate; None for all.
    """

    run: EveryNSteps
    ds: Any = _bind.root("eval_ds")
    losses: Mapping[str, Any] = _bind.root("train_losses")
    metrics: Mapping[str, Any] = _bind.root("train_metrics")
    summaries: Mapping[str, Any] = _bind.root("train_summaries", default={})
    model: Any = _bind.root("model")
    rng_streams: RngStreams = _bind.root("rng_streams")
    sharding: ShardingStrategy = _bind.root("sharding")
    schedules: Mapping[str, Any] = _bind.root("schedules")
    num_batches: int | None = None

    def __post_init__(self) -> None:
        if not all(hasattr(self.run, name) for name in ("due", "next_due")):
            raise _errors.TrainerConfigError(
                f"Evaluator(run={self.run!r}): expected a schedule, such as"
                " EveryNSteps(100)."
            )
        count = self.num_batches
        whole = isinstance(count, numbers.Integral) and not isinstance(count, bool)
        if count is not None and (not whole or count < 1):
            raise _errors.TrainerConfigError(
                f"Evaluator(num_batches={count!r}): expected a whole number of at"
                " least 1.\n  Use num_batches=None for all of them."
            )

    def open(self, name: str = "eval") -> EvalSession:
        """Gives the evaluation ready to run, compiled at its first batch.

        Raises:
          TrainerConfigError: No data, or a given metric cannot exist in evaluation.
          DataError: The data does not fit the devices.
        """
        if self.ds is None:
            raise _errors.TrainerConfigError(
                f"evals[{name!r}]: there is no data to evaluate on.\n"
                "  Set the trainer's eval_ds=, or the evaluator's ds=."
            )
        return EvalSession(name, self, self._measures(name))

    def evaluate(self, state: TrainState, *, name: str = "eval") -> EvalResult:
        """Evaluates a state once."""
        result = self.open(name).evaluate(state, step=int(state.step))
        assert result is not None  # Nothing can interrupt this evaluation.
        return result

    def _measures(self, name: str) -> Measures:
        summaries = _bind.value_of(self.summaries)
        measures = Measures(self.losses, self.metrics, summaries)
        try:
            for group in ("metrics", "summaries"):
                measures = self._possible(name, group, measures)
            return measures
        except kmetrics.NameCollisionError as error:
            error.add_note(f"evals[{name!r}]")
            raise

    def _possible(self, name: str, group: str, measures: Measures) -> Measures:
        """Gives the measures less the inherited ones that only training can have."""
        absent = {
            member: roots & Context.train_only
            for member, roots in measures.reads(group).items()
            if roots & Context.train_only
        }
        if not absent:
            return measures
        inherited = _bind.follows_root(self, group)
        listed = ", ".join(f"{m} (reads {min(r)})" for m, r in sorted(absent.items()))
        if not inherited:
            raise _errors.TrainerConfigError(
                f"evals[{name!r}].{group}: {listed}: there are no gradients, updates or"
                f" optimizer state in evaluation.\n  Leave these {group} out."
            )
        _log.info("evals[%r]: left out, training only: %s", name, listed)
        return measures.without(group, frozenset(absent))


class EvalSession:
    """One evaluator, compiled; used again at every evaluation."""

    def __init__(self, name: str, evaluator: Evaluator, measures: Measures):
        """Prepares the evaluation; use `Evaluator.open`."""
        self.name = name
        self.run = evaluator.run
        self._ds = evaluator.ds
        self._measures = measures
        self._num_batches = evaluator.num_batches
        self._layout = evaluator.sharding.layout()
        self._step = TrainStep(
            model=evaluator.model,
            optimizer=None,  # pyrefly: ignore[bad-argument-type]  # evaluation has none
            rng_streams=evaluator.rng_streams,
            losses=evaluator.losses,
            metrics=measures.metrics,
            summaries=measures.summaries,
            schedules=evaluator.schedules,
        )
        self._capture = "interms" in measures.roots()
        self._eval_batch = self._layout.jit(self._run_batch, args="ssbs")
        self._layout.check_batch_size(
            evaluator.ds.batch_size, what=f"evals[{name!r}].ds"
        )

    def evaluate(
        self,
        state: TrainState,
        *,
        step: int,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> EvalResult | None:
        """Evaluates a state; gives None when `interrupted` says so between batches.

        Raises:
          EvaluatorError: The data gave no batch.
        """
        start = time.perf_counter()
        # The optimizer's state stays out: it would only be moved about.
        model_state = state.replace(opt_state=None)
        merged, count = None, jnp.zeros((), jnp.int32)
        with self._open_data() as batches:
            for index, batch in enumerate(batches):
                if index == self._num_batches:
                    break
                if interrupted():
                    return None
                states, count = self._eval_batch(
                    model_state, count, self._layout.place(batch), np.int32(index)
                )
                merged = (
                    states if merged is None else self._measures.merge(merged, states)
                )
        if merged is None:
            raise _errors.EvaluatorError(
                f"evaluator {self.name!r} at step {step}: its data gave no batch."
            )
        values = self._measures.compute(merged)
        return EvalResult(
            step=step,
            values=values,
            num_examples=int(count),
            seconds=time.perf_counter() - start,
        )

    def _open_data(self) -> Any:
        return self._ds.open(
            purpose="eval",
            process_index=jax.process_index(),
            process_count=jax.process_count(),
        )

    def _run_batch(
        self, state: TrainState, count: jax.Array, batch: Any, index: jax.Array
    ) -> tuple[Mapping[str, Any], jax.Array]:
        context = self._step.forward(
            self._step.context(state, batch),
            train=False,
            rngs=self._step.rng_streams.eval(index),
            capture=self._capture,
        )
        _, losses = self._measures.total(context)
        measures = self._measures
        states = {"losses": losses, "metrics": measures.metric_states(context)}
        if measures.summaries:
            states["summaries"] = measures.summary_states(context)
        return states, count + _num_counted(batch)


def _num_counted(batch: Any) -> Any:
    rest, mask = split_mask(batch)
    if mask is not None:
        return jnp.sum(mask, dtype=jnp.int32)
    return jnp.int32(jax.tree.leaves(rest)[0].shape[0])
