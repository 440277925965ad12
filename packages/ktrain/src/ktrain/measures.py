"""The losses, metrics and summaries of a training or an evaluation, as one thing."""

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
    """Losses, metrics and summaries by name; nested names are joined with "/".

    Attributes:
      losses: Losses, possibly nested; their sum is `losses/total`.
      metrics: Metrics, possibly nested.
      summaries: Summaries, possibly nested: metrics that may compute media.
    """

    losses: Mapping[str, Any]
    metrics: Mapping[str, Any]
    summaries: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @functools.cached_property
    def _losses(self) -> kmetrics.Collection:
        return kmetrics.Collection(self.losses)

    @functools.cached_property
    def _metrics(self) -> kmetrics.Collection:
        return kmetrics.Collection(self.metrics)

    @functools.cached_property
    def _summaries(self) -> kmetrics.Collection:
        return kmetrics.Collection(self.summaries)

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

    def summary_states(self, context: Context) -> Mapping[str, Any]:
        """Gives the summary states of one step by name; runs inside jit."""
        return self._summaries.get_states(
            context, mask=context.mask, example_roots=Context.example_roots
        )

    def merge(self, a: States, b: States) -> States:
        """Gives the states of two steps together."""
        return {
            group: collection.merge(a[group], b[group])
            for group, collection in self._groups.items()
            if group in a
        }

    def compute(self, states: States) -> dict[str, Any]:
        """Gives host values by name, for those groups that `states` holds.

        Names are `losses/<name>`, `losses/total`, `metrics/<name>`, `summaries/<name>`.
        """
        values: dict[str, Any] = {}
        for group, collection in self._groups.items():
            if group not in states:
                continue
            found = collection.compute(states[group])
            values |= {f"{group}/{name}": value for name, value in found.items()}
            if group == "losses" and found:
                values["losses/total"] = sum(found.values())
        return values

    @property
    def _groups(self) -> dict[str, kmetrics.Collection]:
        return {
            "losses": self._losses,
            "metrics": self._metrics,
            "summaries": self._summaries,
        }

    def roots(self) -> frozenset[str]:
        """Gives the context fields that any key points into."""
        groups = (each.keypaths().values() for each in self._groups.values())
        return frozenset(root_of(p) for paths in groups for path in paths for p in path)

    def reads(self, group: str) -> dict[str, frozenset[str]]:
        """Gives per member of a group the context fields that its keys point into."""
        return {
            name: frozenset(root_of(path) for path in paths)
            for name, paths in self._groups[group].keypaths().items()
        }

    def without(self, group: str, names: frozenset[str]) -> Measures:
        """Gives the measures less the members of a group with these names."""
        flat = self._groups[group].metrics
        kept = {name: metric for name, metric in flat.items() if name not in names}
        return dataclasses.replace(self, **{group: kept})


def root_of(path: str) -> str:
    """Gives the context field that a path starts with."""
    return str(path).partition(".")[0].partition("[")[0]
