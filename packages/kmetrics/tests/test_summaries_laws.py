"""Summaries merge as metrics do: in any split, on devices, between processes."""

import jax
import numpy as np
import pytest

from kmetrics import Metric, summaries
from kmetrics.testing import check_laws

RNG = np.random.default_rng(0)


def images(n):
    return RNG.integers(0, 255, (n, 2, 2, 1), np.uint8)


def numbers(n):
    # Whole numbers: their sums have no rounding that a comparison could see.
    return RNG.integers(-9, 100, (n, 3)).astype(np.float32)


def batches(**parts):
    return [{name: part(2) for name, part in parts.items()} for _ in range(2)]


WORST = summaries.ShowImages(num_images=3, selection=summaries.Worst(by="score"))
GRID = summaries.ImageGrid(columns={"a": summaries.ShowImages(num_images=3)})
# The first examples are those that came first: there the order matters.
FIRST = {"in_order": False}
CASES = {
    "images": (
        summaries.ShowImages(num_images=3),
        batches(images=images),
        FIRST,
    ),
    "random": (
        summaries.ShowImages(num_images=3, selection="random"),
        batches(images=images),
        {},
    ),
    "worst": (WORST, batches(images=images, scores=lambda n: RNG.normal(size=n)), {}),
    "difference": (
        summaries.ShowDifferenceImages(num_images=3),
        batches(images1=images, images2=images),
        FIRST,
    ),
    "segmentations": (
        summaries.ShowSegmentations(num_images=3),
        batches(segmentations=images, images=images),
        FIRST,
    ),
    "boxes": (
        summaries.ShowBoxes(num_images=3),
        batches(images=images, boxes=lambda n: RNG.uniform(size=(n, 2, 4))),
        FIRST,
    ),
    "videos": (
        summaries.ShowVideos(num_videos=3),
        batches(videos=lambda n: images(n)[:, None]),
        FIRST,
    ),
    "points": (
        summaries.ShowPointCloud(num_points=3, selection="random"),
        batches(points=numbers),
        {},
    ),
    "texts": (
        summaries.ShowTexts(num_texts=3, decode=str),
        batches(texts=lambda n: RNG.integers(0, 9, (n, 3))),
        FIRST,
    ),
    "grid": (GRID, batches(a=lambda n: {"images": images(n)}), FIRST),
    "histogram": (
        summaries.HistogramSummary(num_buckets=4),
        batches(tensor=numbers),
        {},
    ),
    "edges": (
        summaries.HistogramSummary(edges=(0, 10, 50)),
        batches(tensor=numbers),
        {},
    ),
    "confusion": (
        summaries.ShowConfusionMatrix(),
        batches(
            logits=lambda n: RNG.normal(size=(n, 3)),
            labels=lambda n: RNG.integers(0, 3, n),
        ),
        {},
    ),
}


def test_every_summary_is_among_the_cases():
    shipped = (getattr(summaries, name) for name in summaries.__all__)
    kinds = {kind for kind in shipped if issubclass(kind, Metric)}
    assert {type(metric) for metric, _, _ in CASES.values()} == kinds


@pytest.mark.slow
@pytest.mark.spec("kmetrics-20", "kmetrics-87")
@pytest.mark.parametrize("name", CASES)
def test_every_summary_keeps_the_laws(name):
    metric, data, options = CASES[name]
    check_laws(metric, data, **options)
    assert metric.get_state(**data[0]).merges_on_device  # hence of fixed size


def test_devices_merge_in_their_order():
    metric = summaries.ShowImages(num_images=3)
    histogram = summaries.HistogramSummary(num_buckets=4)
    data = images(4).reshape(2, 2, 2, 2, 1)

    def on_device(x):
        shown = metric.get_state(images=x)
        counted = histogram.get_state(tensor=x)
        return shown.reduce("devices"), counted.reduce("devices")

    every = jax.jit(jax.vmap(on_device, axis_name="devices"))(data)
    shown, counted = jax.tree.map(lambda x: x[0], every)
    assert np.array_equal(shown.compute().pixels, data.reshape(4, 2, 2, 1)[:3])
    assert counted.compute() == histogram(tensor=data)


@pytest.mark.parametrize("name", [name for name in CASES if name != "grid"])
def test_an_input_that_is_no_array_of_numbers_is_named(name):
    metric, data, _ = CASES[name]
    kind = type(metric).__name__
    for key in (*data[0], "mask"):
        for wrong in ("a", np.array(["a", "b"])):
            with pytest.raises(TypeError) as error:
                metric.get_state(**{**data[0], key: wrong})
            told = f"{error.value} {error.value.__notes__}"
            assert key in told and kind in told
