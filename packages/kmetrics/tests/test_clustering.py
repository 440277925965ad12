import jax
import numpy as np
import pytest

import kmetrics
from kmetrics import Ari, Nmi, VMeasure

SIZES = {"num_clusters": 4, "num_classes": 3}
ONE = np.array([0, 0, 1, 1, 2, 2])
TWO = np.array([0, 0, 1, 2, 2, 2])
RNG = np.random.default_rng(0)
PREDS, TARGETS = RNG.integers(0, 4, (2, 40)), RNG.integers(0, 3, (2, 40))


@pytest.mark.spec("kmetrics-84")
def test_the_example_partitions():
    both = {"preds": TWO, "targets": ONE}
    assert Ari(**SIZES)(**both) == pytest.approx(0.4444444444, rel=1e-9)
    assert Nmi(**SIZES)(**both) == pytest.approx(0.7396673768, rel=1e-9)
    renamed = {"preds": np.array([3, 0, 1])[TWO], "targets": 2 - ONE}
    assert Ari(**SIZES)(**renamed) == Ari(**SIZES)(**both)


def test_they_agree_with_scikit_learn():
    sk = pytest.importorskip(
        "sklearn.metrics", reason="scikit-learn is the independent reference"
    )
    flat = TARGETS.ravel(), PREDS.ravel()
    both = {"preds": PREDS, "targets": TARGETS}
    assert Ari(**SIZES)(**both) == pytest.approx(sk.adjusted_rand_score(*flat))
    for average in ("arithmetic", "geometric", "min", "max"):
        expected = sk.normalized_mutual_info_score(*flat, average_method=average)
        assert Nmi(**SIZES, average=average)(**both) == pytest.approx(expected)
    for beta in (0.5, 2.0):
        expected = sk.v_measure_score(*flat, beta=beta)
        assert VMeasure(**SIZES, beta=beta)(**both) == pytest.approx(expected)


def test_an_image_may_have_partitions_of_its_own():
    sk = pytest.importorskip(
        "sklearn.metrics", reason="scikit-learn is the independent reference"
    )
    for metric, score in (
        (Ari, sk.adjusted_rand_score),
        (Nmi, sk.normalized_mutual_info_score),
        (VMeasure, sk.v_measure_score),
    ):
        own = metric(**SIZES, per_example=True, ignore_index=0)
        kept = [(t[t > 0], p[t > 0]) for t, p in zip(TARGETS, PREDS, strict=True)]
        got = own(preds=PREDS, targets=TARGETS)
        mean = np.mean([score(*pair) for pair in kept])
        assert got == pytest.approx(mean, abs=1e-6)
        second = own(preds=PREDS, targets=TARGETS, mask=np.array([False, True]))
        assert second == pytest.approx(score(*kept[1]), abs=1e-6)


def test_one_cluster_of_one_class_is_perfect_and_of_two_is_worth_nothing():
    zeros = np.zeros(6, int)
    for metric in (Ari(**SIZES), Nmi(**SIZES), VMeasure(**SIZES)):
        assert metric(preds=zeros, targets=zeros) == 1
        assert metric(preds=zeros, targets=ONE) == 0
        assert metric(preds=ONE, targets=ONE) == pytest.approx(1)
        assert np.isnan(metric.empty().compute())
        assert np.isnan(metric(preds=ONE, targets=ONE, mask=zeros))


def test_numbers_that_are_no_cluster_or_no_class_are_refused():
    with pytest.raises(ValueError, match="Ari: a number is no cluster\n  got 4, exp"):
        Ari(**SIZES)(preds=ONE + 2, targets=ONE)
    with pytest.raises(ValueError, match="Nmi: a number is no class\n  got 3, exp"):
        Nmi(**SIZES)(preds=ONE, targets=ONE + 1)
    kept = Ari(**SIZES)(preds=ONE + 2, targets=ONE, mask=ONE < 2)
    assert kept == 1
    for per_example in (False, True):
        metric = Ari(**SIZES, per_example=per_example)
        inputs = {"preds": (ONE + 2).reshape(2, 3), "targets": ONE.reshape(2, 3)}
        traced = jax.jit(metric.get_state)
        assert np.isnan(traced(**inputs).compute())
        # Left out, the others would be worth 1.
        keep = {"mask": inputs["targets"] < 2}
        assert traced(**inputs, **keep).compute() == metric(**inputs, **keep)
        with pytest.raises(
            ValueError, match="Ari: a number is no cluster\n  got 4, exp"
        ):
            metric(**inputs, mask=inputs["targets"] > 0)
    with pytest.raises(ValueError, match="must be 1 or more"):
        Ari(num_clusters=0, num_classes=2)
    with pytest.raises(ValueError, match="average='mean' is not known"):
        kmetrics.Nmi(**SIZES, average="mean")
    with pytest.raises(ValueError, match="beta must be above 0"):
        VMeasure(**SIZES, beta=0)
