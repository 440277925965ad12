import jax.numpy as jnp
import numpy as np
import pytest

from kmetrics import Fid, FrechetDistance, Lpips

RNG = np.random.default_rng(0)


def with_moments(mean, cov):
    """Four points with exactly these moments, as far as float32 goes."""
    corners = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    return (corners @ np.linalg.cholesky(np.array(cov)).T + mean).astype(np.float32)


@pytest.mark.spec("kmetrics-85")
def test_the_distance_of_two_streams():
    a = with_moments([0, 0], [[1, 0], [0, 1]])
    b = with_moments([1, 2], [[2, 0.5], [0.5, 1]])
    metric = FrechetDistance(ddof=0)
    got = metric(preds=a, targets=b)
    assert got == pytest.approx(5.2478420434, rel=1e-6)
    parts = [metric.get_state(preds=a[i::2], targets=b[i::2]) for i in range(2)]
    merged = metric.empty() | parts[0] | parts[1]
    assert merged.compute() == pytest.approx(5.2478420434, rel=1e-6)
    assert metric(preds=a, targets=a) == pytest.approx(0, abs=1e-6)


def test_it_agrees_with_scipy_for_sides_of_unequal_size():
    linalg = pytest.importorskip("scipy.linalg", reason="the independent reference")
    a = RNG.normal(size=(20, 3)) @ RNG.normal(size=(3, 3))
    b = RNG.normal(size=(30, 3)) + np.array([1, 0, 2])
    root = linalg.sqrtm(np.cov(a.T) @ np.cov(b.T)).real
    expected = ((a.mean(0) - b.mean(0)) ** 2).sum() + np.trace(
        np.cov(a.T) + np.cov(b.T) - 2 * root
    )
    got = FrechetDistance()(preds=np.float32(a), targets=np.float32(b))
    assert got == pytest.approx(expected, rel=1e-5)


def test_a_side_with_too_few_vectors_has_no_distance():
    x = np.ones((2, 3), np.float32)
    metric = FrechetDistance()
    first = np.array([True, False])
    assert np.isnan(metric(preds=x, targets=x, mask=first))
    assert np.isnan(metric.empty().compute())
    assert metric(preds=x, targets=x) == 0
    with pytest.raises(ValueError, match=r"preds \[2, 3\], targets \[2, 2\]"):
        metric(preds=x, targets=x[:, :2])


def pooled(images):
    return jnp.mean(images, axis=(-3, -2))


def test_fid_is_the_distance_of_features():
    images = RNG.uniform(size=(2, 6, 4, 4, 3)).astype(np.float32)
    got = Fid(features=pooled)(preds=images[0], targets=images[1])
    vectors = images.mean(axis=(2, 3))
    expected = FrechetDistance()(preds=vectors[0], targets=vectors[1])
    assert got == pytest.approx(expected, rel=1e-4)
    for metric in (Fid, Lpips):
        with pytest.raises(ValueError, match="features must be a function of images"):
            metric()


def two_layers(images):
    return [images - 0.5, jnp.mean(images**2, axis=(-3, -2), keepdims=True)]


@pytest.mark.parametrize("weighted", [False, True])
def test_lpips_agrees_with_its_definition(weighted):
    x, y = RNG.uniform(size=(2, 2, 3, 4, 3)).astype(np.float32)
    weights = [[1.0, 2, 0.5], [3.0, 0, 1]] if weighted else np.ones((2, 3))
    values = []
    for one, two in zip(x.astype(float), y.astype(float), strict=True):
        total = 0.0
        for layer, own in enumerate(weights):
            sides = [
                image - 0.5 if layer == 0 else (image**2).mean((0, 1), keepdims=True)
                for image in (one, two)
            ]
            a, b = (f / np.linalg.norm(f, axis=-1, keepdims=True) for f in sides)
            total += ((a - b) ** 2 @ np.array(own)).mean()
        values.append(total)
    metric = Lpips(features=two_layers, preds="x", targets="y", mask="m")
    context = {"x": x, "y": y, "w": [np.float32(w) for w in weights]}
    if weighted:
        metric = metric.replace(weights="w")
    got = metric({**context, "m": np.ones(2)})
    assert got == pytest.approx(np.mean(values), rel=1e-5)
    first = metric({**context, "m": np.array([[True], [False]])})
    assert first == pytest.approx(values[0], rel=1e-5)


def test_weights_that_do_not_fit_the_layers_are_refused():
    x = np.zeros((1, 2, 2, 3), np.float32)
    with pytest.raises(ValueError, match=r"channels \[3, 3\], weights \[3\]"):
        Lpips(features=two_layers)(preds=x, targets=x, weights=[np.ones(3)])


def test_features_that_are_no_list_of_maps_are_refused():
    images = np.ones((2, 4, 4, 3), np.float32)
    for features, given in (
        (lambda x: x, r"an array \[2, 4, 4, 3\]"),
        (lambda x: [x.mean((1, 2))], r"\[\(2, 3\)\]"),
    ):
        with pytest.raises(ValueError, match=f"list of maps.*\n  got {given}"):
            Lpips(features=features)(preds=images, targets=images)
