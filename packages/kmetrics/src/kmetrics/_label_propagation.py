"""Carrying the labels of a first frame through a video, by similar features."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from kmetrics._directions import direction

# Drops a place from a softmax without an inf.
_NEVER = -1e30


def propagate(
    features: jax.Array,
    first: jax.Array,
    *,
    num_classes: int,
    top_k: int,
    context: int,
    radius: int | None,
    temperature: float,
) -> jax.Array:
    """The classes of all frames but the first, `[t - 1, h, w]`.

    Args:
      features: `[t, h, w, d]`.
      first: classes of the first frame, `[h, w]`.
      num_classes: how many classes there are.
      top_k: how many places a label is taken from.
      context: how many frames before are looked at, beside the first one.
      radius: how many rows and columns away a place may be; None: any.
      temperature: what the cosines are divided by.
    """
    frames, height, width, depth = features.shape
    places = height * width
    context = min(context, max(frames - 1, 1))
    units = direction(features, 1e-12).reshape(frames, places, depth)
    labels = jax.nn.one_hot(first.reshape(-1), num_classes)
    is_near = _near(height, width, radius)
    # Slots of frames that are not there yet come first, and are not looked at.
    recent = jnp.zeros((context, places, num_classes))

    def step(recent: jax.Array, frame: jax.Array) -> Any:
        before = frame - context + jnp.arange(context)
        keys = jnp.concatenate([units[:1], units[jnp.maximum(before, 0)]])
        known = jnp.concatenate([labels[None], recent])
        # The first frame has a slot of its own.
        is_there = jnp.append(True, before >= 1)
        similar = jnp.einsum("qd,fkd->qfk", units[frame], keys, precision="highest")
        similar = jnp.where(
            is_there[:, None] & is_near[:, None, :], similar / temperature, _NEVER
        ).reshape(places, -1)
        best, at = jax.lax.top_k(similar, min(top_k, similar.shape[1]))
        weights = jnp.where(best > _NEVER, jax.nn.softmax(best), 0.0)
        taken = known.reshape(-1, num_classes)[at]
        now = jnp.einsum("qk,qkc->qc", weights, taken, precision="highest")
        return jnp.concatenate([recent[1:], now[None]]), jnp.argmax(now, axis=-1)

    _, classes = jax.lax.scan(step, recent, jnp.arange(1, frames))
    return classes.reshape(frames - 1, height, width)


def _near(height: int, width: int, radius: int | None) -> jax.Array:
    """Which places are near which, `[h * w, h * w]`."""
    if radius is None:
        return jnp.ones((height * width, height * width), bool)
    rows, columns = jnp.divmod(jnp.arange(height * width), width)
    away = jnp.maximum(
        jnp.abs(rows[:, None] - rows), jnp.abs(columns[:, None] - columns)
    )
    return away <= radius
