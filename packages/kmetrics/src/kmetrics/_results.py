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
    if isinstance(value, float | str | None):
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


def named_results(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The results of one metric: itself, or `name/part` for each part of a mapping."""
    if isinstance(value, Mapping):
        for part, below in value.items():
            yield from named_results(f"{name}/{part}", below)
    else:
        yield name, value
