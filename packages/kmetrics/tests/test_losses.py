import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kmetrics import MeanAbsoluteError, losses

LOGITS = np.array(
    [
        [2.0, 1.0, 0.1],
        [0.5, 2.5, 0.0],
        [1.2, 0.3, 3.1],
        [0.2, 0.1, 0.4],
        [1.0, 1.5, 0.5],
        [3.0, 0.0, 1.0],
    ],
    np.float32,
)
LABELS = np.array([0, 1, 2, 1, 0, 2])
# Computed with numpy in float64, by hand-written definition.
CE = [0.417030016, 0.196734097, 0.190933271, 1.239831061, 1.180269671, 2.169846020]
PREDS = np.array([2.5, 0.0, 2.0, 8.0], np.float32)
TARGETS = np.array([3.0, -0.5, 2.0, 7.0], np.float32)
ONE_HOT = np.eye(3, dtype=np.float32)[LABELS]
WITH_INTS = losses.SoftmaxCrossEntropyWithIntLabels()


def test_differences_agree_with_hand_worked_numbers():
    both = dict(preds=PREDS, targets=TARGETS)  # differences -.5 .5 0 1
    assert losses.L1()(**both) == 0.5
    assert losses.L2()(**both) == 0.375
    assert losses.Huber()(**both) == 0.1875
    assert losses.LogCosh()(**both) == pytest.approx(0.1685024611, rel=1e-6)


@pytest.mark.spec("kmetrics-26")
def test_huber_bends_at_delta():
    d = jnp.array([0.5, 1.0, 3.0])
    values = losses.Huber(delta=2).get_values(preds=d, targets=jnp.zeros(3))
    np.testing.assert_array_equal(values, [0.125, 0.5, 4.0])
    edge = losses.Huber(delta=2).get_values(
        preds=jnp.array([2.0]), targets=jnp.zeros(1)
    )
    assert edge == 2.0
    with pytest.raises(ValueError, match="above 0"):
        losses.Huber(delta=0)


@given(st.floats(-200, 200, width=32))
@settings(deadline=None, max_examples=60)
def test_log_cosh_keeps_its_digits_near_and_far(d):
    exact = (
        np.logaddexp(d, -d) - np.log(2)
        if abs(d) > 1
        else np.log1p(2 * np.sinh(d / 2) ** 2)
    )
    got = losses.LogCosh().get_values(
        preds=jnp.array([d], jnp.float32), targets=jnp.zeros(1)
    )
    assert float(got[0]) == pytest.approx(exact, rel=1e-6, abs=1e-37)


def test_the_gradient_of_log_cosh_is_tanh():
    d = jnp.array([-100.0, -1.9, 0.0, 1e-3, 2.1, 50.0])
    value = losses.LogCosh().get_values
    grad = jax.jit(jax.grad(lambda p: value(preds=p, targets=jnp.zeros(6)).sum()))(d)
    np.testing.assert_allclose(grad, np.tanh(d.astype(float)), rtol=1e-5)


@pytest.mark.parametrize("name", ["L1", "L2", "Huber", "LogCosh"])
def test_shapes_must_match_nothing_is_broadcast(name):
    loss = getattr(losses, name)()
    with pytest.raises(TypeError, match="targets"):
        loss(preds=jnp.ones((4, 3)), targets=jnp.ones((4, 1)))


@pytest.mark.case("083")
def test_unsigned_integers_do_not_wrap_around():
    zero, sixteen = np.zeros(1, np.uint8), np.full(1, 16, np.uint8)
    assert losses.L2()(preds=zero, targets=sixteen) == 256
    assert losses.L1()(preds=zero, targets=sixteen) == 16


def test_cross_entropy_with_int_labels_agrees_per_example():
    values = WITH_INTS.get_values(logits=LOGITS, labels=LABELS[:, None])
    assert values.shape == (6, 1)
    np.testing.assert_allclose(values[:, 0], CE, rtol=1e-6)
    for labels in (LABELS, LABELS[:, None]):
        got = WITH_INTS(logits=LOGITS, labels=labels)
        assert got == pytest.approx(0.8991073558, rel=1e-6)


def test_a_mask_weighs_examples():
    weights = np.array([1, 0.5, 2, 1, 0, 1.5], np.float32)
    got = WITH_INTS(logits=LOGITS, labels=LABELS, mask=weights)
    assert got == pytest.approx(0.8986439494, rel=1e-6)


@pytest.mark.spec("kmetrics-24")
def test_label_smoothing_agrees_for_both_kinds_of_labels():
    ints = losses.SoftmaxCrossEntropyWithIntLabels(label_smoothing=0.1)
    soft = losses.SoftmaxCrossEntropy(label_smoothing=0.1)
    expected = pytest.approx(0.9585518003, rel=1e-6)
    assert ints(logits=LOGITS, labels=LABELS) == expected
    assert soft(logits=LOGITS, labels=ONE_HOT) == expected
    with pytest.raises(ValueError, match=r"in \[0, 1\)"):
        losses.SoftmaxCrossEntropy(label_smoothing=1.0)


def test_soft_labels_agree_with_a_direct_sum():
    labels = np.array([[0.2, 0.3, 0.5]] * 6, np.float32)
    z = LOGITS.astype(float)
    log_p = z - np.log(np.exp(z).sum(-1, keepdims=True))
    got = losses.SoftmaxCrossEntropy()(logits=LOGITS, labels=labels)
    assert got == pytest.approx(-(labels * log_p).sum(-1).mean(), rel=1e-6)


def test_z_loss_adds_the_square_of_the_log_normaliser():
    z = LOGITS.astype(float)
    extra = 0.01 * np.mean(np.log(np.exp(z).sum(-1)) ** 2)
    for loss, labels in (
        (losses.SoftmaxCrossEntropyWithIntLabels(z_loss=0.01), LABELS),
        (losses.SoftmaxCrossEntropy(z_loss=0.01), ONE_HOT),
    ):
        got = loss(logits=LOGITS, labels=labels)
        assert got == pytest.approx(0.8991073558 + extra, rel=1e-6)


@pytest.mark.spec("kmetrics-21")
@pytest.mark.parametrize("wrong", [-1, 3])
def test_a_label_that_is_no_class_is_never_a_class(wrong):
    labels = np.array([0, 1, 2, 1, 0, wrong])
    with pytest.raises(ValueError, match=f"got {wrong}, expected 0 to 2"):
        WITH_INTS(logits=LOGITS, labels=labels)
    state = jax.jit(lambda y: WITH_INTS.get_state(logits=LOGITS, labels=y))(labels)
    assert np.isnan(state.compute())
    # Under a mask it is nobody's business.
    mask = np.arange(6) < 5
    got = WITH_INTS(logits=LOGITS, labels=labels, mask=mask)
    assert got == pytest.approx(np.mean(CE[:5]), rel=1e-6)


@pytest.mark.spec("kmetrics-22")
@pytest.mark.parametrize("shape", [(6,), (6, 1)])
def test_ignored_labels_leave_the_mass(shape):
    loss = losses.SoftmaxCrossEntropyWithIntLabels(ignore_index=-1)
    labels = np.array([0, 1, 2, 1, -1, -1])
    expected = pytest.approx(np.mean(CE[:4]), rel=1e-6)
    assert loss(logits=LOGITS, labels=labels.reshape(shape)) == expected
    none = loss.get_state(logits=LOGITS, labels=np.full(6, -1))
    assert (none.compute(), none.count.numpy()) == (0.0, 0.0)


@pytest.mark.spec("kmetrics-23")
@pytest.mark.case("085")
def test_an_impossible_class_with_probability_zero_costs_nothing():
    logits, labels = jnp.array([[-jnp.inf, 0.0]]), jnp.array([[0.0, 1.0]])
    soft = losses.SoftmaxCrossEntropy()
    assert soft(logits=logits, labels=labels) == 0.0
    grad = jax.grad(lambda z: soft.get_state(logits=z, labels=labels).compute())(logits)
    np.testing.assert_array_equal(grad, [[0, 0]])
    ints = WITH_INTS(logits=logits, labels=np.array([1]))
    assert ints == 0.0


def test_binary_cross_entropy_does_not_overflow():
    loss = losses.SigmoidBinaryCrossEntropy()
    z = jnp.array([[0.0], [2.0], [-200.0], [-jnp.inf]])
    y = jnp.array([[1.0], [1.0], [1.0], [0.0]])
    values = loss.get_values(logits=z, labels=y)[:, 0]
    np.testing.assert_allclose(values, [0.6931471806, 0.1269280110, 200, 0], rtol=1e-6)
    grad = jax.grad(lambda z: loss.get_values(logits=z, labels=y).sum())(z)
    np.testing.assert_allclose(grad[:, 0], [-0.5, -0.1192029220, -1, 0], rtol=1e-6)


def test_binary_cross_entropy_weighs_and_smooths():
    z, y = np.array([[0.3, -1.2]], np.float32), np.array([[1, 0]])
    p = 1 / (1 + np.exp(-z.astype(float)))
    target = y * 0.8 + 0.1
    expected = -3 * target * np.log(p) - (1 - target) * np.log(1 - p)
    loss = losses.SigmoidBinaryCrossEntropy(pos_weight=3.0, label_smoothing=0.2)
    assert loss(logits=z, labels=y) == pytest.approx(expected.mean(), rel=1e-6)
    assert loss(logits=z, labels=y.astype(bool)) == pytest.approx(expected.mean())


@pytest.mark.parametrize("name", ["SigmoidBinaryCrossEntropy", "SigmoidFocal"])
def test_whole_labels_of_a_sigmoid_are_0_and_1_others_are_taken_as_they_are(name):
    loss = getattr(losses, name)()
    inputs = {"logits": np.array([[0.3, -1.2]], np.float32)}
    with pytest.raises(ValueError, match=f"{name}: a label is neither.*\n  got 255"):
        loss(**inputs, labels=np.array([[0, 255]]))
    values = jax.jit(loss.get_values)(**inputs, labels=np.array([[1, 255]]))
    np.testing.assert_array_equal(np.isnan(values), [[False, True]])
    # The sum of two shares, as of mixed examples, is rarely 1 to the last digit.
    assert np.isfinite(loss(**inputs, labels=np.float32([[0.3, 1.0000001]])))


def test_shapes_that_do_not_fit_are_an_error_of_ktyping():
    with pytest.raises(TypeError, match="labels"):
        WITH_INTS(logits=LOGITS, labels=LABELS[:3])
    with pytest.raises(TypeError, match="labels"):
        losses.SoftmaxCrossEntropy()(logits=LOGITS, labels=ONE_HOT[:, :2])


@pytest.mark.parametrize("normalize_by", ["mask", "batch"])
def test_class_weights_are_in_the_values_and_in_the_normaliser(normalize_by):
    weights = (1.0, 0.5, 3.0)
    own = np.array(weights)[LABELS]
    count = own.sum() if normalize_by == "mask" else 6
    options = {"class_weights": weights, "normalize_by": normalize_by}
    expected = pytest.approx((own * CE).sum() / count, rel=1e-6)
    ints = losses.SoftmaxCrossEntropyWithIntLabels(**options)
    assert ints(logits=LOGITS, labels=LABELS) == expected
    soft = losses.SoftmaxCrossEntropy(**options)
    assert soft(logits=LOGITS, labels=ONE_HOT) == expected
    smooth = {"label_smoothing": 0.1, **options}
    one = losses.SoftmaxCrossEntropyWithIntLabels(**smooth)(
        logits=LOGITS, labels=LABELS
    )
    two = losses.SoftmaxCrossEntropy(**smooth)(logits=LOGITS, labels=ONE_HOT)
    log_p = LOGITS - np.log(np.exp(LOGITS.astype(float)).sum(-1, keepdims=True))
    terms = -log_p * np.array(weights)
    by_hand = 0.9 * own * CE + 0.1 * terms.mean(-1)
    assert one == pytest.approx(by_hand.sum() / count, rel=1e-6)
    assert two == pytest.approx(one, rel=1e-6)


def test_class_weights_leave_with_ignored_and_masked_labels():
    loss = losses.SoftmaxCrossEntropyWithIntLabels(
        class_weights=[1, 0.5, 3], ignore_index=-1
    )
    labels = np.array([0, 1, 2, -1, -1, 7])
    got = loss(logits=LOGITS, labels=labels, mask=np.arange(6) < 5)
    own = np.array([1, 0.5, 3])
    assert got == pytest.approx((own * CE[:3]).sum() / own.sum(), rel=1e-6)
    with pytest.raises(ValueError, match="3 weights, 2 classes"):
        loss(logits=LOGITS[:, :2], labels=LABELS % 2)
    with pytest.raises(ValueError, match="class_weights must be 0 or more"):
        losses.SoftmaxCrossEntropy(class_weights=[1, -1])


def test_the_softmax_focal_loss_of_the_example():
    focal = losses.SoftmaxFocal()
    expected = pytest.approx(0.4926009271, rel=1e-6)
    assert focal(logits=LOGITS, labels=LABELS) == expected
    plain = losses.SoftmaxFocal(gamma=0)(logits=LOGITS, labels=LABELS)
    assert plain == pytest.approx(0.8991073558, rel=1e-6)
    # A probability of 1 has a gradient of 0, for every gamma.
    for gamma in (0.5, 2):
        loss = losses.SoftmaxFocal(gamma=gamma)
        grad = jax.grad(
            lambda z, loss=loss: loss.get_values(logits=z, labels=np.full(6, 2)).sum()
        )(jnp.array([[0.0, -200, 200]] * 6))
        np.testing.assert_array_equal(grad, np.zeros((6, 3)))
    with pytest.raises(ValueError, match="got 9, expected 0 to 2"):
        focal(logits=LOGITS, labels=np.full(6, 9))
    with pytest.raises(ValueError, match="gamma must be 0 or more"):
        losses.SoftmaxFocal(gamma=-1)


def test_the_sigmoid_focal_loss_of_the_example():
    z, y = np.float32([2, -1, 0.5]), np.array([1, 0, 0])
    got = losses.SigmoidFocal()(logits=z, labels=y)
    assert got == pytest.approx(0.0669788702, rel=1e-6)
    unweighted = losses.SigmoidFocal(alpha=-1)(logits=z, labels=y)
    assert unweighted == pytest.approx(2 * 0.0669788702, rel=1e-6)
    p = 1 / (1 + np.exp(-z.astype(float)))
    own = np.where(y == 1, p, 1 - p)
    by_hand = np.where(y == 1, 0.25, 0.75) * (1 - own) ** 1.5 * -np.log(own)
    got = losses.SigmoidFocal(alpha=0.25, gamma=1.5).get_values(logits=z, labels=y)
    np.testing.assert_allclose(got, by_hand, rtol=1e-6)
    far = losses.SigmoidFocal(gamma=0.5)
    value, grad = jax.value_and_grad(
        lambda z: far.get_values(logits=z, labels=y).sum()
    )(jnp.array([200.0, -200, -200]))
    assert value == 0
    np.testing.assert_array_equal(grad, np.zeros(3))
    with pytest.raises(ValueError, match="alpha must be in"):
        losses.SigmoidFocal(alpha=2)


@pytest.mark.case("088")
@pytest.mark.case("089")
def test_a_loss_and_a_metric_of_one_name_agree_under_mask_and_weights():
    pair = {"preds": np.float32([1, 0, 1]), "targets": np.float32([0, 1, 1])}
    masked = {**pair, "mask": np.array([1, 0, 1])}
    assert losses.L1()(**masked) == MeanAbsoluteError()(**masked) == 0.5
    weighted = {**pair, "mask": np.float32([1, 3, 0.5])}
    assert losses.L1()(**weighted) == MeanAbsoluteError()(**weighted) == 4 / 4.5
