"""Angles of rotations and between vectors, with all digits near 0 and 180 degrees."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from kmetrics._directions import direction, length

# Only to divide by something: a product of two numbers as small would be 0.
_SHORTEST = 1e-37
# How far an entry of RᵀR may be off: twice what bfloat16 makes of a rotation.
_ROUNDING = 0.01


def is_rigid(poses: jax.Array) -> jax.Array:
    """Which matrices `[*b, 4, 4]` are a rotation and a shift, up to rounding."""
    r = poses[..., :3, :3]
    product = jnp.matmul(jnp.swapaxes(r, -1, -2), r, precision="highest")
    is_straight = jnp.abs(product - jnp.eye(3)) < _ROUNDING
    # A mirror is as straight.
    volume = jnp.sum(jnp.cross(r[..., 0], r[..., 1]) * r[..., 2], axis=-1)
    is_last = poses[..., 3, :] == jnp.array([0, 0, 0, 1], poses.dtype)
    return jnp.all(is_straight, axis=(-2, -1)) & (volume > 0) & is_last.all(axis=-1)


def rotation_angle(rotation: jax.Array) -> jax.Array:
    """The angle of rotation matrices `[*b, 3, 3]`, in radians, 0 to π.

    `atan2(sin, cos)` of the antisymmetric part and the trace: an arc cosine of the
    trace alone has half of the digits near 0, and is NaN outside of [-1, 1], where
    rounding takes it.
    """
    r = rotation
    axis = jnp.stack(
        [
            r[..., 2, 1] - r[..., 1, 2],
            r[..., 0, 2] - r[..., 2, 0],
            r[..., 1, 0] - r[..., 0, 1],
        ],
        axis=-1,
    )
    trace = jnp.trace(r, axis1=-2, axis2=-1)
    return jnp.arctan2(length(axis), trace - 1)


def angle_between(a: jax.Array, b: jax.Array) -> jax.Array:
    """The angle between vectors `[*b, 3]`, in radians, 0 to π; π/2 if one is 0."""
    a, b = direction(a, _SHORTEST), direction(b, _SHORTEST)
    sine, cosine = length(jnp.cross(a, b)), jnp.sum(a * b, axis=-1)
    undefined = (sine == 0) & (cosine == 0)
    return jnp.where(undefined, jnp.pi / 2, jnp.arctan2(sine, cosine))
