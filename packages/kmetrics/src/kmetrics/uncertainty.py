"""How sure a value is: resampling and analytic intervals."""

from __future__ import annotations

import dataclasses
import functools
import math
import statistics
from collections.abc import Collection, Mapping
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._average import AverageState
from kmetrics._loss_state import LossState
from kmetrics._metric import Inner, Metric
from kmetrics._moments import MomentsState
from kmetrics._options import Count, Share, Whole
from kmetrics._register import state
from kmetrics._replicated import Replicated, ReplicatedState
from kmetrics._state import State
from kmetrics._student import t_quantile

__all__ = ["Bootstrap", "WithCi"]

# How far a mean of 0 and 1 may be off.
_ROUNDING = 1e-6


@state
class BootstrapState(ReplicatedState):
    """The state of the data, and those of the replicates after it."""

    def compute(self) -> dict[str, float]:
        """The value, the ends of the interval, and the standard deviation.

        Replicates without a value, because no example was drawn, are left out. Where
        the value is NaN so is all else.

        Raises:
          TypeError: the value of the metric is not one number.
        """
        level = getattr(self.parent, "ci", 0.95)
        value, *drawn = map(_value_or_nan, self.each())
        values = np.array([v for v in drawn if not math.isnan(v)])
        # Of a NaN in the data the replicates that missed it tell nothing.
        if not len(values) or math.isnan(value):
            return {"value": value, "lo": math.nan, "hi": math.nan, "sd": math.nan}
        lo, hi = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
        sd = float(values.std(ddof=1)) if len(values) > 1 else math.nan
        return {"value": value, "lo": float(lo), "hi": float(hi), "sd": sd}


def _value_or_nan(state: Any) -> float:
    """The value; NaN for a loss without examples, which itself says 0."""
    if isinstance(state, LossState) and state.count.numpy() == 0:
        return math.nan
    value = state.compute()
    is_number = isinstance(value, int | float | np.generic | np.ndarray | jax.Array)
    if not is_number or np.ndim(value):
        name = type(state if state.parent is None else state.parent).__name__
        what = "an array" if is_number else f"a {type(value).__name__}"
        what = f"{len(value)} results" if isinstance(value, Mapping) else what
        raise TypeError(
            "Bootstrap needs a metric whose value is one number\n"
            f"  {name} computes {what}\n"
            "choose an average, or another method, that gives one"
        )
    return float(value)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Bootstrap(Replicated):
    """`metric` with an interval from resampled examples.

    Computes `value`, `lo`, `hi` and `sd`. How often an example counts in a replicate is
    Poisson distributed with mean 1, and depends on `seed` and its id alone, so the
    interval does not depend on the batches.

    Attributes:
      metric: the metric, or loss, whose value is one number; its `get_state` takes a
        `mask` whose numbers weigh.
      ids: path of integers `[b]` or `[b, 1]` that name the examples.
      n: the number of replicates.
      seed: of the resampling.
      ci: the share of the replicates inside of the interval, in (0, 1).

    Raises:
      TypeError: the mask of `metric` does not weigh.
      ValueError: an option is out of range.
    """

    State = BootstrapState
    numbers_key = "ids"

    ids: kontext.Key = kontext.REQUIRED
    n: Count = 200
    seed: Whole = 0
    ci: Share = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.metric.mask_weighs:
            raise TypeError(
                f"Bootstrap cannot resample {type(self.metric).__name__}\n"
                "  what is drawn twice has to count twice, but its mask only selects\n"
                "use a metric whose mask weighs, such as a mean"
            )
        if getattr(self.metric, "on_empty", "nan") != "nan":
            # So that replicates without any example are told apart.
            quiet = self.metric.replace(on_empty="nan")
            object.__setattr__(self, "metric", quiet)

    def metric_names(self) -> tuple[str, ...]:
        """`value`, `lo`, `hi` and `sd`."""
        return "value", "lo", "hi", "sd"

    def keypaths(self) -> tuple[str, ...]:
        """The paths that the metric reads, and that of the ids."""
        return tuple(dict.fromkeys([*self.metric.keypaths(), str(self.ids)]))

    @property
    def _num_states(self) -> int:
        return self.n + 1

    def _masks(self, numbers: jax.Array) -> jax.Array:
        """How often each example counts, float32 `[n + 1, b]`; row 0: once."""
        times = poisson_weights(self.seed, numbers, self.n)
        return jnp.concatenate([jnp.ones((1, *numbers.shape), jnp.float32), times])


@functools.partial(jax.jit, static_argnames=("seed", "n"), inline=True)
def poisson_weights(seed: int, ids: jax.Array, n: int) -> jax.Array:
    """Poisson numbers of mean 1, float32 `[n, b]`, from the seed and the ids alone."""
    key = jax.random.key(seed)
    bits = jax.vmap(lambda i: jax.random.bits(jax.random.fold_in(key, i), (n,)))(ids)
    # The largest number that a draw of 32 bits can reach is 12.
    shares = np.cumsum([math.exp(-1) / math.factorial(k) for k in range(13)])
    limits = np.minimum(np.round(shares * 2.0**32), 2.0**32 - 1).astype(np.uint32)
    return jnp.searchsorted(limits, bits, side="right").T.astype(jnp.float32)


@state
class IntervalState(State):
    """An `AverageState` of values that are 0 or 1, computed with its interval."""

    average: AverageState

    @property
    def adds_up(self) -> bool:
        """Whether the average does."""
        return self.average.adds_up

    @classmethod
    def empty(cls) -> IntervalState:
        """The state of no values."""
        return cls(average=AverageState.empty())

    def empty_like(self) -> IntervalState:
        """The state of no values."""
        return self.replace(average=self.average.empty_like())

    def merge(self, other: IntervalState) -> IntervalState:
        """The state of the values of both."""
        parent = self.merged_parent(other)
        return self.replace(average=self.average.merge(other.average), _parent=parent)

    def compute(self) -> dict[str, float]:
        """The share, and the ends of its interval; NaN if nothing counts.

        Raises:
          ValueError: it is no share.
        """
        count = float(self.average.count.numpy())
        if count == 0:
            return {"value": self.empty_value(), "lo": math.nan, "hi": math.nan}
        value = self.average.compute()
        level, method = self.parent.level, self.parent.method
        if not -_ROUNDING <= value <= 1 + _ROUNDING and not math.isnan(value):
            raise ValueError(
                f"WithCi: method={method!r} needs a metric that averages 0 and 1\n"
                f"  {type(self.parent.metric).__name__} has the mean {value:g}\n"
                'use Std and method="t", or Bootstrap'
            )
        lo, hi = _INTERVALS[method](value, count, level)
        return {"value": value, "lo": lo, "hi": hi}


@state
class MeanIntervalState(State):
    """A `MomentsState`, computed as its mean and the interval of that."""

    moments: MomentsState

    @classmethod
    def empty(cls) -> MeanIntervalState:
        """The state of no values."""
        return cls(moments=MomentsState.empty())

    def empty_like(self) -> MeanIntervalState:
        """The state of no values."""
        return self.replace(moments=self.moments.empty_like())

    def merge(self, other: MeanIntervalState) -> MeanIntervalState:
        """The state of the values of both."""
        parent = self.merged_parent(other)
        return self.replace(moments=self.moments.merge(other.moments), _parent=parent)

    def compute(self) -> dict[str, float]:
        """The mean, and the ends of its interval: NaN with fewer than two values."""
        count, mean, deviations = (float(part) for part in self.moments.moments())
        value = mean if count > 0 else self.empty_value()
        if count <= 1:
            return {"value": value, "lo": math.nan, "hi": math.nan}
        error = math.sqrt(max(deviations, 0.0) / (count - 1) / count)
        half = t_quantile((1 + self.parent.level) / 2, count - 1) * error
        return {"value": value, "lo": mean - half, "hi": mean + half}


@dataclasses.dataclass(frozen=True, kw_only=True)
class WithCi(Metric):
    """A share, such as an accuracy, or a mean, with an interval from a formula.

    Computes `value`, `lo` and `hi`. Every example counts as one independent draw, so
    masks have to select, not to weigh.

    Reference: E. B. Wilson, Probable inference, the law of succession, and statistical
    inference (1927); for the mean Student, The probable error of a mean (1908).

    Attributes:
      metric: a metric that averages values of 0 and 1; for "t" one whose state is a
        `MomentsState`, such as `Std`, of which the mean is computed.
      method: of a share "wilson", which stays in [0, 1] and suits few examples, or
        "normal"; of a mean "t".
      level: the probability that the interval covers the true value, in (0, 1).

    Raises:
      ValueError: an option is not known; at `compute`: the mean is not in [0, 1].
      TypeError: at the first use: `metric` makes states of another kind.
    """

    metric: Inner
    method: Literal["wilson", "normal", "t"] = "wilson"
    level: Share = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        methods = (*_INTERVALS, "t")
        if self.method not in methods:
            raise ValueError(
                f"WithCi: method={self.method!r} is not known\n"
                f"use one of {', '.join(map(repr, methods))}"
            )

    @property
    def on_empty(self) -> Any:
        """That of the metric."""
        return getattr(self.metric, "on_empty", "nan")

    def metric_names(self) -> tuple[str, ...]:
        """`value`, `lo` and `hi`."""
        return "value", "lo", "hi"

    def empty(self) -> Any:
        """The state of no data."""
        kind = MeanIntervalState if self.method == "t" else IntervalState
        return kind.empty().with_parent(self)

    def __kontext_keys__(self) -> dict[str, Any]:
        return kontext.forward_keys(self.metric.state_source)

    def keypaths(self) -> tuple[str, ...]:
        """The paths that the metric reads."""
        return self.metric.keypaths()

    def get_state(self, **inputs: Any) -> Any:
        """The state of one batch."""
        return self._with_interval(self.metric.get_state(**inputs))

    def get_state_from_context(
        self,
        context: Any,
        *,
        mask: Any | None = None,
        example_roots: Collection[str] | None = None,
    ) -> Any:
        """The state of one batch.

        Args, errors: as for `Metric.get_state_from_context`.
        """
        inner = self.metric.get_state_from_context(
            context, mask=mask, example_roots=example_roots
        )
        return self._with_interval(inner)

    def _with_interval(self, inner: Any) -> Any:
        if isinstance(inner, State):
            # As in a state of no data, whose structure a carry of a scan has.
            inner = inner.replace(_parent=None)
        if self.method == "t" and isinstance(inner, MomentsState):
            return MeanIntervalState(moments=inner).with_parent(self)
        is_mean = getattr(type(inner), "compute", None) is AverageState.compute
        if self.method != "t" and is_mean:
            return IntervalState(average=inner).with_parent(self)
        wanted = (
            "whose states are MomentsState, such as Std"
            if self.method == "t"
            else "that averages values of 0 and 1"
        )
        raise TypeError(
            f"WithCi: method={self.method!r} needs a metric {wanted}\n"
            f"  {type(self.metric).__name__} makes {type(inner).__name__}\n"
            "use Bootstrap"
        )


def _wilson(share: float, count: float, level: float) -> tuple[float, float]:
    z = _normal_quantile(level)
    shrink = 1 + z**2 / count
    centre = (share + z**2 / (2 * count)) / shrink
    spread = share * (1 - share) / count + z**2 / (4 * count**2)
    half = z * math.sqrt(max(spread, 0.0)) / shrink
    return centre - half, centre + half


def _normal(share: float, count: float, level: float) -> tuple[float, float]:
    half = _normal_quantile(level) * math.sqrt(max(share * (1 - share), 0.0) / count)
    return share - half, share + half


_INTERVALS = {"wilson": _wilson, "normal": _normal}


def _normal_quantile(level: float) -> float:
    return statistics.NormalDist().inv_cdf((1 + level) / 2)
