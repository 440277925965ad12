"""Pictures put together from pictures and letters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmetrics.summaries._font import HEIGHT, text_mask

_GAP = 4


class Canvas:
    """Puts parts next to one another in front of one colour.

    Attributes:
      background: uint8 `[3]`.
    """

    def __init__(self, background: np.ndarray):
        self.background = background

    def column(
        self, name: str, cells: Sequence[np.ndarray], rows: int, height: int
    ) -> np.ndarray:
        """Cells below each other, under a name.

        Args:
          name: one line of text.
          cells: pictures uint8 `[h, w, 3]`.
          rows: the number of cells, missing ones included.
          height: of a cell, in pixels.

        Returns:
          uint8 `[h, w, 3]`.
        """
        letters = text_mask(name)
        width = max([letters.shape[1], *(cell.shape[1] for cell in cells)])
        head = self.plain(HEIGHT, width)
        write(head, letters, 0, 0)
        parts = [head]
        for row in range(rows):
            part = self.plain(height, width)
            if row < len(cells):
                cell = cells[row]
                part[: cell.shape[0], : cell.shape[1]] = cell
            parts += [self.plain(_GAP, width), part]
        return np.concatenate(parts)

    def beside(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        """Parts of one height from left to right, with a margin around."""
        gap = self.plain(len(parts[0]), _GAP)
        row = np.concatenate([gap, *(x for part in parts for x in (part, gap))], axis=1)
        margin = self.plain(_GAP, row.shape[1])
        return np.concatenate([margin, row, margin])

    def plain(self, height: int, width: int) -> np.ndarray:
        """The colour alone, uint8 `[height, width, 3]`."""
        return np.tile(self.background, (height, width, 1))


def write(pixels: np.ndarray, letters: np.ndarray, top: int, left: int) -> None:
    """Writes into `pixels` `[h, w, 3]`, black on bright ground and white on dark."""
    rows, columns = (
        slice(i, i + n) for i, n in zip((top, left), letters.shape, strict=True)
    )
    ground = pixels[rows, columns]
    # The brightness of sRGB, roughly: Rec. 601.
    bright = ground.mean(axis=(0, 1)) @ [0.299, 0.587, 0.114] if ground.size else 255
    letters = letters[: ground.shape[0], : ground.shape[1]]
    ground[letters] = 0 if bright > 127 else 255
