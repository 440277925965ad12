"""`Trainer`: the fields of an experiment, and running it."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Mapping
from typing import Any, Literal

import jax

from ktrain import _bind, _validate, session
from ktrain.checkpoint import Checkpointer
from ktrain.evals import Evaluator
from ktrain.health import HealthPolicy
from ktrain.rngs import RngStreams
from ktrain.run import Progress
from ktrain.sharding import ShardingStrategy
from ktrain.state import TrainState
from ktrain.step import CompiledStep, TrainStep
from ktrain.writers import Writer, default_writer


@dataclasses.dataclass(frozen=True, kw_only=True)
class Trainer:
    """An experiment: data, model, losses, metrics, optimizer, and how to run them.

    Parts that take a field from the trainer (the seed, the workdir, the losses of an
    evaluator) are filled when the trainer is made; explicit values always win.

    Attributes:
      train_ds: Pipeline of training batches.
      model: A `flax.linen.Module` whose inputs are `kontext.Key` fields.
      optimizer: An optax transformation.
      num_train_steps: Number of updates, exactly.
      train_losses: Losses by name, possibly nested; their weighted sum is minimised.
      train_metrics: Metrics by name, possibly nested, logged with the losses.
      train_summaries: Summaries by name, possibly nested: images, histograms, texts.
      schedules: Functions of the step by name, logged as `schedules/<name>`.
      seed: Root of every random choice. Default 0.
      workdir: Folder of the run. Default none: then nothing is written.
      eval_ds: Data of evaluators that have none of their own.
      evals: Evaluators by name.
      checkpointer: When and where to save; None saves nothing.
      writer: Where metrics go. Default: JSON lines, TensorBoard and console.
      log_metrics_every: Updates between two logs; None logs nothing. Default 100.
      log_summaries_every: Updates between two logs with the summaries, losses and
        metrics included; None logs no summaries of training. Default 1000.
      stop_after_steps: Further updates of this call; None for all.
      rng_streams: Streams of random keys for the model.
      sharding: Where arrays live. Default: data parallel over all devices.
      trainstep: The computation of a step.
      health: What to do about losses that are not finite.
      progress: How progress is shown; None shows nothing.
      on_preempt: `"save_exit"` on SIGTERM and SIGUSR1, or `"ignore"` them.
      on_eval_error: `"raise"` what an evaluation raises, or `"continue"` to train on
        and raise an `ExceptionGroup` at the end; one process only.
      resume: `"auto"`, `"must"` (an error without a checkpoint) or `"never"` (an error
        with one).
      on_config_drift: What to do when the workdir holds a run of another config:
        `"error"`, `"warn"` or `"accept"`.
      allow_no_loss: Permits a trainer without losses.
      aux: Free slot for values that a config refers to.
      raw_cfg: The config that the trainer was resolved from.
    """

    train_ds: Any
    model: Any
    optimizer: Any
    num_train_steps: int
    train_losses: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    train_metrics: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    train_summaries: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    schedules: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    seed: int = 0
    workdir: Any = None
    eval_ds: Any = None
    evals: Mapping[str, Evaluator] = dataclasses.field(default_factory=dict)
    checkpointer: Checkpointer | None = None
    writer: Writer = dataclasses.field(default_factory=default_writer)
    log_metrics_every: int | None = 100
    log_summaries_every: int | None = 1000
    stop_after_steps: int | None = None
    rng_streams: RngStreams = dataclasses.field(default_factory=RngStreams)
    sharding: ShardingStrategy = dataclasses.field(default_factory=ShardingStrategy)
    trainstep: TrainStep = dataclasses.field(default_factory=TrainStep, repr=False)
    health: HealthPolicy = dataclasses.field(default_factory=HealthPolicy)
    progress: Progress | None = dataclasses.field(default_factory=Progress)
    on_preempt: Literal["save_exit", "ignore"] = "save_exit"
    on_eval_error: Literal["raise", "continue"] = "raise"
    resume: Literal["auto", "must", "never"] = "auto"
    on_config_drift: Literal["error", "warn", "accept"] = "error"
    allow_no_loss: bool = False
    aux: Any = None
    raw_cfg: Any = dataclasses.field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        _validate.check_trainer(self)
        _bind.bind_fields(self)

    def __post_konfig_resolve__(self, cfg: Any) -> None:
        # konfig hands the config over after the object is made; not a field of it.
        object.__setattr__(self, "raw_cfg", cfg)

    def replace(self, **changes: Any) -> Trainer:
        """Gives a trainer with other fields; parts that follow the trainer follow.

        The config is changed along where the new value is plain data; otherwise the
        new trainer has none, and `config.json` says that it is not exact.
        """
        raw_cfg = changes.pop("raw_cfg", _changed_config(self.raw_cfg, changes))
        return dataclasses.replace(self, raw_cfg=raw_cfg, **changes)

    def init_state(self) -> TrainState:
        """Gives the state before the first update, on the devices.

        Raises:
          DataError: The batch cannot be split over the devices or processes.
        """
        layout = self.sharding.layout()
        batch_spec = self.train_ds.element_spec
        init = functools.partial(self.trainstep.init, batch_spec)
        return jax.jit(init, out_shardings=layout.replicated)()

    @property
    def state_spec(self) -> TrainState:
        """The shapes, dtypes and shardings of the state; computes nothing."""
        batch_spec = self.train_ds.element_spec
        abstract = jax.eval_shape(functools.partial(self.trainstep.init, batch_spec))
        return self.sharding.layout().state_spec(abstract)

    @property
    def context_spec(self) -> Any:
        """The shapes and dtypes of everything that keys can point to in a step."""
        state = self.state_spec
        batch = jax.tree.map(
            lambda s: jax.ShapeDtypeStruct(s.shape, s.dtype), self.train_ds.element_spec
        )
        step = functools.partial(self.trainstep.step, capture=True)
        return jax.eval_shape(step, state, batch)[1]

    def compile_step(self) -> CompiledStep:
        """Gives the step that training runs, compiled at its first call."""
        return CompiledStep(self.trainstep, self.sharding.layout())

    def train(self) -> session.TrainResult:
        """Trains up to `num_train_steps`, or goes on from the newest checkpoint.

        Returns:
          The final state and the newest values.

        Raises:
          TrainError: See its subclasses in `ktrain.errors`; errors of user code pass
            through with a note that tells where.
        """
        return session.run(self)


def _changed_config(raw_cfg: Any, changes: Mapping[str, Any]) -> Any:
    plain = (int, float, str, bool, type(None), os.PathLike)
    if raw_cfg is None or not all(isinstance(v, plain) for v in changes.values()):
        return None
    import konfig

    cfg = konfig.deepcopy(raw_cfg)
    for name, value in changes.items():
        cfg[name] = os.fspath(value) if isinstance(value, os.PathLike) else value
    return cfg
