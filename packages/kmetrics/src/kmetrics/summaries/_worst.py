"""Choosing the examples with the worst scores."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Literal

import jax
import jax.numpy as jnp

import kontext
from kmetrics._average import AverageState
from kmetrics._loss import Loss
from kmetrics._loss_state import LossState
from kmetrics._metric import Metric


@dataclasses.dataclass(frozen=True, kw_only=True)
class Worst:
    """Chooses the examples with the worst scores, worst first.

    A score that is NaN is the worst of all, and is shown as infinite.

    Attributes:
      by: a loss, or a metric that is a mean over examples, computed for each example
        on its own; or the path of scores `[*b]`.
      worst: which scores are bad, "highest" or "lowest". Default: the highest of a
        loss and of scores; a metric has none.

    Raises:
      TypeError, ValueError: `by` cannot score, or `worst` is missing or not known.
    """

    by: Any
    worst: Literal["highest", "lowest"] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.by, Metric | str | kontext.Path):
            raise TypeError(
                "Worst: by must be a loss, a metric or a path of scores\n"
                f"  got {type(self.by).__name__}"
            )
        if self.worst not in (None, "highest", "lowest"):
            raise ValueError(
                f'Worst: worst={self.worst!r} is not known\nuse "highest" or "lowest"'
            )
        is_plain_metric = isinstance(self.by, Metric) and not isinstance(self.by, Loss)
        if self.worst is None and is_plain_metric:
            raise ValueError(
                f"Worst: is a high or a low {type(self.by).__name__} bad?\n"
                'give worst="highest" or worst="lowest"'
            )

    @property
    def sign(self) -> int:
        """1 if high scores are bad, else -1."""
        return -1 if self.worst == "lowest" else 1

    def scores(self, context: Any) -> Any:
        """The score of each example, `[*b]`, from a context."""
        metric = self.by
        if not isinstance(metric, Metric):
            return kontext.get_by_path(context, metric)
        if isinstance(metric, Loss):
            # A weight changes no order, and so no step is needed.
            metric = metric.replace(weight=1.0, step=None)
        inputs = kontext.resolve_from_keyed_obj(context, metric, func=metric.get_state)
        return _each_on_its_own(metric, inputs, of_nothing=-self.sign * math.inf)

    def keypaths(self) -> tuple[str, ...]:
        """The paths it reads."""
        if not isinstance(self.by, Metric):
            return (str(self.by),)
        own = self.by.keypaths()
        is_loss = isinstance(self.by, Loss)
        return self.by.replace(weight=1.0).keypaths() if is_loss else own

    def signature(self) -> Any:
        """What must be equal in states that merge."""
        by = self.by.signature() if isinstance(self.by, Metric) else None
        return type(self), by, self.worst


def _each_on_its_own(
    metric: Metric, inputs: dict[str, Any], *, of_nothing: float
) -> jax.Array:
    """The value of the metric on each example; `of_nothing` if it is masked out."""
    inputs = jax.tree.map(jnp.asarray, inputs)
    sizes = {x.shape[:1] for x in jax.tree.leaves(inputs)}
    if len(sizes) != 1 or sizes == {()}:
        shapes = jax.tree.map(lambda x: list(x.shape), inputs)
        raise ValueError(
            f"Worst: {type(metric).__name__} cannot look at single examples\n"
            f"  its inputs: {shapes}\nall of them must have the axis of the examples"
        )

    def score(one: Any) -> Any:
        state = metric.get_state(**jax.tree.map(lambda x: x[None], one))
        if isinstance(state, LossState):
            total, count = state.raw.hi, state.divisor.hi
        elif isinstance(state, AverageState):
            total, count = state.total.hi, state.count.hi
        else:
            raise TypeError(
                f"Worst: {type(metric).__name__} has no value for a single example\n"
                "use a loss, a metric that is a mean over the examples, or a path"
            )
        mean = total / jnp.where(count == 0, 1.0, count)
        return jnp.where(count == 0, of_nothing, mean)

    return jax.vmap(score)(inputs)
