import jax.numpy as jnp
import numpy as np
import pytest

from kmetrics import MeanSquaredError, Psnr, PsnrWithResize, Ssim

X = np.linspace(0, 1, 16 * 16 * 3, dtype=np.float32).reshape(1, 16, 16, 3)
Y = np.clip(X + np.float32(0.1), 0, 1)


@pytest.mark.spec("kmetrics-53")
def test_the_example_images():
    assert Psnr()(preds=Y, targets=X) == pytest.approx(20.3022619166, rel=1e-5)
    error = MeanSquaredError()(preds=Y, targets=X)
    assert error == pytest.approx(0.0093276836, rel=1e-6)
    assert Ssim()(preds=Y, targets=X) == pytest.approx(0.9815146121, rel=1e-5)


@pytest.mark.spec("kmetrics-52")
def test_equal_images_get_the_cap():
    assert Psnr()(preds=X, targets=X) == 100
    assert Psnr(max_db=60)(preds=X, targets=X + 1e-6) == 60
    assert Ssim()(preds=X, targets=X) == pytest.approx(1, abs=1e-6)


@pytest.mark.spec("kmetrics-55")
def test_uint8_images_with_their_range():
    x, y = (np.round(255 * image).astype(np.uint8) for image in (X, Y))
    floats = Psnr()(preds=y / np.float32(255), targets=x / np.float32(255))
    whole = Psnr(in_vrange=(0, 255))(preds=y, targets=x)
    assert whole == pytest.approx(floats, rel=1e-5)
    assert whole == pytest.approx(20.3, abs=0.05)
    ssim = Ssim(in_vrange=(0, 255))(preds=y, targets=x)
    assert ssim == pytest.approx(0.98151, abs=1e-3)


@pytest.mark.parametrize("metric", [Psnr(), Ssim(), PsnrWithResize()])
def test_uint8_images_are_refused_without_their_range(metric):
    x = np.zeros((1, 16, 16, 3), np.uint8)
    for key, inputs in (
        ("preds", {"preds": x, "targets": np.float32(x)}),
        ("targets", {"preds": np.float32(x), "targets": x}),
    ):
        of = rf"{key} holds uint8, but in_vrange is \(0, 1\)"
        with pytest.raises(ValueError, match=of):
            metric(**inputs)


@pytest.mark.spec("kmetrics-54")
def test_an_image_smaller_than_the_window_is_refused_with_the_sizes():
    small = np.ones((1, 16, 8, 3), np.float32)
    with pytest.raises(ValueError, match="images 16 × 8, window 11 × 11"):
        Ssim()(preds=small, targets=small)
    assert Ssim(window=7)(preds=small, targets=small) == pytest.approx(1)


def test_similarity_agrees_with_its_definition():
    rng = np.random.default_rng(0)
    x, y = rng.uniform(size=(2, 13, 12)) * 2 - 1
    offset = np.arange(11) - 5
    line = np.exp(-(offset**2) / 4.5)
    window = np.outer(line, line) / line.sum() ** 2
    values = []
    for i in range(3):
        for j in range(2):
            a, b = x[i : i + 11, j : j + 11] + 1, y[i : i + 11, j : j + 11] + 1
            ma, mb = (window * a).sum(), (window * b).sum()
            va, vb = (window * (a - ma) ** 2).sum(), (window * (b - mb) ** 2).sum()
            cov = (window * (a - ma) * (b - mb)).sum()
            c1, c2 = 0.02**2, 0.06**2
            first = (2 * ma * mb + c1) / (ma**2 + mb**2 + c1)
            values.append(first * (2 * cov + c2) / (va + vb + c2))
    one, two = (np.float32(image)[None, ..., None] for image in (x, y))
    got = Ssim(in_vrange=(-1, 1))(preds=one, targets=two)
    assert got == pytest.approx(np.mean(values), rel=1e-5)


def test_each_image_counts_once_and_a_mask_drops_images():
    pair = np.concatenate([Y, np.full_like(X, np.nan)]), np.concatenate([X, X])
    for metric in (Psnr(), Ssim()):
        one = metric(preds=Y, targets=X)
        for mask in (np.array([True, False]), np.array([[1.0], [0.0]])):
            assert metric(preds=pair[0], targets=pair[1], mask=mask) == one
        both = metric(preds=np.concatenate([Y, X]), targets=np.concatenate([X, X]))
        assert both == pytest.approx((one + metric(preds=X, targets=X)) / 2, rel=1e-6)
    x, y = (jnp.asarray(image, jnp.bfloat16) for image in (X, Y))
    half = Psnr()(preds=y, targets=x)
    assert half == pytest.approx(20.3, abs=0.1)


def test_pixels_are_clipped_if_asked_for_and_options_are_checked():
    assert Psnr(clip=True)(preds=X + 5, targets=np.ones_like(X)) == 100
    with pytest.raises(ValueError, match="in_vrange must be"):
        Psnr(in_vrange=(1, 0))
    with pytest.raises(ValueError, match="window must be odd"):
        Ssim(window=10)
    with pytest.raises(TypeError, match="targets"):
        Psnr()(preds=X, targets=X[..., :1])


def test_predictions_of_another_size_are_resized():
    assert PsnrWithResize()(preds=Y, targets=X) == pytest.approx(20.3022619, rel=1e-5)
    small = np.float32([[[[0], [4]]]])  # one row of two pixels
    # Centres at 1/4 and 3/4 of the width: 0, 1, 3, 4 for four pixels.
    targets = np.float32([[[[0], [1], [3], [4]]]])
    assert PsnrWithResize()(preds=small, targets=targets) == 100
    # To half the width by a triangle over four pixels, 1 3 3 1, cut off at the border:
    # 3 3 1 and 1 3 3 of 7.
    wide = np.float32([[[[0], [8], [0], [0]]]])
    half = np.float32([[[[8 * 3 / 7], [8 / 7]]]])
    assert PsnrWithResize()(preds=wide, targets=half) == 100
    rough = PsnrWithResize(antialias=False)
    assert rough(preds=wide, targets=np.float32([[[[4], [0]]]])) == 100
    kept = PsnrWithResize()(
        preds=np.concatenate([Y, np.full_like(X, np.nan)]),
        targets=np.concatenate([X, X]),
        mask=np.array([True, False]),
    )
    assert kept == pytest.approx(20.3022619, rel=1e-5)
