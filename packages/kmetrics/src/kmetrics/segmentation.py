"""Metrics of segmentations: classes of pixels, and segments of them."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._auto import AutoState
from kmetrics._average import AverageState
from kmetrics._class_inputs import example_weights
from kmetrics._fields import sum_field
from kmetrics._label_propagation import propagate
from kmetrics._masks import masked_sums
from kmetrics._metric import Metric, OnEmpty
from kmetrics._numerics import is_traced, to_float32, wide_integers
from kmetrics._options import Count, Natural, Positive, Whole
from kmetrics._register import state
from kmetrics.confusion import _PerClass
from ktyping import Array, Bool, Float, Int, Real, typechecked

__all__ = ["Dice", "PanopticQuality", "SegmentationJaccard"]


class Dice(_PerClass):
    """Twice the intersection of predictions and pixels of a class over their sum.

    Also known as the F1 of a class. Inputs and averages: as for `MeanIoU`, counted over
    the pixels of all images together.

    Reference: L. R. Dice, Measures of the amount of ecologic association between
    species (1945).
    """

    higher_is_better = True
    range = (0.0, 1.0)

    def _fraction(self, tp: Any, fp: Any, fn: Any, tn: Any) -> tuple[Any, Any]:
        return 2 * tp, 2 * tp + fp + fn


@state
class PanopticState(AutoState):
    """Sums over segments per class, each `[n]`.

    Attributes:
      iou: the overlaps of segments that were found.
      found: how many were found.
      wrong: how many predicted segments are none.
      missed: how many were not found.
    """

    iou: Any = sum_field()
    found: Any = sum_field()
    wrong: Any = sum_field()
    missed: Any = sum_field()

    def compute(self) -> dict[str, Any]:
        """`pq`, `sq` and `rq`."""
        iou, found = np.asarray(self.iou), np.asarray(self.found)
        segments = found + self.wrong / 2 + self.missed / 2
        occurs = np.asarray(segments > 0)
        if not occurs.any():
            return dict.fromkeys(("pq", "sq", "rq"), self.empty_value())
        values = {
            "pq": np.where(occurs, iou / segments, np.nan),
            "sq": np.where(occurs, iou / np.where(found > 0, found, 1), np.nan),
            "rq": np.where(occurs, found / segments, np.nan),
        }
        if self.parent.average == "none":
            return values
        return {name: value[occurs].mean() for name, value in values.items()}


class _Segments(NamedTuple):
    """Segments of one image; numbers up to `size`, which is that of no segment.

    Attributes:
      index: `[pixels]`, the segment of each pixel.
      classes: `[size]`, the class of each segment.
      count: how many segments there are, which may be more than `size`.
    """

    index: jax.Array
    classes: jax.Array
    count: jax.Array


@dataclasses.dataclass(frozen=True, kw_only=True)
class PanopticQuality(Metric):
    """`pq`: how well segments are found, as `rq`, times how well they fit, as `sq`.

    A predicted segment finds a true one of its class if their IoU is above one half.
    `pq = Σ IoU / (found + wrong / 2 + missed / 2)` per class, over all images. Pixels
    whose class is `ignore_index` or no class are void: they belong to no true segment,
    do not lower an IoU, and a predicted segment that is void for more than one half is
    not wrong. The average is over the classes that occur.

    Reference: A. Kirillov and others, Panoptic segmentation (2019), sections 4.1, 4.2.

    Attributes:
      pred_classes: path of the classes of the pixels, integers `[*b, h, w]`.
      pred_instances: path of integers, same shape, that tell the segments of one class
        apart.
      target_classes: path of the true classes, same shape.
      target_instances: path of integers, same shape.
      mask: path of bools or non-negative numbers `[*b]`, `[*b, 1]`, or fewer axes.
      num_classes: the number of classes.
      stuff: classes that have one segment per image, whatever the instances.
      ignore_index: the true class of pixels that are void, such as 255.
      max_segments: the most segments that an image may have on either side.
      average: "macro": the mean over the classes. "none": one value per class.
      on_empty: the values if there is no segment: "nan", "zero", or "raise".

    Raises:
      ValueError: an option is not known; outside of jit: an image has more segments
        than `max_segments`. Under jit the value is NaN then.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    State = PanopticState

    pred_classes: kontext.Key = kontext.REQUIRED
    pred_instances: kontext.Key = kontext.REQUIRED
    target_classes: kontext.Key = kontext.REQUIRED
    target_instances: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    num_classes: Count
    stuff: tuple[Natural, ...] = ()
    ignore_index: Whole | None = None
    max_segments: Count = 128
    average: Literal["macro", "none"] = "macro"
    on_empty: OnEmpty = "nan"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.average not in ("macro", "none"):
            raise ValueError(
                f"PanopticQuality: average={self.average!r} is not known\n"
                'use "macro" or "none"'
            )
        if not all(0 <= c < self.num_classes for c in self.stuff):
            raise ValueError(
                "PanopticQuality: stuff must be classes\n"
                f"  got {self.stuff}, expected 0 to {self.num_classes - 1}"
            )

    def metric_names(self) -> tuple[str, ...]:
        """`pq`, `sq` and `rq`."""
        return "pq", "sq", "rq"

    @typechecked
    def get_state(
        self,
        pred_classes: Int[Array, "*b h w"],
        pred_instances: Int[Array, "*b h w"],
        target_classes: Int[Array, "*b h w"],
        target_instances: Int[Array, "*b h w"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        batch = jnp.shape(pred_classes)[:-2]
        maps = [
            wide_integers(x).reshape(-1, np.prod(jnp.shape(x)[-2:], dtype=int))
            for x in (pred_classes, pred_instances, target_classes, target_instances)
        ]
        *sums, count = self._match_all(*maps)
        weights = example_weights(mask, batch).reshape(-1, 1)
        self._check_count(jnp.where(weights[:, 0] != 0, count, 0))
        add_up = jax.vmap(lambda x: masked_sums(x, weights[:, 0])[0], in_axes=1)
        return PanopticState(*map(add_up, sums))

    # One program outside of jit too, where its parts would be compiled one by one.
    @functools.partial(jax.jit, static_argnums=0, inline=True)
    def _match_all(self, *maps: jax.Array) -> tuple[jax.Array, ...]:
        return jax.vmap(self._match)(*maps)

    def _match(
        self, pc: jax.Array, pi: jax.Array, tc: jax.Array, ti: jax.Array
    ) -> tuple[jax.Array, ...]:
        """Of one image: four sums per class `[n]`, and the number of segments."""
        size = self.max_segments
        pred, true = self._segments(pc, pi), self._segments(tc, ti, self.ignore_index)
        # In integers: a float32 counts no further than to 2²⁴ pixels.
        shared = jnp.zeros((size + 1, size + 1), jnp.int32)
        shared = to_float32(shared.at[pred.index, true.index].add(1))
        pred_area, true_area = shared.sum(axis=1)[:size], shared.sum(axis=0)[:size]
        void, shared = shared[:size, size], shared[:size, :size]
        union = (pred_area - void)[:, None] + true_area - shared
        iou = shared / jnp.maximum(union, 1.0)
        match = (iou > 0.5) & (pred.classes[:, None] == true.classes)
        hit, found = match.any(axis=1), match.any(axis=0)
        wrong = (pred_area > 0) & ~hit & (void <= pred_area / 2)
        missed = (true_area > 0) & ~found
        count = jnp.maximum(pred.count, true.count)
        best = jnp.sum(iou * match, axis=0)

        def per_class(values: jax.Array, classes: jax.Array) -> jax.Array:
            empty = jnp.zeros(self.num_classes)
            return empty.at[classes].add(to_float32(values), mode="drop")

        unknown = jnp.where(count > size, jnp.nan, 0.0)
        return (
            per_class(best, true.classes) + unknown,
            per_class(found, true.classes),
            per_class(wrong, pred.classes),
            per_class(missed, true.classes),
            count,
        )

    def _segments(
        self, classes: jax.Array, instances: jax.Array, ignored: int | None = None
    ) -> _Segments:
        size, n = self.max_segments, self.num_classes
        is_known = (classes >= 0) & (classes < n)
        if ignored is not None:
            is_known &= classes != ignored
        is_stuff = jnp.isin(classes, jnp.asarray(self.stuff, classes.dtype))
        instances = jnp.where(is_stuff | ~is_known, 0, instances)
        # Ranks in place of numbers, which could be too large to go with the classes.
        ranks, _, num_instances = _ranks(instances, size + 1)
        nothing = n * (size + 1)
        number = jnp.where(is_known, classes * (size + 1) + ranks, nothing)
        index, numbers, count = _ranks(number, size + 1)
        count = count - jnp.any(~is_known)
        return _Segments(
            jnp.where(is_known, jnp.minimum(index, size), size),
            jnp.where(numbers < nothing, numbers // (size + 1), n)[:size],
            # As many instances belong to as many segments.
            jnp.maximum(count, num_instances - 1),
        )

    def _check_count(self, count: jax.Array) -> None:
        if not is_traced(count) and int(count.max(initial=0)) > self.max_segments:
            raise ValueError(
                "PanopticQuality: an image has too many segments\n"
                f"  got {int(count.max())}, max_segments={self.max_segments}\n"
                "raise max_segments"
            )


@dataclasses.dataclass(frozen=True, kw_only=True)
class SegmentationJaccard(Metric):
    """How well features of video frames carry the first segmentation to all others.

    Each place of a frame takes the mean of the labels of the `top_k` most similar
    places of the first frame and of the `context` frames before it, weighted by a
    softmax of the cosines. The value of a video is the mean IoU over the objects of its
    first frame and over the frames that follow; an object that is in neither
    segmentation of a frame has the IoU 1 there. Features that are not finite give NaN.

    Reference: A. Jabri, A. Owens, A. Efros, Space-time correspondence as a contrastive
    random walk (2020), section 3.1; the measure is J of F. Perazzi and others, A
    benchmark dataset and evaluation methodology for video object segmentation (2016).

    Attributes:
      features: path of real numbers `[*b, t, h, w, d]`, two frames or more.
      targets: path of the numbers of the objects, 0 for the background, integers
        `[*b, t, h, w]`: at the size of the features.
      mask: path of bools or non-negative numbers `[*b]`, `[*b, 1]`, or fewer axes.
      num_objects: the highest number of an object; higher ones are background.
      top_k: how many places a label is taken from.
      context: how many frames before are looked at, beside the first one.
      radius: how many rows and columns away a place may be; None: any.
      temperature: what the cosines are divided by, above 0.
      on_empty: the value if no video with an object counts: "nan", "zero", or "raise".

    Raises:
      ValueError: an option is out of range; at the first use: a video has one frame.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    State = AverageState

    features: kontext.Key = kontext.REQUIRED
    targets: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    num_objects: Count
    top_k: Count = 7
    context: Count = 7
    radius: Natural | None = 12
    temperature: Positive = 0.1
    on_empty: OnEmpty = "nan"

    @typechecked
    def get_state(
        self,
        features: Float[Array, "*b t h w d"],
        targets: Int[Array, "*b t h w"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch."""
        targets = wide_integers(targets)
        batch, video = targets.shape[:-3], targets.shape[-3:]
        if video[0] < 2:
            raise ValueError(
                "SegmentationJaccard: a video needs two frames or more\n"
                f"  got targets {list(targets.shape)}, expected [*b, t, h, w]"
            )
        features = to_float32(features)
        known = (targets >= 1) & (targets <= self.num_objects)
        targets = jnp.where(known, targets, 0).reshape(-1, *video)
        features = features.reshape(-1, *features.shape[-4:])
        values, has_objects = self._videos(features, targets)
        weights = example_weights(mask, batch).ravel()
        weights = jnp.where(has_objects, weights, jnp.zeros_like(weights))
        return AverageState.from_values(values, weights)

    @functools.partial(jax.jit, static_argnums=0, inline=True)
    def _videos(
        self, features: jax.Array, targets: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        return jax.vmap(self._video)(features, targets)

    def _video(
        self, features: jax.Array, targets: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        """The mean IoU of one video, and whether there is an object."""
        preds = propagate(
            features,
            targets[0],
            num_classes=self.num_objects + 1,
            top_k=self.top_k,
            context=self.context,
            radius=self.radius,
            temperature=self.temperature,
        )
        objects = jnp.arange(1, self.num_objects + 1)[:, None, None, None]
        pred, true = preds[None] == objects, targets[None, 1:] == objects
        shared = jnp.sum(pred & true, axis=(-2, -1))
        union = jnp.sum(pred | true, axis=(-2, -1))
        iou = jnp.where(union == 0, 1.0, shared / jnp.maximum(union, 1))
        is_there = jnp.any(targets[None, 0] == objects[:, 0], axis=(-2, -1))
        total = jnp.sum(jnp.where(is_there, iou.mean(axis=1), 0.0))
        value = total / jnp.maximum(is_there.sum(), 1)
        is_known = jnp.all(jnp.isfinite(features))
        return jnp.where(is_known, value, jnp.nan), is_there.any()


def _ranks(x: jax.Array, size: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The rank of each number, the lowest `size` of them, and how many there are."""
    largest = jnp.array(jnp.iinfo(x.dtype).max, x.dtype)
    numbers = jnp.unique(x, size=size, fill_value=largest)
    count = 1 + jnp.sum(jnp.diff(jnp.sort(x)) != 0)
    return jnp.searchsorted(numbers, x), numbers, count
