import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kmetrics
from kmetrics.curves import AveragePrecision, PrAuc, RocAuc

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
SCORES = np.float32([0.1, 0.4, 0.35, 0.8, 0.65, 0.9, 0.5, 0.5])
ANSWERS = np.array([0, 0, 1, 1, 0, 1, 1, 0])
WEIGHTS = np.float32([1, 2, 1, 1, 0.5, 1, 1, 2])


@pytest.mark.spec("kmetrics-37")
def test_the_area_of_the_example():
    assert RocAuc()(logits=SCORES, labels=ANSWERS) == 0.71875
    weighted = RocAuc()(logits=SCORES, labels=ANSWERS, mask=WEIGHTS)
    assert weighted == pytest.approx(0.7272727273)
    two = np.stack([np.zeros(8, np.float32), SCORES], -1)
    assert RocAuc()(logits=two, labels=ANSWERS) == 0.71875


@pytest.mark.spec("kmetrics-39")
def test_one_against_one_on_the_example():
    assert RocAuc(multi_class="ovo")(logits=LOGITS, labels=LABELS) == 0.75
    assert RocAuc()(logits=LOGITS, labels=LABELS) == 0.75
    with pytest.raises(ValueError, match="numbers of classes"):
        RocAuc(multi_class="ovo").get_state(logits=SCORES, labels=ANSWERS)


def test_average_precision_of_the_examples():
    assert AveragePrecision()(logits=SCORES, labels=ANSWERS) == pytest.approx(
        0.7928571429
    )
    weighted = AveragePrecision()(logits=SCORES, labels=ANSWERS, mask=WEIGHTS)
    assert weighted == pytest.approx(0.7540106952)
    scores = np.float32(
        [[0.9, 0.2, 0.6], [0.1, 0.8, 0.4], [0.7, 0.3, 0.5], [0.2, 0.9, 0.1]]
    )
    labels = np.array([[1, 0, 1], [0, 1, 1], [1, 0, 0], [0, 1, 0]])
    macro = AveragePrecision()(logits=scores, labels=labels)
    micro = AveragePrecision(average="micro")(logits=scores, labels=labels)
    assert (macro, micro) == pytest.approx((0.9444444444, 0.9761904762))


def test_the_area_with_straight_lines_of_the_example():
    area = PrAuc()(logits=SCORES, labels=ANSWERS)
    assert area == pytest.approx(0.7922619048)
    sk = pytest.importorskip(
        "sklearn.metrics", reason="scikit-learn is the independent reference"
    )
    precision, recall, _ = sk.precision_recall_curve(
        ANSWERS, SCORES, sample_weight=WEIGHTS
    )
    weighted = PrAuc()(logits=SCORES, labels=ANSWERS, mask=WEIGHTS)
    assert weighted == pytest.approx(sk.auc(recall, precision), rel=1e-6)


@pytest.mark.parametrize("metric", [AveragePrecision, PrAuc])
def test_a_class_that_no_example_is_of_is_left_out_or_zero(metric):
    scores = np.stack([SCORES, SCORES], axis=-1)
    answers = np.stack([ANSWERS, 0 * ANSWERS], axis=-1)
    one = metric()(logits=SCORES, labels=ANSWERS)
    assert metric()(logits=scores, labels=answers) == one
    halved = metric(absent="zero")(logits=scores, labels=answers)
    assert halved == pytest.approx(one / 2)
    each = metric(absent="zero", average="none")(logits=scores, labels=answers)
    np.testing.assert_array_equal(each, [one, 0])
    unknown = metric(absent="zero")(logits=SCORES * np.nan, labels=ANSWERS)
    assert np.isnan(unknown)
    with pytest.raises(ValueError, match="absent='skip' is not known"):
        metric(absent="skip")


@pytest.mark.spec("kmetrics-38")
def test_it_agrees_with_scikit_learn():
    sk = pytest.importorskip(
        "sklearn.metrics", reason="scikit-learn is the independent reference"
    )
    rng = np.random.default_rng(0)
    logits = rng.integers(-3, 4, (80, 4)).astype(np.float32)
    labels = rng.integers(0, 4, 80)
    exact = np.asarray(jax.nn.softmax(logits))
    for average in ("macro", "weighted"):
        expected = sk.roc_auc_score(labels, exact, multi_class="ovr", average=average)
        got = RocAuc(average=average)(logits=logits, labels=labels)
        assert got == pytest.approx(expected)
    expected = sk.roc_auc_score(labels, exact, multi_class="ovo")
    pairs = RocAuc(multi_class="ovo")(logits=logits, labels=labels)
    assert pairs == pytest.approx(expected)
    one_hot = np.eye(4)[labels]
    for ours, theirs in (
        (RocAuc, sk.roc_auc_score),
        (AveragePrecision, sk.average_precision_score),
    ):
        for average in ("macro", "weighted", "micro"):
            got = ours(average=average)(logits=logits, labels=labels)
            assert got == pytest.approx(theirs(one_hot, exact, average=average))


@pytest.mark.spec("kmetrics-40", "kmetrics-41")
def test_merged_states_compute_at_once_for_any_batch_axes_and_dtype():
    rng = np.random.default_rng(1)
    logits = jnp.asarray(rng.normal(size=(20, 10, 3)), jnp.bfloat16)
    labels = rng.integers(0, 3, (20, 10))
    metric = RocAuc()
    whole = metric(logits=logits, labels=labels)
    halves = [metric.get_state(logits=logits[i], labels=labels[i]) for i in (0, 1)]
    rest = metric.get_state(logits=logits[2:], labels=labels[2:, :, None])
    merged = metric.empty() | halves[0] | halves[1] | rest
    assert merged.compute() == merged.finalize().compute() == whole
    assert 0.3 < whole < 0.7


@pytest.mark.spec("kmetrics-42")
@pytest.mark.parametrize("method", ["exact", "binned"])
def test_without_two_classes_there_is_no_area(method):
    def value(**inputs):
        got = metric(**inputs)
        return got["value"] if method == "binned" else got

    metric = RocAuc(method=method, bins=16)
    assert np.isnan(value(logits=SCORES, labels=np.ones(8, int)))
    assert np.isnan(value(logits=LOGITS, labels=np.zeros(6, int)))
    assert np.isnan(value(logits=SCORES, labels=ANSWERS, mask=np.zeros(8)))
    if method == "exact":
        assert np.isnan(metric.empty().compute())
    assert np.isnan(AveragePrecision()(logits=SCORES, labels=np.zeros(8, int)))


@pytest.mark.spec("kmetrics-44")
def test_binned_areas_do_not_depend_on_the_batches_and_keep_their_bound():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 2, 2000)
    scores = np.float32(np.clip(rng.normal(0.4 + 0.2 * labels, 0.2), 0, 1))
    metric = RocAuc(method="binned", bins=256)
    get_state = jax.jit(lambda s, y: metric.get_state(logits=s, labels=y))
    merge = jax.jit(lambda a, b: a.merge(b))
    state = metric.empty()
    for part in np.split(np.arange(2000), 100):
        state = merge(state, get_state(scores[part], labels[part]))
    whole = metric(logits=scores, labels=labels)
    assert state.compute() == whole
    exact = RocAuc()(logits=scores, labels=labels)
    assert 0 < whole["bound"] < 5e-3
    assert abs(whole["value"] - exact) <= whole["bound"]
    assert state.adds_up and state.yes.hi.shape == (1, 256)
    collection = kmetrics.Collection({"auc": metric.replace(logits="s", labels="y")})
    values = collection.compute(collection.get_states({"s": scores, "y": labels}))
    assert values["auc/value"] == whole["value"]


def test_masked_scores_do_not_count_and_a_nan_leaves_no_ranking():
    scores, mask = SCORES.copy(), np.ones(8)
    scores[0], mask[0] = np.nan, 0
    expected = RocAuc()(logits=SCORES[1:], labels=ANSWERS[1:])
    assert RocAuc()(logits=scores, labels=ANSWERS, mask=mask) == expected
    assert np.isnan(RocAuc()(logits=scores, labels=ANSWERS))
    binned = RocAuc(method="binned", bins=16)
    got = binned(logits=scores, labels=ANSWERS)
    assert np.isnan([got["value"], got["bound"]]).all()
    got = binned(logits=scores, labels=ANSWERS, mask=mask)
    assert abs(got["value"] - expected) <= got["bound"]


@pytest.mark.parametrize("method", ["exact", "binned"])
def test_a_label_that_is_no_class_is_refused_or_leaves_no_ranking(method):
    metric = RocAuc(method=method, bins=16)
    labels = np.array([0, 1, 2, 1, 0, 3])
    with pytest.raises(ValueError, match="no class\n  got 3, expected 0 to 2"):
        metric(logits=LOGITS, labels=labels)
    state = jax.jit(lambda y: metric.get_state(logits=LOGITS, labels=y))(labels)
    got = state.with_parent(metric).compute()
    assert np.isnan(got["value"] if method == "binned" else got)
    mask = np.array([True] * 5 + [False])
    masked = metric(logits=LOGITS, labels=labels, mask=mask)
    assert masked == metric(logits=LOGITS[:5], labels=labels[:5])


def test_wrong_options_are_refused():
    for options, message in (
        ({"multi_class": "ova"}, "multi_class='ova'"),
        ({"method": "fast"}, "method='fast'"),
        ({"average": "mean"}, "average='mean'"),
        ({"multi_class": "ovo", "method": "binned"}, 'needs method="exact"'),
        ({"bins": 1}, "bins must be 2 or more"),
    ):
        with pytest.raises(ValueError, match=message):
            RocAuc(**options)
