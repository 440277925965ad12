"""Metrics of rankings: lists of items with scores, of which some are relevant."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._average import AverageState
from kmetrics._masks import align_left
from kmetrics._metric import Metric, OnEmpty
from kmetrics._numerics import is_traced, to_float32
from kmetrics._options import Count
from ktyping import Array, Bool, Real, typechecked

__all__ = ["MapAtK", "Mrr", "Ndcg", "RecallAtK"]


class Ranking(NamedTuple):
    """Queries and their items.

    Attributes:
      scores: float32 `[q, n]`, finite, and -inf for what is no item.
      relevance: float32 `[q, n]`, 0 for what is no item.
      weights: float32 `[q]`.
    """

    scores: jax.Array
    relevance: jax.Array
    weights: jax.Array


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Ranking(Metric):
    State = AverageState

    scores: kontext.Key = kontext.REQUIRED
    relevance: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    k: Count | None = None
    no_relevant: Literal["skip", "zero"] = "skip"
    on_empty: OnEmpty = "nan"

    def __post_init__(self) -> None:
        super().__post_init__()
        name = type(self).__name__
        if self.no_relevant not in ("skip", "zero"):
            raise ValueError(
                f"{name}: no_relevant={self.no_relevant!r} is not known\n"
                'use "skip" or "zero"'
            )

    @typechecked
    def get_state(
        self,
        scores: Real[Array, "*b n"],
        relevance: Real[Array, "*b n"] | Bool[Array, "*b n"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch.

        Raises:
          ValueError: a relevance is negative, or NaN. Under jit the value is NaN.
        """
        _check_relevance(type(self).__name__, relevance, mask)
        values, weights = _values_of(self, scores, relevance, mask)
        return AverageState.from_values(values, weights)

    def _values(self, ranking: Ranking, k: int) -> jax.Array:
        """One value per query, `[q]`."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ndcg(_Ranking):
    """The discounted gain of a ranking beside that of the best one, 0 to 1.

    `Σ gain / log₂(1 + rank)` over the first `k` items, divided by its largest value;
    the mean over the queries. Items with equal scores share the mean of their places.

    Reference: K. Järvelin, J. Kekäläinen, Cumulated gain-based evaluation of IR
    techniques (2002); F. McSherry, M. Najork, Computing information retrieval
    performance measures efficiently in the presence of tied scores (2008).

    Attributes:
      scores: path of real numbers `[*b, n]`, higher for earlier; a NaN comes last.
      relevance: path of numbers of 0 and more `[*b, n]`; with others a query has no
        value.
      mask: path of bools or non-negative numbers: `[*b]` drops or weighs queries, and
        `[*b, n]` drops items; then a query weighs as much as the most of its items.
      k: how many items are looked at; None: all.
      no_relevant: what a query counts none of whose items is relevant: "skip":
        nowhere; "zero": as 0.
      on_empty: the value without queries: "nan", "zero", or "raise".
      gain: "linear": the relevance. "exp2": `2^relevance - 1`.

    Raises:
      ValueError: an option is not known.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    gain: Literal["linear", "exp2"] = "linear"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gain not in ("linear", "exp2"):
            raise ValueError(
                f'Ndcg: gain={self.gain!r} is not known\nuse "linear" or "exp2"'
            )

    def _values(self, ranking: Ranking, k: int) -> jax.Array:
        relevance = ranking.relevance
        gain = _exponential(relevance) if self.gain == "exp2" else relevance
        places = np.arange(1, relevance.shape[-1] + 1)
        discount = np.where(places <= k, 1 / np.log2(places + 1), 0)
        # Of all discounts up to a place, so that a run of ties is one difference.
        up_to = jnp.asarray(np.append(0, np.cumsum(discount)), jnp.float32)
        better, tied = _places(ranking.scores)
        shared = (up_to[better + tied] - up_to[better]) / tied
        best = jnp.sort(gain, axis=-1, descending=True)
        ideal = jnp.sum(best * discount.astype(np.float32), axis=-1)
        return _ratio(jnp.sum(gain * shared, axis=-1), ideal)


@dataclasses.dataclass(frozen=True, kw_only=True)
class RecallAtK(_Ranking):
    """The share of the relevant items that are among the first `k`.

    The mean over the queries. Of items with equal scores across the border each counts
    by its chance to be inside.

    Attributes: as for `Ndcg`; relevant is what has a relevance above 0.

    Raises:
      ValueError: an option is not known.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    def _values(self, ranking: Ranking, k: int) -> jax.Array:
        relevant = (ranking.relevance > 0).astype(jnp.float32)
        better, tied = _places(ranking.scores)
        inside = jnp.clip((k - better) / tied, 0, 1)
        return _ratio(jnp.sum(relevant * inside, axis=-1), jnp.sum(relevant, axis=-1))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mrr(_Ranking):
    """The mean of 1 / rank of the first relevant item; 0 beyond the first `k`.

    Items with equal scores are ranked with the relevant ones last, so that a model
    which scores all alike gains nothing.

    Attributes: as for `Ndcg`; relevant is what has a relevance above 0.

    Raises:
      ValueError: an option is not known.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    def _values(self, ranking: Ranking, k: int) -> jax.Array:
        scores, relevant = ranking.scores, ranking.relevance > 0
        best = jnp.max(jnp.where(relevant, scores, -jnp.inf), axis=-1, keepdims=True)
        before = (scores > best) | ((scores == best) & ~relevant)
        rank = 1 + jnp.sum(before, axis=-1)
        found = jnp.any(relevant, axis=-1) & (rank <= k)
        return jnp.where(found, 1 / rank, 0.0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class MapAtK(_Ranking):
    """The mean average precision of the first `k` items.

    For a query `Σ precision at each relevant item / min(k, relevant items)`; the mean
    over the queries. Items with equal scores are ranked with the relevant ones last.

    Attributes: as for `Ndcg`; relevant is what has a relevance above 0.

    Raises:
      ValueError: an option is not known.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    def _values(self, ranking: Ranking, k: int) -> jax.Array:
        relevant = ranking.relevance > 0
        order = jnp.lexsort((relevant, -ranking.scores), axis=-1)
        hits = jnp.take_along_axis(relevant, order, axis=-1).astype(jnp.float32)
        places = jnp.arange(1, hits.shape[-1] + 1)
        precision = jnp.cumsum(hits, axis=-1) / places
        found = jnp.sum(jnp.where(places <= k, hits * precision, 0), axis=-1)
        return _ratio(found, jnp.minimum(jnp.sum(hits, axis=-1), k))


# One compiled call when used outside jit, and plain operations inside.
@functools.partial(jax.jit, static_argnums=0, inline=True)
def _values_of(
    metric: _Ranking, scores: Any, relevance: Any, mask: Any | None
) -> tuple[jax.Array, jax.Array]:
    ranking = _ranking_of(scores, relevance, mask)
    size = ranking.scores.shape[-1]
    k = size if metric.k is None else min(metric.k, size)
    if not size:
        values = jnp.zeros(ranking.weights.shape)
    else:
        values = metric._values(ranking, k)
    is_unknown = jnp.any(~(ranking.relevance >= 0), axis=-1)
    values = jnp.where(is_unknown, jnp.nan, values)
    weights = ranking.weights
    if metric.no_relevant == "skip":
        any_relevant = jnp.any(ranking.relevance > 0, axis=-1)
        weights = jnp.where(any_relevant | is_unknown, weights, 0.0)
    return values, weights


def _ranking_of(scores: Any, relevance: Any, mask: Any | None) -> Ranking:
    scores = to_float32(scores)
    shape = scores.shape
    is_item, weights = jnp.ones(shape, bool), jnp.ones(shape[:-1], jnp.float32)
    if mask is not None:
        mask = align_left(mask, shape)
        is_item = jnp.broadcast_to(mask != 0, shape)
        if mask.shape[-1] == 1:
            weights = jnp.broadcast_to(to_float32(mask[..., 0]), shape[:-1])
        else:
            weights = jnp.max(to_float32(mask), axis=-1, initial=0.0)
            weights = jnp.broadcast_to(weights, shape[:-1])
    limits = jnp.finfo(scores.dtype)
    scores = jnp.where(jnp.isnan(scores), limits.min, scores)
    scores = jnp.where(is_item, jnp.clip(scores, limits.min, limits.max), -jnp.inf)
    relevance = jnp.where(is_item, to_float32(relevance), 0.0)
    return Ranking(
        scores.reshape(-1, shape[-1]),
        relevance.reshape(-1, shape[-1]),
        weights.ravel(),
    )


def _places(scores: jax.Array) -> tuple[jax.Array, jax.Array]:
    """How many items of the query score higher, and how many the same, `[q, n]`."""

    def of_one(own: jax.Array) -> tuple[jax.Array, jax.Array]:
        ascending = jnp.sort(own)
        below = jnp.searchsorted(ascending, own, side="left")
        up_to = jnp.searchsorted(ascending, own, side="right")
        return len(own) - up_to, up_to - below

    return jax.vmap(of_one)(scores)


def _exponential(relevance: jax.Array) -> jax.Array:
    """`2^relevance - 1` in units of 2 to the highest of the query: it may overflow."""
    highest = jnp.max(relevance, axis=-1, keepdims=True, initial=0.0)
    return -jnp.expm1(-math.log(2) * relevance) * jnp.exp2(relevance - highest)


def _ratio(part: jax.Array, whole: jax.Array) -> jax.Array:
    return jnp.where(whole > 0, part / jnp.where(whole > 0, whole, 1.0), 0.0)


def _check_relevance(name: str, relevance: Any, mask: Any | None) -> None:
    if is_traced((relevance, mask)):
        return
    relevance = np.asarray(relevance)
    # A NaN is not 0 or more either.
    negative = ~(relevance >= 0)
    if mask is not None:
        negative &= np.asarray(align_left(mask, relevance.shape)) != 0
    if negative.any():
        raise ValueError(
            f"{name}: a relevance is negative, or NaN\n"
            f"  got {relevance[negative][0]:g}\nuse 0 for what is not relevant"
        )
