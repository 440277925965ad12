"""Losses of predicted numbers beside the true ones."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import jax
import jax.numpy as jnp

import kontext
from kmetrics._loss import Loss
from kmetrics._masks import align_left
from kmetrics._numerics import to_float32
from kmetrics._options import NotNegative, Positive, Share
from kmetrics.losses._absolute import absolute
from ktyping import Array, Bool, Float, Real, typechecked


@dataclasses.dataclass(frozen=True, kw_only=True)
class Value(Loss):
    """The values themselves, for a loss that the model computes.

    Attributes:
      values: path of real numbers `[*b]`.
    """

    values: kontext.Key = kontext.REQUIRED

    @typechecked
    def get_values(
        self, values: Real[Array, "*b"] | Bool[Array, "*b"]
    ) -> Float[Array, "*b"]:
        """`[*b]`, one value per element."""
        return self._floats(values)


@dataclasses.dataclass(frozen=True, kw_only=True)
class AbsoluteValue(Loss):
    """`|values|`, such as a penalty on activations.

    Attributes:
      values: path of real numbers `[*b]`.
    """

    values: kontext.Key = kontext.REQUIRED

    @typechecked
    def get_values(
        self, values: Real[Array, "*b"] | Bool[Array, "*b"]
    ) -> Float[Array, "*b"]:
        """`[*b]`, one value per element."""
        return absolute(self._floats(values))


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Difference(Loss):
    """A loss of `preds - targets`, which have one shape."""

    preds: kontext.Key = kontext.REQUIRED
    targets: kontext.Key = kontext.REQUIRED

    @typechecked
    def get_values(
        self,
        preds: Real[Array, "*b"] | Bool[Array, "*b"],
        targets: Real[Array, "*b"] | Bool[Array, "*b"],
    ) -> Float[Array, "*b"]:
        """`[*b]`, one value per element."""
        # Before subtracting: 0 - 16 is 240 in uint8.
        return self._of_difference(self._floats(preds) - self._floats(targets))

    def _of_difference(self, difference: jax.Array) -> jax.Array:
        raise NotImplementedError


class L1(_Difference):
    """The absolute difference `|preds - targets|`.

    Attributes:
      preds: path of real numbers `[*b]`.
      targets: path of real numbers, same shape.
    """

    def _of_difference(self, difference: jax.Array) -> jax.Array:
        return absolute(difference)


class L2(_Difference):
    """The squared difference `(preds - targets)²`.

    Attributes:
      preds: path of real numbers `[*b]`.
      targets: path of real numbers, same shape.
    """

    def _of_difference(self, difference: jax.Array) -> jax.Array:
        return jnp.square(difference)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Huber(_Difference):
    """`d² / 2` for `|d| < delta`, else `delta · (|d| - delta / 2)`.

    Reference: P. J. Huber, Robust estimation of a location parameter (1964).

    Attributes:
      preds: path of real numbers `[*b]`.
      targets: path of real numbers, same shape.
      delta: where the quadratic part ends, above 0.
    """

    delta: Positive = 1.0

    def _of_difference(self, difference: jax.Array) -> jax.Array:
        size = jnp.abs(difference)
        inner = jnp.minimum(size, self.delta)
        return inner * (size - 0.5 * inner)


class LogCosh(_Difference):
    """`log cosh(preds - targets)`: quadratic near 0, linear far away.

    Attributes:
      preds: path of real numbers `[*b]`.
      targets: path of real numbers, same shape.
    """

    def _of_difference(self, difference: jax.Array) -> jax.Array:
        size = jnp.abs(difference)
        # log cosh d = log(1 + 2 sinh²(d/2)) keeps its digits near 0 and overflows far
        # away; the other form the other way round.
        near = jnp.log1p(2 * jnp.square(jnp.sinh(jnp.minimum(size, 2.0) / 2)))
        far = size + jnp.log1p(jnp.exp(-2 * size)) - jnp.log(2.0)
        return jnp.where(size < 2.0, near, far)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Charbonnier(_Difference):
    """`√((preds - targets)² + eps²)`, an absolute difference that is smooth at 0.

    Reference: P. Charbonnier and others, Two deterministic half-quadratic
    regularization algorithms for computed imaging (1994); eps inside of the root.

    Attributes:
      preds: path of real numbers `[*b]`.
      targets: path of real numbers, same shape.
      eps: the value at 0, above 0.
    """

    eps: Positive = 1e-3

    def _of_difference(self, difference: jax.Array) -> jax.Array:
        # hypot does not overflow, nor lose a small eps beside a small difference.
        return jnp.hypot(difference, jnp.asarray(self.eps, difference.dtype))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pinball(_Difference):
    """`q · d` for `d = targets - preds` above 0, else `(q - 1) · d`.

    Its minimum is the quantile `q` of the targets.

    Reference: R. Koenker, G. Bassett, Regression quantiles (1978), equation 1.3.

    Attributes:
      preds: path of real numbers `[*b]`.
      targets: path of real numbers, same shape.
      q: the quantile, in (0, 1).
    """

    q: Share = 0.5

    def _of_difference(self, difference: jax.Array) -> jax.Array:
        return jnp.maximum(-self.q * difference, (1 - self.q) * difference)


@dataclasses.dataclass(frozen=True, kw_only=True)
class WeightedL1(Loss):
    """`|preds - targets|`, with the background weighed against the foreground.

    The foreground is where the target is not 0. The weights are in the values, and not
    in the normaliser.

    Attributes:
      preds: path of real numbers `[b, ...]`.
      targets: path of real numbers, same shape.
      ratio: the weight of an element of the background beside 1 for the foreground, 0
        or more. "balanced": both have half of the weight of an example, so that its
        mean is the mean of the means over the two; where there is one of them alone,
        every element has the weight 1.

    Raises:
      ValueError: `ratio` is not known.
    """

    preds: kontext.Key = kontext.REQUIRED
    targets: kontext.Key = kontext.REQUIRED
    ratio: NotNegative | Literal["balanced"] = "balanced"

    @typechecked
    def get_values(
        self, preds: Real[Array, "*b"], targets: Real[Array, "*b"], mask: Any = None
    ) -> Float[Array, "*b"]:
        """`[*b]`, one value per element."""
        targets = self._floats(targets)
        size = absolute(self._floats(preds) - targets)
        is_front = targets != 0
        if not isinstance(self.ratio, str):
            return size * jnp.where(is_front, 1.0, self.ratio)
        weights = jnp.ones(size.shape, jnp.float32)
        if mask is not None:
            weights *= to_float32(align_left(mask, size.shape))
        axes = tuple(range(1, size.ndim)) or None
        front, back = (
            jnp.sum(jnp.where(side, weights, 0.0), axis=axes, keepdims=True)
            for side in (is_front, ~is_front)
        )
        is_one_sided = (front == 0) | (back == 0)
        own = jnp.where(is_one_sided, 1.0, jnp.where(is_front, front, back))
        share = jnp.where(is_one_sided, 1.0, (front + back) / (2.0 * own))
        return size * share.astype(size.dtype)
