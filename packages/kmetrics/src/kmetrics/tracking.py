"""Metrics of tracked points, by the definitions of TAP-Vid.

A video has points, each with a frame in which it was asked for. Values are computed per
video, over the frames in which its points are judged, and averaged over the videos.

Reference: C. Doersch and others, TAP-Vid: a benchmark for tracking any point in a video
(2022), section 3.2. For points in space: S. Koppula and others, TAPVid-3D (2024),
section 4.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp

import kontext
from kmetrics._average import AverageState
from kmetrics._class_inputs import example_weights, is_zero_or_one
from kmetrics._directions import length
from kmetrics._masks import fill_masked
from kmetrics._metric import Metric, OnEmpty
from kmetrics._numerics import is_traced, to_float32
from kmetrics._options import Positive
from ktyping import Array, Bool, Float, Real, typechecked

__all__ = [
    "Tap3dJaccard",
    "Tap3dPosition",
    "TapJaccard",
    "TapOcclusion",
    "TapPosition",
]


class _Judged(NamedTuple):
    """What is compared, all with the axes points and frames: `[v, n, t]`.

    Attributes:
      evaluated: whether the point is judged in the frame.
      visible: whether it is visible.
      pred_visible: whether it is said to be.
      is_known: whether all of that is told for the video, `[v]`.
    """

    evaluated: jax.Array
    visible: jax.Array
    pred_visible: jax.Array
    is_known: jax.Array


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Tap(Metric):
    State = AverageState

    query_points: kontext.Key = kontext.REQUIRED
    occluded: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    query_mode: Literal["first", "strided"] = "first"
    axis_order: Literal["nt", "tn"] = "nt"
    on_empty: OnEmpty = "nan"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, known in _OPTIONS.items():
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{type(self).__name__}: {name}={getattr(self, name)!r} is not "
                    f"known\nuse {' or '.join(map(repr, known))}"
                )

    def _points_first(self, x: jax.Array, from_end: int) -> jax.Array:
        """`x` with the axis of the points before that of the frames."""
        if self.axis_order == "nt":
            return x
        return jnp.swapaxes(x, x.ndim - from_end, x.ndim - from_end - 1)

    def _judged(
        self, query_points: Any, occluded: Any, pred_occluded: Any, mask: Any
    ) -> _Judged:
        told = {"occluded": occluded, "pred_occluded": pred_occluded}
        told = {key: jnp.asarray(x) for key, x in told.items() if x is not None}
        name = type(self).__name__
        is_told = [
            is_zero_or_one(name, x, mask=mask, key=key) for key, x in told.items()
        ]
        is_known = jnp.all(functools.reduce(jnp.logical_and, is_told), axis=(-2, -1))
        sides = [self._points_first(x != 0, 1) for x in told.values()]
        hidden, pred_hidden = sides[0], sides[-1]
        *batch, points, frames = hidden.shape
        if jnp.shape(query_points)[:-1] != (*batch, points):
            raise ValueError(
                f"{name}: query_points and occluded do not fit\n"
                f"  query_points {list(jnp.shape(query_points))}, occluded "
                f"{list(jnp.shape(occluded))}\n"
                f"the axes of occluded are taken for {self.axis_order!r}, points n and "
                "frames t; see axis_order"
            )
        asked = jnp.round(to_float32(query_points)[..., :1])
        frame = jnp.arange(frames)
        evaluated = frame > asked if self.query_mode == "first" else frame != asked
        is_known &= jnp.all(jnp.isfinite(asked), axis=(-2, -1))
        return _Judged(evaluated, ~hidden, ~pred_hidden, is_known)

    def _average(
        self, judged: _Judged, values: jax.Array, is_judged: jax.Array, mask: Any
    ) -> Any:
        """The mean over videos, `[*b]`, in which something is judged."""
        weights = example_weights(mask, values.shape)
        counts = is_judged | ~judged.is_known
        return AverageState.from_values(
            jnp.where(judged.is_known, values, jnp.nan),
            jnp.where(counts, weights, jnp.zeros_like(weights)),
        )


_OPTIONS = {"query_mode": ("first", "strided"), "axis_order": ("nt", "tn")}


@dataclasses.dataclass(frozen=True, kw_only=True)
class TapOcclusion(_Tap):
    """The share of points and frames whose visibility is told right.

    Attributes:
      query_points: path of real numbers `[*b, n, k]`, whose first entry is the frame in
        which the point is asked for.
      occluded: path of bools, or 0 and 1, `[*b, n, t]`: whether a point is hidden.
      pred_occluded: path of the same, predicted.
      mask: path of bools or non-negative numbers `[*b]`, or `[*b, 1]`: which videos.
      query_mode: "first": a point is judged in the frames after the one in which it is
        asked for. "strided": in all other frames.
      axis_order: whether the axis of the points, n, comes before that of the frames, t,
        in everything but `query_points`.
      on_empty: the value if no video counts: "nan", "zero", or "raise".

    Raises:
      ValueError: an option is not known, shapes do not fit, or what is said to be
        hidden is neither 0 nor 1 (seen outside of jit, without a mask; else NaN).
    """

    higher_is_better = True
    range = (0.0, 1.0)

    pred_occluded: kontext.Key = kontext.REQUIRED

    @typechecked
    def get_state(
        self,
        query_points: Real[Array, "*b n k"],
        occluded: Real[Array, "*b u v"] | Bool[Array, "*b u v"],
        pred_occluded: Real[Array, "*b u v"] | Bool[Array, "*b u v"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        judged = self._judged(query_points, occluded, pred_occluded, mask)
        right = (judged.visible == judged.pred_visible) & judged.evaluated
        value, is_judged = _share(right, judged.evaluated)
        return self._average(judged, value, is_judged, mask)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Places(_Tap):
    """A metric of places."""

    tracks: kontext.Key = kontext.REQUIRED
    pred_tracks: kontext.Key = kontext.REQUIRED
    thresholds: tuple[Positive, ...] = tuple(
        pixels / 256 for pixels in (1, 2, 4, 8, 16)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.thresholds:
            raise ValueError(
                f"{type(self).__name__}: thresholds must be one or more\n  got ()"
            )

    def _position(self, judged: _Judged, near: jax.Array, mask: Any) -> Any:
        counted = judged.visible & judged.evaluated
        values, is_judged = _share(near & counted, counted)
        return self._average(judged, values.mean(axis=0), is_judged, mask)

    def _near(
        self, tracks: Any, pred_tracks: Any, focal: jax.Array | None, mask: Any
    ) -> jax.Array:
        """For each threshold whether a point is near, `[thresholds, *b, n, t]`."""
        sides = [to_float32(x) for x in (tracks, pred_tracks)]
        if mask is not None:
            weights = example_weights(mask, sides[0].shape[:-3])
            sides = [fill_masked(x, weights, 0.0) for x in sides]
        true, pred = (self._points_first(x, 2) for x in sides)
        distance = length(pred - true)
        thresholds = jnp.asarray(self.thresholds)
        thresholds = thresholds.reshape(-1, *[1] * distance.ndim)
        if focal is not None:
            thresholds = thresholds * true[..., 2] / focal
        return distance < thresholds

    def _focal(
        self, judged: _Judged, lengths: Any | None, mask: Any
    ) -> tuple[_Judged, jax.Array | None]:
        """The focal lengths `[*b, 1, 1]`, and what is known of videos that have one."""
        if lengths is None:
            return judged, None
        name, batch = type(self).__name__, judged.is_known.shape
        lengths = to_float32(lengths)
        if lengths.shape not in (batch, (*batch, 1)):
            raise ValueError(
                f"{name}: focal_lengths must be one number per video\n"
                f"  got {list(lengths.shape)}, expected {list(batch)} or {[*batch, 1]}"
            )
        lengths = lengths.reshape(batch)
        fits = (lengths > 0) & jnp.isfinite(lengths)
        if mask is None and not is_traced(fits) and not bool(jnp.all(fits)):
            raise ValueError(
                f"{name}: focal_lengths must be above 0, and finite\n"
                f"  got {float(lengths[~fits][0]):g}"
            )
        judged = judged._replace(is_known=judged.is_known & fits)
        return judged, jnp.where(fits, lengths, 1.0)[..., None, None]

    def _jaccard(self, judged: _Judged, near: jax.Array, mask: Any) -> Any:
        visible = judged.visible & judged.evaluated
        claimed = judged.pred_visible & judged.evaluated
        right = near & visible & claimed
        wrong = claimed & ~(near & visible)
        values, is_judged = _share(right, visible, wrong)
        return self._average(judged, values.mean(axis=0), is_judged.any(axis=0), mask)


@dataclasses.dataclass(frozen=True, kw_only=True)
class TapPosition(_Places):
    """The share of visible points that are near, the mean over thresholds (`< δ avg`).

    Attributes:
      query_points: as for `TapOcclusion`.
      occluded: as for `TapOcclusion`.
      tracks: path of the true places `[*b, n, t, 2]`.
      pred_tracks: path of the predicted ones, same shape and unit.
      mask: as for `TapOcclusion`.
      query_mode: as for `TapOcclusion`.
      axis_order: as for `TapOcclusion`.
      on_empty: as for `TapOcclusion`.
      thresholds: distances below which a point is near, in the unit of the tracks. The
        default is that of papers for tracks in shares of the width and height, where
        they are 1, 2, 4, 8 and 16 pixels of an image of 256.

    Raises:
      ValueError: an option is not known, or shapes do not fit.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    @typechecked
    def get_state(
        self,
        query_points: Real[Array, "*b n k"],
        occluded: Real[Array, "*b u v"] | Bool[Array, "*b u v"],
        tracks: Float[Array, "*b u v 2"],
        pred_tracks: Float[Array, "*b u v 2"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        judged = self._judged(query_points, occluded, None, mask)
        near = self._near(tracks, pred_tracks, None, mask)
        return self._position(judged, near, mask)


@dataclasses.dataclass(frozen=True, kw_only=True)
class TapJaccard(_Places):
    """Visible points that are found and near, over all that are visible or said to be.

    For each threshold: points that are visible, said to be and near, over these, those
    that are visible and not found, and those that are said to be visible and are
    hidden or not near. Then the mean over the thresholds (AJ). Inputs and options: as
    for `TapPosition`, and

    Attributes:
      pred_occluded: path of bools, or 0 and 1, `[*b, n, t]`.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    pred_occluded: kontext.Key = kontext.REQUIRED

    @typechecked
    def get_state(
        self,
        query_points: Real[Array, "*b n k"],
        occluded: Real[Array, "*b u v"] | Bool[Array, "*b u v"],
        pred_occluded: Real[Array, "*b u v"] | Bool[Array, "*b u v"],
        tracks: Float[Array, "*b u v 2"],
        pred_tracks: Float[Array, "*b u v 2"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        judged = self._judged(query_points, occluded, pred_occluded, mask)
        near = self._near(tracks, pred_tracks, None, mask)
        return self._jaccard(judged, near, mask)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tap3dPosition(_Places):
    """`TapPosition` of points in space.

    Inputs and options: as for `TapPosition`, with tracks `[*b, n, t, 3]` in the
    coordinates of the camera, whose third entry is the depth, and

    Attributes:
      focal_lengths: path of the focal lengths, `[*b]` or `[*b, 1]`, in the unit of the
        thresholds. A threshold is then taken at the depth of the true point: what it
        covers in the image, `threshold · depth / focal length`. None: thresholds are
        distances in space.

    Raises:
      ValueError: as for `TapPosition`, or a focal length is not above 0 (seen outside
        of jit, without a mask; else NaN).
    """

    higher_is_better = True
    range = (0.0, 1.0)

    focal_lengths: kontext.Key | None = None

    @typechecked
    def get_state(
        self,
        query_points: Real[Array, "*b n k"],
        occluded: Real[Array, "*b u v"] | Bool[Array, "*b u v"],
        tracks: Float[Array, "*b u v 3"],
        pred_tracks: Float[Array, "*b u v 3"],
        focal_lengths: Real[Array, "..."] | None = None,
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        judged = self._judged(query_points, occluded, None, mask)
        judged, focal = self._focal(judged, focal_lengths, mask)
        near = self._near(tracks, pred_tracks, focal, mask)
        return self._position(judged, near, mask)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tap3dJaccard(_Places):
    """`TapJaccard` of points in space; inputs: those of both, see `Tap3dPosition`.

    Attributes:
      focal_lengths: as for `Tap3dPosition`.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    pred_occluded: kontext.Key = kontext.REQUIRED
    focal_lengths: kontext.Key | None = None

    @typechecked
    def get_state(
        self,
        query_points: Real[Array, "*b n k"],
        occluded: Real[Array, "*b u v"] | Bool[Array, "*b u v"],
        pred_occluded: Real[Array, "*b u v"] | Bool[Array, "*b u v"],
        tracks: Float[Array, "*b u v 3"],
        pred_tracks: Float[Array, "*b u v 3"],
        focal_lengths: Real[Array, "..."] | None = None,
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        judged = self._judged(query_points, occluded, pred_occluded, mask)
        judged, focal = self._focal(judged, focal_lengths, mask)
        near = self._near(tracks, pred_tracks, focal, mask)
        return self._jaccard(judged, near, mask)


def _share(part: jax.Array, *whole: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The count of `part` over that of `whole` per video, and whether that is any."""
    count, *counts = (jnp.sum(x, axis=(-2, -1)) for x in (part, *whole))
    total = functools.reduce(jnp.add, counts)
    return count / jnp.maximum(total, 1), total > 0
