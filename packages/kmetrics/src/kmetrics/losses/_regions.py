"""Losses of whole regions: overlaps of predicted and true masks of pixels."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp

import kontext
from kmetrics._class_inputs import is_zero_or_one
from kmetrics._loss import Loss
from kmetrics._masks import align_left
from kmetrics._numerics import to_float32
from kmetrics._options import Finite, Flag, NotNegative
from kmetrics.losses._absolute import absolute
from kmetrics.losses._labels import shares
from ktyping import Array, Bool, Float, Real, typechecked


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Region(Loss):
    """A loss with one value per region; a mask of pixels selects among its pixels."""

    logits: kontext.Key = kontext.REQUIRED
    labels: kontext.Key = kontext.REQUIRED

    def _mask_of_values(self, mask: jax.Array, shape: tuple[int, ...]) -> jax.Array:
        # A region counts if one of its pixels does.
        axes = (len(shape) - 3, len(shape) - 2)
        reduced = tuple(axis for axis in axes if axis < mask.ndim)
        return jnp.max(mask, axis=reduced, keepdims=True)

    def _yes(self, labels: Any) -> tuple[jax.Array, jax.Array]:
        """The pixels that are 1, and the regions of nothing but 0 and 1."""
        labels = jnp.asarray(labels)
        fits = is_zero_or_one(type(self).__name__, labels)
        return labels == 1, jnp.all(fits, axis=(-3, -2), keepdims=True)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Dice(_Region):
    """`1 - (2 Σ p y + smooth) / (Σ p + Σ y + smooth)` over the pixels, `p = σ(logits)`.

    Reference: F. Milletari, N. Navab, S.-A. Ahmadi, V-Net (2016), section 3; here with
    `smooth` and without squares.

    An integer label that is neither 0 nor 1 gives NaN; outside jit it raises
    ValueError.

    Attributes:
      logits: path of floats `[*b, h, w, m]`, with `m` regions such as classes.
      labels: path of numbers in [0, 1], same shape.
      mask: as for every loss; one with the axes `h` and `w` selects pixels.
      smooth: added to both sides of the fraction, 0 or more; with 0 an empty region
        without predictions is NaN.
    """

    smooth: NotNegative = 1.0

    @typechecked
    def get_values(
        self,
        logits: Float[Array, "*b h w m"],
        labels: Real[Array, "*b h w m"] | Bool[Array, "*b h w m"],
        mask: Any = None,
    ) -> Float[Array, "*b 1 1 m"]:
        """`[*b, 1, 1, m]`, one value per region."""
        probs = jax.nn.sigmoid(self._floats(logits))
        if mask is not None:
            keep = align_left(mask, probs.shape) != 0
            probs, labels = (jnp.where(keep, x, 0) for x in (probs, labels))
        labels = self._floats(shares(type(self).__name__, labels))
        common = _over_pixels(probs * labels)
        both = _over_pixels(probs) + _over_pixels(labels)
        return 1 - (2 * common + self.smooth) / (both + self.smooth)


@dataclasses.dataclass(frozen=True, kw_only=True)
class IoU(_Region):
    """How far a model is off that predicts the IoU of its own masks.

    The true IoU is that of the pixels with `logits > threshold`; it carries no
    gradient. A region without pixels on both sides has the IoU 1. A label that is
    neither 0 nor 1 gives NaN; outside jit it raises ValueError.

    Reference: A. Kirillov and others, Segment anything (2023), section A.

    Attributes:
      iou_preds: path of the predicted IoU, `[*b, m]`.
      logits: path of floats `[*b, h, w, m]`.
      labels: path of 0 and 1, or bools, same shape.
      mask: as for every loss; one with the axes `h` and `w` selects pixels.
      threshold: the predicted mask is above it: 0 for logits, 0.5 for probabilities.
      squared: whether the value is the squared difference, rather than the absolute.
    """

    iou_preds: kontext.Key = kontext.REQUIRED
    threshold: Finite = 0.0
    squared: Flag = False

    @typechecked
    def get_values(
        self,
        iou_preds: Float[Array, "*b m"],
        logits: Float[Array, "*b h w m"],
        labels: Real[Array, "*b h w m"] | Bool[Array, "*b h w m"],
        mask: Any = None,
    ) -> Float[Array, "*b 1 1 m"]:
        """`[*b, 1, 1, m]`, one value per region."""
        pred = jnp.asarray(logits) > self.threshold
        if mask is not None:
            keep = align_left(mask, pred.shape) != 0
            pred, labels = pred & keep, jnp.where(keep, labels, 0)
        true, is_known = self._yes(labels)
        common, union = _over_pixels(pred & true), _over_pixels(pred | true)
        iou = jnp.where(union == 0, 1.0, common / jnp.maximum(union, 1.0))
        gap = self._floats(iou_preds)[..., None, None, :] - self._floats(iou)
        gap = jnp.square(gap) if self.squared else absolute(gap)
        return jnp.where(is_known, gap, jnp.nan)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Lovasz(_Region):
    """The Lovász hinge: a convex surrogate of `1 - IoU` of the pixels of a region.

    A label that is neither 0 nor 1 gives NaN; outside jit it raises ValueError.

    Reference: M. Berman, A. R. Triki, M. B. Blaschko, The Lovász-softmax loss (2018),
    equations 8 and 12.

    Attributes:
      logits: path of floats `[*b, h, w, m]`, with `m` regions such as classes.
      labels: path of 0 and 1, or bools, same shape.
      mask: as for every loss; one with the axes `h` and `w` selects pixels.
    """

    @typechecked
    def get_values(
        self,
        logits: Float[Array, "*b h w m"],
        labels: Real[Array, "*b h w m"] | Bool[Array, "*b h w m"],
        mask: Any = None,
    ) -> Float[Array, "*b 1 1 m"]:
        """`[*b, 1, 1, m]`, one value per region."""
        keep = None
        if mask is not None:
            keep = align_left(mask, jnp.shape(labels)) != 0
            labels = jnp.where(keep, labels, 0)
        true, is_known = self._yes(labels)
        errors = 1 - self._floats(logits) * jnp.where(true, 1.0, -1.0)
        if keep is not None:
            # Last in the order, where the hinge makes nothing of them.
            errors = jnp.where(keep, errors, -1.0)
        values = _lovasz_hinge(_flat(errors), _flat(true))
        return jnp.where(is_known, values[..., None, None, :], jnp.nan)


# One compiled call when used outside jit, and plain operations inside.
@functools.partial(jax.jit, inline=True)
def _lovasz_hinge(errors: jax.Array, true: jax.Array) -> jax.Array:
    """`[*b]`, of the errors and the answers of pixels `[*b, n]`."""
    order = jnp.argsort(-errors, axis=-1)
    errors = jnp.take_along_axis(errors, order, axis=-1)
    true = jnp.take_along_axis(true, order, axis=-1)
    found = jnp.sum(true, axis=-1, keepdims=True)
    missed, wrong = jnp.cumsum(true, axis=-1), jnp.cumsum(~true, axis=-1)
    # 1 - IoU if the first 1, 2, ... pixels are the wrong ones.
    jaccard = 1 - (found - missed) / jnp.maximum(found + wrong, 1)
    steps = jnp.diff(jaccard, axis=-1, prepend=jnp.zeros_like(jaccard[..., :1]))
    return jnp.sum(jax.nn.relu(errors) * steps, axis=-1)


def _over_pixels(x: jax.Array) -> jax.Array:
    return jnp.sum(to_float32(x), axis=(-3, -2), keepdims=True)


def _flat(x: jax.Array) -> jax.Array:
    """`[*b, h, w, m]` as `[*b, m, h * w]`."""
    *batch, height, width, m = x.shape
    return jnp.moveaxis(x, -1, -3).reshape(*batch, m, height * width)
