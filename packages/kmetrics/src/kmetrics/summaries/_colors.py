"""Colours: single ones, palettes for classes, and maps from numbers to colours.

References: M. Okabe, K. Ito, Color universal design (2008); S. van der Walt, N. Smith,
viridis, magma, inferno (2015, CC0), ten levels of each; C. Brewer, RdBu (2002).
"""

from __future__ import annotations

import colorsys
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

Colors: TypeAlias = str | tuple[tuple[float, float, float], ...]

MAGENTA = np.array([255, 0, 255], np.uint8)

MAPS = {
    "gray": "000000 ffffff",
    "viridis": "440154 482878 3e4a89 31688e 26828e 1f9e89 35b779 6dcd59 b4de2c fde725",
    "magma": "000004 180f3e 451077 721f81 9f2f7f cd4071 f1605d fd9567 fec98d fcfdbf",
    "inferno": "000004 1b0c42 4b0c6b 781c6d a52c60 cf4446 ed6925 fb9a06 f7d03c fcffa4",
    "RdBu_r": "053061 2166ac 4393c3 92c5de d1e5f0 f7f7f7 fddbc7 f4a582 d6604d b2182b "
    "67001f",
}
_OKABE_ITO = "000000 e69f00 56b4e9 009e73 f0e442 0072b2 d55e00 cc79a7"
_NUM_HUES = 256


def _from_hex(texts: str) -> np.ndarray:
    """Colours `[n, 3]` in 0 to 1."""
    return np.array([list(bytes.fromhex(text)) for text in texts.split()]) / 255


def _hues() -> np.ndarray:
    """Colours that differ from their neighbours: steps of the golden ratio."""
    rows = []
    for i in range(_NUM_HUES):
        hue = (0.02 + i * 0.6180339887) % 1
        value = (1.0, 0.75, 0.55)[i // 8 % 3]
        rows.append(colorsys.hsv_to_rgb(hue, (0.75, 0.5)[i // 24 % 2], value))
    return np.array(rows)


_PALETTES: dict[str, Callable[[], np.ndarray]] = {
    "hues": _hues,
    "okabe_ito": lambda: _from_hex(_OKABE_ITO),
}


def frozen_colors(value: Any, where: str, known: Any) -> Any:
    """Colours of an option as a tuple of tuples in 0 to 1, or the name of known ones.

    Args:
      value: a name; or numbers in 0 to 1, or an array of uint8, `[n, 3]`.
      where: the option, for errors.
      known: the names.

    Raises:
      ValueError: the name is not known, or the numbers are no colours.
    """
    if isinstance(value, str):
        if value not in known:
            raise ValueError(
                f"{where}={value!r} is not known\n"
                f"use one of {', '.join(map(repr, known))}, or colours [n, 3]"
            )
        return value
    colors = _unit(value, where)
    if colors.ndim != 2 or colors.shape[1] != 3 or not len(colors):
        raise ValueError(
            f"{where}: expected colours [n, 3], one row each\n"
            f"  got {list(colors.shape)}"
        )
    return tuple(map(tuple, colors.tolist()))


def frozen_palette(value: Any, where: str) -> Any:
    """As `frozen_colors`, for the colours of classes."""
    return frozen_colors(value, where, _PALETTES)


def frozen_cmap(value: Any, where: str) -> Any:
    """As `frozen_colors`, for a map from numbers to colours; None stays."""
    return None if value is None else frozen_colors(value, where, MAPS)


def frozen_color(value: Any, where: str) -> tuple[float, ...]:
    """A colour of an option as three numbers in 0 to 1; one number is a gray."""
    color = _unit(value, where)
    if color.shape not in ((), (3,)):
        raise ValueError(
            f"{where}: expected one number for a gray, or three for a colour\n"
            f"  got {list(color.shape)}"
        )
    return tuple(np.broadcast_to(color, 3).tolist())


def to_uint8(color: Any) -> np.ndarray:
    """Numbers in 0 to 1 as uint8."""
    return np.round(np.asarray(color) * 255).astype(np.uint8)


def palette_colors(palette: Colors) -> np.ndarray:
    """The colours of the classes 0, 1, ..., `[n, 3]` in 0 to 1; then from the start."""
    return _PALETTES[palette]() if isinstance(palette, str) else np.array(palette)


def mapped(values: np.ndarray, cmap: Colors) -> np.ndarray:
    """Values in 0 to 1 as colours `[*values.shape, 3]`, between those of the map."""
    table = _from_hex(MAPS[cmap]) if isinstance(cmap, str) else np.array(cmap)
    places = np.linspace(0, 1, len(table))
    channels = [np.interp(values, places, column) for column in table.T]
    return np.stack(channels, axis=-1)


def _unit(value: Any, where: str) -> np.ndarray:
    try:
        colors = np.asarray(value)
        if colors.dtype == np.uint8:
            return colors / 255
        colors = colors.astype(float)
    except (TypeError, ValueError):
        raise TypeError(
            f"{where}: expected colours, numbers in 0 to 1\n  got {str(value)[:60]}"
        ) from None
    if not np.all((colors >= 0) & (colors <= 1)):
        raise ValueError(
            f"{where}: a colour is made of numbers in 0 to 1\n"
            f"  got {str(value)[:60]}\n"
            "colours in 0 to 255 are given as an array of dtype uint8"
        )
    return colors
