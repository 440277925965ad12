"""Pictures, and how two series of pictures differ."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._options import Count, Flag
from kmetrics._selection import Selected
from kmetrics.summaries._colors import Colors, frozen_cmap
from kmetrics.summaries._kept import ChosenBy, KeptState, Numbers, Show
from kmetrics.summaries._media import Image
from kmetrics.summaries._pixels import (
    ValueRange,
    check_pictures,
    to_pixels,
)
from kmetrics.summaries._rearrange import Pattern
from ktyping import typechecked


def no_image() -> Image:
    """No picture at all."""
    return Image(np.zeros((0, 1, 1, 1), np.uint8))


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShowImages(Show):
    """Some of the images, as an `Image`.

    They are chosen and cut down on the device; no more than `num_images` of them ever
    reach the host. NaN is drawn in magenta, and counted.

    Attributes:
      images: path of images `[*b, h, w, c]`: gray (c 1), RGB (3) or RGBA (4); floats,
        or uint8 in 0 to 255. Each video of `[b, t, h, w, c]` counts as t images.
      num_images: how many to show.
      in_vrange: which values are black and white; what is beyond is cut. "auto": the
        lowest and the highest value shown. None: 0 and 1, of uint8 0 and 255.
      cmap: colours for images of one channel: "gray", "viridis", "magma", "inferno",
        "RdBu_r", or a table of colours `[n, 3]` in 0 to 1, evenly spaced.
      rearrange: makes images of something else, such as "b (y x) c -> b y x c"; an axis
        of size 1 is ().
      rearrange_kwargs: the sizes of axes in `rearrange` that the shape does not tell.
      mask: path of bools or numbers `[*b]`; where it is 0, an image is not shown.
      ids: path of integers `[*b]` that name the examples, for "random"; by default
        their content names them.
      selection: "first"; "random": a uniform sample, the same however the data is
        split into batches; `Worst(by=...)`: those with the worst scores.
      seed: another one chooses others.

    Raises:
      TypeError, ValueError: an option is not allowed; at the first use: the images
        have another dtype or shape.
    """

    images: kontext.Key = kontext.REQUIRED
    num_images: Count = 5
    in_vrange: ValueRange = None
    cmap: Colors | None = None
    rearrange: str | None = None
    rearrange_kwargs: Mapping[str, int] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        name = type(self).__name__
        cmap = frozen_cmap(self.cmap, f"{name}: cmap")
        object.__setattr__(self, "cmap", cmap)
        super().__post_init__()
        if not isinstance(self.rearrange_kwargs, Mapping):
            raise TypeError(
                f"{name}: rearrange_kwargs must be axes with their sizes\n"
                f"  got {self.rearrange_kwargs!r}"
            )
        if self.rearrange is None and self.rearrange_kwargs:
            raise ValueError(f"{name}: rearrange_kwargs needs rearrange")
        if self.rearrange is not None:
            Pattern.parse(self.rearrange, self.rearrange_kwargs, where=name)

    @typechecked
    def get_state(
        self,
        images: Numbers,
        mask: Numbers | None = None,
        ids: Numbers | None = None,
        scores: Numbers | None = None,
    ) -> KeptState:
        """The state of one batch; `scores` `[*b]` for `selection=Worst(...)`."""
        name = type(self).__name__
        if self.rearrange is not None:
            pattern = Pattern.parse(self.rearrange, self.rearrange_kwargs, where=name)
            images = pattern.apply(jnp.asarray(images), key="images")
        channels = (1, 3, 4) if self.cmap is None else (1,)
        images = check_pictures(images, name=name, key="images", channels=channels)
        chosen_by = ChosenBy(mask, ids, scores)
        return self.keep(images, batch=images.shape[:-3], chosen_by=chosen_by)

    def render(self, selected: Selected) -> Image:
        """The images as pixels."""
        pixels, num_nan = to_pixels(selected.items, self.in_vrange, self.cmap)
        return Image(pixels, num_nan, selected.scores)

    def render_nothing(self) -> Image:
        """No picture."""
        return no_image()


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShowDifferenceImages(Show):
    """How two series of images differ: the mean over the channels of `|a - b|`.

    Attributes:
      images1: path of images `[*b, h, w, c]`, floats, or uint8 in 0 to 255, which
        become 0 to 1.
      images2: path of images, same shape.
      num_images: how many to show.
      signed: shows a - b instead: negative in blue, positive in red.
      in_vrange: the differences at the two ends of the colour map; what is beyond is
        cut. "auto": the largest difference shown, and 0, or its negative if signed.
        None: 0 and 1, or -1 and 1 if signed.
      cmap: see `ShowImages`; by default "gray", or "RdBu_r" if signed.
      mask: see `ShowImages`, as for `ids`, `selection` and `seed`.

    Raises:
      TypeError, ValueError: an option is not allowed; at the first use: the images
        have another dtype or shape.
    """

    images1: kontext.Key = kontext.REQUIRED
    images2: kontext.Key = kontext.REQUIRED
    num_images: Count = 5
    signed: Flag = False
    in_vrange: ValueRange = None
    cmap: Colors | None = None

    def __post_init__(self) -> None:
        name = type(self).__name__
        cmap = frozen_cmap(self.cmap, f"{name}: cmap")
        object.__setattr__(self, "cmap", cmap)
        super().__post_init__()

    @typechecked
    def get_state(
        self,
        images1: Numbers,
        images2: Numbers,
        mask: Numbers | None = None,
        ids: Numbers | None = None,
        scores: Numbers | None = None,
    ) -> KeptState:
        """The state of one batch; `scores` `[*b]` for `selection=Worst(...)`."""
        name = type(self).__name__
        a = check_pictures(images1, name=name, key="images1")
        b = check_pictures(images2, name=name, key="images2")
        if a.shape != b.shape:
            raise ValueError(
                f"{name}: images1 and images2 must have one shape\n"
                f"  got {list(a.shape)} and {list(b.shape)}"
            )
        difference = _in_unit(a) - _in_unit(b)
        if not self.signed:
            difference = jnp.abs(difference)
        kept = jnp.mean(difference, axis=-1, keepdims=True)
        chosen_by = ChosenBy(mask, ids, scores)
        return self.keep(kept, batch=a.shape[:-3], chosen_by=chosen_by)

    def render(self, selected: Selected) -> Image:
        """The differences as pixels."""
        in_vrange = self.in_vrange
        lowest = -1.0 if self.signed else 0.0
        if in_vrange is None:
            in_vrange = (lowest, 1.0)
        elif in_vrange == "auto":
            sizes = np.abs(selected.items[np.isfinite(selected.items)])
            largest = float(sizes.max()) if sizes.size else 0.0
            in_vrange = (lowest * (largest or 1.0), largest or 1.0)
        cmap = self.cmap or ("RdBu_r" if self.signed else None)
        pixels, num_nan = to_pixels(selected.items, in_vrange, cmap)
        return Image(pixels, num_nan, selected.scores)

    def render_nothing(self) -> Image:
        """No picture."""
        return no_image()


def _in_unit(images: Any) -> Any:
    if images.dtype == jnp.uint8:
        return images.astype(jnp.float32) / 255
    return images.astype(jnp.float32)
