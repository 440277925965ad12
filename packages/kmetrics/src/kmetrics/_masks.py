"""The one mask rule: a mask lines up from the left and selects, it never multiplies.

A mask of shape `[b]` on values `[b, n]` keeps or drops whole rows. Booleans select;
numbers weigh, and where they are 0 they drop the value whatever it is, NaN included.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kmetrics._errors import MaskShapeError
from kmetrics._numerics import (
    Pair,
    is_traced,
    sum_products_to_pair,
    sum_to_pair,
    to_float32,
    to_pair,
)


def align_left(mask: Any, shape: tuple[int, ...], *, what: str = "mask") -> jax.Array:
    """`mask` with axes of size 1 added on the right up to the rank of `shape`.

    Args:
      mask: array whose axes are the first axes of `shape`; size 1 fits any size.
      shape: shape of the values.
      what: the name that an error gives to `mask`.

    Raises:
      MaskShapeError: the axes do not line up.
    """
    mask = jnp.asarray(mask)
    fits = mask.ndim <= len(shape) and all(
        size in (1, wanted) for size, wanted in zip(mask.shape, shape, strict=False)
    )
    if not fits:
        raise MaskShapeError(
            f"the {what} does not line up with the values from the left\n"
            f"  {what} {list(mask.shape)}, values {list(shape)}\n"
            f"each axis of the {what} must equal that axis of the values, or be 1"
        )
    return mask.reshape(mask.shape + (1,) * (len(shape) - mask.ndim))


def combine_masks(a: Any | None, b: Any | None) -> jax.Array | None:
    """The mask that keeps what both keep: logical and of bools, else the product."""
    if a is None or b is None:
        return a if b is None else b
    a, b = jnp.asarray(a), jnp.asarray(b)
    rank = max(a.ndim, b.ndim)
    a, b = (m.reshape(m.shape + (1,) * (rank - m.ndim)) for m in (a, b))
    if any(m != n and 1 not in (m, n) for m, n in zip(a.shape, b.shape, strict=True)):
        raise MaskShapeError(
            "two masks of one metric do not line up from the left\n"
            f"  {list(a.shape)} and {list(b.shape)}\n"
            "each axis must be equal, or be 1 in one of them"
        )
    if a.dtype == jnp.bool_ and b.dtype == jnp.bool_:
        return a & b
    keep = (a != 0) & (b != 0)
    return jnp.where(keep, to_float32(a) * to_float32(b), 0.0)


def fill_masked(x: Any, mask: Any, fill: float) -> Any:
    """`x` with `fill` where the mask drops it; unchanged if the two do not line up.

    A mask `[b, 1]` drops rows of `[b]` as well.
    """
    x, mask = jnp.asarray(x), jnp.asarray(mask)
    while mask.ndim > x.ndim and mask.shape[-1] == 1:
        mask = mask[..., 0]
    if not jnp.issubdtype(x.dtype, jnp.number):
        return x
    try:
        keep = align_left(mask != 0, x.shape)
    except MaskShapeError:
        return x
    return jnp.where(keep, x, jnp.asarray(fill, x.dtype))


def masked_sums(
    values: Any, mask: Any | None = None, weights: Any | None = None
) -> tuple[Pair, Pair]:
    """Σ values · mask · weights and Σ mask · weights over all elements.

    Args:
      values: real array of any shape and dtype; summed as a float32 pair.
      mask: bools that select, or non-negative numbers that weigh; lines up with
        `values` from the left.
      weights: non-negative numbers that line up in the same way.

    Raises:
      MaskShapeError: `mask` or `weights` does not line up.
      ValueError: a weight is negative or NaN (only seen when it is not traced).
    """
    sums = _masked_sums(values, mask, weights)
    check_weights(mask, weights)
    return sums


@functools.partial(jax.jit, inline=True)
def _masked_sums(
    values: Any, mask: Any | None, weights: Any | None
) -> tuple[Pair, Pair]:
    values = jnp.asarray(values)
    keep, factor = _selection(values.shape, mask, weights)
    if keep is None:
        return sum_to_pair(values), to_pair(float(values.size))
    values = jnp.where(keep, values, jnp.zeros((), values.dtype))
    if factor is None:
        return sum_to_pair(values), sum_to_pair(jnp.broadcast_to(keep, values.shape))
    factor = jnp.broadcast_to(jnp.where(keep, factor, 0.0), values.shape)
    total = sum_products_to_pair(values, factor)
    return total, sum_to_pair(factor)


def _selection(
    shape: tuple[int, ...], mask: Any | None, weights: Any | None
) -> tuple[jax.Array | None, jax.Array | None]:
    """What counts (bool), and by how much (float32, or None for all alike)."""
    keep = factor = None
    for what, part in (("mask", mask), ("weights", weights)):
        if part is None:
            continue
        part = align_left(part, shape, what=what)
        nonzero = part != 0
        keep = nonzero if keep is None else keep & nonzero
        if part.dtype != jnp.bool_:
            part = to_float32(part)
            factor = part if factor is None else factor * part
    return keep, factor


def check_weights(mask: Any | None, weights: Any | None = None) -> None:
    """Raises ValueError if a number that weighs is negative or NaN, and not traced.

    Where one of the two is 0 the other may be anything.
    """
    given = {"mask": mask, "weights": weights}
    parts = {what: part for what, part in given.items() if part is not None}
    if is_traced(parts):
        return
    if all(getattr(part, "dtype", None) == np.bool_ for part in parts.values()):
        return
    arrays = {what: np.asarray(part) for what, part in parts.items()}
    rank = max(array.ndim for array in arrays.values())
    arrays = {
        what: array.reshape(array.shape + (1,) * (rank - array.ndim))
        for what, array in arrays.items()
    }
    keep = functools.reduce(np.logical_and, [a != 0 for a in arrays.values()])
    for what, array in arrays.items():
        wrong = np.broadcast_to(array, keep.shape)[~(array >= 0) & keep]
        if wrong.size:
            smallest = float(np.min(wrong))
            found = f"negative numbers, the smallest is {smallest:g}"
            raise ValueError(
                f"the {what} holds {'NaN' if np.isnan(smallest) else found}\n"
                "a weighted mean is defined for weights of 0 and more"
            )
