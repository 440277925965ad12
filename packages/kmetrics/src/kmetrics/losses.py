"""Losses. Each gives one value per element; `Loss` weighs, masks and normalises."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

import kontext
from kmetrics._loss import Loss
from kmetrics._numerics import is_traced, to_float32
from ktyping import Array, Bool, Float, Int, Real, typechecked

__all__ = [
    "Huber",
    "L1",
    "L2",
    "LogCosh",
    "SigmoidBinaryCrossEntropy",
    "SoftmaxCrossEntropy",
    "SoftmaxCrossEntropyWithIntLabels",
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Difference(Loss):
    """A loss of `preds - targets`, which have one shape."""

    preds: kontext.Key = kontext.REQUIRED
    targets: kontext.Key = kontext.REQUIRED

    def _difference(self, preds: Any, targets: Any) -> jax.Array:
        # Before subtracting: 0 - 16 is 240 in uint8.
        return to_float32(preds) - to_float32(targets)


@dataclasses.dataclass(frozen=True, kw_only=True)
class L1(_Difference):
    """The absolute difference `|preds - targets|`.

    Attributes:
      preds: path of real numbers `[*b]`.
      targets: path of real numbers, same shape.
    """

    @typechecked
    def get_values(
        self,
        preds: Real[Array, "*b"] | Bool[Array, "*b"],
        targets: Real[Array, "*b"] | Bool[Array, "*b"],
    ) -> Float[Array, "*b"]:
        """`[*b]`, one value per element."""
        return jnp.abs(self._difference(preds, targets))


@dataclasses.dataclass(frozen=True, kw_only=True)
class L2(_Difference):
    """The squared difference `(preds - targets)²`.

    Attributes:
      preds: path of real numbers `[*b]`.
      targets: path of real numbers, same shape.
    """

    @typechecked
    def get_values(
        self,
        preds: Real[Array, "*b"] | Bool[Array, "*b"],
        targets: Real[Array, "*b"] | Bool[Array, "*b"],
    ) -> Float[Array, "*b"]:
        """`[*b]`, one value per element."""
        return jnp.square(self._difference(preds, targets))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Huber(_Difference):
    """`d² / 2` for `|d| < delta`, else `delta · (|d| - delta / 2)`.

    Reference: P. J. Huber, Robust estimation of a location parameter (1964).

    Attributes:
      preds: path of real numbers `[*b]`.
      targets: path of real numbers, same shape.
      delta: where the quadratic part ends, above 0.
    """

    delta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.delta > 0:
            raise ValueError(f"Huber: delta must be above 0\n  got {self.delta!r}")

    @typechecked
    def get_values(
        self,
        preds: Real[Array, "*b"] | Bool[Array, "*b"],
        targets: Real[Array, "*b"] | Bool[Array, "*b"],
    ) -> Float[Array, "*b"]:
        """`[*b]`, one value per element."""
        size = jnp.abs(self._difference(preds, targets))
        inner = jnp.minimum(size, self.delta)
        return inner * (size - 0.5 * inner)


@dataclasses.dataclass(frozen=True, kw_only=True)
class LogCosh(_Difference):
    """`log cosh(preds - targets)`: quadratic near 0, linear far away.

    Attributes:
      preds: path of real numbers `[*b]`.
      targets: path of real numbers, same shape.
    """

    @typechecked
    def get_values(
        self,
        preds: Real[Array, "*b"] | Bool[Array, "*b"],
        targets: Real[Array, "*b"] | Bool[Array, "*b"],
    ) -> Float[Array, "*b"]:
        """`[*b]`, one value per element."""
        size = jnp.abs(self._difference(preds, targets))
        # log cosh d = log(1 + 2 sinh²(d/2)) keeps its digits near 0 and overflows far
        # away; the other form the other way round.
        near = jnp.log1p(2 * jnp.square(jnp.sinh(jnp.minimum(size, 2.0) / 2)))
        far = size + jnp.log1p(jnp.exp(-2 * size)) - jnp.log(2.0)
        return jnp.where(size < 2.0, near, far)


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
    """

    logits: kontext.Key = kontext.REQUIRED
    labels: kontext.Key = kontext.REQUIRED
    label_smoothing: float = 0.0
    z_loss: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_share(self, self.label_smoothing)

    @typechecked
    def get_values(
        self,
        logits: Float[Array, "*b n"],
        labels: Real[Array, "*b n"] | Bool[Array, "*b n"],
    ) -> Float[Array, "*b 1"]:
        """`[*b, 1]`, one value per example."""
        logits, labels = to_float32(logits), to_float32(labels)
        labels = _smooth(labels, self.label_smoothing, logits.shape[-1])
        terms = _weigh(labels, jax.nn.log_softmax(logits))
        values = -jnp.sum(terms, axis=-1, keepdims=True)
        return values + _z_term(self.z_loss, logits)


@dataclasses.dataclass(frozen=True, kw_only=True)
class SoftmaxCrossEntropyWithIntLabels(Loss):
    """`-log softmax(logits)[label]` over the last axis.

    A label that is no class, and is not ignored, gives NaN; outside jit it raises
    ValueError.

    Attributes:
      logits: path of floats `[*b, n]`.
      labels: path of integers in [0, n), `[*b, 1]` or `[*b]`.
      label_smoothing: the share of each label that is spread evenly over the `n`
        classes, in [0, 1).
      z_loss: weight of the square of the log of the normaliser.
      ignore_index: a label whose examples do not count, such as -1.
    """

    logits: kontext.Key = kontext.REQUIRED
    labels: kontext.Key = kontext.REQUIRED
    label_smoothing: float = 0.0
    z_loss: float = 0.0
    ignore_index: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_share(self, self.label_smoothing)

    def get_mask(self, logits: Any, labels: Any) -> jax.Array | None:
        """Which labels count, `[*b, 1]`; None for all."""
        if self.ignore_index is None:
            return None
        return _as_column(labels, jnp.ndim(logits)) != self.ignore_index

    @typechecked
    def get_values(
        self,
        logits: Float[Array, "*b n"],
        labels: Int[Array, "*b 1"] | Int[Array, "*b"],
    ) -> Float[Array, "*b 1"]:
        """`[*b, 1]`, one value per example."""
        logits = to_float32(logits)
        labels = _as_column(labels, logits.ndim)
        name, num_classes = type(self).__name__, logits.shape[-1]
        is_class = (labels >= 0) & (labels < num_classes)
        _check_classes(name, labels, is_class, num_classes)
        normaliser = jax.nn.logsumexp(logits, axis=-1, keepdims=True)
        chosen = jnp.take_along_axis(logits, jnp.where(is_class, labels, 0), axis=-1)
        values = normaliser - chosen
        if self.label_smoothing:
            even = normaliser - jnp.mean(logits, axis=-1, keepdims=True)
            values += self.label_smoothing * (even - values)
        values = jnp.where(is_class, values, jnp.nan)
        return values + _z_term(self.z_loss, logits)


@dataclasses.dataclass(frozen=True, kw_only=True)
class SigmoidBinaryCrossEntropy(Loss):
    """`-y · log σ(z) - (1 - y) · log σ(-z)` for logits `z` and labels `y`.

    Attributes:
      logits: path of floats `[*b, n]`.
      labels: path of numbers in [0, 1], same shape.
      pos_weight: factor of the first term.
      label_smoothing: the share of each label that is spread evenly over 0 and 1, in
        [0, 1).
    """

    logits: kontext.Key = kontext.REQUIRED
    labels: kontext.Key = kontext.REQUIRED
    pos_weight: float = 1.0
    label_smoothing: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_share(self, self.label_smoothing)

    @typechecked
    def get_values(
        self,
        logits: Float[Array, "*b n"],
        labels: Real[Array, "*b n"] | Bool[Array, "*b n"],
    ) -> Float[Array, "*b n"]:
        """`[*b, n]`, one value per element."""
        logits, labels = to_float32(logits), to_float32(labels)
        labels = _smooth(labels, self.label_smoothing, 2)
        positive = _weigh(labels, jax.nn.softplus(-logits))
        negative = _weigh(1 - labels, jax.nn.softplus(logits))
        return self.pos_weight * positive + negative


def _weigh(weight: jax.Array, value: jax.Array) -> jax.Array:
    """`weight * value` with 0 · ±inf = 0, also in the gradient."""
    absent = weight == 0
    return jnp.where(absent, 0.0, weight * jnp.where(absent, 0.0, value))


def _smooth(labels: jax.Array, share: float, num_classes: int) -> jax.Array:
    return labels * (1 - share) + share / num_classes if share else labels


def _z_term(z_loss: float, logits: jax.Array) -> Any:
    if not z_loss:
        return 0.0
    return z_loss * jax.nn.logsumexp(logits, axis=-1, keepdims=True) ** 2


def _as_column(labels: Any, rank: int) -> jax.Array:
    labels = jnp.asarray(labels)
    return labels[..., None] if labels.ndim == rank - 1 else labels


def _check_share(loss: Loss, share: float) -> None:
    if not 0 <= share < 1:
        raise ValueError(
            f"{type(loss).__name__}: label_smoothing must be in [0, 1)\n  got {share!r}"
        )


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
