import jax
import numpy as np
import pytest

import kmetrics
from kmetrics import confusion

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


def of(cls, labels, preds, **options):
    n = options.pop("num_classes", 3)
    metric = getattr(confusion, cls)(num_classes=n, **options)
    return metric(labels=np.array(labels), pred_labels=np.array(preds))


def d1(cls, **options):
    return getattr(confusion, cls)(**options)(labels=LABELS, logits=LOGITS)


@pytest.mark.spec("kmetrics-46")
def test_one_table_gives_all_values_of_the_example():
    table = d1("ConfusionMatrix")
    assert table.tolist() == [[1, 1, 0], [0, 1, 1], [1, 0, 1]]
    for cls in ("Precision", "Recall", "FBeta"):
        assert d1(cls) == d1(cls, average="micro") == pytest.approx(0.5)
    assert d1("BalancedAccuracy") == 0.5
    assert d1("MatthewsCorrelation") == pytest.approx(0.25)
    assert d1("CohenKappa") == pytest.approx(0.25)
    assert d1("CohenKappa", weights="quadratic") == pytest.approx(0.25)
    assert d1("MeanIoU") == pytest.approx(1 / 3)


@pytest.mark.spec("kmetrics-47")
@pytest.mark.parametrize(("missing", "expected"), [(0, 0.45), (1, 0.7), ("nan", 0.6)])
def test_an_absent_class_counts_as_asked(missing, expected):
    # F1 of the class 0: 4/5; of 1, never found: 0; of 2: 1; of 3, absent: 0 / 0.
    labels, preds = [0, 0, 1, 2, 2], [0, 0, 0, 2, 2]
    values = of("FBeta", labels, preds, num_classes=4, average="none")
    np.testing.assert_allclose(values, [0.8, 0, 1, np.nan])
    got = of("FBeta", labels, preds, num_classes=4, zero_division=missing)
    assert got == pytest.approx(expected)


@pytest.mark.parametrize("wrong", ["nans", 0.5, float("nan"), None])
def test_only_three_values_of_an_absent_class_are_known(wrong):
    message = rf"zero_division={wrong!r} is not known\nuse one of 0, 1, 'nan'"
    with pytest.raises(ValueError, match=message):
        kmetrics.Precision(zero_division=wrong)


@pytest.mark.case("079")
def test_an_ignored_class_leaves_the_macro_average():
    got = of("Recall", [0, 0, 1, 1], [0, 0, 0, 1], num_classes=2, ignore_index=0)
    assert got == 0.5


@pytest.mark.case("080")
def test_a_class_that_is_absent_on_both_sides_has_no_iou():
    assert of("MeanIoU", [0, 1, 0], [0, 1, 0]) == 1.0


@pytest.mark.case("094")
def test_the_value_of_an_absent_class_is_nan_and_skipped():
    values = of("Recall", [0, 1, 2], [0, 1, 1], num_classes=4, average="none")
    np.testing.assert_array_equal(values, [1, 1, 0, np.nan])
    assert of("Recall", [0, 1, 2], [0, 1, 1], num_classes=4) == pytest.approx(2 / 3)


def test_it_agrees_with_scikit_learn_on_random_data():
    sk = pytest.importorskip(
        "sklearn.metrics", reason="scikit-learn is the independent reference"
    )
    rng = np.random.default_rng(0)
    labels, preds = rng.integers(0, 4, 200), rng.integers(0, 4, 200)
    weights = rng.integers(0, 3, 200)

    def ours(cls, **options):
        metric = getattr(kmetrics.confusion, cls)(num_classes=4, **options)
        return metric(labels=labels, pred_labels=preds, mask=weights)

    given = {"sample_weight": weights}
    table = sk.confusion_matrix(labels, preds, **given)
    np.testing.assert_array_equal(ours("ConfusionMatrix"), table)
    for normalize in ("true", "pred", "all"):
        expected = sk.confusion_matrix(labels, preds, normalize=normalize, **given)
        got = ours("ConfusionMatrix", normalize=normalize)
        np.testing.assert_allclose(got, expected, rtol=1e-12)
    for average in ("micro", "macro", "weighted", None):
        for cls, function, options in (
            ("Precision", sk.precision_score, {}),
            ("Recall", sk.recall_score, {}),
            ("FBeta", sk.fbeta_score, {"beta": 2.0}),
            ("MeanIoU", sk.jaccard_score, {}),
        ):
            expected = function(labels, preds, average=average, **options, **given)
            got = ours(cls, average=average or "none", **options)
            np.testing.assert_allclose(got, expected, rtol=1e-12)
    mcc = sk.matthews_corrcoef(labels, preds, **given)
    assert ours("MatthewsCorrelation") == pytest.approx(mcc)
    for weighting in (None, "linear", "quadratic"):
        kappa = sk.cohen_kappa_score(labels, preds, weights=weighting, **given)
        assert ours("CohenKappa", weights=weighting) == pytest.approx(kappa)
    balanced = sk.balanced_accuracy_score(labels, preds, **given)
    assert ours("BalancedAccuracy") == pytest.approx(balanced)


def test_binary_scores_by_hand():
    scores = np.array([0.1, 0.4, 0.35, 0.8, 0.65, 0.9, 0.5, 0.5])
    labels = [0, 0, 1, 1, 0, 1, 1, 0]
    preds = (scores > 0.5).astype(int)
    f1 = of("FBeta", labels, preds, num_classes=2, average="none")[1]
    f2 = of("FBeta", labels, preds, num_classes=2, average="none", beta=2.0)[1]
    assert (f1, f2) == pytest.approx((0.5714285714, 0.5263157895))
    # Of 4 examples without the class, 3 are not taken for it.
    specificity = of("Specificity", labels, preds, num_classes=2, average="none")[1]
    assert specificity == 0.75


def test_without_data_or_with_bad_labels():
    metric = confusion.FBeta()
    nothing = metric.get_state(labels=LABELS, logits=LOGITS, mask=np.zeros(6))
    assert np.isnan(nothing.compute())
    assert (metric.empty() | nothing).counts.hi.shape == (3, 3)
    with pytest.raises(ValueError, match="FBeta: a label is no class\n  got 3"):
        metric(labels=LABELS + 1, logits=LOGITS)
    with pytest.raises(ValueError, match="give num_classes"):
        metric(labels=LABELS, pred_labels=LABELS)
    with pytest.raises(ValueError, match="num_classes=4"):
        metric.replace(num_classes=4)(labels=LABELS, logits=LOGITS)
    with pytest.raises(ValueError, match="got both"):
        metric(labels=LABELS, logits=LOGITS, pred_labels=LABELS)
    with pytest.raises(ValueError, match=r"labels \[4\]"):
        metric(labels=LABELS[:4], logits=LOGITS)
    with pytest.raises(ValueError, match="average='mean' is not known"):
        confusion.Recall(average="mean")


def test_what_is_no_class_is_refused_and_never_left_out_of_the_value():
    metric = confusion.Recall(num_classes=3, zero_division=0)
    preds = LOGITS.argmax(-1)
    wrong, missed = LABELS.copy(), preds.copy()
    wrong[0] = missed[0] = 255
    under_jit = jax.jit(metric.get_state)
    cases = (("a label", wrong, preds), ("a prediction", LABELS, missed))
    for what, labels, guesses in cases:
        inputs = {"labels": labels, "pred_labels": guesses}
        with pytest.raises(ValueError, match=f"Recall: {what} is no class\n  got 255"):
            metric(**inputs)
        with pytest.raises(ValueError, match=f"Recall: {what} is no class\n  got 255"):
            metric(**inputs, mask=np.arange(len(LABELS)) < 3)
        assert np.isnan(under_jit(**inputs).compute())
        rest = {"mask": np.arange(len(LABELS)) > 0}
        expected = metric(labels=LABELS, pred_labels=preds, **rest)
        assert metric(**inputs, **rest) == expected
        assert under_jit(**inputs, **rest).compute() == expected
    bad = LOGITS.copy()
    bad[0] = np.nan
    table = confusion.ConfusionMatrix()(labels=LABELS, logits=bad)
    assert np.isnan(table).all() and table.shape == (3, 3)
    values = confusion.Recall(average="none")(labels=LABELS, logits=bad)
    assert np.isnan(values).all() and values.shape == (3,)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16])
def test_classes_of_few_bits_do_not_wrap(dtype):
    labels = np.array([19, 18, 3, 3], dtype)
    preds = np.array([19, 17, 3, 2], dtype)
    expected = np.zeros((20, 20))
    np.add.at(expected, (labels.astype(int), preds.astype(int)), 1)
    table = confusion.ConfusionMatrix(num_classes=20)(labels=labels, pred_labels=preds)
    np.testing.assert_array_equal(table, expected)
    logits = np.eye(20, dtype=np.float32)[preds]
    table = confusion.ConfusionMatrix()(labels=labels, logits=logits)
    np.testing.assert_array_equal(table, expected)
    sizes = {"num_clusters": 20, "num_classes": 300}
    counts = kmetrics.Ari(**sizes).get_state(preds=preds, targets=labels).plain().counts
    np.testing.assert_array_equal(counts[:, :20], expected.T)
    many = np.zeros((4, 300), np.float32)
    loss = kmetrics.losses.SoftmaxCrossEntropyWithIntLabels()
    assert loss(logits=many, labels=labels) == pytest.approx(np.log(300), rel=1e-6)
    assert kmetrics.Accuracy()(logits=many, labels=labels) == 0.0
    image = labels.reshape(1, 2, 2)
    names = ("pred_classes", "pred_instances", "target_classes", "target_instances")
    quality = kmetrics.PanopticQuality(num_classes=20, average="none")
    values = quality(**dict.fromkeys(names, image))["pq"]
    assert np.flatnonzero(~np.isnan(values)).tolist() == [3, 18, 19]
