"""Several summaries of images side by side."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

import kontext
from kmetrics._auto import AutoState
from kmetrics._field_kinds import state_field
from kmetrics._masks import combine_masks
from kmetrics._metric import Metric
from kmetrics._options import Count
from kmetrics._register import state
from kmetrics.summaries._canvas import Canvas
from kmetrics.summaries._colors import frozen_color, to_uint8
from kmetrics.summaries._images import no_image
from kmetrics.summaries._kept import Show
from kmetrics.summaries._media import Image
from kmetrics.summaries._overlay import over_background


@state
class GridState(AutoState):
    """The states of the columns.

    Attributes:
      columns: name to state.
    """

    columns: Any = state_field()

    def compute(self) -> Image:
        """The grid."""
        return self.parent.render(
            {name: self.columns[name].compute() for name in self.parent.columns}
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class ImageGrid(Metric):
    """Images side by side, one row per example, as an `Image` of a single picture.

    Attributes:
      columns: name to the summary of a column, which computes an `Image`; the name
        stands above it. All of them must choose the same examples.
      bg_color: of the space in between: one number in 0 to 1 for a gray, or three.
      zoom: enlarges the images by a whole number.

    Raises:
      TypeError, ValueError: an option is not allowed, or the columns choose
        differently.
    """

    columns: Mapping[str, Metric]
    bg_color: float | tuple[float, ...] = 1.0
    zoom: Count = 1

    def __post_init__(self) -> None:
        color = frozen_color(self.bg_color, "ImageGrid: bg_color")
        object.__setattr__(self, "bg_color", color)
        super().__post_init__()
        if not isinstance(self.columns, Mapping) or not self.columns:
            raise ValueError(
                "ImageGrid: columns must name one column or more, each a summary\n"
                f"  got {type(self.columns).__name__} {str(self.columns)[:40]}"
            )
        if "mask" in self.columns:
            raise ValueError("ImageGrid: a column cannot be called mask")
        for name, column in self.columns.items():
            if not isinstance(name, str):
                raise TypeError(
                    f"ImageGrid: the name of a column must be a text\n  got {name!r}"
                )
            if not isinstance(column, Metric):
                raise TypeError(
                    f"ImageGrid: the column {name!r} is no summary\n"
                    f"  got {type(column).__name__}"
                )
        self._check_choices()

    def _check_choices(self) -> None:
        """Raises ValueError unless a row shows one example."""
        chosen = {
            name: (column.selection, column.mask, column.ids, column.seed)
            for name, column in self.columns.items()
            if isinstance(column, Show)
        }
        if len(set(chosen.values())) > 1:
            raise ValueError(
                "ImageGrid: the columns would show different examples in one row\n"
                f"  {', '.join(chosen)} differ in selection, mask, ids or seed\n"
                "give all of them the same"
            )
        for name, (selection, _, ids, _) in chosen.items():
            if selection == "random" and ids is None and len(chosen) > 1:
                raise ValueError(
                    f"ImageGrid: a random choice in {name!r} needs ids\n"
                    "without them each column goes by its own content; give all the "
                    "same ids="
                )

    def __kontext_keys__(self) -> dict[str, Any]:
        return {
            f"{name}.{key}": tree
            for name, column in self.columns.items()
            for key, tree in kontext.get_keypaths(column).items()
        }

    def keypaths(self) -> tuple[str, ...]:
        """The paths that the columns read."""
        each = (column.keypaths() for column in self.columns.values())
        return tuple(dict.fromkeys(path for paths in each for path in paths))

    def signature(self) -> Any:
        """The options, and the signatures of the columns."""
        columns = tuple((name, c.signature()) for name, c in self.columns.items())
        return type(self), columns, self.bg_color, self.zoom

    def empty(self) -> Any:
        """The state of no images."""
        states = {name: column.empty() for name, column in self.columns.items()}
        return GridState(columns=states).with_parent(self)

    def get_state(
        self, *, mask: Any | None = None, **inputs: Mapping[str, Any]
    ) -> GridState:
        """The state of one batch.

        Args:
          mask: which examples are shown, in addition to the masks of the columns.
          **inputs: name of the column to the inputs of its summary, by name.

        Raises:
          TypeError: there are inputs for other columns.
        """
        if inputs.keys() != self.columns.keys():
            raise TypeError(
                "ImageGrid: expected the inputs of each column\n"
                f"  got {', '.join(inputs)}\n  columns {', '.join(self.columns)}"
            )
        states = {}
        for name, column in self.columns.items():
            own = dict(inputs[name])
            if mask is not None:
                own["mask"] = combine_masks(own.get("mask"), mask)
            states[name] = column.get_state(**own)
        return GridState(columns=states)

    def get_state_from_context(
        self,
        context: Any,
        *,
        mask: Any | None = None,
        example_roots: Collection[str] | None = None,
    ) -> Any:
        """The state of one batch.

        Args, errors: as for `Metric.get_state_from_context`.
        """
        states = {}
        for name, column in self.columns.items():
            try:
                states[name] = column.get_state_from_context(
                    context, mask=mask, example_roots=example_roots
                )
            except Exception as error:
                error.add_note(f"column {name} of ImageGrid")
                raise
        return GridState(columns=states).with_parent(self)

    def render(self, columns: Mapping[str, Any]) -> Image:
        """The grid of the images of the columns."""
        for name, value in columns.items():
            if not isinstance(value, Image):
                raise TypeError(
                    f"ImageGrid: the column {name!r} computes no Image\n"
                    f"  got {type(value).__name__}"
                )
        rows = max(len(image) for image in columns.values())
        if rows == 0:
            return no_image()
        height = self.zoom * max(image.pixels.shape[1] for image in columns.values())
        canvas = Canvas(to_uint8(self.bg_color))
        parts = [
            canvas.column(name, self._cells(image, canvas), rows, height)
            for name, image in columns.items()
        ]
        num_nan = sum(image.num_nan for image in columns.values())
        return Image(canvas.beside(parts)[None], num_nan)

    def _cells(self, image: Image, canvas: Canvas) -> list[np.ndarray]:
        pixels = over_background(image.pixels, canvas.background)
        return list(pixels.repeat(self.zoom, axis=1).repeat(self.zoom, axis=2))
