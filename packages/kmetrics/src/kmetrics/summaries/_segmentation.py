"""Pictures of regions."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._options import Count, Flag, Proportion
from kmetrics._selection import Selected
from kmetrics.summaries._colors import (
    MAGENTA,
    Colors,
    frozen_palette,
    palette_colors,
    to_uint8,
)
from kmetrics.summaries._images import no_image
from kmetrics.summaries._kept import ChosenBy, KeptState, Numbers, Show
from kmetrics.summaries._media import Image
from kmetrics.summaries._overlay import blended, borders, over_background
from kmetrics.summaries._pixels import (
    ValueRange,
    check_pictures,
    to_pixels,
)
from ktyping import typechecked

_NO_CLASS = np.full(3, 0.15)
_WHITE = np.full(3, 255, np.uint8)
# The class of a pixel whose shares are no numbers.
_NOT_A_NUMBER = np.iinfo(np.int32).min


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShowSegmentations(Show):
    """Some of the segmentations, each class in its colour, as an `Image`.

    Attributes:
      segmentations: path of classes, integers `[*b, h, w, 1]`, dark gray if below 0;
        or of the shares of the classes, floats `[*b, h, w, k]`, which show the class
        of the largest share, magenta if one of them is NaN.
      images: path of images `[*b, h, w, c]` to lay the colours over, see `ShowImages`.
      num_images: how many to show.
      in_vrange: of the images, see `ShowImages`.
      palette: "hues", "okabe_ito", or colours `[n, 3]` in 0 to 1, such as an array;
        after the last class it begins again.
      opacity: of the colours over the images, 0 to 1.
      entropy: darkens the pixels by the entropy of their shares, which must be
        probabilities: black where all classes are alike.
      edges: shows the borders of the regions alone, over the images; without images
        draws them in white between the colours.
      mask: see `ShowImages`, as for `ids`, `selection` and `seed`.

    Raises:
      TypeError, ValueError: an option is not allowed; at the first use: the inputs
        have another dtype or shape.
    """

    segmentations: kontext.Key = kontext.REQUIRED
    images: kontext.Key | None = None
    num_images: Count = 5
    in_vrange: ValueRange = None
    palette: Colors = "hues"
    opacity: Proportion = 0.5
    entropy: Flag = False
    edges: Flag = False

    def __post_init__(self) -> None:
        name = type(self).__name__
        palette = frozen_palette(self.palette, f"{name}: palette")
        object.__setattr__(self, "palette", palette)
        super().__post_init__()

    @typechecked
    def get_state(
        self,
        segmentations: Numbers,
        images: Numbers | None = None,
        mask: Numbers | None = None,
        ids: Numbers | None = None,
        scores: Numbers | None = None,
    ) -> KeptState:
        """The state of one batch; `scores` `[*b]` for `selection=Worst(...)`."""
        name = type(self).__name__
        regions = jnp.asarray(segmentations)
        batch = regions.shape[:-3]
        items = self._regions(regions)
        if images is not None:
            pictures = check_pictures(images, name=name, key="images")
            if pictures.shape[:-1] != regions.shape[:-1]:
                raise ValueError(
                    f"{name}: the images do not fit the segmentations\n"
                    f"  images {list(pictures.shape)}, segmentations "
                    f"{list(regions.shape)}"
                )
            items["images"] = pictures
        return self.keep(items, batch=batch, chosen_by=ChosenBy(mask, ids, scores))

    def _regions(self, regions: Any) -> dict[str, Any]:
        """The classes, and how certain they are if asked for."""
        name = type(self).__name__
        found = f"  got {regions.dtype}{list(regions.shape)}"
        is_float = jnp.issubdtype(regions.dtype, jnp.floating)
        fits = regions.ndim >= 3 and regions.shape[-1] > 0
        if not fits or not (is_float or regions.shape[-1] == 1):
            raise ValueError(
                f"{name}: segmentations must be integers [*b, h, w, 1], or floats "
                f"[*b, h, w, k] with the shares of k classes\n{found}"
            )
        if is_float and regions.shape[-1] == 1:
            raise TypeError(
                f"{name}: one share per pixel tells no class\n{found}\n"
                "give the classes as integers"
            )
        if not is_float:
            if self.entropy:
                raise TypeError(
                    f"{name}: entropy needs the shares of the classes\n{found}\n"
                    "give floats [*b, h, w, k]"
                )
            return {"labels": regions[..., 0].astype(jnp.int32)}
        largest = jnp.argmax(regions, axis=-1).astype(jnp.int32)
        is_nan = jnp.any(jnp.isnan(regions), axis=-1)
        items = {"labels": jnp.where(is_nan, _NOT_A_NUMBER, largest)}
        if self.entropy:
            shares = regions.astype(jnp.float32)
            logs = jnp.log(jnp.where(shares > 0, shares, 1.0))
            chaos = -jnp.sum(shares * logs, axis=-1) / math.log(regions.shape[-1])
            items["certainty"] = jnp.where(is_nan, 1.0, 1 - jnp.clip(chaos, 0.0, 1.0))
        return items

    def render(self, selected: Selected) -> Image:
        """The regions in colours."""
        items = selected.items
        labels = items["labels"]
        is_nan = labels == _NOT_A_NUMBER
        num_nan = int(is_nan.sum())
        edge, owner = borders(labels) if self.edges else (None, labels)
        colors = self._colors(owner if "images" in items else labels)
        if "certainty" in items:
            colors = colors * items["certainty"][..., None]
        if "images" in items:
            drawn = to_pixels(items["images"], self.in_vrange, None)
            num_nan += drawn.num_nan
            pictures = over_background(drawn.pixels, _WHITE) / 255
            if edge is None:
                colors = blended(pictures, colors, self.opacity)
            else:
                colors = np.where(edge[..., None], colors, pictures)
        elif edge is not None:
            colors = np.where(edge[..., None], 1.0, colors)
        pixels = to_uint8(colors)
        pixels[is_nan] = MAGENTA
        return Image(pixels, num_nan, selected.scores)

    def _colors(self, labels: np.ndarray) -> np.ndarray:
        palette = palette_colors(self.palette)
        colors = palette[labels % len(palette)]
        return np.where(labels[..., None] < 0, _NO_CLASS, colors)

    def render_nothing(self) -> Image:
        """No picture."""
        return no_image()
