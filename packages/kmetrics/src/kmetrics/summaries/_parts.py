"""The parts of media, checked where these are made."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np


def check_pixels(name: str, pixels: Any, wanted: str) -> None:
    """Raises TypeError or ValueError unless it is uint8, shaped as `wanted`."""
    if not isinstance(pixels, np.ndarray) or pixels.dtype != np.uint8:
        raise TypeError(
            f"{name}: expected a numpy array of uint8, 0 to 255\n"
            f"  got {getattr(pixels, 'dtype', type(pixels).__name__)}"
        )
    if pixels.ndim != wanted.count(",") + 1 or pixels.shape[-1] not in (1, 3, 4):
        raise ValueError(
            f"{name}: expected {wanted} with c 1, 3 or 4\n  got {list(pixels.shape)}"
        )


def check_scores(name: str, scores: Any, num: int) -> None:
    """Raises ValueError unless there are `num` scores, or none."""
    if scores is not None and np.shape(scores) != (num,):
        raise ValueError(
            f"{name}: scores must be one number each\n"
            f"  got {list(np.shape(scores))} for {num}"
        )


def check_fps(name: str, fps: Any) -> None:
    """Raises ValueError unless it is a number of frames per second."""
    is_number = isinstance(fps, numbers.Real) and not isinstance(fps, bool)
    if not (is_number and 0 < float(fps) < math.inf):
        raise ValueError(f"{name}: fps must be above 0, and finite\n  got {fps!r}")


def check_index(name: str, index: int, num: int) -> None:
    """Raises IndexError unless one of `num` has this index."""
    if not -num <= index < num:
        raise IndexError(f"{name}: there is no number {index}\n  it holds {num}")


def as_floats(name: str, part: str, values: Any, dtype: type) -> np.ndarray:
    """Numbers as an array of `dtype`; TypeError for anything else."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name}: {part} must be numbers\n  got {array.dtype}")
    return array.astype(dtype, copy=False)


def as_tuple(name: str, part: str, values: Any) -> tuple[Any, ...]:
    """A tuple or list as a tuple; TypeError for anything else, texts included."""
    if not isinstance(values, tuple | list):
        raise TypeError(
            f"{name}: {part} must be a tuple\n  got {type(values).__name__}"
        )
    return tuple(values)
