"""Metrics of camera poses, relative to one another.

A pose is a matrix `[4, 4]` from the coordinates of the camera to those of the world.
For each pair of cameras of a scene their relative pose is compared, so that the origin
and the orientation of the world do not matter, nor, for angles, its scale. A matrix of
another kind has no value: ValueError, and NaN under jit or if it holds a NaN.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._average import AverageState
from kmetrics._class_inputs import example_weights
from kmetrics._masks import check_weights, fill_masked
from kmetrics._metric import Metric, OnEmpty
from kmetrics._numerics import is_traced, to_float32
from kmetrics._options import Count, Flag
from kmetrics._rotations import angle_between, is_rigid, rotation_angle
from ktyping import Array, Bool, Float, Real, typechecked

__all__ = ["PoseAuc", "PoseRotationError", "PoseTranslationError"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Pose(Metric):
    State = AverageState

    preds: kontext.Key = kontext.REQUIRED
    targets: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    on_empty: OnEmpty = "nan"

    @typechecked
    def get_state(
        self,
        preds: Float[Array, "*b n 4 4"],
        targets: Float[Array, "*b n 4 4"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch; `mask` selects cameras, `[*b, n]`, or scenes.

        Raises:
          ValueError: a scene has one camera; or, seen outside of jit, a camera that
            counts has no pose, or the mask cannot weigh.
        """
        sides = [to_float32(x) for x in (preds, targets)]
        count = sides[0].shape[-3]
        if count < 2:
            raise ValueError(
                f"{type(self).__name__}: a scene needs two cameras or more\n"
                f"  got poses {list(sides[0].shape)}, expected [*b, n, 4, 4]"
            )
        check_weights(mask)
        values, weights, is_odd = self._pairs(sides, mask)
        _check_poses(type(self).__name__, sides, is_odd)
        return AverageState.from_values(values, weights)

    # One compiled call when used outside jit, and plain operations inside.
    @functools.partial(jax.jit, static_argnums=0, inline=True)
    def _pairs(
        self, sides: list[jax.Array], mask: Any
    ) -> tuple[jax.Array, jax.Array, list[jax.Array]]:
        """One value, and one weight, per pair of cameras, and which have no pose."""
        one, other = np.triu_indices(sides[0].shape[-3], k=1)
        weights = example_weights(mask, sides[0].shape[:-2])
        if mask is not None:
            sides = [fill_masked(x, weights, 0.0) for x in sides]
        fits = [is_rigid(x) for x in sides]
        pairs = [_relative(x[..., one, :, :], x[..., other, :, :]) for x in sides]
        values, is_defined = self._values(*pairs)
        is_known = fits[0] & fits[1]
        is_known = is_known[..., one] & is_known[..., other]
        # So that the weight of a scene is that of its pairs.
        both = jnp.sqrt(to_float32(weights[..., one]) * weights[..., other])
        is_odd = [
            ~fit & (weights != 0) & jnp.all(jnp.isfinite(x), axis=(-2, -1))
            for fit, x in zip(fits, sides, strict=True)
        ]
        return (
            jnp.where(is_known, values, jnp.nan),
            jnp.where(is_defined | ~is_known, both, 0.0),
            is_odd,
        )

    def _values(self, preds: Any, targets: Any) -> tuple[jax.Array, jax.Array]:
        """One value per pair, and whether there is one."""
        raise NotImplementedError


class PoseRotationError(_Pose):
    """The angle in degrees between relative rotations, the mean over pairs of cameras.

    Attributes:
      preds: path of poses `[*b, n, 4, 4]`, `n` cameras per scene.
      targets: path of poses, same shape.
      mask: path of bools or non-negative numbers `[*b, n]`, or fewer axes: which
        cameras count; the weight of a pair is the geometric mean of both.
      on_empty: the value if no pair counts: "nan", "zero", or "raise".
    """

    higher_is_better = False
    range = (0.0, 180.0)

    def _values(self, preds: Any, targets: Any) -> tuple[jax.Array, jax.Array]:
        value = _rotation_error(preds, targets)
        return value, jnp.ones(value.shape, bool)


@dataclasses.dataclass(frozen=True, kw_only=True)
class PoseTranslationError(_Pose):
    """The angle in degrees between the directions from one camera to the other.

    The mean over pairs of cameras; the distances do not matter. A pair of true cameras
    in one place has no direction, and does not count; a predicted pair in one place is
    off by 90 degrees. Inputs: see `PoseRotationError`.

    Attributes:
      ignore_sign: whether opposite directions are the same, as they are for epipolar
        geometry.
    """

    higher_is_better = False
    range = (0.0, 180.0)

    ignore_sign: Flag = False

    def _values(self, preds: Any, targets: Any) -> tuple[jax.Array, jax.Array]:
        return _translation_error(preds, targets, self.ignore_sign)


@dataclasses.dataclass(frozen=True, kw_only=True)
class PoseAuc(_Pose):
    """The area under the share of pairs that are right, over the allowed error.

    A pair is right at `k` degrees if both of its errors are below `k`; the area is the
    mean of the shares at 1, 2, ..., `max_degrees`. Inputs: see `PoseRotationError`.

    Reference: J. Wang, C. Rupprecht, D. Novotny, PoseDiffusion (2023), section 4
    (mAA).

    Attributes:
      max_degrees: the largest error that is allowed, 1 or more.
      ignore_sign: see `PoseTranslationError`.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    max_degrees: Count = 30
    ignore_sign: Flag = False

    def _values(self, preds: Any, targets: Any) -> tuple[jax.Array, jax.Array]:
        rotation = _rotation_error(preds, targets)
        translation, is_defined = _translation_error(preds, targets, self.ignore_sign)
        worst = jnp.maximum(rotation, translation)
        degrees = jnp.arange(1, self.max_degrees + 1)
        return jnp.mean(worst[..., None] < degrees, axis=-1), is_defined


def _check_poses(name: str, sides: list[jax.Array], is_odd: list[jax.Array]) -> None:
    """Raises ValueError for a finite matrix that is no pose, unless it is traced."""
    if is_traced(is_odd):
        return
    for key, poses, odd in zip(("preds", "targets"), sides, is_odd, strict=True):
        found = np.argwhere(odd)
        if len(found):
            at = tuple(map(int, found[0]))
            rows = np.array2string(np.asarray(poses[at]), precision=4, prefix="  ")
            raise ValueError(
                f"{name}: a matrix of {key} is no pose\n"
                f"  {key}{list(at)} is\n  {rows}\n"
                "expected a rotation R and a shift t as [[R, t], [0, 0, 0, 1]], with "
                "RᵀR = 1\nand without a mirror, det R = 1; or mask the camera out"
            )


def _relative(one: jax.Array, other: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The other camera in the coordinates of the one: rotation and place."""
    back = jnp.swapaxes(one[..., :3, :3], -1, -2)
    rotation = jnp.matmul(back, other[..., :3, :3], precision="highest")
    gap = (other - one)[..., :3, 3:]
    return rotation, jnp.matmul(back, gap, precision="highest")[..., 0]


def _rotation_error(preds: Any, targets: Any) -> jax.Array:
    back = jnp.swapaxes(targets[0], -1, -2)
    between = jnp.matmul(back, preds[0], precision="highest")
    return jnp.degrees(rotation_angle(between))


def _translation_error(
    preds: Any, targets: Any, ignore_sign: bool
) -> tuple[jax.Array, jax.Array]:
    error = jnp.degrees(angle_between(preds[1], targets[1]))
    if ignore_sign:
        error = jnp.minimum(error, 180 - error)
    return error, jnp.any(targets[1] != 0, axis=-1)
