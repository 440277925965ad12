"""One training step and one evaluation step; owns every jit of training.

The step is split in pure functions that can be overridden singly: `forward`,
`grads`, `update`, and their composition `step`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import optax

from ktrain import _bind, contract, sharding
from ktrain import model as model_lib
from ktrain.context import Context
from ktrain.measures import Measures
from ktrain.rngs import RngStreams
from ktrain.spec import MASK_KEY, ArraySpec
from ktrain.state import TrainState


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Report:
    """What a reporting step gives besides the new state, on the device.

    Attributes:
      states: `{"losses": …, "metrics": …}`, states by name, and `"summaries"` where
        they are due.
      grad_norm: Global L2 norm of the gradients, f32[].
      schedules: Values of the schedules at this step.
    """

    states: Mapping[str, Any]
    grad_norm: jax.Array
    schedules: Mapping[str, jax.Array]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class TrainStep(_bind.RootBound):
    """The computation of one step; every field is the trainer's unless it is given.

    Attributes:
      model: The model.
      optimizer: An optax transformation.
      rng_streams: Streams of random keys.
      losses: Losses by name; their weighted sum is minimised.
      metrics: Metrics by name, computed in reporting steps.
      summaries: Summaries by name, computed in those of them that show.
      schedules: Functions of the step by name, readable as `schedules.<name>`.
    """

    model: Any = _bind.root("model")
    optimizer: optax.GradientTransformation = _bind.root("optimizer")
    rng_streams: RngStreams = _bind.root("rng_streams")
    losses: Mapping[str, Any] = _bind.root("train_losses")
    metrics: Mapping[str, Any] = _bind.root("train_metrics")
    summaries: Mapping[str, Any] = _bind.root("train_summaries", default={})
    schedules: Mapping[str, Any] = _bind.root("schedules")

    @functools.cached_property
    def adapter(self) -> model_lib.ModelAdapter:
        """The adapter that runs the model."""
        return model_lib.adapt(self.model)

    @functools.cached_property
    def measures(self) -> Measures:
        """The losses, metrics and summaries."""
        summaries = _bind.value_of(self.summaries)
        return Measures(self.losses, self.metrics, summaries)

    def init(self, batch_spec: Any) -> TrainState:
        """Gives the state before the first update.

        Args:
          batch_spec: Tree of `ArraySpec` of a global batch.
        """
        # Values are never looked at: zeros let the compiler drop the forward pass.
        batch = jax.tree.map(
            lambda s: jnp.zeros(s.shape, s.dtype), batch_spec, is_leaf=_is_spec
        )
        context = Context(step=jnp.zeros((), jnp.int32), batch=batch)
        params, collections = self.adapter.init(self.rng_streams.init(), context)
        return TrainState(
            step=jnp.zeros((), jnp.int32),
            params=params,
            collections=collections,
            opt_state=self.optimizer.init(params),
        )

    def step(
        self, state: TrainState, batch: Any, *, capture: bool
    ) -> tuple[TrainState, Context, Mapping[str, Any]]:
        """Gives (next state, context before the update, loss states)."""
        grads, context, loss_states = self.grads(state, batch, capture=capture)
        next_state, context = self.update(state, grads, context)
        contract.check_tree_contract(state, next_state, what="the states after a step")
        return next_state, context, loss_states

    def grads(
        self, state: TrainState, batch: Any, *, capture: bool
    ) -> tuple[Any, Context, Mapping[str, Any]]:
        """Gives (gradients of the total loss, context, loss states)."""
        context = self.context(state, batch)
        rngs = self.rng_streams.train(state.step)

        def loss(params: Any) -> tuple[jax.Array, tuple[Context, Mapping[str, Any]]]:
            inner = self.forward(
                context.replace(params=params), train=True, rngs=rngs, capture=capture
            )
            total, states = self.measures.total(inner)
            return total, (inner.replace(loss_total=total), states)

        grads, (context, states) = jax.grad(loss, has_aux=True)(state.params)
        contract.check_tree_contract(state.params, grads, what="the gradients")
        return grads, context.replace(params=state.params, grads=grads), states

    def context(self, state: TrainState, batch: Any) -> Context:
        """Gives the context of a state and a batch, before the model has run."""
        batch, mask = split_mask(batch)
        return Context(
            step=state.step,
            batch=batch,
            params=state.params,
            collections=state.collections,
            schedules={
                name: jnp.asarray(schedule(state.step), jnp.float32)
                for name, schedule in self.schedules.items()
            },
            mask=mask,
        )

    def forward(
        self,
        context: Context,
        *,
        train: bool,
        rngs: Mapping[str, jax.Array],
        capture: bool,
    ) -> Context:
        """Gives the context with `preds`, `interms` and the model's collections."""
        out = self.adapter.apply(context, train=train, rngs=rngs, capture=capture)
        return context.replace(
            preds=out.preds, interms=out.interms, collections=out.collections
        )

    def update(
        self, state: TrainState, grads: Any, context: Context
    ) -> tuple[TrainState, Context]:
        """Gives (state after the update, context with the updates)."""
        updates, opt_state = self.optimizer.update(
            grads, state.opt_state, state.params, **self._extra_args(context, grads)
        )
        contract.check_tree_contract(
            state.params, updates, what="the updates of the optimizer"
        )
        next_state = TrainState(
            step=state.step + 1,
            params=optax.apply_updates(state.params, updates),
            collections=context.collections,
            opt_state=opt_state,
        )
        return next_state, context.replace(
            updates=updates, opt_state=state.opt_state, collections=state.collections
        )

    def _extra_args(self, context: Context, grads: Any) -> dict[str, Any]:
        # Line searches (optax.lbfgs) and reduce-on-plateau ask for the loss.
        if not isinstance(self.optimizer, optax.GradientTransformationExtraArgs):
            return {}

        def value_fn(params: Any) -> jax.Array:
            inner = self.forward(
                context.replace(params=params),
                train=True,
                rngs=self.rng_streams.train(context.step),
                capture=False,
            )
            return self.measures.total(inner)[0]

        return {"value": context.loss_total, "grad": grads, "value_fn": value_fn}


class CompiledStep:
    """A step compiled in its variants; owns them, so that it can be freed.

    `quiet(state, batch) -> state`, `report(state, batch) -> (state, Report)`, and
    `show`, which is `report` with the summaries. All take the state over: its buffers
    are reused, the old state cannot be used again.

    Attributes:
      context_spec: Shapes and dtypes of the context, once a step was traced.
    """

    def __init__(self, step: TrainStep, layout: sharding.Layout):
        """Prepares the variants; compilation happens at their first call."""
        self.step = step
        self.context_spec: Any = None
        measures = step.measures
        self._capture_quiet = "interms" in Measures(step.losses, {}).roots()
        self._capture = "interms" in Measures(step.losses, step.metrics).roots()
        self._capture_shown = "interms" in measures.roots()
        donated: dict[str, Any] = {"args": "sb", "donate_argnums": 0}
        self.quiet = Program(layout.jit(self._quiet, **donated))
        self.report = Program(layout.jit(self._report, **donated))
        self.show = Program(layout.jit(self._show, **donated))

    def trace(self, state_spec: Any, batch_spec: Any) -> None:
        """Runs a reporting step on shapes alone: finds what no step could compute.

        Raises:
          KeyError: A loss, a metric or the model reads a path that is not there.
          TypeError, ValueError: Shapes, dtypes or trees do not fit.
        """
        batch = jax.tree.map(
            lambda s: jax.ShapeDtypeStruct(s.shape, s.dtype),
            batch_spec,
            is_leaf=_is_spec,
        )
        variant = self._show if self.step.measures.summaries else self._report
        jax.eval_shape(variant, state_spec, batch)

    def _quiet(self, state: TrainState, batch: Any) -> TrainState:
        return self.step.step(state, batch, capture=self._capture_quiet)[0]

    def _report(self, state: TrainState, batch: Any) -> tuple[TrainState, Report]:
        return self._reported(state, batch, capture=self._capture, shows=False)

    def _show(self, state: TrainState, batch: Any) -> tuple[TrainState, Report]:
        return self._reported(state, batch, capture=self._capture_shown, shows=True)

    def _reported(
        self, state: TrainState, batch: Any, *, capture: bool, shows: bool
    ) -> tuple[TrainState, Report]:
        next_state, context, losses = self.step.step(state, batch, capture=capture)
        self.context_spec = jax.tree.map(ArraySpec.of, context)
        measures = self.step.measures
        states = {"losses": losses, "metrics": measures.metric_states(context)}
        if shows:
            states["summaries"] = measures.summary_states(context)
        report = Report(
            states=states,
            grad_norm=optax.tree.norm(context.grads).astype(jnp.float32),
            schedules=context.schedules,
        )
        return next_state, report


class Program:
    """A compiled variant of the step.

    Attributes:
      compiled: The function that jit gave.
    """

    __slots__ = ("compiled",)

    def __init__(self, compiled: Any):
        """Takes what jit gave."""
        self.compiled = compiled

    def __call__(self, state: TrainState, batch: Any) -> Any:
        """Runs the step; the state cannot be used again.

        Raises:
          RuntimeError, ValueError: The state went into a step before; from jax.
        """
        try:
            return self.compiled(state, batch)
        except Exception as error:
            if "delete" in str(error) and state.is_deleted():
                error.add_note(
                    "ktrain: this state went into a step before, and its buffers were"
                    " reused for the state that came out.\n  Go on with the newest"
                    " state; before the step, keep what you need of an old one with"
                    " jax.tree.map(jnp.copy, state)."
                )
            raise


def split_mask(batch: Any) -> tuple[Any, Any]:
    """Gives (batch without the padding mask, mask bool[b] or None)."""
    if not isinstance(batch, Mapping) or MASK_KEY not in batch:
        return batch, None
    rest = {key: value for key, value in batch.items() if key != MASK_KEY}
    return rest, batch[MASK_KEY]


def _is_spec(node: Any) -> bool:
    return isinstance(node, ArraySpec)
