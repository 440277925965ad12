"""Values as they leave a metric: Python floats, numpy arrays, text, media."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import jax
import numpy as np


def plain_result(value: Any) -> Any:
    """`value` with numbers as floats and jax arrays as numpy arrays.

    Mappings, tuples and lists are walked; anything else is left alone, also what jit
    has not computed yet.
    """
    if isinstance(value, float):
        # Those of numpy are of a subclass.
        return float(value)
    if isinstance(value, str | None):
        return value
    if isinstance(value, Mapping):
        return {name: plain_result(part) for name, part in value.items()}
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return type(value)(plain_result(part) for part in value)
    if isinstance(value, jax.core.Tracer):
        return value
    if isinstance(value, jax.Array):
        value = np.asarray(value)
    is_number = isinstance(value, int | np.generic) or (
        isinstance(value, np.ndarray) and value.ndim == 0
    )
    if is_number and np.asarray(value).dtype.kind in "biuf":
        return float(value)
    return value


def to_scalars(values: Mapping[str, Any]) -> dict[str, float]:
    """The results of metrics as numbers alone, for a table or a plot.

    Parts of a result, such as the groups of `Grouped` or the ends of an interval, get
    the names `name/part`.

    Args:
      values: name to result, such as `Collection.compute` gives; may be nested.

    Raises:
      TypeError: `values` is no mapping, or a result is no number; names it.
    """
    if not isinstance(values, Mapping):
        raise TypeError(
            f"expected a mapping from names to results\n  got {_kind_of(values)}\n"
            'give the result a name: to_scalars({"loss": value})'
        )
    scalars: dict[str, float] = {}
    for name, value in values.items():
        for full, part in named_results(name, plain_result(value)):
            if not isinstance(part, float):
                raise TypeError(
                    f"the result {full!r} is not a number\n"
                    f"  got {_kind_of(part)}\n"
                    "leave it out, or reduce it: of a metric per class, for example, "
                    'take average="macro"'
                )
            scalars[full] = part
    return scalars


def _kind_of(value: Any) -> str:
    shape = getattr(value, "shape", None)
    kind = type(value).__name__
    return kind if shape is None else f"{kind} {list(shape)}"


def named_results(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The results of one metric: itself, or `name/part` for each part of a mapping."""
    if isinstance(value, Mapping):
        for part, below in value.items():
            yield from named_results(f"{name}/{part}", below)
    else:
        yield name, value
