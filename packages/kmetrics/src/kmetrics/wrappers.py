"""Metrics around metrics."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Collection
from typing import Any

import kontext
from kmetrics._metric import Metric, path_texts
from kmetrics._state import EmptyState

__all__ = ["MissingKeyWarning", "SkipIfMissing"]


class MissingKeyWarning(UserWarning):
    """A metric was skipped because the context lacks one of its inputs."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SkipIfMissing(Metric):
    """`metric`, unless the context lacks one of its inputs.

    Then it gives an `EmptyState`, which merges with everything and computes nothing,
    and a `MissingKeyWarning`. Only absence in the context skips; an error inside of
    the metric, a KeyError included, is an error.

    Attributes:
      metric: the metric.
      keys: names of the fields of `metric` that may be absent; None: all.

    Raises:
      ValueError: `metric` has no key of such a name.
    """

    metric: Metric
    keys: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        known = kontext.get_keypaths(self.metric)
        for name in self.keys or ():
            if name not in known:
                raise ValueError(
                    f"SkipIfMissing: {type(self.metric).__name__} has no key {name!r}\n"
                    f"  its keys: {', '.join(known)}"
                )

    def __kontext_keys__(self) -> dict[str, Any]:
        return kontext.forward_keys(self.metric)

    def keypaths(self) -> tuple[str, ...]:
        """The paths that the metric reads."""
        return self.metric.keypaths()

    def signature(self) -> Any:
        """That of the metric: a state does not tell whether batches were skipped."""
        return self.metric.signature()

    def empty(self) -> Any:
        """The state of no data."""
        return self.metric.empty()

    def get_state(self, **inputs: Any) -> Any:
        """The state of one batch."""
        return self.metric.get_state(**inputs)

    def get_state_from_context(
        self,
        context: Any,
        *,
        mask: Any | None = None,
        example_roots: Collection[str] | None = None,
    ) -> Any:
        """The state of one batch, or an `EmptyState` if an input is absent.

        Args, errors: as for `Metric.get_state_from_context`.
        """
        absent = self._absent(context)
        if absent:
            warnings.warn(
                f"{type(self.metric).__name__} is skipped: the context has no "
                f"{', '.join(absent)}",
                MissingKeyWarning,
                stacklevel=2,
            )
            return EmptyState()
        return self.metric.get_state_from_context(
            context, mask=mask, example_roots=example_roots
        )

    def _absent(self, context: Any) -> list[str]:
        required = kontext.required_keys(self.metric)
        read = set(self.metric.keypaths())
        return [
            text
            for name, tree in kontext.get_keypaths(self.metric).items()
            if name not in required and (self.keys is None or name in self.keys)
            for text in path_texts(tree)
            if text in read and not kontext.has(context, text)
        ]
