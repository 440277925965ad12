"""Metrics of generated images beside real ones, over features that the user gives.

No weights are shipped and none are downloaded: a feature function is any callable from
images to features, such as a part of a pretrained network with its parameters.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._auto import AutoState
from kmetrics._average import AverageState
from kmetrics._class_inputs import example_weights
from kmetrics._covariance import CovarianceState
from kmetrics._directions import direction
from kmetrics._field_kinds import state_field
from kmetrics._metric import Metric, OnEmpty
from kmetrics._numerics import to_float32
from kmetrics._options import Function, Natural
from kmetrics._register import state
from ktyping import Array, Bool, Real, typechecked

__all__ = ["Fid", "FrechetDistance", "Lpips"]


@state
class FrechetState(AutoState):
    """Mean and covariance of both sides; of fixed size.

    Attributes:
      preds: a `CovarianceState`.
      targets: a `CovarianceState`.
    """

    preds: Any = state_field()
    targets: Any = state_field()

    def compute(self) -> float:
        """The distance of the two normal distributions."""
        if self.preds is None:
            return self.empty_value()
        sides = []
        for side in (self.preds, self.targets):
            count, mean, scatter = side.moments()
            freedom = count - self.parent.ddof
            if freedom <= 0:
                return self.empty_value()
            sides.append((mean, scatter / freedom))
        return _distance(*sides[0], *sides[1])


@dataclasses.dataclass(frozen=True, kw_only=True)
class FrechetDistance(Metric):
    """The distance of two sets of vectors, each taken for a normal distribution.

    `|μ₁ - μ₂|² + tr(Σ₁ + Σ₂ - 2 (Σ₁ Σ₂)^½)`. Means and covariances are kept, no
    vectors.

    Reference: D. C. Dowson, B. V. Landau, The Fréchet distance between multivariate
    normal distributions (1982), equation 4.

    Attributes:
      preds: path of vectors `[*b, d]`, or of what `features` takes.
      targets: path of the same; there may be more or fewer of them.
      mask: path of bools or non-negative numbers, of both sides; `[*b]` or `[*b, 1]`.
      features: from inputs to vectors `[*b, d]`; None: the inputs are vectors.
      ddof: what is subtracted from the counts in the denominators of the covariances.
      on_empty: the value if not more than `ddof` vectors count on a side: "nan",
        "zero", or "raise".
    """

    higher_is_better = False
    range = (0.0, math.inf)

    State = FrechetState

    preds: kontext.Key = kontext.REQUIRED
    targets: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    features: Function | None = None
    ddof: Natural = 1
    on_empty: OnEmpty = "nan"

    @typechecked
    def get_state(
        self,
        preds: Real[Array, "..."],
        targets: Real[Array, "..."],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch.

        Raises:
          ValueError: the features are not vectors of one length.
        """
        sides = [
            x if self.features is None else self.features(x)
            for x in map(jnp.asarray, (preds, targets))
        ]
        shapes = [jnp.shape(side) for side in sides]
        if not all(shapes) or shapes[0][-1:] != shapes[1][-1:]:
            raise ValueError(
                f"{type(self).__name__}: both sides must be vectors of one length\n"
                f"  preds {list(shapes[0])}, targets {list(shapes[1])}"
            )
        return FrechetState(*(CovarianceState.from_values(x, mask) for x in sides))


class Fid(FrechetDistance):
    """`FrechetDistance` of the features of generated and of real images.

    The value is that of papers if `features` gives the last pooled activations of the
    Inception network in which they measure, `[*b, 2048]`, for images prepared as there.

    Reference: M. Heusel and others, GANs trained by a two time-scale update rule
    converge to a local Nash equilibrium (2017), equation 6.

    Attributes:
      preds: path of generated images `[*b, h, w, c]`.
      targets: path of real images.
      features: from images to vectors `[*b, d]`.

    Raises:
      ValueError: there are no `features`.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        _features_of(self)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Lpips(Metric):
    """How far apart images are in the feature maps of a network, the mean over images.

    For each layer the squared difference of the normalised feature vectors, weighted
    per channel, averaged over the places; summed over the layers.

    Reference: R. Zhang and others, The unreasonable effectiveness of deep features as a
    perceptual metric (2018), equation 1.

    Attributes:
      preds: path of images `[*b, h, w, c]`.
      targets: path of images, same shape.
      weights: path of one vector `[channels]` per layer, such as learned ones; None: 1.
      mask: path of bools or non-negative numbers `[*b]`, `[*b, 1]`, or fewer axes.
      features: from images to a list of feature maps `[*b, h', w', channels]`.
      on_empty: the value if no image counts: "nan", "zero", or "raise".

    Raises:
      ValueError: there are no `features`.
    """

    higher_is_better = False
    range = (0.0, math.inf)

    State = AverageState

    preds: kontext.Key = kontext.REQUIRED
    targets: kontext.Key = kontext.REQUIRED
    weights: kontext.Key | None = None
    mask: kontext.Key | None = None
    features: Function | None = None
    on_empty: OnEmpty = "nan"

    def __post_init__(self) -> None:
        super().__post_init__()
        _features_of(self)

    @typechecked
    def get_state(
        self,
        preds: Real[Array, "*b h w c"],
        targets: Real[Array, "*b h w c"],
        weights: Any = None,
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch.

        Raises:
          ValueError: the features are no list of maps, or the weights do not fit them.
        """
        batch = jnp.shape(preds)[:-3]
        features = _features_of(self)
        layers = [
            _feature_maps(features(jnp.asarray(x)), batch) for x in (preds, targets)
        ]
        if weights is None:
            weights = [jnp.ones(jnp.shape(layer)[-1]) for layer in layers[0]]
        sizes = [jnp.shape(layer)[-1] for layer in layers[0]]
        given = [jnp.size(weight) for weight in weights]
        if sizes != given:
            raise ValueError(
                "Lpips: the weights do not fit the feature maps\n"
                f"  channels {sizes}, weights {given}"
            )
        total = jnp.zeros(batch, jnp.float32)
        for one, two, weight in zip(*layers, weights, strict=True):
            gap = direction(to_float32(one), 1e-10) - direction(to_float32(two), 1e-10)
            distance = jnp.sum(gap**2 * jnp.reshape(weight, -1), axis=-1)
            total += jnp.mean(distance, axis=(-2, -1))
        kept = None if mask is None else example_weights(mask, batch)
        return AverageState.from_values(total, kept)


def _distance(
    mean_a: np.ndarray, cov_a: np.ndarray, mean_b: np.ndarray, cov_b: np.ndarray
) -> float:
    values, vectors = np.linalg.eigh(cov_a)
    # Rounding leaves eigenvalues of a singular covariance below 0.
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    # Σ₁ Σ₂ has the eigenvalues of the symmetric Σ₁^½ Σ₂ Σ₁^½.
    shared = np.sqrt(np.maximum(np.linalg.eigvalsh(root @ cov_b @ root), 0)).sum()
    gap = mean_a - mean_b
    return float(max(gap @ gap + np.trace(cov_a) + np.trace(cov_b) - 2 * shared, 0.0))


def _feature_maps(maps: Any, batch: tuple[int, ...]) -> Any:
    shapes = [jnp.shape(x) for x in maps] if isinstance(maps, list | tuple) else None
    rank = len(batch)
    if shapes is None or any(
        len(shape) != rank + 3 or shape[:rank] != batch for shape in shapes
    ):
        given = f"an array {list(jnp.shape(maps))}" if shapes is None else shapes
        raise ValueError(
            "Lpips: features must give a list of maps, one per layer\n"
            f"  got {given}, expected {[*batch, 'h', 'w', 'channels']} for each"
        )
    return maps


def _features_of(metric: Any) -> Callable[..., Any]:
    if not callable(metric.features):
        raise ValueError(
            f"{type(metric).__name__}: features must be a function of images\n"
            f"  got {metric.features!r}\n"
            "give a part of a pretrained network; kmetrics ships no weights"
        )
    return metric.features
