import jax
import numpy as np
import pytest

import kmetrics
from kmetrics import Dice, PanopticQuality, SegmentationJaccard

RNG = np.random.default_rng(0)


def test_dice_of_classes_is_twice_the_intersection_over_the_sum():
    labels = np.array([[[0, 0], [1, 1]]])
    preds = np.array([[[0, 1], [1, 1]]])
    metric = Dice(num_classes=3, average="none")
    each = metric(pred_labels=preds, labels=labels)
    np.testing.assert_allclose(each[:2], [2 / 3, 4 / 5])
    assert np.isnan(each[2])
    mean = Dice(num_classes=3)(pred_labels=preds, labels=labels)
    assert mean == pytest.approx((2 / 3 + 4 / 5) / 2)
    f1 = kmetrics.FBeta(num_classes=3)(pred_labels=preds, labels=labels)
    assert mean == pytest.approx(f1)


# Two images of 2 × 4 pixels, classes 0 (stuff), 1 and 2; 9 is void.
TRUE = np.array([[[1, 1, 0, 0], [1, 1, 1, 1]], [[2, 2, 9, 9], [2, 2, 0, 0]]])
TRUE_IDS = np.array([[[1, 1, 5, 6], [1, 1, 2, 2]], [[7, 7, 0, 0], [7, 7, 0, 0]]])
PRED = np.array([[[1, 1, 0, 0], [1, 0, 1, 1]], [[2, 2, 2, 1], [2, 2, 0, 0]]])
PRED_IDS = np.array([[[3, 3, 0, 0], [3, 0, 8, 8]], [[4, 4, 4, 4], [4, 4, 3, 3]]])
PANOPTIC = PanopticQuality(num_classes=3, stuff=(0,), ignore_index=9, max_segments=5)


MAPS = {
    "pred_classes": PRED,
    "pred_instances": PRED_IDS,
    "target_classes": TRUE,
    "target_instances": TRUE_IDS,
}


def panoptic(mask, **options):
    """Compiled as one program, which takes less time than its parts one by one."""
    state = jax.jit(PANOPTIC.get_state)(**MAPS, mask=np.array(mask))
    return state.replace(_parent=None).with_parent(PANOPTIC.replace(**options))


@pytest.mark.slow
def test_panoptic_quality_of_a_hand_worked_example():
    each = panoptic([1, 1], average="none").compute()
    # Class 0: 2 of 3 pixels, and 2 of 2. Class 1: 3 of 4, and 2 of 2; the segment of
    # the second image is void. Class 2: 4 of 4, its fifth pixel is void.
    np.testing.assert_allclose(each["sq"], [(2 / 3 + 1) / 2, (3 / 4 + 1) / 2, 1])
    np.testing.assert_allclose(each["rq"], [1, 1, 1])
    np.testing.assert_allclose(each["pq"], each["sq"])
    whole = panoptic([1, 1]).compute()
    assert whole["pq"] == pytest.approx(np.mean(each["pq"]), rel=1e-6)
    # The class 2 is not in the first image.
    first = panoptic([1, 0], average="none").compute()
    assert np.isnan(first["pq"][2])
    assert panoptic([1, 0]).compute()["pq"] == pytest.approx(
        (2 / 3 + 7 / 8) / 2, rel=1e-6
    )


def direct_panoptic(pc, pi, tc, ti, num_classes):
    """By loops over pairs of segments, without void and stuff."""
    sums = np.zeros((4, num_classes))
    for image in range(len(pc)):
        preds = {
            (c, i): (pc[image] == c) & (pi[image] == i)
            for c, i in zip(pc[image].ravel(), pi[image].ravel(), strict=True)
        }
        trues = {
            (c, i): (tc[image] == c) & (ti[image] == i)
            for c, i in zip(tc[image].ravel(), ti[image].ravel(), strict=True)
        }
        hits = set()
        for (c, _), true in trues.items():
            found = 0
            for (k, j), pred in preds.items():
                iou = (pred & true).sum() / (pred | true).sum()
                if k == c and iou > 0.5:
                    sums[0, c] += iou
                    hits.add((k, j))
                    found = 1
            sums[1, c] += found
            sums[2, c] += 1 - found
        for k, j in preds:
            sums[3, k] += (k, j) not in hits
    return (sums[0] / (sums[1] + (sums[2] + sums[3]) / 2)).mean()


@pytest.mark.slow
def test_panoptic_quality_agrees_with_loops_over_segments():
    tc, ti = RNG.integers(0, 2, (2, 3, 6, 6))
    noise = RNG.uniform(size=tc.shape) < 0.1
    pc, pi = np.where(noise, 1 - tc, tc), np.where(noise, 1 - ti, ti)
    # Numbers as large as those of images in which a color is a segment.
    metric = PanopticQuality(num_classes=2, max_segments=5)
    state = jax.jit(metric.get_state)(
        pred_classes=pc.astype(np.uint32),
        pred_instances=pi * 2**30,
        target_classes=tc,
        target_instances=np.uint32(ti * 2**31),
    )
    got, expected = state.compute(), direct_panoptic(pc, pi, tc, ti, 2)
    assert got["pq"] == pytest.approx(expected, rel=1e-5)
    assert 0.1 < expected < 0.95


@pytest.mark.slow
def test_more_segments_than_there_is_room_for_are_refused():
    metric = PANOPTIC.replace(max_segments=2)
    with pytest.raises(ValueError, match="got 3, max_segments=2"):
        metric.get_state(**MAPS)
    state = jax.jit(metric.get_state)(**MAPS)
    assert np.isnan(state.compute()["pq"])
    with pytest.raises(ValueError, match="stuff must be classes"):
        PanopticQuality(num_classes=3, stuff=(3,))
    with pytest.raises(ValueError, match="average='micro' is not known"):
        PANOPTIC.replace(average="micro")


def direct_propagation(features, first, classes, top_k, context, radius, temperature):
    """By loops over the places, as in the definition."""
    frames, height, width, _ = features.shape
    unit = features / np.linalg.norm(features, axis=-1, keepdims=True)
    soft = [np.eye(classes)[first]]
    for frame in range(1, frames):
        now = np.zeros((height, width, classes))
        for y in range(height):
            for x in range(width):
                found = [
                    (unit[frame, y, x] @ unit[f, v, u], soft[f][v, u])
                    for f in sorted({0, *range(max(frame - context, 0), frame)})
                    for v in range(height)
                    for u in range(width)
                    if radius is None or max(abs(v - y), abs(u - x)) <= radius
                ]
                found.sort(key=lambda pair: -pair[0])
                best = found[:top_k]
                weights = np.exp(np.array([s for s, _ in best]) / temperature)
                for weight, (_, label) in zip(weights, best, strict=True):
                    now[y, x] += weight / weights.sum() * label
        soft.append(now)
    return np.stack([one.argmax(-1) for one in soft[1:]])


def jaccard(preds, targets, objects):
    values = []
    for k in objects:
        for pred, true in zip(preds == k, targets == k, strict=True):
            union = (pred | true).sum()
            values.append((pred & true).sum() / union if union else 1.0)
    return np.mean(values)


@pytest.mark.slow
@pytest.mark.parametrize("radius", [None, 1])
def test_labels_are_carried_as_in_the_definition(radius):
    features = RNG.normal(size=(2, 4, 3, 3, 2)).astype(np.float32)
    targets = RNG.integers(0, 3, (2, 4, 3, 3))
    targets[1, 0] = np.minimum(targets[1, 0], 1)  # the second has one object at first
    options = {"top_k": 3, "context": 2, "radius": radius, "temperature": 0.5}
    metric = SegmentationJaccard(num_objects=2, **options)
    values = [
        jaccard(direct_propagation(f.astype(float), t[0], 3, **options), t[1:], objects)
        for f, t, objects in zip(features, targets, [(1, 2), (1,)], strict=True)
    ]
    get_state = jax.jit(metric.get_state)
    inputs = {"features": features, "targets": targets}
    got = get_state(**inputs, mask=np.array([1, 1])).compute()
    assert got == pytest.approx(np.mean(values), rel=1e-5)
    assert 0 < got < 1
    first = get_state(**inputs, mask=np.array([1, 0])).compute()
    assert first == pytest.approx(values[0], rel=1e-5)


def test_features_that_tell_the_objects_apart_carry_them_all():
    targets = RNG.integers(0, 3, (1, 4, 3, 3))
    targets[0, 0, 0] = [0, 1, 2]
    features = np.eye(3, dtype=np.float32)[targets]
    options = {"num_objects": 2, "radius": None, "top_k": 1}
    get_state = jax.jit(SegmentationJaccard(**options).get_state)
    assert get_state(features=features, targets=targets).compute() == 1
    assert np.isnan(get_state(features=features, targets=0 * targets).compute())
    hole = np.where(np.arange(3) == 1, np.float32(np.nan), features)
    assert np.isnan(get_state(features=hole, targets=targets).compute())
    with pytest.raises(ValueError, match="must be 1 or more"):
        SegmentationJaccard(num_objects=0)
    one = {"features": features[:, :1], "targets": targets[:, :1]}
    with pytest.raises(ValueError, match=r"two frames or more\n.* \[1, 1, 3, 3\]"):
        SegmentationJaccard(num_objects=2)(**one)
