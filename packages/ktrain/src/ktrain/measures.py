"""The losses and metrics of a training or an evaluation, as one thing to compute."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import jax

import kmetrics
from ktrain.context import Context

States = Mapping[str, Mapping[str, Any]]


@dataclasses.dataclass(frozen=True, eq=False)
class Measures:
    """Losses and metrics by name; nested names are joined with "/".

    Attributes:
      losses: Losses, possibly nested; their sum is `losses/total`.
      metrics: Metrics, possibly nested.
    """

    losses: Mapping[str, Any]
    metrics: Mapping[str, Any]

    @functools.cached_property
    def _losses(self) -> kmetrics.Collection:
        return kmetrics.Collection(self.losses)

    @functools.cached_property
    def _metrics(self) -> kmetrics.Collection:
        return kmetrics.Collection(self.metrics)

    def total(self, context: Context) -> tuple[jax.Array, Mapping[str, Any]]:
        """Gives (sum of the weighted losses f32[], loss states by name)."""
        return kmetrics.total_loss(
            self.losses,
            context,
            mask=context.mask,
            example_roots=Context.example_roots,
        )

    def metric_states(self, context: Context) -> Mapping[str, Any]:
        """Gives the metric states of one step by name; runs inside jit."""
        return self._metrics.get_states(
            context, mask=context.mask, example_roots=Context.example_roots
        )

    def merge(self, a: States, b: States) -> States:
        """Gives the states of two steps together."""
        return {
            "losses": self._losses.merge(a["losses"], b["losses"]),
            "metrics": self._metrics.merge(a["metrics"], b["metrics"]),
        }

    def compute(self, states: States) -> dict[str, Any]:
        """Gives host values: `losses/<name>`, `losses/total`, `metrics/<name>`."""
        losses = self._losses.compute(states["losses"])
        metrics = self._metrics.compute(states["metrics"])
        values = {f"losses/{name}": value for name, value in losses.items()}
        if losses:
            values["losses/total"] = sum(losses.values())
        return values | {f"metrics/{name}": value for name, value in metrics.items()}

    def roots(self) -> frozenset[str]:
        """Gives the context fields that any key points into."""
        paths = [*self._losses.keypaths().values(), *self._metrics.keypaths().values()]
        return frozenset(root_of(path) for group in paths for path in group)

    def metric_roots(self) -> dict[str, frozenset[str]]:
        """Gives per metric the context fields that its keys point into."""
        return {
            name: frozenset(root_of(path) for path in paths)
            for name, paths in self._metrics.keypaths().items()
        }

    def without(self, names: frozenset[str]) -> Measures:
        """Gives the measures less the metrics with these names."""
        flat = self._metrics.metrics
        kept = {name: metric for name, metric in flat.items() if name not in names}
        return Measures(self.losses, kept)


def root_of(path: str) -> str:
    """Gives the context field that a path starts with."""
    return str(path).partition(".")[0].partition("[")[0]
