import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kmetrics.calibration import Brier, CalibrationError, LogLoss, Perplexity

LOGITS = np.float32(
    [
        [2, 1, 0.1],
        [0.5, 2.5, 0],
        [1.2, 0.3, 3.1],
        [0.2, 0.1, 0.4],
        [1, 1.5, 0.5],
        [3, 0, 1],
    ]
)
LABELS = np.array([0, 1, 2, 1, 0, 2])
WEIGHTS = np.float32([1, 0.5, 2, 1, 0, 1.5])
PROBS = np.float32([0.1, 0.4, 0.35, 0.8, 0.65, 0.9, 0.5, 0.5])
ANSWERS = np.array([0, 0, 1, 1, 0, 1, 1, 0])


def d1(metric, **inputs):
    return metric(logits=LOGITS, labels=LABELS, **inputs)


def d2(metric):
    return metric(probs=PROBS, labels=ANSWERS)


def test_log_loss_and_perplexity_of_the_examples():
    assert d1(LogLoss()) == pytest.approx(0.8991073558, rel=1e-6)
    assert d1(LogLoss(), mask=WEIGHTS) == pytest.approx(0.8986439494, rel=1e-6)
    assert d1(Perplexity()) == pytest.approx(2.4574085405, rel=1e-6)
    assert d2(LogLoss()) == pytest.approx(0.5538286021, rel=1e-6)
    logits = np.log(PROBS / (1 - PROBS))
    binary = LogLoss()(logits=logits, labels=ANSWERS)
    assert binary == pytest.approx(0.5538286021, rel=1e-5)


def test_perplexity_weighs_tokens_and_may_overflow():
    metric = Perplexity(ignore_index=-1)
    tokens = np.array([[0, 1, -1], [2, -1, -1]])
    logits = np.arange(18, dtype=np.float32).reshape(2, 3, 3) % 5
    whole = metric(logits=logits, labels=tokens)
    parts = [
        metric.get_state(logits=x, labels=y)
        for x, y in zip(logits, tokens, strict=True)
    ]
    assert (parts[0] | parts[1]).compute() == pytest.approx(whole)
    log_probs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    kept = [log_probs[0, 0, 0], log_probs[0, 1, 1], log_probs[1, 0, 2]]
    assert whole == pytest.approx(np.exp(-np.mean(kept)), rel=1e-6)
    assert Perplexity()(probs=np.float32([[1, 0]]), labels=np.array([1])) == np.inf
    assert np.isnan(Perplexity().empty().compute())


def test_brier_of_the_examples():
    assert d1(Brier()) == pytest.approx(0.5518432442, rel=1e-6)
    assert d2(Brier()) == pytest.approx(0.195625, rel=1e-6)


@pytest.mark.spec("kmetrics-45")
def test_calibration_error_of_the_examples_and_at_the_ends():
    for bins in (10, 15):
        assert d1(CalibrationError(bins=bins)) == pytest.approx(0.2882607594, rel=1e-6)
        worst = d1(CalibrationError(bins=bins, norm="max"))
        assert worst == pytest.approx(0.5064803911, rel=1e-6)
    for bins, mean, worst in ((3, 0.1, 0.15), (7, 0.1625, 0.65)):
        assert d2(CalibrationError(bins=bins)) == pytest.approx(mean, rel=1e-6)
        got = d2(CalibrationError(bins=bins, norm="max"))
        assert got == pytest.approx(worst, rel=1e-6)
    ends = CalibrationError(bins=4).get_state(
        probs=np.float32([0, 1, 0.25, 0.5]), labels=np.array([0, 1, 1, 1])
    )
    assert ends.plain().weight.tolist() == [2, 1, 0, 1]
    assert ends.compute() == pytest.approx((0.75 + 0.5) / 4)


def test_masked_examples_do_not_count_and_half_precision_is_widened():
    bad, mask = LOGITS.copy(), np.array([True] * 5 + [False])
    bad[5] = np.nan
    for metric in (LogLoss(), Perplexity(), Brier(), CalibrationError()):
        got = metric(logits=bad, labels=LABELS, mask=mask)
        short = metric(logits=LOGITS[:5], labels=LABELS[:5])
        assert got == pytest.approx(short, rel=1e-6)
        half = metric(logits=jnp.asarray(LOGITS, jnp.bfloat16), labels=LABELS[:, None])
        assert half == pytest.approx(d1(metric), rel=0.02)
        assert np.isnan(d1(metric, mask=np.zeros(6)))


def test_a_label_that_is_no_class_is_refused_and_nan_under_jit():
    whole = np.float32(LABELS)
    two = {"probs": PROBS, "labels": 2 * ANSWERS}
    half = {"probs": PROBS, "labels": ANSWERS / 2}
    mass = CalibrationError(strategy="mass")
    for metric in (LogLoss(), Perplexity(), Brier(), CalibrationError(), mass):
        name = type(metric).__name__
        # NaN, and not inf as where a probability is 0.
        traced = jax.jit(
            lambda labels, of=metric: of.get_state(logits=LOGITS, labels=labels)
        )
        for number in (3, -1):
            wrong = np.where(np.arange(6) == 1, number, LABELS)
            with pytest.raises(
                ValueError, match=f"{name}: a label is no class\n.*{number}"
            ):
                metric(logits=LOGITS, labels=wrong)
            assert np.isnan(traced(wrong).compute())
            assert metric.replace(ignore_index=number)(logits=LOGITS, labels=wrong) >= 0
        with pytest.raises(ValueError, match=r"got 2, expected 0 to 1"):
            metric(**two)
        with pytest.raises(ValueError, match=r"got 0.5, expected 0 to 1"):
            metric(**half, mask=ANSWERS)
        assert metric(**half, mask=1 - ANSWERS) >= 0
        assert metric(logits=LOGITS, labels=whole) == d1(metric)


def test_options_that_do_not_fit():
    with pytest.raises(ValueError, match="got neither"):
        LogLoss()(labels=LABELS)
    with pytest.raises(ValueError, match=r"Brier: the labels do not fit"):
        Brier()(logits=LOGITS, labels=LABELS[:3])
    with pytest.raises(ValueError, match="norm='l1' is not known"):
        CalibrationError(norm="l1")


def test_bins_of_equal_mass():
    # By hand, two bins of four. Below: .1 .35 .4 .5 .5 -- the two .5 go together, their
    # middle lies at 4/8, in the upper bin: .1 .35 .4 below, and 1 of 3 right.
    metric = CalibrationError(bins=2, strategy="mass")
    below = abs(0.1 + 0.35 + 0.4 - 1)
    above = abs(0.5 + 0.5 + 0.65 + 0.8 + 0.9 - 3)
    assert d2(metric) == pytest.approx((below + above) / 8, rel=1e-6)
    worst = d2(metric.replace(norm="max"))
    assert worst == pytest.approx(max(below / 3, above / 5), rel=1e-6)
    # As many bins as confidences: each is a bin of its own.
    each = CalibrationError(bins=6, strategy="mass")
    alone = np.float32([0.9, 0.1, 0.5, 0.3, 0.7, 0.6])
    answers = np.array([1, 0, 1, 0, 0, 1])
    got = each(probs=alone, labels=answers)
    assert got == pytest.approx(np.abs(alone - answers).mean(), rel=1e-6)


def test_bins_of_equal_mass_do_not_depend_on_order_and_weigh():
    metric = CalibrationError(bins=3, strategy="mass")
    doubled = np.repeat(np.arange(8), 2)
    twice = metric(probs=PROBS[doubled], labels=ANSWERS[doubled])
    assert d2(metric) == pytest.approx(twice, rel=1e-6)
    assert d1(metric, mask=2 * WEIGHTS) == pytest.approx(d1(metric, mask=WEIGHTS))
    order = np.argsort(-PROBS)
    again = metric(probs=PROBS[order], labels=ANSWERS[order])
    assert again == pytest.approx(d2(metric), rel=1e-6)
    assert np.isnan(metric.empty().compute())
    assert np.isnan(metric(probs=PROBS * np.nan, labels=ANSWERS))
    with pytest.raises(ValueError, match="strategy='kmeans' is not known"):
        CalibrationError(strategy="kmeans")
