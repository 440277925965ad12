"""Arrays written as bytes."""

from __future__ import annotations

import importlib
from typing import Any


def from_bytes(data: bytes, dtype: Any, shape: tuple[int, ...]) -> Any:
    """The array whose elements lie in a text of bytes, in C order.

    Args:
      data: What `array.tobytes()` gave.
      dtype: The dtype of the elements.
      shape: The sizes of the axes.
    """
    numpy = importlib.import_module("numpy")
    return numpy.frombuffer(data, dtype=dtype).reshape(shape).copy()
