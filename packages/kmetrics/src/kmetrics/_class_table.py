"""The table of true and predicted classes, which many metrics are read off."""

from __future__ import annotations

import dataclasses
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._auto import AutoState
from kmetrics._bins import count_bins
from kmetrics._class_inputs import check_classes, class_labels, example_weights, spoil
from kmetrics._fields import sum_field
from kmetrics._masks import combine_masks
from kmetrics._metric import Metric, OnEmpty
from kmetrics._numerics import Pair, to_float32, wide_integers
from kmetrics._options import Count, Whole
from kmetrics._register import state
from ktyping import Array, Bool, Int, Real, typechecked

# What a table is counted from; with a source it is that of the source.
_COUNTED = ("logits", "pred_labels", "labels", "mask", "num_classes", "ignore_index")


@state
class ConfusionState(AutoState):
    """How often each class was predicted as each.

    Attributes:
      counts: `[n, n]`, rows are the true classes, columns the predicted ones.
    """

    counts: Any = sum_field()

    def compute(self) -> Any:
        """The value, from `from_counts` of the metric; the table without one."""
        counts = np.asarray(self.counts)
        if self.parent is None:
            return counts
        if counts.sum() == 0:
            return self.empty_value()
        return value_of(self.parent, counts)


def value_of(metric: Any, counts: np.ndarray) -> Any:
    """The value of a table that is not all 0; NaN if something was no class.

    Raises:
      ValueError: there are several tables, as vmap makes them.
    """
    if counts.ndim != 2:
        raise ValueError(
            f"{type(metric).__name__}: the state holds several tables\n"
            f"  counts {list(counts.shape)}, expected [n, n]\n"
            "compute the value of each: jax.tree.map(lambda x: x[i], state).compute()"
        )
    if np.isnan(counts).any():
        return metric.from_counts(np.ones_like(counts)) * np.nan
    return metric.from_counts(counts)


@dataclasses.dataclass(frozen=True, kw_only=True)
class OfTable(Metric):
    """A metric that is computed from the table alone."""

    State = ConfusionState

    logits: kontext.Key | None = None
    pred_labels: kontext.Key | None = None
    labels: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    num_classes: Count | None = None
    ignore_index: Whole | None = None
    source: Metric | None = None
    on_empty: OnEmpty = "nan"

    def __post_init__(self) -> None:
        if self.source is not None:
            self._read_as(self.source)
        super().__post_init__()

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed; of another source it has the inputs."""
        if self.source is not None and changes.get("source") is not None:
            changes = _defaults() | changes
        return super().replace(**changes)

    def _read_as(self, source: Any) -> None:
        """Takes the inputs, and the options of the table, from `source`."""
        name = type(self).__name__
        if not isinstance(source, OfTable):
            raise TypeError(
                f"{name}: source must be a metric of the table, such as "
                f"ConfusionMatrix\n  got {type(source).__name__}"
            )
        for option, default in _defaults().items():
            own, given = getattr(self, option), getattr(source, option)
            if own != given and own != default:
                raise ValueError(
                    f"{name}: {option} is that of the source\n"
                    f"  got {own!r}, the source has {given!r}\n"
                    f"leave out {option}, or the source"
                )
            object.__setattr__(self, option, given)

    @property
    def state_source(self) -> Metric:
        """The metric that counts the table: the source, or itself."""
        return self if self.source is None else self.source.state_source

    def state_of(self, source_state: Any) -> Any:
        """The table of `source_state`, as a state of this metric."""
        kind: Any = self.State
        return kind(counts=source_state.counts).with_parent(self)

    @typechecked
    def get_state(
        self,
        labels: Int[Array, "..."],
        logits: Real[Array, "*b n"] | None = None,
        pred_labels: Int[Array, "..."] | None = None,
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch.

        Raises:
          ValueError: shapes do not fit, the number of classes is not known, or a label
            or prediction that counts is no class (seen outside of jit).
        """
        name = type(self).__name__
        preds, batch, n = self._predictions(logits, pred_labels, labels)
        labels = class_labels(name, labels, batch)
        weights = example_weights(mask, batch)
        if self.ignore_index is not None:
            weights = combine_masks(weights, labels != self.ignore_index)
        check_classes(name, labels, n, weights)
        if pred_labels is not None:
            check_classes(
                name,
                preds,
                n,
                weights,
                what="a prediction is no class",
                advice="mask it out, or give a larger num_classes",
            )
        is_known = (labels >= 0) & (labels < n) & (preds >= 0) & (preds < n)
        cell = jnp.where(is_known, labels * n + preds, -1)
        counts = count_bins(cell, n * n, weights)
        counts = spoil(counts, ~is_known & (weights != 0))
        return ConfusionState(counts=Pair(*(half.reshape(n, n) for half in counts)))

    def from_counts(self, counts: np.ndarray) -> Any:
        """The value of a table `[n, n]` that is not all 0."""
        raise NotImplementedError

    def _predictions(
        self, logits: Any, pred_labels: Any, labels: Any
    ) -> tuple[jax.Array, tuple[int, ...], int]:
        name = type(self).__name__
        if (logits is None) == (pred_labels is None):
            found = "neither" if logits is None else "both"
            raise ValueError(
                f"{name} takes either logits or pred_labels\n  got {found}"
            )
        if logits is None:
            if self.num_classes is None:
                raise ValueError(
                    f"{name}: pred_labels do not tell the number of classes\n"
                    "give num_classes"
                )
            preds = wide_integers(pred_labels)
            if preds.ndim == jnp.ndim(labels) and preds.shape[-1:] == (1,):
                preds = preds[..., 0]
            return preds, preds.shape, self.num_classes
        logits = to_float32(logits)
        if self.num_classes not in (None, logits.shape[-1]):
            raise ValueError(
                f"{name}: num_classes={self.num_classes}, but the logits have "
                f"{logits.shape[-1]} columns"
            )
        is_number = ~jnp.any(jnp.isnan(logits), axis=-1)
        preds = jnp.where(is_number, jnp.argmax(logits, axis=-1), -1)
        return preds, preds.shape, logits.shape[-1]


def _defaults() -> dict[str, Any]:
    """What a table is counted from, where nothing is said."""
    fields = dataclasses.fields(OfTable)
    return {field.name: field.default for field in fields if field.name in _COUNTED}
