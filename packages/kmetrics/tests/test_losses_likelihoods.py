import math
import statistics

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kmetrics import losses

PREDS = np.float32([2.5, 0, 2, 8])
TARGETS = np.float32([3, -0.5, 2, 7])
RNG = np.random.default_rng(0)


def value(loss, **inputs):
    """Compiled as one program, which takes less time than its parts one by one."""
    return jax.jit(loss.get_state)(**inputs).compute()


def values(loss, **inputs):
    return np.asarray(jax.jit(loss.get_values)(**inputs))


def gradient(loss, name, **inputs):
    def total(x):
        return loss.get_state(**{**inputs, name: x}).compute()

    return np.asarray(jax.jit(jax.grad(total))(jnp.asarray(inputs[name])))


def test_values_count_as_they_are():
    assert value(losses.Value(), values=PREDS) == 3.125
    assert value(losses.Value(), values=-PREDS, mask=np.array([1, 0, 0, 0])) == -2.5
    assert value(losses.AbsoluteValue(), values=-PREDS) == 3.125


def test_an_error_of_exactly_zero_pulls_neither_way():
    grad = gradient(losses.AbsoluteValue(), "values", values=np.float32([0, 0, 2, -1]))
    np.testing.assert_array_equal(4 * grad, [0, 0, 1, -1])
    both = {"preds": PREDS, "targets": TARGETS}
    for loss in (losses.L1(), losses.WeightedL1(ratio=1)):
        np.testing.assert_array_equal(
            4 * gradient(loss, "preds", **both), [-1, 1, 0, 1]
        )


def test_pinball_of_the_example():
    both = {"preds": PREDS, "targets": TARGETS}
    assert value(losses.Pinball(q=0.9), **both) == pytest.approx(0.15, rel=1e-6)
    assert value(losses.Pinball(), **both) == 0.25  # half of the absolute error
    grad = 4 * gradient(losses.Pinball(q=0.9), "preds", **both)
    np.testing.assert_allclose(grad[[0, 1, 3]], [-0.9, 0.1, 0.1], rtol=1e-6)
    with pytest.raises(ValueError, match=r"q must be in \(0, 1\)"):
        losses.Pinball(q=1)


def test_charbonnier_is_smooth_at_zero_and_absolute_far_away():
    d = np.float32([0, 3, 1e20, -1e-3])
    loss = losses.Charbonnier(eps=4.0)
    pair = {"preds": d, "targets": np.zeros(4, np.float32)}
    got = values(loss, **pair)
    np.testing.assert_allclose(got, [4, 5, 1e20, 4.000000125], rtol=1e-6)
    grad = jax.grad(lambda p: loss.get_values(preds=p, targets=jnp.zeros(4)).sum())(
        jnp.asarray(d)
    )
    np.testing.assert_allclose(grad, [0, 0.6, 1, -2.5e-4], rtol=1e-5)
    with pytest.raises(ValueError, match="eps must be above 0"):
        losses.Charbonnier(eps=0)


def test_a_balanced_error_is_the_mean_over_front_and_back():
    preds = np.float32([[2, 1, 1, 1], [1, 1, 1, 1]])
    targets = np.float32([[5, 0, 0, 0], [0, 0, 0, 0]])
    loss = losses.WeightedL1(normalize_by="mask")
    got = values(loss, preds=preds, targets=targets)
    np.testing.assert_allclose(got.mean(axis=1), [(3 + 1) / 2, 1])
    # The masked one leaves the back: (3 + 4) / 2 over one in front and one behind.
    one = value(
        loss,
        preds=np.float32([[2, 4, 9, 9]]),
        targets=targets[:1],
        mask=np.array([[1, 1, 0, 0]]),
    )
    assert one == pytest.approx((3 + 4) / 2)
    # With weights: (3 + (1 * 1 + 4 * 0.5) / 1.5) / 2.
    weighed = value(
        loss,
        preds=np.float32([[2, 1, 4, 9]]),
        targets=targets[:1],
        mask=np.float32([[0.25, 1, 0.5, 0]]),
    )
    assert weighed == pytest.approx((3 + 3 / 1.5) / 2)
    fixed = losses.WeightedL1(ratio=0.5)
    assert value(fixed, preds=preds[:1], targets=targets[:1]) == (3 + 1.5) / 4
    for ratio in (-1, "dynamic"):
        with pytest.raises(ValueError, match="ratio must be"):
            losses.WeightedL1(ratio=ratio)


def test_poisson_agrees_with_the_log_density():
    rates, counts = np.float32([0.5, 2, 7, 3]), np.array([0, 1, 9, 3])
    chances = [
        math.exp(-r) * r**k / math.factorial(k)
        for r, k in zip(rates, counts, strict=True)
    ]
    # Without the part that the rate has no say in.
    rest = [math.lgamma(k + 1) for k in counts]
    exact = -np.log(chances) - rest
    by_rate = values(losses.Poisson(is_log=False), preds=rates, targets=counts)
    np.testing.assert_allclose(by_rate, exact, rtol=1e-5)
    by_log = values(losses.Poisson(), preds=np.log(rates), targets=counts)
    np.testing.assert_allclose(by_log, exact, rtol=1e-5)


def test_a_rate_of_zero_and_a_count_of_zero_cost_nothing():
    loss = losses.Poisson(is_log=False)
    zeros = np.zeros(4, np.float32)
    assert value(loss, preds=zeros, targets=zeros) == 0
    grad = gradient(loss, "preds", preds=zeros, targets=zeros)
    np.testing.assert_array_equal(grad, [0.25] * 4)
    assert value(loss, preds=zeros, targets=zeros + 1) == np.inf


def test_gaussian_nll_agrees_with_the_log_density():
    variances = np.float32([0.5, 1, 4, 2])
    inputs = {"preds": PREDS, "targets": TARGETS, "variances": variances}
    exact = -np.log(
        [
            statistics.NormalDist(mean, math.sqrt(variance)).pdf(x)
            for mean, variance, x in zip(PREDS, variances, TARGETS, strict=True)
        ]
    )
    full = value(losses.GaussianNLL(full=True), **inputs)
    assert full == pytest.approx(exact.mean(), rel=1e-6)
    half = value(losses.GaussianNLL(), **inputs)
    assert half == pytest.approx(exact.mean() - np.log(2 * np.pi) / 2, rel=1e-5)
    wide = {"variances": variances * np.float32(2.5e37)}
    wide |= {name: inputs[name] * np.float32(5e18) for name in ("preds", "targets")}
    got = value(losses.GaussianNLL(), **wide)
    assert got == pytest.approx(half + math.log(2.5e37) / 2, rel=1e-6)
    grad = gradient(
        losses.GaussianNLL(),
        "variances",
        preds=PREDS * np.float32(1e16),
        targets=TARGETS * np.float32(1e16),
        variances=np.full(4, 1e25, np.float32),
    )
    expected = (1 / 1e25 - (PREDS - TARGETS).astype(float) ** 2 * 1e32 / 1e50) / 8
    np.testing.assert_allclose(grad, expected, rtol=1e-5)
    floor = losses.GaussianNLL(eps=0.25)
    same = value(floor, preds=PREDS, targets=TARGETS, variances=0 * variances)
    d = (PREDS - TARGETS).astype(float)
    assert same == pytest.approx((np.log(0.25) + d**2 / 0.25).mean() / 2, rel=1e-6)


def test_kl_agrees_with_scipy_and_is_zero_for_equal_distributions():
    special = pytest.importorskip("scipy.special", reason="the independent reference")
    logits = RNG.normal(size=(3, 4)).astype(np.float32)
    labels = RNG.dirichlet(np.ones(4), 3).astype(np.float32)
    labels[0] = [0, 0, 1, 0]
    q = np.exp(logits.astype(float))
    q /= q.sum(-1, keepdims=True)
    got = values(losses.KL(), logits=logits, labels=labels)
    exact = special.rel_entr(labels.astype(float), q).sum(-1)
    np.testing.assert_allclose(got[:, 0], exact, rtol=1e-5)
    equal = value(losses.KL(), logits=logits, labels=q.astype(np.float32))
    assert equal == pytest.approx(0, abs=1e-6)
    impossible = value(
        losses.KL(), logits=np.float32([[-np.inf, 0]]), labels=np.float32([[0, 1]])
    )
    assert impossible == 0
