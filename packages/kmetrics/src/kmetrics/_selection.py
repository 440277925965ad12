"""Keeping a fixed number of examples: the best, a fair sample, or the first."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from kmetrics._errors import MergeError
from kmetrics._masks import combine_masks
from kmetrics._numerics import Pair, add_pairs, is_traced, to_pair, zero_pair
from kmetrics._options import check_whole


@dataclasses.dataclass(frozen=True)
class Examples:
    """A batch for a field that keeps some of its examples.

    Attributes:
      items: array `[b, ...]` or a tree of such arrays.
      scores: numbers `[b]`, for `topk_field`; a NaN is never kept.
      ids: integers `[b]` that name the examples, for `reservoir_field`.
      mask: bools `[b]`; None for all.
    """

    items: Any
    scores: Any = None
    ids: Any = None
    mask: Any = None


class Kept(NamedTuple):
    """Places for examples.

    Attributes:
      items: tree of arrays `[k, ...]`.
      rank: `[k]`, the lowest are the first to be kept.
      taken: bool `[k]`.
      seen: scalar `Pair`, how many examples there were.
    """

    items: Any
    rank: Any
    taken: Any
    seen: Pair


class Selected(NamedTuple):
    """What `compute` sees of a field that keeps examples.

    Attributes:
      items: numpy array `[n, ...]`, or a tree of these.
      scores: numpy array `[n]`; None unless the best are kept.
      num_seen: how many examples there were, kept or not.
    """

    items: Any
    scores: np.ndarray | None
    num_seen: int


class Selection:
    """A field that keeps the `k` examples of the lowest rank."""

    device: ClassVar[bool] = True
    lane: ClassVar[str] = ""
    node: ClassVar[type] = Kept
    nothing: ClassVar[Any] = Selected(None, None, 0)
    has_scores: ClassVar[bool] = False

    def __init__(self, k: int):
        check_whole("the number of examples", k, lowest=1)
        self.k = k

    def store(self, leaf: Any) -> Kept:
        if not isinstance(leaf, Examples):
            raise TypeError(
                "a field that keeps examples takes kmetrics.Examples\n"
                f"  got {type(leaf).__name__}"
            )
        items = jax.tree.map(jnp.asarray, leaf.items)
        size = _num_examples(items)
        rank, counts = self.rank(leaf, size)
        mask = None if leaf.mask is None else _one_each("mask", leaf.mask, size)
        keep = combine_masks(counts, mask)
        taken = jnp.broadcast_to(True if keep is None else keep != 0, (size,))
        seen = to_pair(taken.sum())
        short = max(self.k - size, 0)

        def fill(x: jax.Array) -> jax.Array:
            return jnp.pad(x, [(0, short)] + [(0, 0)] * (x.ndim - 1))

        places = Kept(jax.tree.map(fill, items), fill(rank), fill(taken), seen)
        return self._first(places)

    def rank(self, batch: Examples, size: int) -> tuple[jax.Array, Any]:
        """The rank of each example, lowest first, and which can be kept."""
        return jnp.zeros(size, jnp.int32), None

    def merge(self, a: Kept, b: Kept) -> Kept:
        looks = [_shapes(kept.items) for kept in (a, b)]
        if looks[0] != looks[1]:
            raise MergeError(
                "its examples have different shapes in the two states\n"
                f"  {looks[0]} and {looks[1]}\nbring them to one size in get_state"
            )
        seen = add_pairs(a.seen, b.seen)
        both = jax.tree.map(lambda x, y: jnp.concatenate([x, y]), a[:3], b[:3])
        items, rank, taken = both
        return self._first(Kept(items, rank, taken, seen))

    def _first(self, places: Kept) -> Kept:
        order = jnp.lexsort((places.rank, ~places.taken))[: self.k]
        items, rank, taken = jax.tree.map(lambda x: x[order], places[:3])
        return Kept(items, rank, taken, places.seen)

    def show(self, stored: Kept) -> Any:
        if is_traced(stored):
            return stored
        taken = np.asarray(stored.taken)
        items = jax.tree.map(lambda x: np.asarray(x)[taken], stored.items)
        scores = -np.asarray(stored.rank)[taken] if self.has_scores else None
        return Selected(items, scores, int(stored.seen.numpy()))

    def empty_like(self, stored: Kept) -> Kept:
        items, rank, taken = jax.tree.map(jnp.zeros_like, stored[:3])
        return Kept(items, rank, taken, zero_pair())


class TopK(Selection):
    """Keeps the examples of the highest scores."""

    has_scores: ClassVar[bool] = True

    def rank(self, batch: Examples, size: int) -> tuple[jax.Array, Any]:
        if batch.scores is None:
            raise TypeError("topk_field needs Examples with scores")
        scores = _one_each("scores", batch.scores, size).astype(jnp.float32)
        return jnp.where(jnp.isnan(scores), 0.0, -scores), ~jnp.isnan(scores)


class Reservoir(Selection):
    """Keeps a uniform sample that depends on the names of the examples alone."""

    def __init__(self, k: int, seed: int):
        super().__init__(k)
        check_whole("the seed", seed)
        self.seed = seed

    def rank(self, batch: Examples, size: int) -> tuple[jax.Array, Any]:
        if batch.ids is None:
            raise TypeError("reservoir_field needs Examples with ids")
        ids = _one_each("ids", batch.ids, size)
        if not (ids.dtype == jnp.bool_ or jnp.issubdtype(ids.dtype, jnp.integer)):
            raise TypeError(f"the ids of examples must be integers\n  got {ids.dtype}")
        return draws(self.seed, ids), None


def _num_examples(items: Any) -> int:
    """The length of the first axis, which all arrays share."""
    shapes = [list(x.shape) for x in jax.tree.leaves(items)]
    sizes = {shape[0] if shape else -1 for shape in shapes}
    if len(sizes) != 1 or -1 in sizes:
        raise ValueError(
            "the items of examples must share their first axis, one for each example\n"
            f"  got {', '.join(map(str, shapes)) or 'no array'}"
        )
    return sizes.pop()


def _shapes(items: Any) -> Any:
    """The shape of one example."""
    return jax.tree.map(lambda x: list(x.shape[1:]), items)


def _one_each(what: str, values: Any, size: int) -> jax.Array:
    values = jnp.asarray(values)
    if values.shape != (size,):
        raise ValueError(
            f"the {what} of examples must be one number for each\n"
            f"  {what} {list(values.shape)}, examples [{size}]"
        )
    return values


@functools.partial(jax.jit, static_argnames="seed", inline=True)
def draws(seed: int, ids: Any) -> jax.Array:
    """A random uint32 for each example, that depends on the seed and its id alone."""
    key = jax.random.key(seed)
    ids = jnp.asarray(ids)
    each = jax.vmap(lambda i: jax.random.bits(jax.random.fold_in(key, i), (), "uint32"))
    return each(ids.ravel()).reshape(ids.shape)
