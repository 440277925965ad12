"""Metrics of predicted depth, as numbers or drawn as colours."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Annotated, Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._average import AverageState
from kmetrics._masks import combine_masks
from kmetrics._metric import Metric, OnEmpty
from kmetrics._numerics import to_float32
from kmetrics._options import Span, number, two_numbers
from kmetrics.summaries._colors import Colors, frozen_cmap, mapped
from ktyping import Array, Bool, Real, typechecked

__all__ = ["AbsRel", "Delta", "RgbAbsRel"]

# Of a map of colours, which is continuous; and of pixels that are decoded at once.
_LEVELS = 256
_PIXELS = 4096

_Ratio: TypeAlias = Annotated[
    float, number("above 1, and finite", lambda x: 1 < x < math.inf)
]
_Depths: TypeAlias = Annotated[
    tuple[float, float],
    two_numbers(
        "finite, not equal, and one of them above 0",
        lambda x: all(map(math.isfinite, x)) and x[0] != x[1] and max(x) > 0,
    ),
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Depth(Metric):
    State = AverageState

    preds: kontext.Key = kontext.REQUIRED
    targets: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    on_empty: OnEmpty = "nan"

    @typechecked
    def get_state(
        self,
        preds: Real[Array, "*b"],
        targets: Real[Array, "*b"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        targets = to_float32(targets)
        is_known = targets > 0
        values = self._values(to_float32(preds), jnp.where(is_known, targets, 1.0))
        return AverageState.from_values(values, combine_masks(mask, is_known))

    def _values(self, preds: jax.Array, targets: jax.Array) -> jax.Array:
        """One value per depth, for targets above 0."""
        raise NotImplementedError


class AbsRel(_Depth):
    """The mean of `|preds - targets| / targets`, where the target is above 0.

    For this and all metrics of this module: a target of 0 or below, or NaN, is one
    that was not measured, and does not count.

    Reference: D. Eigen, C. Puhrsch, R. Fergus, Depth map prediction from a single image
    using a multi-scale deep network (2014), section 4.

    Attributes:
      preds: path of real numbers of any shape.
      targets: path of real numbers, same shape and unit.
      mask: path of bools or non-negative numbers, lined up from the left.
      on_empty: the value if nothing counts: "nan", "zero", or "raise".
    """

    higher_is_better = False
    range = (0.0, math.inf)

    def _values(self, preds: jax.Array, targets: jax.Array) -> jax.Array:
        return jnp.abs(preds - targets) / targets


@dataclasses.dataclass(frozen=True, kw_only=True)
class Delta(_Depth):
    """The share with `max(preds / targets, targets / preds) < threshold`.

    Inputs, and which targets count: as for `AbsRel`. A prediction of 0 or below is
    wrong.

    Attributes:
      threshold: above 1; papers use 1.25, 1.25² and 1.25³.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    threshold: _Ratio = 1.25

    def _values(self, preds: jax.Array, targets: jax.Array) -> jax.Array:
        # The same as the larger of both ratios, without a division by the prediction.
        is_near = preds < self.threshold * targets
        return is_near & (targets < self.threshold * preds)


@dataclasses.dataclass(frozen=True, kw_only=True)
class RgbAbsRel(AbsRel):
    """`AbsRel` of depths that are drawn as colours, such as those of an image model.

    A pixel stands for the depth whose colour in the map is nearest to its own, by the
    Euclidean distance in RGB. A predicted pixel with a NaN gives NaN.

    Attributes:
      preds: path of images `[*b, h, w, 3]`, floats or integers.
      targets: path of images, same shape, drawn with the same colours.
      mask: path of bools or non-negative numbers `[*b, h, w]`, or fewer axes.
      on_empty: the value if nothing counts: "nan", "zero", or "raise".
      cmap: the colours: "gray", "viridis", "magma", "inferno", "RdBu_r"; or `[n, 3]`,
        two or more, between which there are all others.
      depth_range: the depths of the first and of the last colour; what is drawn as 0 or
        below was not measured, and does not count.
      in_vrange: the lowest and the highest value of a pixel, (0, 255) for uint8.

    Raises:
      ValueError: an option is out of range; at the first use: `in_vrange` is (0, 1),
        and the images are integers.
    """

    cmap: Colors = "viridis"
    depth_range: _Depths = (0.0, 1.0)
    in_vrange: Span = (0.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cmap", frozen_cmap(self.cmap, "RgbAbsRel: cmap"))
        super().__post_init__()
        if self.cmap is None or len(self.cmap) < 2:
            raise ValueError(
                f"RgbAbsRel: cmap must hold two colours or more\n  got {self.cmap!r}"
            )

    @typechecked
    def get_state(
        self,
        preds: Real[Array, "*b h w 3"],
        targets: Real[Array, "*b h w 3"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        depths = (self._depths(preds, "preds"), self._depths(targets, "targets"))
        return super().get_state(*depths, mask)

    def _depths(self, images: Any, key: str) -> jax.Array:
        """`[*b, h, w]`, NaN where a pixel is."""
        images = jnp.asarray(images)
        if jnp.issubdtype(images.dtype, jnp.integer) and self.in_vrange == (0, 1):
            raise ValueError(
                f"RgbAbsRel: {key} holds {images.dtype}, but in_vrange is (0, 1)\n"
                "set in_vrange=(0, 255) for images of 8 bits, or hand in floats"
            )
        return _decoded(self, images)


# One compiled call when used outside jit, and plain operations inside.
@functools.partial(jax.jit, static_argnums=0, inline=True)
def _decoded(metric: RgbAbsRel, images: jax.Array) -> jax.Array:
    """The depths that pixels `[*b, h, w, 3]` stand for."""
    low, high = metric.in_vrange
    pixels = (to_float32(images) - low) / (high - low)
    levels = np.linspace(0, 1, _LEVELS)
    colors = jnp.asarray(mapped(levels, metric.cmap), jnp.float32)
    depths = jnp.asarray(np.interp(levels, [0, 1], metric.depth_range), jnp.float32)

    def depth_of(pixel: jax.Array) -> jax.Array:
        nearest = jnp.argmin(jnp.sum((pixel - colors) ** 2, axis=-1))
        return jnp.where(jnp.any(jnp.isnan(pixel)), jnp.nan, depths[nearest])

    flat = pixels.reshape(-1, 3)
    # Some at a time: the distances to all levels are 256 times the size of an image.
    return jax.lax.map(depth_of, flat, batch_size=_PIXELS).reshape(pixels.shape[:-1])
