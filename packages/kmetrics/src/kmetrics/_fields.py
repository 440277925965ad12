"""How the fields of an `AutoState` are stored, merged and shown to `compute`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from kmetrics._average import AverageState
from kmetrics._errors import HostOnlyError, MergeError
from kmetrics._numerics import Pair, add_pairs, is_traced, to_pair, zero_pair
from kmetrics._options import check_whole
from kmetrics._register import DATA, STATIC

KIND = "kmetrics.kind"


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class Unset:
    """The value of a field before any data: no leaves, merges with everything."""


class Pieces(NamedTuple):
    """Arrays that are to be concatenated once, at the end."""

    parts: tuple[Any, ...]


class Sum:
    """Adds elementwise, as float32 pairs."""

    device: ClassVar[bool] = True
    lane: ClassVar[str] = "sum"
    node: ClassVar[type] = Pair
    nothing: ClassVar[Any] = np.float64(0)

    def store(self, leaf: Any) -> Pair:
        return to_pair(leaf)

    def merge(self, a: Pair, b: Pair) -> Pair:
        check_shapes(a.hi, b.hi)
        return add_pairs(a, b)

    def show(self, stored: Pair) -> Any:
        if is_traced(stored):
            return stored.hi
        return stored.numpy()

    def empty_like(self, stored: Pair) -> Pair:
        return zero_pair(np.shape(stored.hi))


class Mean:
    """Keeps an `AverageState`; a plain array counts every element once."""

    device: ClassVar[bool] = True
    lane: ClassVar[str] = "sum"
    node: ClassVar[type] = AverageState
    nothing: ClassVar[Any] = np.nan

    def store(self, leaf: Any) -> AverageState:
        return AverageState.from_values(leaf)

    def merge(self, a: AverageState, b: AverageState) -> AverageState:
        return a.merge(b)

    def show(self, stored: AverageState) -> Any:
        return stored.compute()

    def empty_like(self, stored: AverageState) -> AverageState:
        return stored.empty()


class Extreme:
    """The elementwise minimum or maximum."""

    device: ClassVar[bool] = True
    node: ClassVar[type | None] = None

    def __init__(self, largest: bool, nan: Literal["propagate", "ignore"]):
        if nan not in ("propagate", "ignore"):
            raise ValueError(
                f'nan={nan!r} is not a policy: use "propagate" or "ignore"'
            )
        pick = {
            (True, "propagate"): jnp.maximum,
            (True, "ignore"): jnp.fmax,
            (False, "propagate"): jnp.minimum,
            (False, "ignore"): jnp.fmin,
        }
        self.lane = ("max" if largest else "min") + (
            "" if nan == "propagate" else "_but_nan"
        )
        self._largest = largest
        self.nothing = -np.inf if largest else np.inf
        self._pick = pick[largest, nan]

    def store(self, leaf: Any) -> Any:
        # Specs come from jax.eval_shape.
        arrays = jax.Array, np.ndarray, np.generic, jax.ShapeDtypeStruct
        return leaf if isinstance(leaf, arrays) else jnp.asarray(leaf)

    def merge(self, a: Any, b: Any) -> Any:
        check_shapes(a, b)
        return self._pick(a, b)

    def show(self, stored: Any) -> Any:
        return stored

    def empty_like(self, stored: Any) -> jax.Array:
        dtype = stored.dtype
        if dtype == jnp.bool_:
            worst: Any = not self._largest
        elif jnp.issubdtype(dtype, jnp.integer):
            limits = jnp.iinfo(dtype)
            worst = limits.min if self._largest else limits.max
        else:
            worst = -jnp.inf if self._largest else jnp.inf
        return jnp.full(stored.shape, worst, dtype)


class Concat:
    """Collects arrays on the host and joins them along one axis."""

    device: ClassVar[bool] = False
    lane: ClassVar[str] = ""
    node: ClassVar[type] = Pieces
    nothing: ClassVar[Any] = None

    def __init__(self, axis: int):
        check_whole("the axis", axis)
        self._axis = axis

    def store(self, leaf: Any) -> Pieces:
        return Pieces((leaf if np.ndim(leaf) else jnp.reshape(leaf, (1,)),))

    def merge(self, a: Pieces, b: Pieces) -> Pieces:
        if is_traced((a, b)):
            raise HostOnlyError(
                "it is collected on the host, and its size grows with every merge\n"
                "merge these states outside jit, for example with Collection.merge, "
                "or use a kmetrics.buffer_field"
            )
        _check_joinable(a.parts, b.parts, self._axis)
        return Pieces(a.parts + b.parts)

    def show(self, stored: Pieces) -> Any:
        if is_traced(stored):
            return jnp.concatenate(stored.parts, self._axis)
        return np.concatenate(jax.device_get(stored.parts), self._axis)

    def finalize(self, stored: Pieces) -> Pieces:
        return Pieces((np.concatenate(stored.parts, self._axis),))

    def empty_like(self, stored: Pieces) -> Pieces:
        first = stored.parts[0]
        shape = list(np.shape(first))
        shape[self._axis] = 0
        return Pieces((np.zeros(shape, first.dtype),))


def check_shapes(a: Any, b: Any) -> None:
    if np.shape(a) != np.shape(b):
        raise MergeError(
            f"its values have different shapes: {list(np.shape(a))} and "
            f"{list(np.shape(b))}\nreduce over the batch in get_state, "
            "so that the shape does not depend on the data"
        )


def _check_joinable(a: Sequence[Any], b: Sequence[Any], axis: int) -> None:
    left, right = list(np.shape(a[-1])), list(np.shape(b[0]))
    shapes = f"{left} and {right}"
    if len(left) != len(right) or not -len(left) <= axis < len(left):
        raise MergeError(f"arrays of shapes {shapes} do not join along axis {axis}")
    del left[axis], right[axis]
    if left != right:
        raise MergeError(
            f"arrays of shapes {shapes} do not join along axis {axis}\n"
            "every other axis must be equal"
        )


def sum_field() -> Any:
    """A field that adds up: numbers, arrays or trees of arrays of any real dtype.

    Kept as float32 pairs, so integers, bools and half precision neither wrap nor
    stick. `compute` sees float64 numpy arrays.
    """
    return data_field(Sum())


def mean_field() -> Any:
    """A field that averages: an array, whose elements count once each.

    For masks and weights give `AverageState.from_values(...)` instead of an array.
    `compute` sees a float, NaN if nothing counts.
    """
    return data_field(Mean())


def min_field(*, nan: Literal["propagate", "ignore"] = "propagate") -> Any:
    """A field that keeps the elementwise minimum; the dtype stays.

    Args:
      nan: whether a NaN wins ("propagate") or loses ("ignore") against a number.
    """
    return data_field(Extreme(largest=False, nan=nan))


def max_field(*, nan: Literal["propagate", "ignore"] = "propagate") -> Any:
    """A field that keeps the elementwise maximum; the dtype stays.

    Args:
      nan: whether a NaN wins ("propagate") or loses ("ignore") against a number.
    """
    return data_field(Extreme(largest=True, nan=nan))


def concat_field(*, axis: int = 0) -> Any:
    """A field that collects arrays on the host and joins them along `axis`.

    Merges outside jit alone. A scalar is joined as an array of length 1. `compute`
    sees one numpy array, or None if no data came.
    """
    return data_field(Concat(axis))


def static_field(**kwargs: Any) -> Any:
    """A field that is part of the structure, such as a number of bins.

    It must be hashable, and equal in states that are merged.

    Args:
      **kwargs: `default` or `default_factory`, as for `dataclasses.field`.
    """
    return dataclasses.field(metadata=STATIC, **kwargs)


def data_field(kind: Any) -> Any:
    """A field whose values are stored, merged and shown by `kind`."""
    return dataclasses.field(metadata={**DATA, KIND: kind})
