"""What summaries compute: pictures, histograms, texts; plain values with numpy inside.

Writers choose by the class of a value, never by the shape of an array.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from kmetrics.summaries._png import encode_animation, encode_png


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
      TypeError, ValueError: the pixels have another dtype or shape.
    """

    pixels: np.ndarray
    num_nan: int = 0
    scores: np.ndarray | None = None

    def __post_init__(self) -> None:
        _check_pixels("Image", self.pixels, "[n, h, w, c]")

    def __len__(self) -> int:
        return len(self.pixels)

    def to_png(self, index: int = 0) -> bytes:
        """One of the pictures as a PNG file."""
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
      TypeError, ValueError: the frames have another dtype or shape, or fps is not
        above 0.
    """

    frames: np.ndarray
    fps: float = 10.0
    num_nan: int = 0
    scores: np.ndarray | None = None

    def __post_init__(self) -> None:
        _check_pixels("Video", self.frames, "[n, t, h, w, c]")
        if not self.fps > 0:
            raise ValueError(f"Video: fps must be above 0\n  got {self.fps!r}")

    def __len__(self) -> int:
        return len(self.frames)

    def to_png(self, index: int = 0) -> bytes:
        """One of the videos as an animated PNG file, which browsers play."""
        return encode_animation(self.frames[index], self.fps)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Histogram(Media):
    """How often values occurred.

    Attributes:
      counts: float64 `[n]`.
      edges: float64 `[n + 1]`, ascending; each bin contains its lower edge.
      min: the smallest of the finite values; NaN without one.
      max: the largest of the finite values; NaN without one.
      sum: the sum of the finite values.
      sum_sq: the sum of their squares.
      num_nan: how many values were NaN.
      num_inf: how many were infinite.
      num_outside: how many finite values lay outside of the edges.

    Raises:
      ValueError: the edges do not ascend, or do not fit the counts.
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
        counts, edges = np.shape(self.counts), np.shape(self.edges)
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
      TypeError: something in it is no text.
    """

    texts: tuple[str, ...]

    def __post_init__(self) -> None:
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
        blocks = ("    " + text.replace("\n", "\n    ") for text in self.texts)
        return "\n\n---\n\n".join(blocks)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Table(Media):
    """Rows of numbers and texts.

    Attributes:
      columns: the names of the columns.
      rows: the rows, as long as `columns`.

    Raises:
      ValueError: a row has another length.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def __post_init__(self) -> None:
        for i, row in enumerate(self.rows):
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
      TypeError, ValueError: the arrays have another dtype or shape.
    """

    points: np.ndarray
    colors: np.ndarray | None = None
    config: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        shape = np.shape(self.points)
        if len(shape) != 2 or shape[1] != 3:
            raise ValueError(f"PointCloud: points must be [n, 3]\n  got {list(shape)}")
        if self.colors is None:
            return
        if np.asarray(self.colors).dtype != np.uint8:
            raise TypeError(
                "PointCloud: colors must be uint8, 0 to 255\n"
                f"  got {np.asarray(self.colors).dtype}"
            )
        if np.shape(self.colors) != shape:
            raise ValueError(
                "PointCloud: each point has one colour\n"
                f"  points {list(shape)}, colors {list(np.shape(self.colors))}"
            )

    def __len__(self) -> int:
        return len(self.points)


def _check_pixels(name: str, pixels: Any, wanted: str) -> None:
    if not isinstance(pixels, np.ndarray) or pixels.dtype != np.uint8:
        raise TypeError(
            f"{name}: expected a numpy array of uint8, 0 to 255\n"
            f"  got {getattr(pixels, 'dtype', type(pixels).__name__)}"
        )
    if pixels.ndim != wanted.count(",") + 1 or pixels.shape[-1] not in (1, 3, 4):
        raise ValueError(
            f"{name}: expected {wanted} with c 1, 3 or 4\n  got {list(pixels.shape)}"
        )


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
        return f"{value:.4g}"
    return str(value).replace("|", "\\|").replace("\n", " ")
