"""Metrics that compare images: PSNR, also of other sizes, and SSIM."""

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
from kmetrics._class_inputs import example_weights
from kmetrics._masks import fill_masked
from kmetrics._metric import Metric, OnEmpty
from kmetrics._numerics import to_float32
from kmetrics._options import Flag, NotNegative, Positive, Span, number, whole
from ktyping import Array, Bool, Real, typechecked

__all__ = ["Psnr", "PsnrWithResize", "Ssim"]

_Decibels: TypeAlias = Annotated[float, number("above 0", lambda x: x > 0)]
_Odd: TypeAlias = Annotated[
    int, whole("odd, and 1 or more", lambda x: x >= 1 and x % 2 == 1)
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class _ImagePair(Metric):
    State = AverageState

    preds: kontext.Key = kontext.REQUIRED
    targets: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    in_vrange: Span = (0.0, 1.0)
    clip: Flag = False
    on_empty: OnEmpty = "nan"

    @typechecked
    def get_state(
        self,
        preds: Real[Array, "*b h w c"],
        targets: Real[Array, "*b h w c"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch; `mask` selects images, `[*b]` or `[*b, 1]`."""
        preds, targets = self._pixels("preds", preds), self._pixels("targets", targets)
        batch = preds.shape[:-3]
        weights = None if mask is None else example_weights(mask, batch)
        if weights is not None:
            preds, targets = (fill_masked(x, weights, 0.0) for x in (preds, targets))
        return AverageState.from_values(_per_image(self, preds, targets), weights)

    def _pixels(self, key: str, images: Any) -> jax.Array:
        self._check_range(key, images)
        images = to_float32(images)
        return jnp.clip(images, *self.in_vrange) if self.clip else images

    def _check_range(self, key: str, images: Any) -> None:
        if jnp.issubdtype(images.dtype, jnp.integer) and self.in_vrange == (0, 1):
            raise ValueError(
                f"{type(self).__name__}: {key} holds {images.dtype}, but in_vrange is "
                "(0, 1)\nset in_vrange=(0, 255) for images of 8 bits, or hand in floats"
            )

    @property
    def _range(self) -> float:
        return self.in_vrange[1] - self.in_vrange[0]

    def _values(self, preds: jax.Array, targets: jax.Array) -> jax.Array:
        """One value per image, `[*b]`."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True, kw_only=True)
class Psnr(_ImagePair):
    """The peak signal-to-noise ratio in dB, the mean over the images.

    `20 log₁₀ R - 10 log₁₀ MSE`, where R is the width of `in_vrange` and MSE the mean
    over the pixels and channels of one image.

    Attributes:
      preds: path of images `[*b, h, w, c]`, floats or integers.
      targets: path of images, same shape.
      mask: path of bools or non-negative numbers `[*b]`, or fewer axes.
      in_vrange: the lowest and the highest value of a pixel, (0, 255) for uint8.
      clip: whether pixels outside of the range are cut to it.
      on_empty: the value if no image counts: "nan", "zero", or "raise".
      max_db: the value of equal images, and the most that an image can get.

    Raises:
      ValueError: `in_vrange` does not ascend; at the first use: it is (0, 1), and the
        images are integers.
    """

    higher_is_better = True

    max_db: _Decibels = 100.0

    def _values(self, preds: jax.Array, targets: jax.Array) -> jax.Array:
        error = jnp.mean((preds - targets) ** 2, axis=(-3, -2, -1))
        safe = jnp.where(error == 0, 1.0, error)
        value = 20 * math.log10(self._range) - 10 * jnp.log10(safe)
        return jnp.where(error == 0, self.max_db, jnp.minimum(value, self.max_db))


@dataclasses.dataclass(frozen=True, kw_only=True)
class PsnrWithResize(Psnr):
    """`Psnr` of predictions that are brought to the size of the targets, bilinearly.

    Inputs and options: as for `Psnr`, but `preds` may have any height and width.

    Attributes:
      antialias: whether a larger prediction is smoothed as it is made smaller.
    """

    antialias: Flag = True

    @typechecked
    def get_state(
        self,
        preds: Real[Array, "*b h0 w0 c"],
        targets: Real[Array, "*b h w c"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch; `mask` selects images, `[*b]` or `[*b, 1]`."""
        self._check_range("preds", preds)
        resized = jax.image.resize(
            to_float32(preds), jnp.shape(targets), "bilinear", antialias=self.antialias
        )
        return super().get_state(preds=resized, targets=targets, mask=mask)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ssim(_ImagePair):
    """The structural similarity, the mean over the images; 1 for equal ones.

    With a Gaussian window, population covariances, and only where the window fits
    into the image; the mean over places and channels.

    Reference: Z. Wang, A. C. Bovik, H. R. Sheikh, E. P. Simoncelli, Image quality
    assessment: from error visibility to structural similarity (2004), equation 13.

    Attributes:
      preds: path of images `[*b, h, w, c]`, floats or integers.
      targets: path of images, same shape.
      mask: path of bools or non-negative numbers `[*b]`, or fewer axes.
      in_vrange: the lowest and the highest value of a pixel, (0, 255) for uint8.
      clip: whether pixels outside of the range are cut to it.
      on_empty: the value if no image counts: "nan", "zero", or "raise".
      window: side of the window in pixels, odd.
      sigma: standard deviation of the Gaussian, in pixels.
      k1: stabilises the comparison of the means.
      k2: stabilises the comparison of the variances.

    Raises:
      ValueError: an option is out of range; at the first use: an image is smaller than
        the window, or `in_vrange` is (0, 1) and the images are integers.
    """

    higher_is_better = True
    range = (-1.0, 1.0)

    window: _Odd = 11
    sigma: Positive = 1.5
    k1: NotNegative = 0.01
    k2: NotNegative = 0.03

    def _values(self, preds: jax.Array, targets: jax.Array) -> jax.Array:
        height, width, _ = preds.shape[-3:]
        if min(height, width) < self.window:
            raise ValueError(
                "Ssim: the images are smaller than the window\n"
                f"  images {height} × {width}, window {self.window} × {self.window}\n"
                "use larger images, or a smaller window"
            )
        # Variances do not depend on it, and keep their digits near 0.
        middle = sum(self.in_vrange) / 2
        x, y = preds - middle, targets - middle
        mean_x, mean_y = self._blur(x), self._blur(y)
        var_x = self._blur(x * x) - mean_x**2
        var_y = self._blur(y * y) - mean_y**2
        cov = self._blur(x * y) - mean_x * mean_y
        low = self.in_vrange[0]
        mean_x, mean_y = mean_x + middle - low, mean_y + middle - low
        c1, c2 = (self.k1 * self._range) ** 2, (self.k2 * self._range) ** 2
        means = (2 * mean_x * mean_y + c1) / (mean_x**2 + mean_y**2 + c1)
        return jnp.mean(
            means * (2 * cov + c2) / (var_x + var_y + c2), axis=(-3, -2, -1)
        )

    def _blur(self, images: jax.Array) -> jax.Array:
        """The weighted mean over the window, wherever it fits."""
        offset = np.arange(self.window) - self.window // 2
        weights = np.exp(-(offset**2) / (2 * self.sigma**2))
        weights = (weights / weights.sum()).astype(np.float32)
        for axis in (images.ndim - 3, images.ndim - 2):
            size = images.shape[axis] - self.window + 1
            parts = (
                weight * jax.lax.slice_in_dim(images, i, i + size, axis=axis)
                for i, weight in enumerate(weights)
            )
            images = functools.reduce(jnp.add, parts)
        return images


# One compiled call when used outside jit, and plain operations inside.
@functools.partial(jax.jit, static_argnums=0, inline=True)
def _per_image(metric: _ImagePair, preds: jax.Array, targets: jax.Array) -> jax.Array:
    return metric._values(preds, targets)
