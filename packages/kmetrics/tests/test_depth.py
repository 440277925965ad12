import numpy as np
import pytest

from kmetrics import AbsRel, Delta, RgbAbsRel
from kmetrics.summaries._colors import mapped

PREDS = np.float32([[1.0, 3.0], [8.0, 5.0]])
TARGETS = np.float32([[2.0, 2.0], [10.0, 4.0]])


def test_the_relative_error_is_relative_to_the_target():
    # 1/2, 1/2, 1/5, 1/4
    both = {"preds": PREDS, "targets": TARGETS}
    assert AbsRel()(**both) == pytest.approx(0.3625, rel=1e-6)
    first = AbsRel()(**both, mask=np.array([True, False]))
    assert first == pytest.approx(0.5, rel=1e-6)


@pytest.mark.spec("kmetrics-70")
def test_a_target_that_was_not_measured_does_not_count():
    for missing in (0.0, -2.0, np.nan):
        targets = np.where(TARGETS == 10, np.float32(missing), TARGETS)
        both = {"preds": PREDS, "targets": targets}
        assert AbsRel()(**both) == pytest.approx(1.25 / 3, rel=1e-6)
        assert Delta(threshold=1.3)(**both) == pytest.approx(1 / 3)
        kept = np.float32([1, 3])
        weighted = AbsRel()(**both, mask=kept)
        assert weighted == pytest.approx((1 + 3 * 0.25) / 5, rel=1e-6)
    nothing = AbsRel()(preds=PREDS, targets=0 * TARGETS)
    assert np.isnan(nothing)


def test_delta_is_the_share_within_a_ratio():
    # Ratios 2, 1.5, 1.25, 1.25: the threshold itself is outside.
    both = {"preds": PREDS, "targets": TARGETS}
    assert Delta()(**both) == 0
    assert Delta(threshold=1.25**2)(**both) == 0.75
    assert Delta(threshold=3)(preds=-PREDS, targets=TARGETS) == 0
    with pytest.raises(ValueError, match="threshold must be above 1"):
        Delta(threshold=0.5)
    with pytest.raises(TypeError, match="targets"):
        AbsRel()(preds=PREDS, targets=TARGETS[:1])


@pytest.fixture(scope="module")
def rgb():
    """Two images of 1×2 pixels, grays of 0.5 and 0.2 beside 0.25 and 0.25."""
    preds, targets = np.float32([[0.5, 0.2]]), np.float32([[0.25, 0.25]])
    return {"preds": _gray(preds), "targets": _gray(targets)}


def _gray(levels):
    """On one of the 256 levels exactly, so that the nearest one is the level itself."""
    levels = np.round(levels * 255) / 255
    return np.repeat(levels[None, ..., None], 3, axis=-1).astype(np.float32)


def test_drawn_depths_are_those_of_the_nearest_colours(rgb):
    # Levels 128, 51 beside 64, 64: |128 - 64| / 64 = 1 and |51 - 64| / 64.
    metric = RgbAbsRel(cmap="gray")
    expected = (1 + 13 / 64) / 2
    assert metric(**rgb) == pytest.approx(expected, rel=1e-6)
    near = {key: image + np.float32([0.001, -0.001, 0]) for key, image in rgb.items()}
    assert metric(**near) == pytest.approx(expected, rel=1e-6)
    bytes_ = {key: np.uint8(np.round(255 * image)) for key, image in rgb.items()}
    as_bytes = metric.replace(in_vrange=(0, 255))
    assert as_bytes(**bytes_) == pytest.approx(expected, rel=1e-6)
    with pytest.raises(ValueError, match="preds holds uint8, but in_vrange is"):
        metric(**bytes_)


def test_the_range_of_drawn_depths_need_not_begin_at_0(rgb):
    # 1 + 9 · level / 255: |128 - 64| · 9 / 255 / (1 + 9 · 64 / 255), and so on.
    metric = RgbAbsRel(cmap=((0, 0, 0), (1, 1, 1)), depth_range=(1.0, 10.0))
    step = 9 / 255
    expected = (64 + 13) * step / (1 + 64 * step) / 2
    assert metric(**rgb) == pytest.approx(expected, rel=1e-6)
    # From far to near, as inverse depths are drawn.
    backwards = metric.replace(depth_range=(10.0, 1.0))
    expected = (64 + 13) * step / (10 - 64 * step) / 2
    assert backwards(**rgb) == pytest.approx(expected, rel=1e-6)


def test_every_map_of_colours_is_read_back_as_it_is_drawn(rgb):
    levels = np.linspace(0, 1, 6)[None].astype(np.float32)
    for cmap in ("viridis", "magma", "inferno", "RdBu_r"):
        drawn = mapped(levels, cmap)[None].astype(np.float32)
        drawn = {"preds": drawn[..., 2:6, :], "targets": drawn[..., 1:5, :]}
        # Neighbours of 0.2, 0.4, 0.6 and 0.8: 1 + 1/2 + 1/3 + 1/4.
        value = RgbAbsRel(cmap=cmap)(**drawn)
        assert value == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4, rel=1e-5)


def test_pixels_that_are_unknown_do_not_pass_for_the_first_colour(rgb):
    metric = RgbAbsRel(cmap="gray")
    hole = rgb["targets"].copy()
    hole[0, 0, 1] = np.nan
    assert metric(preds=rgb["preds"], targets=hole) == pytest.approx(1.0)
    # The first colour is the depth 0: it was not measured.
    assert np.isnan(metric(preds=rgb["preds"], targets=0 * rgb["targets"]))
    assert np.isnan(metric(preds=hole, targets=rgb["targets"]))
    first = metric(**rgb, mask=np.array([[[True, False]]]))
    assert first == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cmap": "jet"}, "cmap='jet' is not known"),
        ({"cmap": None}, "two colours or more"),
        ({"cmap": ((0, 0, 0),)}, "two colours or more"),
        ({"depth_range": (2.0, 2.0)}, "depth_range must be finite, not equal"),
        ({"depth_range": (-1.0, 0.0)}, "one of them above 0"),
        ({"in_vrange": (1.0, 0.0)}, "in_vrange must be finite, and ascend"),
    ],
)
def test_maps_and_ranges_that_tell_no_depth_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        RgbAbsRel(**options)
