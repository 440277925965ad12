import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kmetrics import losses

RNG = np.random.default_rng(0)
A, B, C = RNG.normal(size=(3, 5, 4)).astype(np.float32)


def value(loss, **inputs):
    """Compiled as one program, which takes less time than its parts one by one."""
    return jax.jit(loss.get_state)(**inputs).compute()


def values(loss, **inputs):
    return np.asarray(jax.jit(loss.get_values)(**inputs))


def gradient(loss, name, **inputs):
    def total(x):
        return loss.get_state(**{**inputs, name: x}).compute()

    return np.asarray(jax.jit(jax.grad(total))(jnp.asarray(inputs[name])))


def unit(x):
    return x / np.linalg.norm(x.astype(float), axis=-1, keepdims=True)


@pytest.mark.spec("kmetrics-25")
def test_the_gradient_at_a_vector_of_length_zero_is_zero():
    loss = losses.NegativeCosineSimilarity()

    preds = A * np.array([[0], [1], [1], [1], [1]], np.float32)
    grad = gradient(loss, "preds", preds=preds, targets=B)
    assert np.isfinite(grad).all()
    np.testing.assert_array_equal(grad[0], np.zeros(4))
    rest = -(unit(A) * unit(B)).sum(-1)[1:]
    got = value(loss, preds=preds, targets=B)
    assert got == pytest.approx(rest.sum() / 5, rel=1e-6)


def test_cosine_similarity_does_not_see_lengths():
    got = values(losses.NegativeCosineSimilarity(), preds=1e3 * A, targets=B)
    assert got.shape == (5, 1)
    by_hand = -(unit(A) * unit(B)).sum(-1)
    np.testing.assert_allclose(got[:, 0], by_hand, rtol=1e-5)
    half = value(
        losses.NegativeCosineSimilarity(),
        preds=np.float32([[1, 0]]),
        targets=np.float32([[1, np.sqrt(3)]]),
    )
    assert half == pytest.approx(-0.5, rel=1e-6)


def test_directions_of_very_long_vectors_are_not_lost():
    loss = losses.NegativeCosineSimilarity()
    usual = values(loss, preds=A, targets=B)
    np.testing.assert_allclose(
        values(loss, preds=1e30 * A, targets=B), usual, rtol=1e-5
    )
    far = {"anchors": 0 * A, "positives": 1e30 * A, "negatives": 0 * A}
    got = values(losses.Triplet(), **far)[:, 0]
    np.testing.assert_allclose(got, 1e30 * np.linalg.norm(A, axis=-1), rtol=1e-5)


def entropy_of_pairs(one, two, temperature):
    z = one @ two.T / temperature
    return np.log(np.exp(z).sum(-1)) - np.diag(z)


@pytest.mark.parametrize("symmetric", [False, True])
def test_infonce_agrees_with_its_definition(symmetric):
    loss = losses.InfoNCE(temperature=0.5, symmetric=symmetric)
    one, two = unit(A), unit(B)
    by_hand = entropy_of_pairs(one, two, 0.5)
    if symmetric:
        by_hand = (by_hand + entropy_of_pairs(two, one, 0.5)) / 2
    got = values(loss, preds=A, targets=B)
    np.testing.assert_allclose(got[:, 0], by_hand, rtol=1e-5)
    plain = loss.replace(normalize=False, symmetric=False)
    by_hand = entropy_of_pairs(A.astype(float), B.astype(float), 0.5)
    got = value(plain, preds=A, targets=B)
    assert got == pytest.approx(by_hand.mean(), rel=1e-5)


def test_masked_rows_are_no_candidates_of_infonce():
    loss = losses.InfoNCE(temperature=0.5)
    mask = np.array([1, 1, 0, 1, 0])
    dirty = np.where(mask[:, None] == 1, A, np.nan)
    kept = entropy_of_pairs(unit(A[mask == 1]), unit(B[mask == 1]), 0.5).mean()

    inputs = {"preds": dirty, "targets": B, "mask": mask}
    assert value(loss, **inputs) == pytest.approx(kept, rel=1e-5)
    assert np.isfinite(gradient(loss, "preds", **inputs)).all()


def test_the_contrastive_loss_agrees_with_its_definition():
    labels = np.array([1, 0, 1, 0, 0])
    d = np.linalg.norm(A.astype(float) - B, axis=-1)
    margin = float(np.median(d)) + 1
    by_hand = np.where(labels == 1, d**2, np.maximum(0, margin - d) ** 2) / 2
    loss = losses.Contrastive(margin=margin)
    for y in (labels, labels[:, None], labels == 1):
        got = value(loss, preds=A, targets=B, labels=y)
        assert got == pytest.approx(by_hand.mean(), rel=1e-5)
    # Two apart by (3, 4), whose margin is 7.
    pair = {"preds": np.float32([[3, 4]]), "targets": np.zeros((1, 2), np.float32)}
    seven = losses.Contrastive(margin=7)
    assert value(seven, **pair, labels=np.array([1])) == 12.5
    assert value(seven, **pair, labels=np.array([0])) == 2.0


def test_equal_vectors_have_a_finite_gradient():
    labels = np.array([1, 0, 1, 0, 0])
    equal = {"preds": A, "targets": A, "labels": labels}
    grad = gradient(losses.Contrastive(), "preds", **equal)
    np.testing.assert_array_equal(grad, np.zeros((5, 4)))


def test_the_triplet_loss_agrees_with_optax():
    optax = pytest.importorskip("optax", reason="the independent reference")
    got = values(losses.Triplet(margin=1.5), anchors=A, positives=B, negatives=C)
    expected = optax.losses.triplet_margin_loss(A, B, C, margin=1.5, eps=0.0)
    np.testing.assert_allclose(got[:, 0], expected, rtol=1e-5, atol=1e-6)


def test_the_triplet_loss_of_a_hand_worked_example():
    zero = np.zeros((1, 2), np.float32)
    near, far = np.float32([[3, 4]]), np.float32([[0, 5.5]])
    got = value(losses.Triplet(), anchors=zero, positives=near, negatives=far)
    assert got == 0.5


def test_hinge_agrees_with_its_definition():
    y = (B > 0).astype(int)
    by_hand = np.maximum(0, 1 - A.astype(float) * (2 * y - 1))
    assert value(losses.Hinge(), logits=A, labels=y) == pytest.approx(
        by_hand.mean(), 1e-6
    )
    squared = value(losses.Hinge(squared=True), logits=A, labels=y == 1)
    assert squared == pytest.approx((by_hand**2).mean(), rel=1e-6)


@pytest.mark.parametrize("wrong", [-1, 2, 0.5])
def test_labels_of_yes_and_no_are_0_and_1(wrong):
    labels = np.array([1, 0, wrong, 1, 0])
    hinge, pairs = losses.Hinge(), losses.Contrastive()
    with pytest.raises(ValueError, match=f"Hinge: a label.*\n  got {wrong}\n"):
        hinge(logits=A[:, 0], labels=labels)
    with pytest.raises(ValueError, match="Contrastive: a label is neither 0 nor 1"):
        pairs(preds=A, targets=B, labels=labels)
    for got in (
        values(hinge, logits=A[:, 0], labels=labels),
        values(pairs, preds=A, targets=B, labels=labels)[:, 0],
    ):
        np.testing.assert_array_equal(np.isnan(got), [0, 0, 1, 0, 0])
    # What the mask drops may be anything.
    mask = np.array([1, 1, 0, 1, 1])
    assert np.isfinite(hinge(logits=A[:, 0], labels=labels, mask=mask))


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("NegativeCosineSimilarity", "eps"),
        ("InfoNCE", "temperature"),
        ("Contrastive", "margin"),
        ("Triplet", "margin"),
        ("Hinge", "margin"),
    ],
)
def test_what_must_be_above_zero_is_checked(name, option):
    with pytest.raises(ValueError, match=f"{name}: {option} must be above 0"):
        getattr(losses, name)(**{option: 0})


def test_a_row_of_weight_0_stays_a_candidate_of_infonce_without_its_nan():
    one = np.float32(np.random.default_rng(4).normal(size=(3, 4)))
    two = one[::-1].copy()
    metric, weights = losses.InfoNCE(), np.float32([1, 2, 0])
    rows = jax.jit(metric.get_values)(preds=one, targets=two)[:, 0]

    @jax.jit
    @jax.value_and_grad
    def value(x, two):
        state = metric.get_state(preds=x, targets=two, sample_weight=weights)
        return state.compute()

    got, _ = value(one, two)
    assert got == pytest.approx(float((rows * weights).sum()) / 3, rel=1e-6)
    two[2, 0] = np.nan
    got, grad = value(one, two)
    assert np.isfinite(got) and np.isfinite(grad).all()
