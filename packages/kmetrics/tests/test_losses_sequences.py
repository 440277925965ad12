import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kmetrics import losses

RNG = np.random.default_rng(0)
LOGITS = RNG.normal(size=(3, 4, 3)).astype(np.float32)
LABELS = np.array([[1, 1, 0], [2, 1, 2], [1, 0, 0]])
COUNTS = np.array([[1, 1, 0], [1, 1, 1], [1, 0, 0]])
FRAMES = np.array([[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 0]])


@jax.jit
def values_and_gradient(logits, labels, frames, counts):
    def total(z):
        inputs = {"labels": labels, "logit_mask": frames, "label_mask": counts}
        values = losses.CTC(zero_infinity=True).get_values(logits=z, **inputs)[:, 0]
        infinite = losses.CTC().get_values(logits=z, **inputs)[:, 0]
        return values.sum(), infinite

    (_, values), grad = jax.value_and_grad(total, has_aux=True)(logits)
    return values, grad


def spelling(path):
    """What the frames say: equal neighbours are one, 0 is left out."""
    return tuple(k for k, _ in itertools.groupby(path) if k != 0)


@pytest.mark.slow
def test_ctc_is_the_sum_over_all_alignments():
    p = np.exp(LOGITS.astype(float))
    p /= p.sum(-1, keepdims=True)
    got, _ = values_and_gradient(LOGITS, LABELS, FRAMES, COUNTS)
    for i in range(3):
        frames = FRAMES[i].sum()
        total = sum(
            np.prod([p[i, t, k] for t, k in enumerate(path)])
            for path in itertools.product(range(3), repeat=frames)
            if spelling(path) == tuple(LABELS[i][: COUNTS[i].sum()])
        )
        assert got[i] == pytest.approx(-np.log(total), rel=1e-5)
    nothing, _ = values_and_gradient(LOGITS, LABELS, FRAMES, 0 * COUNTS)
    blanks = (np.log(p[..., 0]) * FRAMES).sum(axis=-1)
    np.testing.assert_allclose(nothing, -blanks, rtol=1e-5)


@pytest.mark.slow
def test_ctc_and_its_gradient_agree_with_optax():
    optax = pytest.importorskip("optax", reason="the independent reference")

    def total(z):
        values = optax.ctc_loss(z, 1.0 - FRAMES, LABELS, 1.0 - COUNTS)
        return values.sum(), values

    (_, expected), other = jax.jit(jax.value_and_grad(total, has_aux=True))(LOGITS)
    got, grad = values_and_gradient(LOGITS, LABELS, FRAMES, COUNTS)
    np.testing.assert_allclose(got, expected, rtol=1e-5)
    np.testing.assert_allclose(grad, other, atol=1e-5)


@pytest.mark.slow
def test_labels_that_the_frames_are_too_few_for():
    # Three equal labels need two blanks between them: five frames.
    labels = np.array([[1, 1, 1], [2, 1, 2], [2, 1, 1]])
    all_count = np.ones_like(COUNTS)
    values, grad = values_and_gradient(LOGITS, labels, FRAMES, all_count)
    np.testing.assert_array_equal(np.isinf(values), [True, False, True])
    assert np.isfinite(grad).all() and (grad[0] == 0).all() and (grad[1] != 0).any()


@pytest.mark.parametrize("wrong", [0, 3, -1])
def test_a_label_that_is_no_class_or_the_blank_is_refused(wrong):
    labels = np.array([[1, 1, 2], [2, wrong, 2], [2, 1, 1]])
    with pytest.raises(ValueError, match=f"got {wrong}, expected 0 to 2 without 0"):
        losses.CTC()(logits=LOGITS, labels=labels)
    values, _ = values_and_gradient(LOGITS, labels, FRAMES, np.ones_like(COUNTS))
    assert np.isnan(values[1]) and np.isinf(values[2])


def test_labels_that_do_not_count_stand_at_the_end():
    counts = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 0]])
    with pytest.raises(ValueError, match="label_mask leaves out a label before one"):
        losses.CTC()(logits=LOGITS, labels=LABELS, label_mask=counts)
    values, _ = values_and_gradient(LOGITS, LABELS, FRAMES, counts)
    np.testing.assert_array_equal(np.isnan(values), [False, True, False])


@pytest.mark.slow
def test_a_masked_sequence_does_not_count():
    state = jax.jit(losses.CTC().get_state)(
        logits=jnp.asarray(LOGITS).at[1].set(jnp.nan),
        labels=LABELS,
        logit_mask=FRAMES,
        label_mask=COUNTS,
        mask=np.array([1, 0, 1]),
    )
    values, _ = values_and_gradient(LOGITS, LABELS, FRAMES, COUNTS)
    assert state.compute() == pytest.approx(float(values[0] + values[2]) / 2, rel=1e-5)


def test_frames_that_do_not_count_have_no_gradient_whatever_they_are():
    logits = np.float32(np.random.default_rng(8).normal(size=(1, 4, 3)))
    logits[0, 3] = np.nan
    inputs = {"labels": np.array([[1, 2]]), "logit_mask": np.array([[1, 1, 1, 0]])}

    @jax.jit
    @jax.value_and_grad
    def value(logits):
        return losses.CTC().get_state(logits=logits, **inputs).compute()

    short = losses.CTC()(logits=logits[:, :3], labels=inputs["labels"])
    got, gradient = map(np.asarray, value(logits))
    assert got == pytest.approx(short, rel=1e-6)
    assert np.isfinite(gradient).all() and not gradient[0, 3].any()


def test_a_sequence_of_weight_0_counts_as_loss_0():
    inputs = {"logits": np.zeros((2, 4, 3), np.float32)}
    labels = np.array([[1, 2], [1, 1]])
    alone = losses.CTC()(logits=inputs["logits"][:1], labels=labels[:1])
    got = losses.CTC()(**inputs, labels=labels, sample_weight=np.float32([1, 0]))
    assert got == pytest.approx(alone / 2, rel=1e-6)


def test_a_blank_that_is_no_class_is_refused():
    with pytest.raises(ValueError, match="blank must be 0 or more"):
        losses.CTC(blank=-1)
    with pytest.raises(ValueError, match="got blank=3, expected 0 to 2"):
        losses.CTC(blank=3)(
            logits=np.zeros((1, 4, 3), np.float32), labels=np.array([[1, 2]])
        )
