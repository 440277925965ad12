import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kmetrics import PoseAuc, PoseRotationError, PoseTranslationError
from kmetrics._rotations import angle_between, rotation_angle

RNG = np.random.default_rng(0)


def about(axis, degrees):
    """The rotation about an axis, by the exponential of its cross product."""
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angle = np.radians(degrees)
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def pose(rotation, place):
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rotation, place
    return matrix


def scene(seed, count=4):
    rng = np.random.default_rng(seed)
    axes, angles = rng.normal(size=(count, 3)), rng.uniform(0, 180, count)
    places = rng.normal(size=(count, 3))
    turns = (about(*pair) for pair in zip(axes, angles, strict=True))
    return np.stack([pose(*pair) for pair in zip(turns, places, strict=True)])


TRUE = np.stack([scene(0), scene(1)])
# Turned and moved by a little, each camera in another way.
MOVED = TRUE.copy()
for _s in range(2):
    for _i in range(4):
        MOVED[_s, _i, :3, :3] = TRUE[_s, _i, :3, :3] @ about([1, 2, _i], 5.3 * _i)
        MOVED[_s, _i, :3, 3] += 0.1 * _i


@functools.cache
def compiled(metric):
    """As one program, which takes less time than its parts one by one."""
    return jax.jit(metric.get_state)


def value(metric, preds=MOVED, targets=TRUE, mask=(1, 1)):
    state = compiled(metric)(
        preds=np.float32(preds), targets=np.float32(targets), mask=np.array(mask)
    )
    return state.compute()


def angle(a, b):
    cosine = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
    return np.degrees(np.arccos(np.clip(cosine, -1, 1)))


def errors(preds, targets):
    """Rotation and translation error of each pair of cameras of one scene."""
    found = []
    for i in range(len(preds)):
        for j in range(i + 1, len(preds)):
            p, t = (np.linalg.inv(x[i]) @ x[j] for x in (preds, targets))
            trace = np.trace(p[:3, :3].T @ t[:3, :3])
            turn = np.degrees(np.arccos(np.clip((trace - 1) / 2, -1, 1)))
            found.append((turn, angle(p[:3, 3], t[:3, 3])))
    return np.array(found)


def test_errors_agree_with_relative_poses_in_double_precision():
    each = np.concatenate([errors(MOVED[s], TRUE[s]) for s in range(2)])
    rotation, translation = each.mean(axis=0)
    assert value(PoseRotationError()) == pytest.approx(rotation, rel=1e-4)
    assert value(PoseTranslationError()) == pytest.approx(translation, rel=1e-4)
    folded = np.minimum(each[:, 1], 180 - each[:, 1]).mean()
    sign = PoseTranslationError(ignore_sign=True)
    assert value(sign) == pytest.approx(folded, rel=1e-4)
    worst = each.max(axis=1)
    area = np.mean([(worst < k).mean() for k in range(1, 31)])
    assert 0 < area < 1
    assert value(PoseAuc()) == pytest.approx(area, rel=1e-5)


def test_the_world_does_not_matter():
    world = pose(about([3, 1, 2], 70), [1, 2, 3])
    assert value(PoseRotationError(), preds=world @ TRUE) == pytest.approx(0, abs=1e-4)
    assert value(PoseTranslationError(), preds=world @ TRUE) < 1e-3
    larger = TRUE.copy()
    larger[..., :3, 3] *= 7
    assert value(PoseTranslationError(), preds=larger) < 1e-3
    assert value(PoseAuc(), preds=larger) == 1


def test_a_mask_selects_cameras_and_scenes():
    kept = errors(MOVED[0][:3], TRUE[0][:3])[:, 0].mean()
    dirty = MOVED.copy()
    dirty[0, 3] = np.nan
    cameras = np.array([[1, 1, 1, 0], [0, 0, 0, 1]])
    got = value(PoseRotationError(), preds=dirty, mask=cameras)
    assert got == pytest.approx(kept, rel=1e-4)
    second = value(PoseRotationError(), preds=dirty, mask=(0, 1))
    assert second == pytest.approx(errors(MOVED[1], TRUE[1])[:, 0].mean(), rel=1e-4)
    assert np.isnan(value(PoseRotationError(), mask=(0, 0)))


def test_cameras_in_one_place_have_no_direction():
    still = TRUE.copy()
    still[0, ..., :3, 3] = 1.0
    got = value(PoseTranslationError(), preds=TRUE, targets=still)
    assert got == pytest.approx(0, abs=1e-3)  # the second scene alone
    assert value(PoseTranslationError(), preds=still, targets=TRUE) == (
        pytest.approx(45, abs=1e-3)
    )


def test_angles_keep_their_digits_and_are_never_nan():
    axis = [0.48, 0.6, 0.64]
    degrees = [0.0, 1e-3, 1.0, 90.0, 179.0, 180.0]
    turns = np.stack([about(axis, d) for d in degrees]).astype(np.float32)
    got = np.degrees(jax.jit(rotation_angle)(turns))
    np.testing.assert_allclose(got, degrees, rtol=1e-3, atol=1e-4)
    # Beyond what a rotation can be, as rounding makes it.
    beyond = jax.jit(rotation_angle)(np.float32(turns * 1.001))
    assert np.isfinite(beyond).all()
    one = np.float32([[1, 0, 0]] * 4)
    other = np.float32([[1, 1e-6, 0], [0, 2, 0], [-3, 0, 0], [0, 0, 0]])
    of = jax.jit(angle_between)
    for size in (1, 1e25, 1e-25):
        angles = of(np.float32(size) * one, np.float32(size) * other)
        expected = [1e-6, np.pi / 2, np.pi, np.pi / 2]
        np.testing.assert_allclose(angles, expected, rtol=1e-5)
    grad = jax.jit(jax.grad(lambda r: jnp.sum(rotation_angle(r))))(turns)
    assert np.isfinite(grad).all()


def test_a_scene_of_one_camera_and_wrong_options_are_refused():
    with pytest.raises(ValueError, match="two cameras or more"):
        value(PoseAuc(), preds=MOVED[:, :1], targets=TRUE[:, :1])
    with pytest.raises(ValueError, match="max_degrees must be 1 or more"):
        PoseAuc(max_degrees=0)
    with pytest.raises(TypeError, match="targets"):
        value(PoseAuc(), targets=TRUE[..., :3, :])


def changed(index, scale=1.0):
    """TRUE with one matrix multiplied."""
    odd = np.float32(TRUE)
    odd[index] = odd[index] @ np.float32(scale)
    return odd


TWICE, MIRROR = np.diag([2, 2, 2, 1]), np.diag([1, 1, -1, 1])
TURNED_ROUND = np.float32(TRUE).swapaxes(-1, -2)  # rows for columns


@pytest.mark.parametrize(
    "odd", [changed((1, 2), TWICE), changed((1, 2), MIRROR), TURNED_ROUND]
)
def test_a_matrix_that_is_no_pose_is_refused(odd):
    good, metric = np.float32(TRUE), PoseRotationError()
    at = r"\[0, 0\]" if odd is TURNED_ROUND else r"\[1, 2\]"
    with pytest.raises(ValueError, match=rf"PoseRotationError: .*\n  preds{at} is"):
        metric.get_state(preds=odd, targets=good)
    with pytest.raises(ValueError, match="a matrix of targets is no pose"):
        metric.get_state(preds=good, targets=odd)


def test_a_matrix_that_is_no_pose_has_no_value_under_jit_unless_it_is_masked():
    for metric in (PoseRotationError(), PoseTranslationError(), PoseAuc()):
        for odd in (changed((1, 2), TWICE), changed((1, 2), np.full((4, 4), np.nan))):
            for sides in ({"preds": odd}, {"targets": odd}):
                assert np.isnan(value(metric, **sides))
                assert np.isfinite(value(metric, **sides, mask=(1, 0)))


def test_a_pose_that_is_rounded_to_bfloat16_is_one():
    rounded = jnp.asarray(TRUE, jnp.bfloat16)
    masked = PoseRotationError().get_state(preds=rounded, targets=rounded)
    assert masked.compute() < 0.5
    # What is not finite is no mistake of the caller: a network may say so.
    spoilt = changed((0, 1), np.full((4, 4), np.nan))
    state = PoseRotationError().get_state(preds=spoilt, targets=np.float32(TRUE))
    assert np.isnan(state.compute())
