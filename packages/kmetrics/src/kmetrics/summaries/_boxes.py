"""Pictures with boxes drawn into them."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._options import Count
from kmetrics._selection import Selected
from kmetrics.summaries._colors import (
    Colors,
    frozen_palette,
    palette_colors,
    to_uint8,
)
from kmetrics.summaries._images import no_image
from kmetrics.summaries._kept import ChosenBy, KeptState, Numbers, Show
from kmetrics.summaries._media import Image
from kmetrics.summaries._overlay import draw_box
from kmetrics.summaries._pixels import (
    ValueRange,
    check_pictures,
    to_pixels,
    with_rgb,
)
from ktyping import typechecked


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShowBoxes(Show):
    """Some of the images with their boxes, as an `Image`.

    A box without area, such as the zeros that fill up a list, is not drawn, nor is one
    with a NaN.

    Attributes:
      images: path of images `[*b, h, w, c]`, see `ShowImages`.
      boxes: path of boxes `[*b, n, 4]`: y0, x0, y1, x1 in 0 to 1 from the top left.
      labels: path of integers `[*b, n]`, or `[*b, n, 1]`, that choose the colours; by
        default the number of the box does. A box with a label below 0 is not drawn.
      num_images: how many to show.
      in_vrange: see `ShowImages`.
      palette: "okabe_ito", "hues", or colours `[n, 3]` in 0 to 1.
      line_width: in pixels.
      mask: see `ShowImages`, as for `ids`, `selection` and `seed`.

    Raises:
      TypeError, ValueError: an option is not allowed; at the first use: the inputs do
        not fit one another.
    """

    images: kontext.Key = kontext.REQUIRED
    boxes: kontext.Key = kontext.REQUIRED
    labels: kontext.Key | None = None
    num_images: Count = 5
    in_vrange: ValueRange = None
    palette: Colors = "hues"
    line_width: Count = 1

    def __post_init__(self) -> None:
        name = type(self).__name__
        palette = frozen_palette(self.palette, f"{name}: palette")
        object.__setattr__(self, "palette", palette)
        super().__post_init__()

    @typechecked
    def get_state(
        self,
        images: Numbers,
        boxes: Numbers,
        labels: Numbers | None = None,
        mask: Numbers | None = None,
        ids: Numbers | None = None,
        scores: Numbers | None = None,
    ) -> KeptState:
        """The state of one batch; `scores` `[*b]` for `selection=Worst(...)`."""
        name = type(self).__name__
        images = check_pictures(images, name=name, key="images")
        boxes, batch = jnp.asarray(boxes), images.shape[:-3]
        if boxes.shape[:-2] != batch or boxes.shape[-1:] != (4,):
            raise ValueError(
                f"{name}: the boxes do not fit the images\n"
                f"  boxes {list(boxes.shape)}, images {list(images.shape)}\n"
                f"expected {[*batch, 'n', 4]}"
            )
        items = {"images": images, "boxes": boxes}
        if labels is not None:
            items["labels"] = self._labels(jnp.asarray(labels), boxes.shape)
        return self.keep(items, batch=batch, chosen_by=ChosenBy(mask, ids, scores))

    def _labels(self, labels: Any, boxes: tuple[int, ...]) -> Any:
        name, size = type(self).__name__, boxes[:-1]
        if labels.shape not in (size, (*size, 1)):
            raise ValueError(
                f"{name}: the labels do not fit the boxes\n"
                f"  labels {list(labels.shape)}, boxes {list(boxes)}"
            )
        if not (labels.dtype == bool or jnp.issubdtype(labels.dtype, jnp.integer)):
            raise TypeError(f"{name}: labels must be integers\n  got {labels.dtype}")
        # In 8 bits the number of colours would wrap.
        return labels.reshape(size).astype(jnp.int32)

    def render(self, selected: Selected) -> Image:
        """The images with the boxes."""
        items = selected.items
        pixels, num_nan = to_pixels(items["images"], self.in_vrange, None)
        pixels = with_rgb(pixels).copy()
        colors = to_uint8(palette_colors(self.palette))
        boxes = np.asarray(items["boxes"], np.float64)
        numbers = np.broadcast_to(np.arange(boxes.shape[1]), boxes.shape[:2])
        labels = items.get("labels", numbers)
        for picture, own_boxes, own_labels in zip(pixels, boxes, labels, strict=True):
            for box, label in zip(own_boxes, own_labels, strict=True):
                if label >= 0:
                    color = colors[label % len(colors)]
                    draw_box(picture, box, color, self.line_width)
        return Image(pixels, num_nan, selected.scores)

    def render_nothing(self) -> Image:
        """No picture."""
        return no_image()
