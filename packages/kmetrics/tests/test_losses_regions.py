import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kmetrics import losses

# One image of 2 × 2 pixels and one region.
LOGITS = np.float32([[2, -1], [0.5, -3]]).reshape(1, 2, 2, 1)
LABELS = np.array([[1, 0], [1, 0]]).reshape(1, 2, 2, 1)
RNG = np.random.default_rng(0)
TWO = RNG.normal(size=(2, 2, 3, 2)).astype(np.float32)
TWO_LABELS = RNG.integers(0, 2, (2, 2, 3, 2))
PIXELS = np.array([[1, 1, 0], [1, 0, 1]])[None].repeat(2, axis=0)


def value(loss, **inputs):
    """Compiled as one program, which takes less time than its parts one by one."""
    return jax.jit(loss.get_state)(**inputs).compute()


def values(loss, **inputs):
    return np.asarray(jax.jit(loss.get_values)(**inputs))


def gradient(loss, name, **inputs):
    def total(x):
        return loss.get_state(**{**inputs, name: x}).compute()

    return np.asarray(jax.jit(jax.grad(total))(jnp.asarray(inputs[name])))


def direct_dice(logits, labels, smooth):
    p = 1 / (1 + np.exp(-logits.astype(float)))
    common = (p * labels).sum()
    return 1 - (2 * common + smooth) / (p.sum() + labels.sum() + smooth)


def test_the_dice_loss_of_the_example():
    got = value(losses.Dice(), logits=LOGITS, labels=LABELS)
    assert got == pytest.approx(0.1687083755, rel=1e-6)


def test_dice_agrees_with_a_direct_sum_for_each_region():
    got = values(losses.Dice(smooth=0.5), logits=TWO, labels=TWO_LABELS)
    assert got.shape == (2, 1, 1, 2)
    for b in range(2):
        for m in range(2):
            one = direct_dice(TWO[b, ..., m], TWO_LABELS[b, ..., m], 0.5)
            assert got[b, 0, 0, m] == pytest.approx(one, rel=1e-5)


@pytest.mark.parametrize("name", ["Dice", "Lovasz", "IoU"])
def test_a_pixel_that_is_neither_0_nor_1_is_no_pixel_of_a_region(name):
    loss = getattr(losses, name)()
    inputs = {"logits": TWO, "labels": TWO_LABELS.copy()}
    if name == "IoU":
        inputs["iou_preds"] = np.zeros((2, 2), np.float32)
    inputs["labels"][0, 0, 2, 1] = 255  # such as "ignore" of a data set
    with pytest.raises(ValueError, match=f"{name}: a label is neither.*\n  got 255"):
        loss(**inputs)
    got = values(loss, **inputs).reshape(2, 2)
    np.testing.assert_array_equal(np.isnan(got), [[False, True], [False, False]])
    clean = {**inputs, "labels": TWO_LABELS}
    assert loss(**inputs, mask=PIXELS) == loss(**clean, mask=PIXELS)


@pytest.mark.parametrize("name", ["Dice", "Lovasz", "IoU"])
def test_a_mask_of_pixels_leaves_them_out_of_the_region(name):
    loss = getattr(losses, name)()
    more = {"iou_preds": np.float32([[0.5, 0.25]] * 2)} if name == "IoU" else {}
    inputs = {"labels": TWO_LABELS, **more}
    keep = PIXELS[0].astype(bool)
    kept = values(
        loss,
        logits=TWO[:, keep].reshape(2, 4, 1, 2),
        labels=TWO_LABELS[:, keep].reshape(2, 4, 1, 2),
        **more,
    )
    dirty = np.where(PIXELS[..., None] == 1, TWO, np.nan)
    got = value(loss, logits=dirty, mask=PIXELS, **inputs)
    assert got == pytest.approx(float(kept.mean()), rel=1e-5)
    # A mask of examples and one of regions; both count whole regions.
    whole = values(loss, logits=TWO, **inputs)
    first = value(loss, logits=TWO, mask=np.array([1, 0]), **inputs)
    assert first == pytest.approx(float(whole[0].mean()), rel=1e-5)
    second = value(loss, logits=TWO, mask=np.array([[[[0, 1]]]] * 2), **inputs)
    assert second == pytest.approx(float(whole[..., 1].mean()), rel=1e-5)


def test_masked_nans_of_a_region_have_no_gradient():
    dirty = np.where(PIXELS[..., None] == 1, TWO, np.nan)

    for loss in (losses.Dice(), losses.Lovasz()):
        grad = gradient(loss, "logits", logits=dirty, labels=TWO_LABELS, mask=PIXELS)
        assert np.isfinite(grad).all()
        assert (grad[PIXELS == 0] == 0).all()


def test_the_error_of_a_predicted_overlap():
    loss = losses.IoU()
    # Predicted: the first column of the upper row and the lower left: exactly right.
    inputs = {"logits": LOGITS, "labels": LABELS}
    assert value(loss, iou_preds=np.float32([[0.75]]), **inputs) == 0.25
    other = np.ones_like(LABELS)
    half = {"logits": LOGITS, "labels": other}  # 2 of 4 pixels
    assert value(loss, iou_preds=np.float32([[0.75]]), **half) == 0.25
    squared = losses.IoU(squared=True)
    assert value(squared, iou_preds=np.float32([[0.75]]), **half) == 0.0625
    none = {"logits": -np.abs(LOGITS), "labels": np.zeros_like(LABELS)}
    assert value(loss, iou_preds=np.float32([[1]]), **none) == 0


def jaccard_loss(wrong, labels):
    """1 - IoU if the pixels of `wrong` are the wrong ones, by its definition."""
    pred = set(np.flatnonzero(labels)) ^ wrong
    true = set(np.flatnonzero(labels))
    return 1 - len(pred & true) / len(pred | true) if pred | true else 0.0


def test_the_lovasz_hinge_is_the_convex_extension_of_one_minus_iou():
    for b in range(2):
        z, y = TWO[b, ..., 0].ravel(), TWO_LABELS[b, ..., 0].ravel()
        errors = np.maximum(1 - z * (2 * y - 1), 0)
        order, extension, before = np.argsort(-errors), 0.0, 0.0
        for i in range(6):
            now = jaccard_loss(set(order[: i + 1]), y)
            extension += errors[order[i]] * (now - before)
            before = now
        got = values(losses.Lovasz(), logits=TWO, labels=TWO_LABELS)[b, 0, 0, 0]
        assert got == pytest.approx(extension, rel=1e-5)


def test_the_lovasz_hinge_of_sure_pixels_is_a_multiple_of_one_minus_iou():
    # Errors of 0 and 2: two wrong of three true or predicted.
    z, y = np.float32([1, 1, -1, -1]), np.array([1, 0, 1, 0])
    got = losses.Lovasz()(logits=z.reshape(1, 2, 2, 1), labels=y.reshape(1, 2, 2, 1))
    assert got == pytest.approx(2 * 2 / 3, rel=1e-6)


def test_regions_of_other_shapes_are_refused():
    with pytest.raises(TypeError, match="labels"):
        losses.Dice()(logits=TWO, labels=TWO_LABELS[..., :1])
    with pytest.raises(ValueError, match="smooth must be 0 or more"):
        losses.Dice(smooth=-1)
