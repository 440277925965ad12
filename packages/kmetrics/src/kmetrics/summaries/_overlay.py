"""Drawing on pixels: boxes, borders of regions, colours over pictures."""

from __future__ import annotations

import numpy as np


def draw_box(
    pixels: np.ndarray, box: np.ndarray, color: np.ndarray, line_width: int
) -> None:
    """Draws the outline of a box into `pixels`.

    Args:
      pixels: uint8 `[h, w, c]` with 3 or 4 channels; is changed.
      box: `[y0, x0, y1, x1]`, 0 to 1 from the top left; what lies outside is cut.
      color: uint8 `[3]`.
      line_width: in pixels, inwards.
    """
    height, width = pixels.shape[:2]
    if not np.isfinite(box).all() or box[2] <= box[0] or box[3] <= box[1]:
        return
    # From the pixel that holds the first edge to the one that holds the last.
    size = np.array([height, width, height, width])
    # What lies far outside would not fit an integer.
    box = np.clip(box * size, -line_width - 1, size + line_width + 1)
    y0, x0 = np.floor(box[:2] + 1e-6).astype(int)
    y1, x1 = np.ceil(box[2:] - 1e-6).astype(int)
    sides = (
        (y0, y0 + line_width, x0, x1),
        (y1 - line_width, y1, x0, x1),
        (y0, y1, x0, x0 + line_width),
        (y0, y1, x1 - line_width, x1),
    )
    for top, bottom, left, right in sides:
        rows = slice(max(top, 0), max(bottom, 0))
        columns = slice(max(left, 0), max(right, 0))
        pixels[rows, columns, :3] = color
        pixels[rows, columns, 3:] = 255


def borders(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where a region meets the one to its right or below, and whose border that is.

    Args:
      labels: integers `[..., h, w]`.

    Returns:
      bool, and the highest label that meets there; both like `labels`.
    """
    around = [np.pad(part, pad, mode="edge") for part, pad in _shifted(labels)]
    highest = np.maximum(labels, np.maximum(*around))
    differs = (around[0] != labels) | (around[1] != labels)
    return differs, highest


def _shifted(labels: np.ndarray) -> list[tuple[np.ndarray, list[tuple[int, int]]]]:
    whole = [(0, 0)] * (labels.ndim - 2)
    return [
        (labels[..., 1:, :], [*whole, (0, 1), (0, 0)]),
        (labels[..., :, 1:], [*whole, (0, 0), (0, 1)]),
    ]


def blended(below: np.ndarray, above: np.ndarray, opacity: float) -> np.ndarray:
    """Colours `[..., 3]` over others, all in 0 to 1."""
    return (1 - opacity) * below + opacity * above


def over_background(pixels: np.ndarray, background: np.ndarray) -> np.ndarray:
    """Pixels of 1, 3 or 4 channels as RGB, in front of a colour uint8 `[3]`."""
    if pixels.shape[-1] == 1:
        return np.repeat(pixels, 3, axis=-1)
    if pixels.shape[-1] == 3:
        return pixels
    opacity = pixels[..., 3:] / 255
    mixed = pixels[..., :3] * opacity + background * (1 - opacity)
    return np.round(mixed).astype(np.uint8)
