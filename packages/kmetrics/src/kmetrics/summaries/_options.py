"""Numbers among the options of summaries, refused where they are given."""

from __future__ import annotations

import math
import numbers
from typing import Any


def check_whole(
    value: Any, where: str, lowest: int | None = None, highest: int | None = None
) -> None:
    """Raises ValueError unless `value` is an integer from `lowest` to `highest`.

    Args:
      value: of the option.
      where: who has it, and its name, for errors.
      lowest: the smallest value there may be; None for any.
      highest: the largest; None for any.
    """
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    low = -math.inf if lowest is None else lowest
    high = math.inf if highest is None else highest
    if is_whole and low <= value <= high:
        return
    bounds = ""
    if highest is not None:
        bounds = f" in {lowest} to {highest}"
    elif lowest is not None:
        bounds = f" of {lowest} or more"
    raise ValueError(f"{where} must be a whole number{bounds}\n  got {value!r}")


def is_number(value: Any) -> bool:
    """Whether it is a real number, NaN and infinities included; a bool is none."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def check_fps(fps: Any, where: str) -> None:
    """Raises ValueError unless `fps` is a number of frames per second."""
    if not (is_number(fps) and 0 < fps < math.inf):
        raise ValueError(f"{where}: fps must be above 0, and finite\n  got {fps!r}")
