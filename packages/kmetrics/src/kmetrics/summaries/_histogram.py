"""Histograms of any tensor, counted on the device."""

from __future__ import annotations

import dataclasses
import functools
import math
import numbers
from typing import Annotated, Any, Literal, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._auto import AutoState
from kmetrics._bins import bin_of, count_bins
from kmetrics._fields import data_field, max_field, min_field, sum_field
from kmetrics._masks import align_left, check_weights, masked_sums
from kmetrics._metric import Metric
from kmetrics._numerics import to_float32
from kmetrics._options import Span, whole
from kmetrics._register import state
from kmetrics.summaries._aligned_bins import Aligned, count_aligned
from kmetrics.summaries._media import Histogram
from ktyping import Array, Bool, Real, typechecked

Edges: TypeAlias = Literal["auto", "linear", "log"] | tuple[float, ...]


@state
class HistogramState(AutoState):
    """Counts in bins, of a fixed number.

    Attributes:
      aligned: counts in bins that grow with the data; None with fixed edges.
      fixed: `[n]`, counts between fixed edges; None without.
      low: the lowest finite value.
      high: the highest.
      total: the sum of the finite values.
      squares: the sum of their squares.
      num_finite: their number.
      num_nan: how many were NaN.
      num_inf: how many were infinite.
    """

    aligned: Any = data_field(Aligned())
    fixed: Any = sum_field()
    low: Any = min_field()
    high: Any = max_field()
    total: Any = sum_field()
    squares: Any = sum_field()
    num_finite: Any = sum_field()
    num_nan: Any = sum_field()
    num_inf: Any = sum_field()

    def compute(self) -> Histogram:
        """The histogram."""
        edges = self.parent.fixed_edges
        if edges is None:
            counts, edges = self.aligned
        else:
            edges = np.asarray(edges)
            counts = np.broadcast_to(self.fixed, len(edges) - 1).astype(float)
        is_empty = not self.num_finite
        return Histogram(
            counts=counts,
            edges=edges,
            min=math.nan if is_empty else float(self.low),
            max=math.nan if is_empty else float(self.high),
            sum=float(self.total),
            sum_sq=float(self.squares),
            num_nan=round(float(self.num_nan)),
            num_inf=round(float(self.num_inf)),
            num_outside=max(round(float(self.num_finite - counts.sum())), 0),
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class HistogramSummary(Metric):
    """How often values occur, as a `Histogram`; in fixed memory, and exactly merged.

    With edges "auto", the bins are as wide as a power of two, and as narrow as all
    values so far allow: between half of `num_buckets` and all of them are in use. The
    counts do not depend on how the data was split into batches.

    Attributes:
      tensor: path of real numbers of any shape; a mean of `[b, n]` counts b · n values.
      num_buckets: the number of bins, 2 to 256; of given edges the edges tell it.
      edges: "auto"; "linear" or "log": evenly spaced, or by a constant factor, between
        the ends of `in_range`; or the edges.
      in_range: the first and the last edge of "linear" and "log".
      mask: path of bools or numbers that line up with the tensor from the left; what
        is 0 does not count, and numbers weigh.

    Raises:
      ValueError: an option is out of range, or needs another one.
    """

    State = HistogramState

    tensor: kontext.Key = kontext.REQUIRED
    num_buckets: Annotated[int, whole("in 2 to 256", lambda n: 2 <= n <= 256)] = 30
    edges: Edges = "auto"
    in_range: Span | None = None
    mask: kontext.Key | None = None

    def __post_init__(self) -> None:
        if isinstance(self.edges, np.ndarray):
            object.__setattr__(self, "edges", tuple(self.edges.tolist()))
        super().__post_init__()
        if isinstance(self.edges, str):
            self._check_range()
        elif self.in_range is not None:
            raise ValueError("HistogramSummary: give the edges, or in_range, not both")
        elif not _ascends(self.edges):
            raise ValueError(
                "HistogramSummary: the edges must be two numbers or more, and ascend\n"
                f"  got {str(self.edges)[:60]}"
            )

    def _check_range(self) -> None:
        if self.edges not in ("auto", "linear", "log"):
            raise ValueError(
                f"HistogramSummary: edges={self.edges!r} is not known\n"
                'use "auto", "linear", "log", or the edges themselves'
            )
        if (self.edges == "auto") != (self.in_range is None):
            raise ValueError(
                f"HistogramSummary: edges={self.edges!r} "
                f"{'takes no' if self.edges == 'auto' else 'needs'} in_range"
            )
        if self.edges == "log" and self.in_range is not None and self.in_range[0] <= 0:
            raise ValueError(
                "HistogramSummary: in_range must be above 0 for edges='log'\n"
                f"  got {self.in_range!r}"
            )

    @property
    def fixed_edges(self) -> tuple[float, ...] | None:
        """The edges, float `[n + 1]`; None if they grow with the data."""
        if not isinstance(self.edges, str):
            return self.edges
        if self.in_range is None:
            return None
        space = np.geomspace if self.edges == "log" else np.linspace
        return tuple(space(*self.in_range, self.num_buckets + 1).tolist())

    @typechecked
    def get_state(
        self,
        tensor: Real[Array, "..."] | Bool[Array, "..."],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> HistogramState:
        """The state of one batch."""
        values = to_float32(tensor).astype(jnp.float32)
        if mask is not None:
            check_weights(mask)
            mask = align_left(mask, values.shape)
        fields = _counted(values, mask, self.fixed_edges, self.num_buckets)
        return HistogramState(**fields)


def _ascends(edges: Any) -> bool:
    """Whether it is a tuple of two or more numbers, each above the one before."""
    is_row = isinstance(edges, tuple) and all(
        isinstance(x, numbers.Real) for x in edges
    )
    return is_row and len(edges) > 1 and bool(np.all(np.diff(edges) > 0))


@functools.partial(jax.jit, static_argnames=("edges", "size"), inline=True)
def _counted(
    values: jax.Array,
    mask: jax.Array | None,
    edges: tuple[float, ...] | None,
    size: int,
) -> dict[str, Any]:
    """The fields of a `HistogramState`."""
    kept = jnp.broadcast_to(True if mask is None else mask != 0, values.shape)
    is_finite = kept & jnp.isfinite(values)
    safe = jnp.where(is_finite, values, 0.0)
    weights = is_finite if mask is None else jnp.where(is_finite, mask, 0)
    aligned = fixed = None
    if edges is None:
        aligned = count_aligned(safe, size, is_finite, weights)
    else:
        index = jnp.where(is_finite, bin_of(safe, edges), -1)
        fixed = count_bins(index, len(edges) - 1, weights)
    return {
        "aligned": aligned,
        "fixed": fixed,
        "low": jnp.min(values, where=is_finite, initial=jnp.inf),
        "high": jnp.max(values, where=is_finite, initial=-jnp.inf),
        "total": masked_sums(safe, weights)[0],
        "squares": masked_sums(safe * safe, weights)[0],
        "num_finite": masked_sums(is_finite, mask)[0],
        "num_nan": masked_sums(kept & jnp.isnan(values), mask)[0],
        "num_inf": masked_sums(kept & jnp.isinf(values), mask)[0],
    }
