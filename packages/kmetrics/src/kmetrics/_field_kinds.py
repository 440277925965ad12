"""Fields of an `AutoState` that hold more than a number."""

from __future__ import annotations

import itertools
import operator
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from kmetrics._bins import LogBins, bin_of, count_bins
from kmetrics._covariance import CovarianceState
from kmetrics._fields import Concat, Pieces, check_shapes, data_field
from kmetrics._masks import check_weights
from kmetrics._moments import MomentsState
from kmetrics._numerics import Pair, add_pairs, is_traced, zero_pair
from kmetrics._options import check_number, check_whole
from kmetrics._selection import Examples, Reservoir, Selection, TopK
from kmetrics._state import State


class AtStep(NamedTuple):
    """A value and the step it belongs to, for `last_field` and `first_field`.

    Attributes:
      step: integer scalar.
      value: array, or a tree of arrays, of the same shapes at every step.
    """

    step: Any
    value: Any


class Moments(NamedTuple):
    """What `compute` sees of a `moments_field`: float64 numbers.

    Attributes:
      count: the total weight.
      mean: the mean; 0 without data. Of vectors `[d]`.
      deviations: Σ weight · (value - mean)². Of vectors `[d, d]`, with the products of
        the entries.
    """

    count: Any
    mean: Any
    deviations: Any


class Bins(NamedTuple):
    """Counts per bin, a `Pair` `[n]`."""

    counts: Pair


class Quantiles:
    """What `compute` sees of a `sketch_field`.

    Attributes:
      count: the number of values.
    """

    def __init__(self, bins: LogBins, counts: np.ndarray):
        self._bins, self._counts = bins, counts
        self.count = float(counts.sum())

    def quantile(self, q: float) -> float:
        """The value below which the share `q` of the data lies; NaN without data.

        Raises:
          ValueError: `q` is outside of [0, 1].
        """
        check_number("the share of a quantile", q)
        if not 0 <= q <= 1:
            raise ValueError(f"the share of a quantile must be in [0, 1]\n  got {q}")
        return self._bins.quantile(self._counts, q)


class MomentsKind:
    """Keeps moments; a plain array counts every element, or every vector, once."""

    device: ClassVar[bool] = True
    lane: ClassVar[str] = ""
    nothing: ClassVar[Any] = Moments(0.0, 0.0, 0.0)

    def __init__(self, node: type[MomentsState] | type[CovarianceState]):
        self.node = node

    def store(self, leaf: Any) -> Any:
        return self.node.from_values(leaf)

    def merge(self, a: Any, b: Any) -> Any:
        return a.merge(b)

    def show(self, stored: Any) -> Moments:
        return Moments(*stored.moments())

    def empty_like(self, stored: Any) -> Any:
        return stored.empty_like()


class Hist:
    """Counts values between edges."""

    device: ClassVar[bool] = True
    lane: ClassVar[str] = "sum"
    node: ClassVar[type] = Bins
    nothing: Any

    def __init__(self, edges: Any):
        try:
            self.edges = tuple(map(float, edges))
        except (TypeError, ValueError):
            raise TypeError(
                f"the edges of a histogram must be numbers\n  got {edges!r:.80}"
            ) from None
        ascend = all(a < b for a, b in itertools.pairwise(self.edges))
        if len(self.edges) < 2 or not ascend:
            raise ValueError(
                "the edges of a histogram must be two or more, and ascend\n"
                f"  got {str(self.edges)[:80]}"
            )
        self.size = len(self.edges) - 1
        self.nothing = np.zeros(self.size)

    def store(self, leaf: Any) -> Bins:
        values, mask = _values_of(leaf)
        return Bins(count_bins(bin_of(values, self.edges), self.size, mask))

    def merge(self, a: Bins, b: Bins) -> Bins:
        return Bins(add_pairs(a.counts, b.counts))

    def show(self, stored: Bins) -> Any:
        traced = is_traced(stored)
        return stored.counts.hi if traced else stored.counts.numpy()

    def empty_like(self, stored: Bins) -> Bins:
        return Bins(zero_pair((self.size,)))


class Sketch(Hist):
    """Counts values in bins of a relative width."""

    def __init__(self, bins: LogBins):
        self.bins = bins
        self.size = bins.size
        self.nothing = Quantiles(bins, np.zeros(bins.size))

    def store(self, leaf: Any) -> Bins:
        values, mask = _values_of(leaf)
        return Bins(count_bins(self.bins.index(values), self.size, mask))

    def show(self, stored: Bins) -> Any:
        if is_traced(stored):
            return stored
        return Quantiles(self.bins, stored.counts.numpy())


class Latest:
    """Keeps the value of the highest step, or of the lowest."""

    device: ClassVar[bool] = True
    lane: ClassVar[str] = ""
    node: ClassVar[type] = AtStep
    nothing: ClassVar[Any] = None

    def __init__(self, is_later: Any):
        self._is_later = is_later

    def store(self, leaf: Any) -> Any:
        raise TypeError(
            "a field of the first or last value takes kmetrics.AtStep(step, value)\n"
            f"  got {type(leaf).__name__}"
        )

    def merge(self, a: AtStep, b: AtStep) -> AtStep:
        steps = [jnp.asarray(one.step) for one in (a, b)]
        for step in steps:
            if step.ndim or not jnp.issubdtype(step.dtype, jnp.integer):
                raise TypeError(
                    "the step of a kmetrics.AtStep must be an integer\n"
                    f"  got {step.dtype}{list(step.shape)}"
                )
        jax.tree.map(check_shapes, a.value, b.value)
        wins = self._is_later(steps[1], steps[0])
        return jax.tree.map(lambda x, y: jnp.where(wins, y, x), a, b)

    def show(self, stored: AtStep) -> Any:
        return stored.value

    def empty_like(self, stored: AtStep) -> AtStep:
        limits = jnp.iinfo(jnp.int32)
        later = bool(self._is_later(1, 0))
        step = jnp.asarray(limits.min if later else limits.max, jnp.int32)
        return AtStep(step, jax.tree.map(jnp.zeros_like, stored.value))


class Inner:
    """Keeps a state, which merges by itself."""

    device: ClassVar[bool] = True
    lane: ClassVar[str] = ""
    node: ClassVar[type] = State
    nothing: ClassVar[Any] = None

    def store(self, leaf: Any) -> Any:
        raise TypeError(f"a state_field holds a state\n  got {type(leaf).__name__}")

    def merge(self, a: Any, b: Any) -> Any:
        return a.merge(b)

    def show(self, stored: Any) -> Any:
        return stored

    def finalize(self, stored: Any) -> Any:
        return stored.finalize() if isinstance(stored, State) else stored

    def empty_like(self, stored: Any) -> Any:
        like = getattr(stored, "empty_like", stored.empty)
        return like()


class Truncate(Concat):
    """Collects arrays on the host up to a number of rows."""

    def __init__(self, limit: int | str | None, axis: int):
        super().__init__(axis)
        if not (limit is None or isinstance(limit, str)):
            check_whole("the number of rows", limit, lowest=0)
        self._limit = limit

    def bound_to(self, owner: Any) -> Truncate:
        if not isinstance(self._limit, str):
            return self
        try:
            return Truncate(operator.attrgetter(self._limit)(owner), self._axis)
        except AttributeError:
            if owner.parent is None:
                # The metric is not known yet, and with it the limit.
                return Truncate(None, self._axis)
            raise

    def trim(self, stored: Pieces) -> Pieces:
        if not isinstance(self._limit, int):
            return stored
        parts, room = [], self._limit
        for part in stored.parts:
            length = part.shape[self._axis]
            if length > room:
                part = part[(slice(None),) * (self._axis % part.ndim) + (slice(room),)]
            if room or not parts:
                parts.append(part)
            room = max(room - length, 0)
        return Pieces(tuple(parts))


def _values_of(leaf: Any) -> tuple[Any, Any]:
    if not isinstance(leaf, Examples):
        return leaf, None
    check_weights(leaf.mask)
    return leaf.items, leaf.mask


def moments_field(*, covariance: bool = False) -> Any:
    """A field of count, mean and squared deviations: an array, or a `MomentsState`.

    `compute` sees a `Moments`.

    Args:
      covariance: whether the last axis of the array `[*b, d]` holds vectors, whose mean
        is `[d]` and whose deviations are `[d, d]`; for a mask give a `CovarianceState`.
    """
    return data_field(MomentsKind(CovarianceState if covariance else MomentsState))


def hist_field(edges: Any) -> Any:
    """A field that counts values between edges: an array, or `Examples(items, mask=)`.

    `compute` sees float64 counts `[len(edges) - 1]`. Values outside of the edges and
    NaN are not counted.

    Args:
      edges: two or more ascending numbers; each bin contains its lower edge, the last
        one both.
    """
    return data_field(Hist(edges))


def sketch_field(
    rel_err: float = 0.01, *, smallest: float = 1e-9, largest: float = 1e9
) -> Any:
    """A field for quantiles: an array, or `Examples(items, mask=)`.

    `compute` sees an object with `quantile(q)` and `count`. The memory does not grow.

    Args:
      rel_err: the largest relative error of a quantile.
      smallest: magnitudes below it count as 0.
      largest: magnitudes above it count as it.
    """
    return data_field(Sketch(LogBins(rel_err, smallest, largest)))


def last_field() -> Any:
    """A field of `AtStep(step, value)` that keeps the value of the highest step."""
    return data_field(Latest(operator.ge))


def first_field() -> Any:
    """A field of `AtStep(step, value)` that keeps the value of the lowest step."""
    return data_field(Latest(operator.lt))


def state_field() -> Any:
    """A field that holds another state; `compute` sees it fetched to the host."""
    return data_field(Inner())


def truncate_field(num: int | str | None, *, axis: int = 0) -> Any:
    """A field that collects arrays on the host and keeps the first `num` of them.

    Args:
      num: how many rows to keep; or a path of attributes of the state that leads to
        the number, such as "parent.num_images"; None for no limit.
      axis: the axis along which the arrays are joined and cut.
    """
    return data_field(Truncate(num, axis))


def topk_field(k: int) -> Any:
    """A field of `Examples(items, scores=)` that keeps the `k` of the highest scores.

    `compute` sees a `Selected`, best first.
    """
    return data_field(TopK(k))


def reservoir_field(k: int, *, seed: int = 0) -> Any:
    """A field of `Examples(items, ids=)` that keeps a uniform sample of `k`.

    Which examples are kept depends on the seed and the ids alone, not on batches.
    """
    return data_field(Reservoir(k, seed))


def buffer_field(capacity: int) -> Any:
    """A field of `Examples(items)` that keeps the first `capacity` of them.

    Unlike `concat_field` it has a fixed size and merges under jit. `num_seen` of the
    `Selected` that `compute` sees tells how many there were.
    """
    return data_field(Selection(capacity))
