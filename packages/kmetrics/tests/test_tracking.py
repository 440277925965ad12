import functools

import jax
import numpy as np
import pytest

from kmetrics import (
    Tap3dJaccard,
    Tap3dPosition,
    TapJaccard,
    TapOcclusion,
    TapPosition,
)

# Two videos of three points in four frames.
RNG = np.random.default_rng(0)
QUERIES = np.float32(
    [[[0, 9, 9], [1, 9, 9], [3, 9, 9]], [[0, 9, 9], [2, 9, 9], [1, 9, 9]]]
)
TRACKS = RNG.uniform(0.2, 0.8, (2, 3, 4, 2)).astype(np.float32)
PREDS = (TRACKS + RNG.normal(0, 0.02, TRACKS.shape)).astype(np.float32)
OCCLUDED, SAID = RNG.uniform(size=(2, 2, 3, 4)) < 0.3
INPUTS = {
    "query_points": QUERIES,
    "occluded": OCCLUDED,
    "pred_occluded": SAID,
    "tracks": TRACKS,
    "pred_tracks": PREDS,
}
KINDS = {
    TapOcclusion: ("query_points", "occluded", "pred_occluded"),
    TapPosition: ("query_points", "occluded", "tracks", "pred_tracks"),
    TapJaccard: tuple(INPUTS),
}

IN_A_PLANE = {Tap3dPosition: TapPosition, Tap3dJaccard: TapJaccard}


@functools.cache
def compiled(metric):
    """As one program, which takes less time than its parts one by one."""
    return jax.jit(metric.get_state)


def value(metric, mask=(1, 1), **changes):
    names = KINDS[IN_A_PLANE.get(type(metric), type(metric))]
    inputs = {name: INPUTS[name] for name in names} | changes
    return compiled(metric)(**inputs, mask=np.array(mask)).compute()


def direct(video, *, mode="first", thresholds=(1, 2, 4, 8, 16), distances=None):
    """The three measures of one video, by loops over points and frames."""
    if distances is None:
        gap = TRACKS[video].astype(float) - PREDS[video]
        distances = np.sqrt((gap**2).sum(-1)) * 256
    right = judged = 0
    near, jaccard = [], []
    for threshold in thresholds:
        hits = visible = true = false = 0
        right = judged = 0
        for n in range(3):
            for t in range(4):
                asked = QUERIES[video, n, 0]
                if not (t > asked if mode == "first" else t != asked):
                    continue
                judged += 1
                is_visible, is_said = not OCCLUDED[video, n, t], not SAID[video, n, t]
                right += is_visible == is_said
                is_near = distances[n, t] < threshold
                visible += is_visible
                hits += is_visible and is_near
                true += is_visible and is_near and is_said
                false += is_said and not (is_visible and is_near)
        near.append(hits / visible)
        jaccard.append(true / (visible + false))
    return right / judged, np.mean(near), np.mean(jaccard)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["first", "strided"])
def test_the_measures_agree_with_loops_over_points_and_frames(mode):
    videos = [direct(video, mode=mode) for video in range(2)]
    for kind, expected in zip(KINDS, np.mean(videos, axis=0), strict=True):
        assert value(kind(query_mode=mode)) == pytest.approx(expected, rel=1e-6)
    for kind, expected in zip(KINDS, videos[1], strict=True):
        got = value(kind(query_mode=mode), mask=(0, 1))
        assert got == pytest.approx(expected, rel=1e-6)


def test_a_hand_worked_video():
    # One point asked for in frame 0; in the frames 1, 2, 3 it is visible, hidden,
    # visible, said to be visible in all; 3/256 away in frame 1, far in frame 3.
    tracks = np.zeros((1, 1, 4, 2), np.float32)
    preds = tracks.copy()
    preds[0, 0, 1, 0], preds[0, 0, 3, 1] = 3 / 256, 0.5
    inputs = {
        "query_points": np.zeros((1, 1, 1)),
        "occluded": np.array([[[0, 0, 1, 0]]]),
        "tracks": tracks,
        "pred_tracks": preds,
    }
    said = {"pred_occluded": np.zeros((1, 1, 4), int)}
    # Near for the thresholds 4, 8 and 16: one of two visible ones.
    assert TapPosition()(**inputs) == pytest.approx(0.5 * 3 / 5)
    # True 1, missed 0, wrong 2: 1 of 4 -- two visible, and two that are not right.
    state = compiled(TapJaccard())(**inputs, **said)
    assert state.compute() == pytest.approx(3 / 5 / 4)
    hidden = {k: inputs[k] for k in ("query_points", "occluded")}
    assert compiled(TapOcclusion())(**hidden, **said).compute() == pytest.approx(2 / 3)
    assert np.isnan(TapPosition()(**{**inputs, "occluded": np.ones((1, 1, 4))}))


def test_points_and_frames_may_be_swapped():
    swapped = {
        name: INPUTS[name].swapaxes(1, 2) for name in INPUTS if name != "query_points"
    }
    for kind, names in KINDS.items():
        changes = {name: x for name, x in swapped.items() if name in names}
        assert value(kind(axis_order="tn"), **changes) == value(kind())
    with pytest.raises(ValueError, match="taken for 'nt', points n and frames t"):
        hidden = {name: swapped[name] for name in ("occluded", "pred_occluded")}
        value(TapOcclusion(), **hidden)


@pytest.mark.slow
def test_points_in_space_are_near_at_their_depth():
    depth = RNG.uniform(1, 4, (2, 3, 4, 1)).astype(np.float32)
    tracks = np.concatenate([TRACKS * depth, depth], axis=-1)
    preds = np.concatenate([PREDS * depth, depth * 1.01], axis=-1)
    focal = np.float32([0.8, 1.5])
    gap = np.sqrt(((tracks.astype(float) - preds) ** 2).sum(-1))
    for lengths, unit in ((None, np.ones((2, 1, 1))), (focal, focal[:, None, None])):
        scale = 256 * (1 if lengths is None else unit / depth[..., 0])
        videos = [direct(v, distances=(gap * scale)[v]) for v in range(2)]
        for kind, at in ((Tap3dPosition, 1), (Tap3dJaccard, 2)):
            got = value(kind(), tracks=tracks, pred_tracks=preds, focal_lengths=lengths)
            expected = np.mean([video[at] for video in videos])
            assert got == pytest.approx(expected, rel=1e-6)
            assert 0 < expected < 1


def test_a_focal_length_is_a_number_above_0_for_each_video():
    tracks = np.ones((2, 3, 4, 3), np.float32)
    inputs = {k: INPUTS[k] for k in ("query_points", "occluded")}
    inputs |= {"tracks": tracks, "pred_tracks": tracks}
    for lengths, message in (
        (np.ones(3), r"one number per video\n  got \[3\], expected \[2\] or \[2, 1\]"),
        (
            np.float32([1, 0]),
            "Tap3dPosition: focal_lengths must be above 0, and finite",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            Tap3dPosition().get_state(**inputs, focal_lengths=lengths)
    get_state = compiled(Tap3dPosition())
    for bad in (np.float32([1, -1]), np.float32([1, np.nan])):
        for mask, expected in (((1, 1), np.nan), ((1, 0), 1.0)):
            told = {**inputs, "focal_lengths": bad, "mask": np.array(mask)}
            np.testing.assert_equal(get_state(**told).compute(), expected)


def test_a_point_that_is_asked_for_in_no_frame_has_no_value():
    queries = np.where(np.arange(2)[:, None, None] == 1, np.nan, QUERIES)
    for mask, is_nan in (((1, 1), True), ((1, 0), False)):
        got = value(TapOcclusion(query_mode="strided"), mask=mask, query_points=queries)
        assert np.isnan(got) == is_nan


def test_wrong_options_and_shapes_are_refused():
    with pytest.raises(ValueError, match="query_mode='last' is not known"):
        TapOcclusion(query_mode="last")
    with pytest.raises(ValueError, match="axis_order='bt' is not known"):
        TapJaccard(axis_order="bt")
    with pytest.raises(ValueError, match="thresholds must be one or more"):
        TapPosition(thresholds=())
    with pytest.raises(TypeError, match="tracks"):
        value(Tap3dPosition())


def test_what_is_neither_hidden_nor_visible_is_refused():
    for kind, names in KINDS.items():
        for key in {"occluded", "pred_occluded"} & set(names):
            odd = np.where(INPUTS[key], 0.7, 0.0).astype(np.float32)
            told = {**{name: INPUTS[name] for name in names}, key: odd}
            of = rf"{kind.__name__}: an entry of {key} is neither 0 nor 1\n  got 0.7"
            with pytest.raises(ValueError, match=of) as error:
                kind().get_state(**told)
            assert f"{key} > 0" in str(error.value)


def test_what_is_neither_hidden_nor_visible_has_no_value_under_jit():
    get_state = compiled(TapJaccard())
    told = {**INPUTS, "occluded": np.float32(OCCLUDED), "pred_occluded": SAID * 1.0}

    def of(first, second, **changes):
        mask = np.array([first, second])
        return get_state(**told | changes, mask=mask).compute()

    assert 0 < of(1, 1) < 1
    for key in ("occluded", "pred_occluded"):
        odd = told[key].copy()
        odd[0, 0, 0] = 2  # also in a frame that is not judged
        assert np.isnan(of(1, 1, **{key: odd}))
        assert of(0, 1, **{key: odd}) == of(0, 1)
