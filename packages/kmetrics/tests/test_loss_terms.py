import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kmetrics
from kmetrics import losses

PREDS = jnp.array([[1.0, 2.0], [3.0, 4.0]])
CONTEXT = {
    "preds": PREDS,
    "zero": jnp.zeros((2, 2)),
    "y": jnp.array([1, 0]),
    "w": jnp.ones(2),
    "step": 3,
}
TERMS = {
    "l2": losses.L2(preds="preds", targets="zero", weight=2.0),
    "more": {"l1": losses.L1(preds="preds", targets="zero", normalize_by="sum")},
}


def test_the_loss_of_each_example():
    total, values = jax.jit(lambda c: kmetrics.per_example_loss(TERMS, c))(CONTEXT)
    np.testing.assert_array_equal(values["l2"], [5, 25])
    np.testing.assert_array_equal(values["more/l1"], [3, 7])
    np.testing.assert_array_equal(total, [8, 32])


def test_masks_weights_and_schedules_hold_for_each_example():
    terms = {
        "rows": losses.L2(
            preds="preds", targets="zero", mask="m", weight=lambda step: step
        ),
        "all": losses.L2(
            preds="preds", targets="zero", mask="m", normalize_by="values"
        ),
        "off": losses.L2(preds="nan", targets="zero", weight=0),
        "classes": losses.SoftmaxCrossEntropyWithIntLabels(
            logits="preds", labels="y", class_weights=(5.0, 1.0)
        ),
    }
    context = {
        **CONTEXT,
        "m": jnp.array([[1, 0], [1, 1]]),
        "nan": PREDS * jnp.nan,
    }
    _, values = kmetrics.per_example_loss(terms, context)
    np.testing.assert_array_equal(values["rows"], [3 * 1, 3 * 12.5])
    np.testing.assert_array_equal(values["all"], [0.5, 12.5])
    np.testing.assert_array_equal(values["off"], [0, 0])
    # The weight of a class cancels in the mean of one example.
    entropy = np.log1p(np.exp([-1, 1]))
    np.testing.assert_allclose(values["classes"], entropy, rtol=1e-6)
    padded, _ = kmetrics.per_example_loss(TERMS, CONTEXT, mask=jnp.array([0, 1]))
    np.testing.assert_array_equal(padded, [0, 32])


def test_losses_without_an_example_axis_are_left_out_or_refused():
    decay = {"decay": losses.AbsoluteValue(values="w"), **TERMS}
    total, values = kmetrics.per_example_loss(
        decay, CONTEXT, example_roots={"preds", "zero"}
    )
    assert set(values) == {"l2", "more/l1"}
    np.testing.assert_array_equal(total, [8, 32])
    scalar = {"decay": losses.Value(values="step"), **TERMS}
    with pytest.raises(ValueError, match=r"decay \[\], l2 \[2\]"):
        kmetrics.per_example_loss(scalar, {**CONTEXT, "step": jnp.float32(1)})
    with pytest.raises(TypeError, match="'m' is not a Loss"):
        kmetrics.per_example_loss({"m": kmetrics.Mean()}, CONTEXT)


def test_the_first_loss_that_is_not_finite_is_named():
    off = losses.L2(preds="bad", targets="zero", weight=0)
    fine = {**TERMS, "off": off}
    context = {**CONTEXT, "bad": PREDS.at[0, 0].set(jnp.nan)}
    kmetrics.check_finite_losses(kmetrics.total_loss(fine, context)[1])
    bad = {**fine, "recon": off.replace(weight=1.0)}
    with pytest.raises(kmetrics.NonFiniteLossError) as error:
        kmetrics.check_finite_losses(kmetrics.total_loss(bad, context)[1])
    assert isinstance(error.value, FloatingPointError)
    assert str(error.value).splitlines()[:2] == [
        "the loss 'recon' is nan",
        "  recon nan, l2 15, more/l1 10, off 0",
    ]
