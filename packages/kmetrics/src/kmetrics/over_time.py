"""Metrics over the course of a run: at some steps, smoothed, the latest, the extreme.

Here the batches are a series, and states are merged in its order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._auto import AutoState
from kmetrics._calls import inside
from kmetrics._errors import HostOnlyError
from kmetrics._fields import max_field, min_field
from kmetrics._loss_state import LossState
from kmetrics._metric import Inner, Metric
from kmetrics._numerics import is_traced
from kmetrics._options import Count, Share
from kmetrics._register import state
from kmetrics._series import EmaState, LastState

__all__ = ["Ema", "Every", "Last", "MaxOverTime", "MinOverTime"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Around(Metric):
    """A metric whose states are made from those of another one."""

    metric: Inner

    def __kontext_keys__(self) -> dict[str, Any]:
        return kontext.forward_keys(self.metric.state_source)

    def keypaths(self) -> tuple[str, ...]:
        """The paths that the metric reads."""
        return self.metric.keypaths()

    @property
    def on_empty(self) -> Any:
        """That of the metric."""
        return getattr(self.metric, "on_empty", "nan")

    @property
    def _inner(self) -> Metric:
        """The metric whose states are asked for."""
        return self.metric

    def get_state(self, **inputs: Any) -> Any:
        """The state of one batch."""
        return self._around(self._inner.get_state(**inputs))

    def get_state_from_context(
        self,
        context: Any,
        *,
        mask: Any | None = None,
        example_roots: Collection[str] | None = None,
    ) -> Any:
        """The state of one batch.

        Args, errors: as for `Metric.get_state_from_context`.
        """
        inner = self._inner.get_state_from_context(
            context, mask=mask, example_roots=example_roots
        )
        return self._around(inner).with_parent(self)

    def merge_leaves(self, states: Sequence[Any]) -> Any:
        """An error: leaves are merged as batches are, which are a series here."""
        name = type(self).__name__
        raise TypeError(
            f"{name} has no value over the leaves of a tree, which come in no order\n"
            f"put TreeReduce inside: {name}(metric=TreeReduce(metric=...))"
        )

    def _around(self, inner: Any) -> Any:
        raise NotImplementedError


@dataclasses.dataclass(frozen=True, kw_only=True)
class Every(Metric):
    """`metric` on the batches of every `n`-th step alone: 0, n, 2n, ...

    Under jit the other steps cost next to nothing: they take the branch that gives an
    empty state.

    Attributes:
      metric: the metric.
      n: the number of steps.
      step: path of the step, an integer.

    Raises:
      ValueError: `n` is not 1 or more.
    """

    metric: Inner
    n: Count
    step: kontext.Key = "step"

    def __kontext_keys__(self) -> dict[str, Any]:
        return {**kontext.forward_keys(self.metric.state_source), "step": self.step}

    def keypaths(self) -> tuple[str, ...]:
        """The paths that the metric reads, and that of the step."""
        return tuple(dict.fromkeys([*self.metric.keypaths(), str(self.step)]))

    def signature(self) -> Any:
        """That of the metric, whose states it makes."""
        return self.metric.signature()

    def empty(self) -> Any:
        """The state of no data."""
        return self.metric.empty()

    def get_state(self, *, step: Any, **inputs: Any) -> Any:
        """The state of one batch.

        Args:
          step: an integer.
          **inputs: the inputs of the metric.

        Raises:
          HostOnlyError: called under jit, and the metric collects on the host.
          TypeError: `step` is no integer.
        """
        return self._if_due(step, lambda: self.metric.get_state(**inputs))

    def get_state_from_context(
        self,
        context: Any,
        *,
        mask: Any | None = None,
        example_roots: Collection[str] | None = None,
    ) -> Any:
        """The state of one batch.

        Args, errors: as for `Metric.get_state_from_context`.
        """
        with inside(self):
            step = kontext.resolve_from_keypaths(context, {"step": self.step})["step"]
        return self._if_due(
            step,
            lambda: self.metric.get_state_from_context(
                context, mask=mask, example_roots=example_roots
            ),
        )

    def _if_due(self, step: Any, make: Any) -> Any:
        dtype = step.dtype if hasattr(step, "dtype") else np.asarray(step).dtype
        if np.ndim(step) or not jnp.issubdtype(dtype, jnp.integer):
            given = f"{dtype} {list(np.shape(step))}"
            raise TypeError(f"Every: step must be a whole number\n  got {given}")
        if not is_traced(step):
            return make() if int(step) % self.n == 0 else self.metric.empty()
        spec = jax.eval_shape(make)
        if not getattr(spec, "merges_on_device", True):
            raise HostOnlyError(
                f"Every cannot skip steps of {type(self.metric).__name__} under jit\n"
                f"  {type(spec).__name__} collects its data on the host\n"
                "call get_state outside of the jitted function"
            )

        def skip() -> Any:
            empty = self.metric.empty_like(spec)
            return jax.tree.map(lambda x, s: jnp.asarray(x, s.dtype), empty, spec)

        return jax.lax.cond(step % self.n == 0, make, skip)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ema(_Around):
    """`metric` over batches of which the older ones count less and less.

    With each batch that is merged in, all that was there is multiplied by `decay`, sums
    and counts alike. So the value is that of the metric on weighted examples: nothing
    has to be corrected at the start, and a large batch counts more than a small one.

    Attributes:
      metric: a metric, or loss, whose states add up, such as means and tables.
      decay: what a batch keeps of its weight with the next one, in (0, 1).

    Raises:
      ValueError: `decay` is out of range.
      TypeError: at the first use: the states of `metric` do not add up.
    """

    decay: Share

    def empty(self) -> Any:
        """The state of no data."""
        inner = self.metric.empty()
        return EmaState(sums=inner, factor=np.float32(1)).with_parent(self)

    def _around(self, inner: Any) -> Any:
        if not getattr(inner, "adds_up", False):
            raise TypeError(
                f"Ema needs a metric whose states add up\n"
                f"  {type(self.metric).__name__} makes {type(inner).__name__}\n"
                "use Last, MinOverTime or MaxOverTime"
            )
        return EmaState(sums=inner, factor=np.float32(self.decay))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Last(_Around):
    """`metric` on the latest batch alone, also if nothing in it counts.

    Attributes:
      metric: the metric, or loss.
    """

    State = LastState

    def _around(self, inner: Any) -> Any:
        return LastState(latest=inner)


@state
class MinState(AutoState):
    """The lowest value of a batch, or a tree of these."""

    value: Any = min_field(nan="ignore")

    def compute(self) -> Any:
        """The value; without any what `on_empty` of the metric says."""
        return _or_empty(self, np.inf)


@state
class MaxState(AutoState):
    """The highest value of a batch, or a tree of these."""

    value: Any = max_field(nan="ignore")

    def compute(self) -> Any:
        """The value; without any what `on_empty` of the metric says."""
        return _or_empty(self, -np.inf)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Extreme(_Around):
    @property
    def _inner(self) -> Metric:
        # A batch without a value is told by its NaN, whatever `on_empty` says.
        options = [field.name for field in dataclasses.fields(self.metric)]
        quiet = "on_empty" in options
        return self.metric.replace(on_empty="nan") if quiet else self.metric

    def _around(self, inner: Any) -> Any:
        try:
            value = inner.compute()
            if isinstance(inner, LossState):
                # Of no data a loss itself says 0.
                value = jnp.where(jnp.asarray(inner.count.hi) == 0, jnp.nan, value)
        except (jax.errors.JAXTypeError, HostOnlyError) as error:
            error.add_note(
                f"{type(self).__name__} needs the value of each batch, and under jit "
                f"{type(inner).__name__} has none\n"
                "call get_state outside of the jitted function"
            )
            raise
        kind: Any = self.State
        return kind(value=jax.tree.map(self._number, value))

    def _number(self, x: Any) -> jax.Array:
        if not isinstance(x, int | float | np.generic | np.ndarray | jax.Array):
            raise TypeError(
                f"{type(self).__name__} needs a metric whose results are numbers\n"
                f"  {type(self.metric).__name__} computes: {type(x).__name__}\n"
                "use Last for the value of the latest batch"
            )
        return jnp.asarray(x, jnp.float32)


@dataclasses.dataclass(frozen=True, kw_only=True)
class MinOverTime(_Extreme):
    """The lowest value that `metric` has on a batch.

    A batch without a value, which is NaN, does not count. Under jit the value of a
    batch is computed on the device, which means and losses can do.
    Where each device holds a state of its part of a batch, a part is a batch.

    Attributes:
      metric: the metric, or loss; of several results each has its own extreme.
    """

    State = MinState


@dataclasses.dataclass(frozen=True, kw_only=True)
class MaxOverTime(_Extreme):
    """The highest value that `metric` has on a batch; see `MinOverTime`.

    Attributes:
      metric: the metric, or loss; of several results each has its own extreme.
    """

    State = MaxState


def _or_empty(state: Any, nothing: float) -> Any:
    """The values; for `nothing`, or NaN from a single batch, what the metric says."""

    def of(value: Any) -> Any:
        host = np.asarray(value)
        is_nothing = np.all((host == nothing) | np.isnan(host))
        return state.empty_value() if is_nothing else value

    return jax.tree.map(of, state.value)
