"""From values to pixels: ranges, colour maps, and what is not a number."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import jax.numpy as jnp
import numpy as np

from kmetrics._options import Span
from kmetrics.summaries._colors import MAGENTA, Colors, mapped

ValueRange: TypeAlias = Span | Literal["auto"] | None


class Drawn(NamedTuple):
    """Pixels, and how many values were NaN.

    Attributes:
      pixels: uint8 `[..., c]`.
      num_nan: number of values.
    """

    pixels: np.ndarray
    num_nan: int


def check_pictures(
    images: Any,
    *,
    name: str,
    key: str,
    axes: str = "[*b, h, w, c]",
    channels: tuple[int, ...] = (1, 3, 4),
) -> Any:
    """`images` as an array, if it holds pictures.

    Raises:
      TypeError: neither floats nor uint8 nor bools.
      ValueError: another shape.
    """
    images = jnp.asarray(images)
    fits = images.ndim >= axes.count(",") and images.shape[-1] in channels
    if not fits:
        raise ValueError(
            f"{name}: {key} must be {axes} with c {_either(channels)}\n"
            f"  got {list(images.shape)}"
        )
    is_float = jnp.issubdtype(images.dtype, jnp.floating)
    if not is_float and images.dtype not in (jnp.uint8, jnp.bool_):
        raise TypeError(
            f"{name}: {key} must be floats, or uint8 in 0 to 255\n"
            f"  got {images.dtype}{list(images.shape)}\n"
            "convert it in the model or the pipeline, and say where black and white "
            "are with in_vrange"
        )
    return images


def to_pixels(values: np.ndarray, in_vrange: ValueRange, cmap: Colors | None) -> Drawn:
    """Values `[..., c]` as pixels, each NaN in magenta.

    Args:
      values: floats, uint8 or bools; infinities are beyond the range.
      in_vrange: what is black, and what is white; "auto": the lowest and the highest
        finite value; None: 0 and 1, of uint8 0 and 255. Values beyond are cut.
      cmap: gives a single channel its colours.
    """
    values = np.asarray(values)
    if values.dtype == np.uint8 and in_vrange is None and cmap is None:
        return Drawn(values, 0)
    unit = _in_unit_range(values, in_vrange)
    is_nan = np.isnan(unit)
    unit = np.where(is_nan, 0.0, unit)
    if cmap is not None:
        unit = mapped(unit[..., 0], cmap)
    pixels = np.round(unit * 255).astype(np.uint8)
    return Drawn(_marked(pixels, np.any(is_nan, axis=-1)), int(is_nan.sum()))


def with_rgb(pixels: np.ndarray) -> np.ndarray:
    """Gray pixels `[..., 1]` as RGB; others as they are."""
    return np.repeat(pixels, 3, axis=-1) if pixels.shape[-1] == 1 else pixels


def _marked(pixels: np.ndarray, is_bad: Any) -> np.ndarray:
    if not is_bad.any():
        return pixels
    pixels = with_rgb(pixels).copy()
    pixels[is_bad, :3] = MAGENTA
    pixels[is_bad, 3:] = 255
    return pixels


def _in_unit_range(values: np.ndarray, in_vrange: ValueRange) -> np.ndarray:
    low, high = 0.0, 255.0 if values.dtype == np.uint8 else 1.0
    values = values.astype(np.float32)
    if in_vrange == "auto":
        finite = values[np.isfinite(values)]
        if finite.size:
            low, high = float(finite.min()), float(finite.max())
    elif in_vrange is not None:
        low, high = in_vrange
    # Infinity times 0 would be NaN: cut first.
    values = np.clip(values.astype(_wide_enough(low, high), copy=False), low, high)
    return (values - values.dtype.type(low)) / values.dtype.type((high - low) or 1.0)


def _wide_enough(low: float, high: float) -> type[np.floating]:
    """The numbers that hold the width of a range: twice the largest float32 is none."""
    return np.float32 if high - low < float(np.finfo(np.float32).max) else np.float64


def _either(channels: tuple[int, ...]) -> str:
    *first, last = map(str, channels)
    return f"{', '.join(first)} or {last}" if first else last
