"""Losses of vectors: which belong together, and which do not."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

import kontext
from kmetrics._class_inputs import is_zero_or_one
from kmetrics._directions import cosine, direction, length
from kmetrics._loss import Loss
from kmetrics._masks import align_left
from kmetrics._options import Flag, Positive
from ktyping import Array, Bool, Float, Real, typechecked

# Drops a row of a softmax without an inf, whose gradient would be NaN.
_NEVER = -1e30


@dataclasses.dataclass(frozen=True, kw_only=True)
class NegativeCosineSimilarity(Loss):
    """`-preds · targets / (|preds| |targets|)` over the last axis, -1 to 1.

    A vector of length 0 has the similarity 0, and the gradient 0, with all others.

    Attributes:
      preds: path of real numbers `[*b, n]`.
      targets: path of real numbers, same shape.
      eps: lengths are not taken below it, above 0.
    """

    preds: kontext.Key = kontext.REQUIRED
    targets: kontext.Key = kontext.REQUIRED
    eps: Positive = 1e-8

    @typechecked
    def get_values(
        self, preds: Real[Array, "*b n"], targets: Real[Array, "*b n"]
    ) -> Float[Array, "*b 1"]:
        """`[*b, 1]`, one value per vector."""
        similar = cosine(self._floats(preds), self._floats(targets), self.eps)
        return -similar[..., None]


@dataclasses.dataclass(frozen=True, kw_only=True)
class InfoNCE(Loss):
    """Cross-entropy of finding, among the targets of the batch, the one of each row.

    The value of an example depends on the others of its batch. What the mask drops is
    no candidate either.

    Reference: A. van den Oord, Y. Li, O. Vinyals, Representation learning with
    contrastive predictive coding (2018), equation 4; the sum of both directions halved,
    as in A. Radford and others, CLIP (2021), figure 3.

    Attributes:
      preds: path of real numbers `[b, n]`.
      targets: path of real numbers `[b, n]`; row `i` belongs to row `i` of `preds`.
      temperature: what the similarities are divided by, above 0.
      normalize: whether a similarity is a cosine, rather than a plain product.
      symmetric: whether to average with finding the prediction of each target.
    """

    preds: kontext.Key = kontext.REQUIRED
    targets: kontext.Key = kontext.REQUIRED
    temperature: Positive = 0.07
    normalize: Flag = True
    symmetric: Flag = False

    @typechecked
    def get_values(
        self, preds: Real[Array, "b n"], targets: Real[Array, "b n"], mask: Any = None
    ) -> Float[Array, "b 1"]:
        """`[b, 1]`, one value per row of `preds`."""
        one, two = self._floats(preds), self._floats(targets)
        if self.normalize:
            one, two = direction(one, 1e-8), direction(two, 1e-8)
        similar = jnp.matmul(one, two.T, precision="highest") / self.temperature
        keep = None if mask is None else align_left(mask, (len(one), 1))[:, 0] != 0
        values = _row_entropy(similar, keep)
        if self.symmetric:
            values = (values + _row_entropy(similar.T, keep)) / 2
        return values[:, None]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Contrastive(Loss):
    """`d² / 2` for vectors that belong together, else `max(0, margin - d)² / 2`.

    `d` is the Euclidean distance. A label that is neither 0 nor 1 gives NaN; outside
    jit it raises ValueError.

    Reference: R. Hadsell, S. Chopra, Y. LeCun, Dimensionality reduction by learning an
    invariant mapping (2006), equation 4; here 1 is the label of what belongs together.

    Attributes:
      preds: path of real numbers `[*b, n]`.
      targets: path of real numbers, same shape.
      labels: path of 1 (together) and 0, or bools, `[*b, 1]` or `[*b]`.
      margin: how far apart other vectors are to be, above 0.
    """

    preds: kontext.Key = kontext.REQUIRED
    targets: kontext.Key = kontext.REQUIRED
    labels: kontext.Key = kontext.REQUIRED
    margin: Positive = 1.0

    @typechecked
    def get_values(
        self,
        preds: Real[Array, "*b n"],
        targets: Real[Array, "*b n"],
        labels: Real[Array, "*b 1"]
        | Real[Array, "*b"]
        | Bool[Array, "*b 1"]
        | Bool[Array, "*b"],
    ) -> Float[Array, "*b 1"]:
        """`[*b, 1]`, one value per pair."""
        gap = self._floats(preds) - self._floats(targets)
        labels = jnp.reshape(labels, gap.shape[:-1])
        fits = is_zero_or_one(type(self).__name__, labels)
        # Squared without the root, whose gradient at 0 would be lost.
        near = jnp.sum(gap * gap, axis=-1)
        far = jnp.square(jax.nn.relu(self.margin - length(gap)))
        values = jnp.where(fits, jnp.where(labels == 1, near, far), jnp.nan)
        return values[..., None] / 2


@dataclasses.dataclass(frozen=True, kw_only=True)
class Triplet(Loss):
    """`max(0, |anchors - positives| - |anchors - negatives| + margin)`.

    Reference: F. Schroff, D. Kalenichenko, J. Philbin, FaceNet (2015), section 3.1;
    here with distances in place of their squares.

    Attributes:
      anchors: path of real numbers `[*b, n]`.
      positives: path of real numbers, same shape: what belongs to the anchors.
      negatives: path of real numbers, same shape: what does not.
      margin: how much nearer the positives are to be, above 0.
    """

    anchors: kontext.Key = kontext.REQUIRED
    positives: kontext.Key = kontext.REQUIRED
    negatives: kontext.Key = kontext.REQUIRED
    margin: Positive = 1.0

    @typechecked
    def get_values(
        self,
        anchors: Real[Array, "*b n"],
        positives: Real[Array, "*b n"],
        negatives: Real[Array, "*b n"],
    ) -> Float[Array, "*b 1"]:
        """`[*b, 1]`, one value per triplet."""
        anchors = self._floats(anchors)
        near, far = (
            length(anchors - self._floats(other)) for other in (positives, negatives)
        )
        return jax.nn.relu(near - far + self.margin)[..., None]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Hinge(Loss):
    """`max(0, margin - logits)` for the label 1, `max(0, margin + logits)` for 0.

    Another label gives NaN; outside jit it raises ValueError.

    Attributes:
      logits: path of real numbers `[*b]`.
      labels: path of 0 and 1, or bools, same shape.
      margin: how far from 0 a right logit is to be, above 0.
      squared: whether the value is squared.
    """

    logits: kontext.Key = kontext.REQUIRED
    labels: kontext.Key = kontext.REQUIRED
    margin: Positive = 1.0
    squared: Flag = False

    @typechecked
    def get_values(
        self,
        logits: Real[Array, "*b"],
        labels: Real[Array, "*b"] | Bool[Array, "*b"],
    ) -> Float[Array, "*b"]:
        """`[*b]`, one value per element."""
        labels = jnp.asarray(labels)
        fits = is_zero_or_one(type(self).__name__, labels)
        sign = jnp.where(labels == 1, 1.0, -1.0)
        value = jax.nn.relu(self.margin - sign * self._floats(logits))
        value = jnp.square(value) if self.squared else value
        return jnp.where(fits, value, jnp.nan)


def _row_entropy(similar: jax.Array, keep: jax.Array | None) -> jax.Array:
    """Of each row, that of its diagonal entry among the entries that count."""
    if keep is not None:
        similar = jnp.where(keep, similar, _NEVER)
    return jax.nn.logsumexp(similar, axis=-1) - jnp.diagonal(similar)
