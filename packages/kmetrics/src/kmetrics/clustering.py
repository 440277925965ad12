"""Metrics of clusters, whose numbers mean nothing, beside true classes."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._auto import AutoState
from kmetrics._average import AverageState
from kmetrics._bins import count_bins
from kmetrics._class_inputs import check_classes, spoil
from kmetrics._class_table import value_of
from kmetrics._fields import sum_field
from kmetrics._masks import align_left, check_weights, combine_masks
from kmetrics._metric import Metric, OnEmpty
from kmetrics._numerics import Pair, is_traced, to_float32, wide_integers
from kmetrics._options import Count, Flag, Positive, Whole
from kmetrics._register import state
from ktyping import Array, Bool, Int, Real, typechecked

__all__ = ["Ari", "Nmi", "VMeasure"]


@state
class ContingencyState(AutoState):
    """How often each cluster and each class come together.

    Attributes:
      counts: `[clusters, classes]`.
    """

    counts: Any = sum_field()

    def compute(self) -> float:
        """The value, from `from_counts` of the metric."""
        counts = np.asarray(self.counts)
        if counts.sum() == 0:
            return self.empty_value()
        return float(value_of(self.parent, counts))


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Contingency(Metric):
    preds: kontext.Key = kontext.REQUIRED
    targets: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    num_clusters: Count
    num_classes: Count
    ignore_index: Whole | None = None
    per_example: Flag = False
    on_empty: OnEmpty = "nan"

    def empty(self) -> Any:
        """The state of no data."""
        kind = AverageState if self.per_example else ContingencyState
        return kind.empty().with_parent(self)

    @typechecked
    def get_state(
        self,
        preds: Int[Array, "*b"],
        targets: Int[Array, "*b"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch.

        Raises:
          ValueError: a number that counts is no cluster or no class (seen outside of
            jit).
        """
        check_weights(mask)
        preds, targets = wide_integers(preds), wide_integers(targets)
        if self.ignore_index is not None:
            mask = combine_masks(mask, targets != self.ignore_index)
        weights = jnp.asarray(True if mask is None else mask)
        weights = jnp.broadcast_to(align_left(weights, preds.shape), preds.shape)
        self._check("cluster", preds, self.num_clusters, weights)
        self._check("class", targets, self.num_classes, weights)
        is_known = (preds >= 0) & (preds < self.num_clusters)
        is_known &= (targets >= 0) & (targets < self.num_classes)
        cell = jnp.where(is_known, preds * self.num_classes + targets, -1)
        shape = (self.num_clusters, self.num_classes)
        size = self.num_clusters * self.num_classes
        if not self.per_example:
            counts = count_bins(cell, size, mask)
            counts = spoil(counts, ~is_known & (weights != 0))
            return ContingencyState(counts=Pair(*(x.reshape(shape) for x in counts)))
        return AverageState.from_values(*self._of_examples(cell, weights))

    # One compiled call when used outside jit, and plain operations inside.
    @functools.partial(jax.jit, static_argnums=0, inline=True)
    def _of_examples(
        self, cell: jax.Array, weights: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        """One value, and one weight, per example."""
        shape = (self.num_clusters, self.num_classes)
        cell, weights = (
            x.reshape(len(cell), math.prod(x.shape[1:])) for x in (cell, weights)
        )
        size = math.prod(shape)
        counts = jax.vmap(lambda at, keep: count_bins(at, size, keep).hi)
        tables = counts(cell, weights != 0).reshape(-1, *shape)
        values = jax.vmap(self.from_counts)(tables)
        is_wrong = jnp.any((cell < 0) & (weights != 0), axis=1)
        values = jnp.where(is_wrong, jnp.nan, values)
        return values, to_float32(weights).max(axis=1, initial=0.0)

    def from_counts(self, counts: Any) -> Any:
        """The value of a table `[clusters, classes]`, of numpy or traced."""
        raise NotImplementedError

    def _check(
        self, kind: str, numbers: jax.Array, size: int, weights: jax.Array
    ) -> None:
        check_classes(
            type(self).__name__,
            numbers,
            size,
            weights,
            what=f"a number is no {kind}",
            advice="mask it out, or name a class that does not count with ignore_index",
        )


class Ari(_Contingency):
    """The adjusted Rand index: 1 for equal partitions, 0 on average by chance.

    For this and all metrics of this module the clusters and classes of all batches are
    taken together, unless `per_example` is set.

    Reference: L. Hubert, P. Arabie, Comparing partitions (1985), equation 5.

    Attributes:
      preds: path of the numbers of the clusters, integers `[*b]`.
      targets: path of the numbers of the classes, same shape.
      mask: path of bools, or of counts, lined up from the left.
      num_clusters: how many clusters there are at most.
      num_classes: how many classes there are at most.
      ignore_index: a class that does not count, such as the background.
      per_example: whether each example `[b]` of inputs `[b, ...]`, such as an image,
        has partitions of its own; then comes the mean over the examples, in which one
        weighs as much as the most of its entries.
      on_empty: the value if nothing counts: "nan", "zero", or "raise".
    """

    higher_is_better = True
    range = (-0.5, 1.0)

    def from_counts(self, counts: Any) -> Any:
        """The index of a table `[clusters, classes]`."""
        xp = _namespace(counts)
        together, clusters, classes = (
            xp.sum(n * (n - 1)) / 2
            for n in (counts, counts.sum(axis=1), counts.sum(axis=0))
        )
        total = counts.sum()
        pairs = total * (total - 1) / 2
        chance = clusters * classes / xp.where(pairs > 0, pairs, 1)
        most = (clusters + classes) / 2
        trivial = most == chance
        value = (together - chance) / xp.where(trivial, 1, most - chance)
        return xp.where(trivial, 1.0, value)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Nmi(_Contingency):
    """The mutual information of clusters and classes over a mean of the entropies.

    Inputs and options: see `Ari`. 1 if there is one cluster and one class.

    Reference: N. X. Vinh, J. Epps, J. Bailey, Information theoretic measures for
    clusterings comparison (2010), table 2.

    Attributes:
      average: the mean of the two entropies: "arithmetic", "geometric", "min", "max".
    """

    higher_is_better = True
    range = (0.0, 1.0)

    average: Literal["arithmetic", "geometric", "min", "max"] = "arithmetic"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.average not in ("arithmetic", "geometric", "min", "max"):
            raise ValueError(
                f"Nmi: average={self.average!r} is not known\n"
                'use "arithmetic", "geometric", "min" or "max"'
            )

    def from_counts(self, counts: Any) -> Any:
        """The information of a table `[clusters, classes]`."""
        xp = _namespace(counts)
        shared, one, two = _information(counts)
        mean = {
            "arithmetic": (one + two) / 2,
            "geometric": xp.sqrt(one * two),
            "min": xp.minimum(one, two),
            "max": xp.maximum(one, two),
        }[self.average]
        value = xp.where(mean > 0, shared / xp.where(mean > 0, mean, 1), 0.0)
        return xp.where((one == 0) & (two == 0), 1.0, value)


@dataclasses.dataclass(frozen=True, kw_only=True)
class VMeasure(_Contingency):
    """The weighted harmonic mean of homogeneity and completeness.

    Clusters are homogeneous that hold one class each, and complete if each class is in
    one cluster. Inputs and options: see `Ari`.

    Reference: A. Rosenberg, J. Hirschberg, V-Measure (2007), equation 1.

    Attributes:
      beta: how many times the completeness matters more, above 0.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    beta: Positive = 1.0

    def from_counts(self, counts: Any) -> Any:
        """The measure of a table `[clusters, classes]`."""
        xp = _namespace(counts)
        shared, clusters, classes = _information(counts)
        homogeneous, complete = (
            xp.where(entropy > 0, shared / xp.where(entropy > 0, entropy, 1), 1.0)
            for entropy in (classes, clusters)
        )
        bottom = self.beta * homogeneous + complete
        top = (1 + self.beta) * homogeneous * complete
        return xp.where(bottom > 0, top / xp.where(bottom > 0, bottom, 1), 0.0)


def _information(counts: Any) -> tuple[Any, Any, Any]:
    """Mutual information, and the entropies of clusters and classes, in nats."""
    xp = _namespace(counts)
    shares = counts / xp.maximum(counts.sum(), 1e-30)
    clusters, classes = shares.sum(axis=1), shares.sum(axis=0)
    chance = clusters[:, None] * classes[None, :]
    there = shares > 0
    ratio = xp.where(there, shares, 1.0) / xp.where(there, chance, 1.0)
    # Rounding may leave it below 0.
    shared = xp.maximum(xp.sum(shares * xp.log(ratio)), 0.0)
    entropies = (
        xp.maximum(-xp.sum(p * xp.log(xp.where(p > 0, p, 1.0))), 0.0)
        for p in (clusters, classes)
    )
    return shared, *entropies


def _namespace(counts: Any) -> Any:
    """Float64 on the host, float32 where it is traced."""
    return jnp if is_traced(counts) else np
