"""Cross-entropies of classes, and what is made of them."""

from __future__ import annotations

import dataclasses
import math
from typing import Annotated, Any, TypeAlias

import jax
import jax.numpy as jnp

import kontext
from kmetrics._loss import Loss
from kmetrics._numerics import is_traced, to_float32, wide_integers
from kmetrics._options import NotNegative, ShareBelow1, Whole, number
from kmetrics.losses._labels import shares
from kmetrics.losses._products import weigh
from ktyping import Array, Bool, Float, Int, Real, typechecked

_Alpha: TypeAlias = Annotated[
    float, number("in [0, 1], or below 0", lambda x: -math.inf < x <= 1)
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SoftmaxCrossEntropy(Loss):
    """`-Σ labels · log softmax(logits)` over the last axis, for probabilities.

    A logit of -inf whose label is 0 contributes 0.

    Attributes:
      logits: path of floats `[*b, n]`.
      labels: path of floats `[*b, n]` that add up to 1.
      label_smoothing: the share of each label that is spread evenly over the `n`
        classes, in [0, 1).
      z_loss: weight of the square of the log of the normaliser.
      class_weights: `n` numbers that multiply the terms of the classes; with
        `normalize_by="mask"` the mean is then weighted by those of the labels.

    Raises:
      ValueError: an option is out of range; at the first use: there are not as many
        weights as classes.
    """

    logits: kontext.Key = kontext.REQUIRED
    labels: kontext.Key = kontext.REQUIRED
    label_smoothing: ShareBelow1 = 0.0
    z_loss: NotNegative = 0.0
    class_weights: tuple[NotNegative, ...] | None = None

    def get_mass(self, logits: Any, labels: Any) -> jax.Array | None:
        """The weight of the labels, `[*b, 1]`; None without weights."""
        if self.class_weights is None:
            return None
        weights = _class_weights(self, self.class_weights, jnp.shape(logits)[-1])
        return jnp.sum(to_float32(labels) * weights, axis=-1, keepdims=True)

    @typechecked
    def get_values(
        self,
        logits: Float[Array, "*b n"],
        labels: Real[Array, "*b n"] | Bool[Array, "*b n"],
    ) -> Float[Array, "*b 1"]:
        """`[*b, 1]`, one value per example."""
        logits, labels = self._floats(logits), self._floats(labels)
        labels = _smooth(labels, self.label_smoothing, logits.shape[-1])
        if self.class_weights is not None:
            weights = _class_weights(self, self.class_weights, logits.shape[-1])
            labels *= weights.astype(logits.dtype)
        terms = weigh(labels, jax.nn.log_softmax(logits))
        values = -jnp.sum(terms, axis=-1, keepdims=True)
        return values + _z_term(self.z_loss, logits)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _IntLabels(Loss):
    """A loss of logits and the numbers of the classes."""

    logits: kontext.Key = kontext.REQUIRED
    labels: kontext.Key = kontext.REQUIRED
    ignore_index: Whole | None = None

    def get_mask(self, logits: Any, labels: Any) -> jax.Array | None:
        """Which labels count, `[*b, 1]`; None for all."""
        if self.ignore_index is None:
            return None
        return _as_column(labels, jnp.ndim(logits)) != self.ignore_index

    def _picked(
        self, logits: Any, labels: Any
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Logits; labels that are classes; which of them were, both `[*b, 1]`."""
        logits = self._floats(logits)
        labels = _as_column(labels, logits.ndim)
        is_class = (labels >= 0) & (labels < logits.shape[-1])
        _check_classes(type(self).__name__, labels, is_class, logits.shape[-1])
        return logits, jnp.where(is_class, labels, 0), is_class


@dataclasses.dataclass(frozen=True, kw_only=True)
class SoftmaxCrossEntropyWithIntLabels(_IntLabels):
    """`-log softmax(logits)[label]` over the last axis.

    A label that is no class, and is not ignored, gives NaN; outside jit it raises
    ValueError.

    Attributes:
      logits: path of floats `[*b, n]`.
      labels: path of integers in [0, n), `[*b, 1]` or `[*b]`.
      ignore_index: a label whose examples do not count, such as -1.
      label_smoothing: the share of each label that is spread evenly over the `n`
        classes, in [0, 1).
      z_loss: weight of the square of the log of the normaliser.
      class_weights: `n` numbers that multiply the terms of the classes; with
        `normalize_by="mask"` the mean is then weighted by those of the labels.

    Raises:
      ValueError: an option is out of range; at the first use: there are not as many
        weights as classes.
    """

    label_smoothing: ShareBelow1 = 0.0
    z_loss: NotNegative = 0.0
    class_weights: tuple[NotNegative, ...] | None = None

    def get_mass(self, logits: Any, labels: Any) -> jax.Array | None:
        """The weight of the label, `[*b, 1]`; None without weights."""
        if self.class_weights is None:
            return None
        weights = _class_weights(self, self.class_weights, jnp.shape(logits)[-1])
        labels = _as_column(labels, jnp.ndim(logits))
        is_class = (labels >= 0) & (labels < len(weights))
        return jnp.where(is_class, weights[jnp.where(is_class, labels, 0)], jnp.nan)

    @typechecked
    def get_values(
        self,
        logits: Float[Array, "*b n"],
        labels: Int[Array, "*b 1"] | Int[Array, "*b"],
    ) -> Float[Array, "*b 1"]:
        """`[*b, 1]`, one value per example."""
        logits, labels, is_class = self._picked(logits, labels)
        normaliser = jax.nn.logsumexp(logits, axis=-1, keepdims=True)
        values = normaliser - jnp.take_along_axis(logits, labels, axis=-1)
        share, terms = self.label_smoothing, normaliser - logits
        if self.class_weights is not None:
            weights = _class_weights(self, self.class_weights, logits.shape[-1])
            weights = weights.astype(logits.dtype)
            values *= weights[labels]
            terms = weigh(weights, terms)
        if share:
            values += share * (jnp.mean(terms, axis=-1, keepdims=True) - values)
        values = jnp.where(is_class, values, jnp.nan)
        return values + _z_term(self.z_loss, logits)


@dataclasses.dataclass(frozen=True, kw_only=True)
class SoftmaxFocal(_IntLabels):
    """`-(1 - p)^gamma · log p` of the probability `p` of the label.

    A label that is no class, and is not ignored, gives NaN; outside jit it raises
    ValueError.

    Reference: T.-Y. Lin and others, Focal loss for dense object detection (2017),
    equation 4, over a softmax.

    Attributes:
      logits: path of floats `[*b, n]`.
      labels: path of integers in [0, n), `[*b, 1]` or `[*b]`.
      ignore_index: a label whose examples do not count, such as -1.
      gamma: how much less the examples count that are right, 0 or more.
    """

    gamma: NotNegative = 2.0

    @typechecked
    def get_values(
        self,
        logits: Float[Array, "*b n"],
        labels: Int[Array, "*b 1"] | Int[Array, "*b"],
    ) -> Float[Array, "*b 1"]:
        """`[*b, 1]`, one value per example."""
        logits, labels, is_class = self._picked(logits, labels)
        log_probs = jax.nn.log_softmax(logits)
        chosen = jnp.take_along_axis(log_probs, labels, axis=-1)
        values = -_power(-jnp.expm1(chosen), self.gamma) * chosen
        return jnp.where(is_class, values, jnp.nan)


@dataclasses.dataclass(frozen=True, kw_only=True)
class SigmoidBinaryCrossEntropy(Loss):
    """`-y · log σ(z) - (1 - y) · log σ(-z)` for logits `z` and labels `y`.

    An integer label that is neither 0 nor 1 gives NaN; outside jit it raises
    ValueError.

    Attributes:
      logits: path of floats `[*b, n]`.
      labels: path of numbers in [0, 1], same shape.
      pos_weight: factor of the first term.
      label_smoothing: the share of each label that is spread evenly over 0 and 1, in
        [0, 1).
    """

    logits: kontext.Key = kontext.REQUIRED
    labels: kontext.Key = kontext.REQUIRED
    pos_weight: NotNegative = 1.0
    label_smoothing: ShareBelow1 = 0.0

    @typechecked
    def get_values(
        self,
        logits: Float[Array, "*b n"],
        labels: Real[Array, "*b n"] | Bool[Array, "*b n"],
    ) -> Float[Array, "*b n"]:
        """`[*b, n]`, one value per element."""
        logits = self._floats(logits)
        labels = self._floats(shares(type(self).__name__, labels))
        labels = _smooth(labels, self.label_smoothing, 2)
        positive = weigh(labels, jax.nn.softplus(-logits))
        negative = weigh(1 - labels, jax.nn.softplus(logits))
        return self.pos_weight * positive + negative


@dataclasses.dataclass(frozen=True, kw_only=True)
class SigmoidFocal(Loss):
    """Binary cross-entropy times `α · (1 - p)^gamma`, `p` the probability of the label.

    `α` is `alpha` for the label 1 and `1 - alpha` for 0. An integer label that is
    neither 0 nor 1 gives NaN; outside jit it raises ValueError.

    Reference: T.-Y. Lin and others, Focal loss for dense object detection (2017),
    equation 5.

    Attributes:
      logits: path of floats `[*b]`.
      labels: path of numbers in [0, 1], same shape.
      alpha: the weight of the label 1, in [0, 1]; below 0: every label weighs 1.
      gamma: how much less the elements count that are right, 0 or more.
    """

    logits: kontext.Key = kontext.REQUIRED
    labels: kontext.Key = kontext.REQUIRED
    alpha: _Alpha = 0.5
    gamma: NotNegative = 2.0

    @typechecked
    def get_values(
        self,
        logits: Float[Array, "*b"],
        labels: Real[Array, "*b"] | Bool[Array, "*b"],
    ) -> Float[Array, "*b"]:
        """`[*b]`, one value per element."""
        logits = self._floats(logits)
        labels = self._floats(shares(type(self).__name__, labels))
        entropy = weigh(labels, jax.nn.softplus(-logits))
        entropy += weigh(1 - labels, jax.nn.softplus(logits))
        # 1 - p, without the digits that 1 - σ(z) would lose.
        miss = jax.nn.sigmoid(logits) * (1 - labels) + jax.nn.sigmoid(-logits) * labels
        values = _power(miss, self.gamma) * entropy
        if self.alpha < 0:
            return values
        return values * (self.alpha * labels + (1 - self.alpha) * (1 - labels))


def _power(base: jax.Array, exponent: float) -> jax.Array:
    """`base ** exponent` of numbers of 0 and more, whose gradient at 0 is finite."""
    if exponent == 0:
        return jnp.ones_like(base)
    at_zero = base <= 0
    return jnp.where(at_zero, 0.0, jnp.where(at_zero, 1.0, base) ** exponent)


def _smooth(labels: jax.Array, share: float, num_classes: int) -> jax.Array:
    return labels * (1 - share) + share / num_classes if share else labels


def _z_term(z_loss: float, logits: jax.Array) -> Any:
    if not z_loss:
        return 0.0
    return z_loss * jax.nn.logsumexp(logits, axis=-1, keepdims=True) ** 2


def _as_column(labels: Any, rank: int) -> jax.Array:
    labels = wide_integers(labels)
    return labels[..., None] if labels.ndim == rank - 1 else labels


def _class_weights(loss: Loss, weights: tuple[float, ...], n: int) -> jax.Array:
    if len(weights) != n:
        raise ValueError(
            f"{type(loss).__name__}: class_weights do not fit the logits\n"
            f"  {len(weights)} weights, {n} classes"
        )
    return jnp.asarray(weights, jnp.float32)


def _check_classes(
    name: str, labels: jax.Array, is_class: jax.Array, num_classes: int
) -> None:
    if not is_traced(is_class) and not bool(jnp.all(is_class)):
        wrong = labels[~is_class]
        raise ValueError(
            f"{name}: a label is no class\n"
            f"  got {int(wrong.reshape(-1)[0])}, expected 0 to {num_classes - 1}\n"
            "mask it out, or name it with ignore_index"
        )
