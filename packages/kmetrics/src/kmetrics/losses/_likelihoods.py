"""Losses that are the negative logarithm of a density, or a divergence of two."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import ClassVar

import jax
import jax.numpy as jnp

import kontext
from kmetrics._loss import Loss
from kmetrics._options import Flag, Positive
from kmetrics.losses._products import weigh
from ktyping import Array, Bool, Float, Real, typechecked


@dataclasses.dataclass(frozen=True, kw_only=True)
class Poisson(Loss):
    """`rate - targets · log(rate)`, of counts; the part without the rate is left out.

    Attributes:
      preds: path of real numbers `[*b]`: logs of the rates, or rates of 0 and more.
      targets: path of counts, same shape.
      is_log: whether `preds` are logs of the rates.
    """

    masked_fill: ClassVar[float | Mapping[str, float]] = {"preds": 1.0}

    preds: kontext.Key = kontext.REQUIRED
    targets: kontext.Key = kontext.REQUIRED
    is_log: Flag = True

    @typechecked
    def get_values(
        self, preds: Real[Array, "*b"], targets: Real[Array, "*b"] | Bool[Array, "*b"]
    ) -> Float[Array, "*b"]:
        """`[*b]`, one value per element; inf for a rate of 0 and a count above it."""
        preds, targets = self._floats(preds), self._floats(targets)
        if self.is_log:
            return jnp.exp(preds) - targets * preds
        return preds - weigh(targets, jnp.log(jnp.where(targets == 0, 1.0, preds)))


@dataclasses.dataclass(frozen=True, kw_only=True)
class GaussianNLL(Loss):
    """`(log(variance) + (preds - targets)² / variance) / 2`, of normal distributions.

    Reference: D. A. Nix, A. S. Weigend, Estimating the mean and variance of the target
    probability distribution (1994), equation 4.

    Attributes:
      preds: path of real numbers `[*b]`, the means.
      variances: path of real numbers above 0, same shape.
      targets: path of real numbers, same shape.
      eps: the variances are not taken below it, above 0.
      full: whether to add `log(2π) / 2`, which makes it a log density.
    """

    masked_fill: ClassVar[float | Mapping[str, float]] = {"variances": 1.0}

    preds: kontext.Key = kontext.REQUIRED
    variances: kontext.Key = kontext.REQUIRED
    targets: kontext.Key = kontext.REQUIRED
    eps: Positive = 1e-6
    full: Flag = False

    @typechecked
    def get_values(
        self,
        preds: Real[Array, "*b"],
        variances: Real[Array, "*b"],
        targets: Real[Array, "*b"],
    ) -> Float[Array, "*b"]:
        """`[*b]`, one value per element."""
        difference = self._floats(preds) - self._floats(targets)
        variance = jnp.maximum(self._floats(variances), self.eps)
        # In units of the deviation: neither a square nor that of the variance, which
        # is in the gradient of a fraction, overflows.
        distance = difference / jnp.sqrt(variance)
        value = (jnp.log(variance) + jnp.square(distance)) / 2
        return value + math.log(2 * math.pi) / 2 if self.full else value


@dataclasses.dataclass(frozen=True, kw_only=True)
class KL(Loss):
    """`Σ p · (log p - log softmax(logits))` over the last axis, from labels `p`.

    A class whose label is 0 contributes 0, also if its logit is -inf.

    Attributes:
      logits: path of floats `[*b, n]`.
      labels: path of probabilities `[*b, n]`.
    """

    logits: kontext.Key = kontext.REQUIRED
    labels: kontext.Key = kontext.REQUIRED

    @typechecked
    def get_values(
        self, logits: Float[Array, "*b n"], labels: Real[Array, "*b n"]
    ) -> Float[Array, "*b 1"]:
        """`[*b, 1]`, one value per example."""
        labels = self._floats(labels)
        log_labels = jnp.log(jnp.where(labels == 0, 1.0, labels))
        gap = log_labels - jax.nn.log_softmax(self._floats(logits))
        return jnp.sum(weigh(labels, gap), axis=-1, keepdims=True)
