"""Metrics around metrics."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Callable, Collection
from typing import Any, Self

import numpy as np

import kontext
from kmetrics._metric import Inner, Metric, like_nothing, path_texts
from kmetrics._numerics import add_pairs, to_pair, zero_pair
from kmetrics._options import Text
from kmetrics._register import state
from kmetrics._state import EmptyState, State, join, join_parts

__all__ = ["MissingKeyWarning", "NoopMetric", "SkipIfMissing"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class NoopMetric(Metric):
    """No metric, where one is wanted: it reads nothing, and has no results."""

    State = EmptyState

    def metric_names(self) -> tuple[str, ...]:
        """No names."""
        return ()

    def get_state(self, *, mask: Any | None = None, **inputs: Any) -> Any:
        """A state without data."""
        return EmptyState()


class MissingKeyWarning(UserWarning):
    """A metric was skipped because the context lacks one of its inputs."""


@state
class SkipState(State):
    """The state of the batches that were not skipped, and how many were.

    Attributes:
      kept: a state; an `EmptyState` if all were skipped.
      skipped: scalar `Pair`.
    """

    kept: Any
    skipped: Any

    @property
    def num_skipped(self) -> int:
        """How many batches were skipped."""
        return int(self.skipped.numpy())

    @property
    def merges_on_device(self) -> bool:
        """Whether the state of the metric does."""
        return bool(getattr(self.kept, "merges_on_device", False))

    @property
    def adds_up(self) -> bool:
        """Whether the state of the metric does."""
        return bool(getattr(self.kept, "adds_up", False))

    def empty_like(self) -> Self:
        """The state of no data with the shapes of this one."""
        return self.replace(kept=like_nothing(self.kept), skipped=zero_pair())

    def merge(self, other: Self) -> Self:
        """The state of the batches of both."""
        return self._joined(other, join)

    def merge_parts(self, other: Self) -> Self:
        """The state of batches of which both hold parts."""
        return self._joined(other, join_parts)

    def _joined(self, other: Self, how: Callable[[Any, Any], Any]) -> Self:
        parent = self.merged_parent(other)
        none_here = isinstance(self.kept, EmptyState)
        none_there = isinstance(other.kept, EmptyState)
        if none_here or none_there:
            kept = other.kept if none_here else self.kept
        else:
            kept = how(self.kept, other.kept)
        skipped = add_pairs(self.skipped, other.skipped)
        return self.replace(kept=kept, skipped=skipped, _parent=parent)

    def compute(self) -> Any:
        """The value of the metric; nothing if all batches were skipped."""
        return self.kept.compute()


@dataclasses.dataclass(frozen=True, kw_only=True)
class SkipIfMissing(Metric):
    """`metric`, unless the context lacks one of its inputs.

    Then it gives a state without data, and once a `MissingKeyWarning`; if all batches
    were skipped it computes nothing. `num_skipped` of the state tells how many were.
    Only absence in the context skips; an error inside of the metric, a KeyError
    included, is an error.

    Attributes:
      metric: the metric.
      keys: names of the fields of `metric` that may be absent; None: all.

    Raises:
      ValueError: `metric` has no key of such a name.
    """

    metric: Inner
    keys: tuple[Text, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        known = kontext.get_keypaths(self.metric.state_source)
        for name in self.keys or ():
            if name not in known:
                raise ValueError(
                    f"SkipIfMissing: {type(self.metric).__name__} has no key {name!r}\n"
                    f"  its keys: {', '.join(known)}"
                )

    def __kontext_keys__(self) -> dict[str, Any]:
        return kontext.forward_keys(self.metric.state_source)

    def keypaths(self) -> tuple[str, ...]:
        """The paths that the metric reads."""
        return self.metric.keypaths()

    def signature(self) -> Any:
        """That of the metric: which keys may be absent is no matter of the states."""
        return type(self), self.metric.signature()

    def empty(self) -> Any:
        """The state of no data."""
        return self._kept(self.metric.empty())

    def get_state(self, **inputs: Any) -> Any:
        """The state of one batch."""
        return self._kept(self.metric.get_state(**inputs))

    def _kept(self, inner: Any) -> Any:
        return SkipState(kept=inner, skipped=zero_pair()).with_parent(self)

    def get_state_from_context(
        self,
        context: Any,
        *,
        mask: Any | None = None,
        example_roots: Collection[str] | None = None,
    ) -> Any:
        """The state of one batch, or one of no data if an input is absent.

        Args, errors: as for `Metric.get_state_from_context`.
        """
        absent = self._absent(context)
        if absent:
            _warn_once(
                f"{type(self.metric).__name__} is skipped: the context has no "
                f"{', '.join(absent)}"
            )
            state = SkipState(kept=EmptyState(), skipped=to_pair(np.float64(1)))
            return state.with_parent(self)
        inner = self.metric.get_state_from_context(
            context, mask=mask, example_roots=example_roots
        )
        return self._kept(inner)

    def _absent(self, context: Any) -> list[str]:
        # A view of another metric reads the inputs of that one.
        source = self.metric.state_source
        required = kontext.required_keys(source)
        read = set(source.keypaths())
        return [
            text
            for name, tree in kontext.get_keypaths(source).items()
            if name not in required and (self.keys is None or name in self.keys)
            for text in path_texts(tree)
            if text in read and not _has(context, text)
        ]


def _has(context: Any, path: str) -> bool:
    """Whether something is there; a glob, as around a tree, may match many things."""
    return bool(kontext.get_all(context, path))


# Once, not at every batch, also where a program shows all warnings.
@functools.lru_cache(maxsize=1024)
def _warn_once(text: str) -> None:
    warnings.warn(text, MissingKeyWarning, stacklevel=2)
