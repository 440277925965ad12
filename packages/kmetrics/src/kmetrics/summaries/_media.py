"""What summaries compute: pictures, histograms, texts; plain values with numpy inside.

Writers choose by the class of a value, never by the shape of an array.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from kmetrics.summaries._parts import (
    as_floats,
    as_tuple,
    check_fps,
    check_index,
    check_pixels,
    check_scores,
)
from kmetrics.summaries._png import encode_animation, encode_png

# All that ends a line in Markdown.
_LINE_END = re.compile(r"\r\n?|\n")


class Media:
    """A value that is no number. Two are equal if all their parts are."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        mine, theirs = vars(self), vars(other)
        return all(_same(mine[name], theirs[name]) for name in mine)

    __hash__ = None  # pyrefly: ignore

    def __repr__(self) -> str:
        parts = (f"{name}={_short(value)}" for name, value in vars(self).items())
        return f"{type(self).__name__}({', '.join(parts)})"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Image(Media):
    """Pictures of one size.

    Attributes:
      pixels: uint8 `[n, h, w, c]`: gray (1 channel), RGB (3) or RGBA (4).
      num_nan: how many values were NaN, drawn in magenta.
      scores: `[n]`, what the pictures were chosen by; None if by nothing.

    Raises:
      TypeError, ValueError: the pixels have another dtype or shape, or there is not one
        score per picture.
    """

    pixels: np.ndarray
    num_nan: int = 0
    scores: np.ndarray | None = None

    def __post_init__(self) -> None:
        check_pixels("Image", self.pixels, "[n, h, w, c]")
        check_scores("Image", self.scores, len(self.pixels))

    def __len__(self) -> int:
        return len(self.pixels)

    def to_png(self, index: int = 0) -> bytes:
        """One of the pictures as a PNG file.

        Raises:
          IndexError: there are not as many.
          ValueError: the pictures have no pixels.
        """
        check_index("Image", index, len(self.pixels))
        return encode_png(self.pixels[index])


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Video(Media):
    """Videos of one size and length.

    Attributes:
      frames: uint8 `[n, t, h, w, c]`: gray (1 channel), RGB (3) or RGBA (4).
      fps: frames per second.
      num_nan: how many values were NaN, drawn in magenta.
      scores: `[n]`, what the videos were chosen by; None if by nothing.

    Raises:
      TypeError, ValueError: the frames have another dtype or shape, fps is not above 0,
        or there is not one score per video.
    """

    frames: np.ndarray
    fps: float = 10.0
    num_nan: int = 0
    scores: np.ndarray | None = None

    def __post_init__(self) -> None:
        check_pixels("Video", self.frames, "[n, t, h, w, c]")
        check_fps("Video", self.fps)
        check_scores("Video", self.scores, len(self.frames))

    def __len__(self) -> int:
        return len(self.frames)

    def to_png(self, index: int = 0) -> bytes:
        """One of the videos as an animated PNG file, which browsers play.

        Raises:
          IndexError: there are not as many.
          ValueError: the videos have no frames, or these no pixels.
        """
        check_index("Video", index, len(self.frames))
        return encode_animation(self.frames[index], self.fps)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Histogram(Media):
    """How often values occurred.

    Attributes:
      counts: float64 `[n]`.
      edges: float64 `[n + 1]`, ascending; each bin contains its lower edge, and the
        last one both.
      min: the smallest of the finite values; NaN without one.
      max: the largest of the finite values; NaN without one.
      sum: the sum of the finite values.
      sum_sq: the sum of their squares; that of a `HistogramSummary` becomes infinite
        with values beyond 1e19.
      num_nan: how many values were NaN.
      num_inf: how many were infinite.
      num_outside: how many finite values lay outside of the edges.

    Raises:
      TypeError, ValueError: the counts or edges are no numbers, or the edges do not
        ascend, or do not fit the counts.
    """

    counts: np.ndarray
    edges: np.ndarray
    min: float
    max: float
    sum: float
    sum_sq: float
    num_nan: int = 0
    num_inf: int = 0
    num_outside: int = 0

    def __post_init__(self) -> None:
        for name in ("counts", "edges"):
            array = as_floats("Histogram", name, getattr(self, name), np.float64)
            object.__setattr__(self, name, array)
        counts, edges = self.counts.shape, self.edges.shape
        if len(counts) != 1 or edges != (counts[0] + 1,):
            raise ValueError(
                "Histogram: the edges must be one more than the counts\n"
                f"  counts {list(counts)}, edges {list(edges)}"
            )
        if not np.all(np.diff(self.edges) > 0):
            raise ValueError("Histogram: the edges must ascend")


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Text(Media):
    """Texts, one per example.

    Attributes:
      texts: the texts as they are, not Markdown.

    Raises:
      TypeError: it is no tuple or list, or something in it is no text.
    """

    texts: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "texts", as_tuple("Text", "texts", self.texts))
        for text in self.texts:
            if not isinstance(text, str):
                raise TypeError(
                    "Text: expected a tuple of texts\n"
                    f"  got {type(text).__name__} in it"
                )

    def __len__(self) -> int:
        return len(self.texts)

    def to_markdown(self) -> str:
        """The texts as blocks of Markdown that are shown letter by letter."""
        blocks = ("    " + _LINE_END.sub("\n    ", text) for text in self.texts)
        return "\n\n---\n\n".join(blocks)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Table(Media):
    """Rows of numbers and texts.

    Attributes:
      columns: the names of the columns.
      rows: the rows, as long as `columns`.

    Raises:
      TypeError: the columns, the rows or one of these are no tuple or list.
      ValueError: a row has another length.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def __post_init__(self) -> None:
        columns = as_tuple("Table", "columns", self.columns)
        rows = as_tuple("Table", "rows", self.rows)
        rows = tuple(as_tuple("Table", f"row {i}", row) for i, row in enumerate(rows))
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "rows", rows)
        for i, row in enumerate(rows):
            if len(row) != len(self.columns):
                raise ValueError(
                    f"Table: row {i} has {len(row)} cells, the table "
                    f"{len(self.columns)} columns"
                )

    def to_markdown(self) -> str:
        """The table in Markdown."""
        lines = [self.columns, ("---",) * len(self.columns), *self.rows]
        return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class PointCloud(Media):
    """Points in space.

    Attributes:
      points: float32 `[n, 3]`.
      colors: uint8 `[n, 3]`, RGB; None for points without colours.
      config: how to show them, handed on to the viewer: camera, material, ...

    Raises:
      TypeError, ValueError: the points are no numbers, the colours no uint8, or one of
        them has another shape.
    """

    points: np.ndarray
    colors: np.ndarray | None = None
    config: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        points = as_floats("PointCloud", "points", self.points, np.float32)
        object.__setattr__(self, "points", points)
        shape = points.shape
        if len(shape) != 2 or shape[1] != 3:
            raise ValueError(f"PointCloud: points must be [n, 3]\n  got {list(shape)}")
        if self.colors is None:
            return
        colors = np.asarray(self.colors)
        object.__setattr__(self, "colors", colors)
        if colors.dtype != np.uint8:
            raise TypeError(
                f"PointCloud: colors must be uint8, 0 to 255\n  got {colors.dtype}"
            )
        if colors.shape != shape:
            raise ValueError(
                "PointCloud: each point has one colour\n"
                f"  points {list(shape)}, colors {list(colors.shape)}"
            )

    def __len__(self) -> int:
        return len(self.points)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        numbers = a.dtype.kind in "fc" and b.dtype.kind in "fc"
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=numbers)
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        # Asked before they are compared: that sets a flag which numpy warns about.
        return math.isnan(b)
    return type(a) is type(b) and bool(a == b)


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _cell(value: Any) -> str:
    if isinstance(value, float):
        # Four digits, but all of those before the point.
        return f"{value:.1f}" if 1e3 <= abs(value) < 1e15 else f"{value:.4g}"
    return _LINE_END.sub(" ", str(value).replace("|", "\\|"))
