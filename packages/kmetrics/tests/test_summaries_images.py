"""Images, videos and their differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kmetrics
from kmetrics import losses
from kmetrics.summaries import (
    ShowDifferenceImages,
    ShowImages,
    ShowVideos,
    Worst,
)
from kmetrics.summaries._pixels import to_pixels

RNG = np.random.default_rng(0)
FLOATS = RNG.uniform(size=(4, 2, 3, 3)).astype(np.float32)
BYTES = RNG.integers(0, 255, (4, 2, 3, 3), np.uint8)


def test_floats_bytes_and_bools_become_pixels():
    assert np.array_equal(to_pixels(BYTES, None, None).pixels, BYTES)
    values = np.float32([-1, 0, 0.5, 1, 2, np.inf, -np.inf, 0.25, 0.75, 1 / 255, 0, 0])
    got = to_pixels(values.reshape(1, 2, 2, 3), None, None).pixels.ravel().tolist()
    assert got == [0, 0, 128, 255, 255, 255, 0, 64, 191, 1, 0, 0]
    half = to_pixels(jnp.asarray(FLOATS, jnp.bfloat16), None, None)
    assert abs(half.pixels - np.round(FLOATS * 255)).max() <= 1
    bools = to_pixels(FLOATS > 0.5, None, None).pixels
    assert np.array_equal(bools, np.where(FLOATS > 0.5, 255, 0))


def test_a_range_cuts_and_stretches():
    image = np.float32([-2, -1, 0, 1, 3, np.nan]).reshape(1, 1, 6, 1)
    got = to_pixels(image, (-1, 1), None).pixels
    assert got[0, 0, :5, 0].tolist() == [0, 0, 128, 255, 255]
    auto = to_pixels(image, "auto", None).pixels
    assert auto[0, 0, :5, 0].tolist() == [0, 51, 102, 153, 255]
    dark = np.full((1, 1, 1, 1), 50, np.uint8)
    assert to_pixels(dark, (0, 100), None).pixels.item() == 128
    flat = np.full((1, 1, 2, 1), 7.0, np.float32)
    assert not to_pixels(flat, "auto", None).pixels.any()
    assert not to_pixels(np.nan * flat, "auto", None).pixels[..., 1].any()
    # The width of this range is no float32.
    whole = np.float32([-3e38, 0, 3e38]).reshape(1, 1, 3, 1)
    for in_vrange in ("auto", (-3e38, 3e38)):
        got = to_pixels(whole, in_vrange, None).pixels
        assert got.ravel().tolist() == [0, 128, 255]


def test_a_value_that_is_no_number_is_magenta_and_counted():
    image = np.zeros((1, 2, 2, 4), np.float32)
    image[0, 0, 1, 2] = image[0, 1, 0, 0] = np.nan
    got = to_pixels(image, None, None)
    assert got.num_nan == 2
    assert got.pixels[0, 0, 1].tolist() == [255, 0, 255, 255]
    assert got.pixels[0, 0, 0].tolist() == [0, 0, 0, 0]
    gray = to_pixels(np.float32([[[[0.5], [np.nan]]]]), None, None)
    assert gray.pixels.tolist() == [[[[128, 128, 128], [255, 0, 255]]]]
    whole = ShowImages(num_images=1)(images=np.where(FLOATS > 0.5, np.nan, FLOATS))
    assert whole.num_nan == (FLOATS[0] > 0.5).sum() > 0


def test_a_colour_map_goes_through_its_colours():
    ends = np.float32([0, 0.5, 1]).reshape(1, 1, 3, 1)
    table = [[0, 0, 0], [1, 0.5, 0], [1, 1, 1]]
    for cmap in (table, np.uint8([[0, 0, 0], [255, 128, 0], [255, 255, 255]])):
        got = to_pixels(ends, None, ShowImages(cmap=cmap).cmap).pixels
        assert got.tolist() == [[[[0, 0, 0], [255, 128, 0], [255, 255, 255]]]]
    viridis = to_pixels(ends, None, "viridis").pixels[0, 0]
    assert viridis[[0, 2]].tolist() == [[68, 1, 84], [253, 231, 37]]
    with pytest.raises(ValueError, match=r"with c 1\n  got \[4, 2, 3, 3\]"):
        ShowImages(cmap="viridis")(images=FLOATS)


def test_the_first_images_that_count_are_shown_under_jit_too():
    metric = ShowImages(images="x", num_images=2)
    mask = np.array([False, True, False, True])
    state = jax.jit(lambda x, m: metric.get_state(images=x, mask=m))(FLOATS, mask)
    # No more than the images shown leave the device.
    assert {len(x) for x in jax.tree.leaves(state.kept[:3])} == {2}
    want = np.round(FLOATS * 255)
    assert np.array_equal(state.compute().pixels, want[[1, 3]])
    more = metric.get_state(images=FLOATS[:1]) | state
    assert np.array_equal(more.compute().pixels, want[[0, 1]])
    padded = metric.get_state_from_context({"x": FLOATS}, mask=mask)
    assert padded.compute() == state.compute()
    video = metric(images=FLOATS.reshape(2, 2, 2, 3, 3), mask=np.array([False, True]))
    assert np.array_equal(video.pixels, want[2:])


def test_no_data_is_no_image():
    metric = ShowImages()
    assert metric.empty().compute().pixels.shape == (0, 1, 1, 1)
    nothing = metric(images=FLOATS, mask=np.zeros(4, bool))
    assert nothing.pixels.shape == (0, 2, 3, 3)


def test_a_random_choice_is_fair_and_does_not_depend_on_batches():
    metric = ShowImages(num_images=2, selection="random")
    images = np.arange(8, dtype=np.float32).reshape(8, 1, 1, 1) / 8
    of = jax.jit(lambda x, ids: metric.get_state(images=x, ids=ids))
    whole = of(images, None).compute()
    parts = of(images[4:], None) | of(images[:4], None)
    assert parts.compute() == whole
    seen = np.zeros(8)
    for ids in np.arange(800).reshape(100, 8):
        kept = of(images, ids).compute().pixels.ravel()
        seen[np.round(kept / 255 * 8).astype(int)] += 1
    # 25 are expected of each, with a standard deviation of 4.3.
    assert seen.sum() == 200 and seen.min() > 8 and seen.max() < 42
    assert ShowImages(selection="random", seed=1, num_images=2) != metric
    with pytest.raises(TypeError, match="ShowImages: ids must be integers\n  got"):
        metric.get_state(images=images, ids=np.arange(8) / 2)


def test_the_worst_by_a_loss_by_a_metric_and_by_scores():
    targets = FLOATS.copy()
    targets[2] += 1
    targets[1] += 0.5
    weights = np.array([[1.0], [0.0], [1.0], [1.0]], np.float32)
    context = {"x": FLOATS, "y": targets, "weights": weights, "score": np.arange(4.0)}
    want = np.round(FLOATS * 255)
    l2 = losses.L2(preds="x", targets="y", weight=lambda step: step)

    def worst(selection):
        metric = ShowImages(images="x", num_images=2, selection=selection)
        state = jax.jit(metric.get_state_from_context)(context)
        return state.compute(), metric.keypaths()

    by_loss, paths = worst(Worst(by=l2))
    assert np.array_equal(by_loss.pixels, want[[2, 1]])
    np.testing.assert_allclose(by_loss.scores, [1, 0.25], rtol=1e-6)
    assert paths == ("x", "y")
    masked, _ = worst(Worst(by=l2.replace(mask="weights")))
    assert np.array_equal(masked.pixels[0], want[2]) and masked.scores[1] == 0
    psnr = kmetrics.Psnr(preds="x", targets="y")
    by_metric, _ = worst(Worst(by=psnr, worst="lowest"))
    assert np.array_equal(by_metric.pixels, want[[2, 1]])
    np.testing.assert_allclose(by_metric.scores, [0, 6.0206], atol=1e-4)
    by_path, paths = worst(Worst(by="score"))
    assert np.array_equal(by_path.pixels, want[[3, 2]])
    assert paths == ("x", "score")


def test_a_score_that_is_no_number_is_the_worst():
    metric = ShowImages(num_images=2, selection=Worst(by="score", worst="lowest"))
    got = metric(images=FLOATS, scores=np.array([1.0, np.nan, 0.5, 2.0]))
    assert np.array_equal(got.pixels, np.round(FLOATS * 255)[[1, 2]])
    assert got.scores.tolist() == [-np.inf, 0.5]


def test_images_are_made_of_other_axes():
    flat = FLOATS.reshape(4, 6, 3)
    pattern = {"rearrange": "b (y x) c -> b y x c", "rearrange_kwargs": {"y": 2}}
    assert ShowImages(**pattern)(images=flat) == ShowImages()(images=FLOATS)
    side = ShowImages(rearrange="b y x c -> (b x) y c ()")(images=FLOATS[..., :1])
    want = FLOATS[..., :1].transpose(0, 2, 1, 3).reshape(12, 2, 1, 1)
    assert side == ShowImages()(images=want)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rearrange": "b y -> b"}, "the axis y stands on one side only"),
        ({"rearrange": "b y"}, "expected axes, an arrow"),
        ({"rearrange": "b b -> b"}, "the axis b stands twice"),
        ({"rearrange": "(b y -> b y"}, "a parenthesis is not closed"),
        ({"rearrange": "b ... -> b"}, r"'\.' is not expected there"),
        ({"rearrange": "b -> b", "rearrange_kwargs": {"c": 1}}, "which is no axis"),
        ({"rearrange_kwargs": {"c": 1}}, "rearrange_kwargs needs rearrange"),
        ({"cmap": "jet"}, "use one of 'gray', 'viridis'"),
        ({"cmap": [[0, 0, 2]]}, "a colour is made of numbers in 0 to 1"),
        ({"cmap": [0.5]}, r"expected colours \[n, 3\]"),
        ({"in_vrange": (1, 0)}, "in_vrange must be"),
        ({"in_vrange": (0, np.inf)}, "in_vrange must be"),
        ({"rearrange": 5}, "expected a text"),
        ({"rearrange": "b y x -> b y x 1"}, r"an axis of size 1 is \(\)"),
        (
            {"rearrange": "(a b) -> a b", "rearrange_kwargs": {"a": 0}},
            "size of a in rearrange_kwargs must be a whole number of 1",
        ),
        ({"selection": "best"}, 'use "first", "random" or summaries.Worst'),
        ({"num_images": 0}, "num_images must be 1 or more"),
    ],
)
def test_options_are_checked_at_construction(options, message):
    with pytest.raises(ValueError, match=message) as error:
        ShowImages(**options)
    assert str(error.value).startswith("ShowImages: ")


def test_inputs_that_do_not_fit_are_named_with_their_sizes():
    with pytest.raises(TypeError, match=r"images must be floats.*\n  got int32\[4,"):
        ShowImages()(images=FLOATS.astype(np.int32))
    with pytest.raises(ValueError, match=r"c 1, 3 or 4\n  got \[4, 2, 3, 2\]"):
        ShowImages()(images=FLOATS[..., :2])
    with pytest.raises(ValueError, match="it has 4 axes"):
        ShowImages(rearrange="b c -> b c")(images=FLOATS)
    with pytest.raises(ValueError, match=r"the axis \(y x\) cannot be 6"):
        metric = ShowImages(rearrange="b (y x) c -> b y x c", rearrange_kwargs={"y": 4})
        metric(images=FLOATS.reshape(4, 6, 3))
    with pytest.raises(ValueError, match="scores missing, examples"):
        ShowImages(selection=Worst(by="x"))(images=FLOATS)
    with pytest.raises(kmetrics.MergeError, match=r"float32\[2, 3, 3\] and float32"):
        of = ShowImages().get_state
        of(images=FLOATS).merge(of(images=FLOATS[:, :1]))
    with pytest.raises(ValueError, match=r"is a high or a low Psnr bad\?"):
        Worst(by=kmetrics.Psnr())
    with pytest.raises(TypeError, match="by must be a loss, a metric or a path"):
        Worst(by=3)
    with pytest.raises(TypeError, match="RocAuc has no value for a single example"):
        auc = kmetrics.RocAuc(logits="x", labels="y")
        worst = Worst(by=auc, worst="lowest")
        worst.scores({"x": np.ones((2, 2), np.float32), "y": np.ones(2, int)})


def test_metrics_that_differ_in_keys_alone_show_together():
    def of(key):
        choice = Worst(by=losses.L1(preds=key, targets="t"))
        metric = ShowImages(images=key, num_images=3, selection=choice)
        return metric.get_state_from_context({key: FLOATS, "t": 0 * FLOATS})

    assert len((of("a") | of("b")).compute()) == 3


def test_the_difference_of_images():
    a, b = (np.float32(x).reshape(1, 1, 2, 2) for x in ([1, 0, 0, 0.5], [0, 0, 1, 0]))
    pair = {"images1": a, "images2": b}
    pair = {name: x.repeat(2, axis=-1) for name, x in pair.items()}
    plain = ShowDifferenceImages()(**pair)
    assert plain.pixels.ravel().tolist() == [128, 191]
    auto = ShowDifferenceImages(in_vrange="auto")(**pair)
    assert auto.pixels.ravel().tolist() == [170, 255]
    signed = ShowDifferenceImages(signed=True, in_vrange="auto")(**pair).pixels[0, 0]
    red, blue = signed.astype(int)
    assert red[0] > red[2] + 50 and blue[2] > blue[0] + 50
    same = ShowDifferenceImages()(images1=BYTES, images2=BYTES)
    assert not same.pixels.any() and same.pixels.shape == (4, 2, 3, 1)
    with pytest.raises(ValueError, match=r"got \[4, 2, 3, 3\] and \[3, 2, 3, 3\]"):
        ShowDifferenceImages()(images1=BYTES, images2=BYTES[1:])


def test_videos_keep_their_frames():
    videos = BYTES.reshape(2, 2, 2, 3, 3)
    got = ShowVideos(num_videos=1, fps=3)(videos=videos)
    assert np.array_equal(got.frames, videos[:1]) and got.fps == 3
    assert len(ShowVideos().empty().compute()) == 0
    with pytest.raises(ValueError, match=r"videos must be \[\*b, t, h, w, c\]"):
        ShowVideos()(videos=BYTES[0])
    for fps in (0, np.inf):
        with pytest.raises(ValueError, match="ShowVideos: fps must be above 0"):
            ShowVideos(fps=fps)
