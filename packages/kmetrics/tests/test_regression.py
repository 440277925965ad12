import numpy as np
import pytest

from kmetrics import regression

PREDS, TARGETS = np.float32([2.5, 0, 2, 8]), np.float32([3, -0.5, 2, 7])
# The numbers of the example, worked out in float64.
EXPECTED = {
    "MeanSquaredError": 0.375,
    "RootMeanSquaredError": 0.6123724357,
    "MeanAbsoluteError": 0.5,
    "MeanAbsolutePercentageError": (0.5 / 3 + 1 + 0 + 1 / 7) / 4,
    "R2": 0.9486081370,
    "ExplainedVariance": 0.9571734475,
    "Pearson": 0.9848696184,
    "Spearman": 1.0,
    "MaxError": 1.0,
    "MedianAbsoluteError": 0.5,
}


def of(name, preds, targets, mask=None, **options):
    return getattr(regression, name)(**options)(preds=preds, targets=targets, mask=mask)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_example_and_its_padding(name):
    assert of(name, PREDS, TARGETS) == pytest.approx(EXPECTED[name], rel=1e-6)
    padded = [np.append(x, np.float32([np.nan, 99])) for x in (PREDS, TARGETS)]
    got = of(name, *padded, np.arange(6) < 4)
    assert got == pytest.approx(EXPECTED[name], rel=1e-6)
    assert np.isnan(of(name, PREDS, TARGETS, np.zeros(4, bool)))


def test_the_image_of_the_example():
    x = np.linspace(0, 1, 768, dtype=np.float32).reshape(16, 16, 3)
    brighter = np.clip(x + np.float32(0.1), 0, 1)
    got = of("MeanSquaredError", x, brighter)
    assert got == pytest.approx(0.0093276836, rel=1e-6)


def test_weights_and_logarithms():
    weights = np.float32([1, 2, 0, 1])
    assert of("MeanSquaredError", PREDS, TARGETS, weights) == pytest.approx(0.4375)
    logs = of(
        "MeanSquaredLogError", np.float32([2.5, 5, 4, 8]), np.float32([3, 5, 2.5, 7])
    )
    assert logs == pytest.approx(0.0397301230, rel=1e-5)


@pytest.mark.parametrize("scale", [1, 1e6, 1e-6])
def test_the_correlation_of_numbers_of_different_size(scale):
    rng = np.random.default_rng(0)
    targets = np.float32(rng.normal(size=99))
    preds = np.float32(scale * (targets + rng.normal(size=99) + 5))
    expected = np.corrcoef(preds.astype(float), targets.astype(float))[0, 1]
    assert of("Pearson", preds, targets) == pytest.approx(expected, rel=1e-7)


@pytest.mark.case("083")
def test_small_integers_do_not_wrap():
    preds, targets = np.uint8([16]), np.uint8([0])
    assert of("MeanSquaredError", preds, targets) == 256
    assert of("MeanSquaredError", targets, preds) == 256


@pytest.mark.spec("kmetrics-69")
@pytest.mark.parametrize(
    ("mode", "expected"),
    [("trad", 4.2817445), ("average_all", 3.0276504), ("per_sample_sqrt", 3.6695587)],
)
def test_the_three_modes_of_the_root(mode, expected):
    preds = np.float32([[1, 2], [3, 4], [5, 6]])
    metric = regression.RootMeanSquaredError(mode=mode)
    assert metric(preds=preds, targets=np.ones_like(preds)) == pytest.approx(expected)
    parts = [
        metric.get_state(preds=p, targets=np.ones_like(p))
        for p in (preds[:1], preds[1:])
    ]
    assert (metric.empty() | parts[0] | parts[1]).compute() == pytest.approx(expected)
    padded = np.concatenate([preds, np.float32([[np.nan, 0]])])
    mask = np.array([[True]] * 3 + [[False]])
    got = metric(preds=padded, targets=np.ones_like(padded), mask=mask)
    assert got == pytest.approx(expected)


def test_masks_and_modes_that_do_not_fit():
    preds = np.ones((2, 2), np.float32)
    with pytest.raises(
        ValueError, match=r"select examples in this mode\n  got \[2, 2\]"
    ):
        of("RootMeanSquaredError", preds, preds, preds, mode="trad")
    with pytest.raises(ValueError, match="mode='mean' is not known"):
        regression.RootMeanSquaredError(mode="mean")
    with pytest.raises(TypeError, match="targets"):
        of("R2", preds, preds[0])


def test_it_agrees_with_scikit_learn_and_scipy_however_the_data_is_split():
    sk = pytest.importorskip(
        "sklearn.metrics", reason="scikit-learn is the independent reference"
    )
    stats = pytest.importorskip("scipy.stats", reason="scipy is the reference of ranks")
    rng = np.random.default_rng(0)
    targets = np.float32(rng.normal(size=60).round(1) + 1000)
    preds = np.float32(targets + rng.normal(size=60).round(1))
    wide = preds.astype(float), targets.astype(float)
    expected = {
        "R2": sk.r2_score(wide[1], wide[0]),
        "ExplainedVariance": sk.explained_variance_score(wide[1], wide[0]),
        "Pearson": stats.pearsonr(*wide).statistic,
        "Spearman": stats.spearmanr(*wide).statistic,
        "MaxError": sk.max_error(wide[1], wide[0]),
        "MedianAbsoluteError": sk.median_absolute_error(wide[1], wide[0]),
    }
    for name, value in expected.items():
        metric, merged = getattr(regression, name)(), None
        for part in (slice(0, 20), slice(20, 60)):
            one = metric.get_state(preds=preds[part], targets=targets[part])
            merged = one if merged is None else merged | one
        # The differences are rounded to float32.
        assert merged.compute() == pytest.approx(value, rel=2e-5), name


def test_equal_targets_have_no_correlation():
    ones = np.ones(3, np.float32)
    for name in ("R2", "ExplainedVariance", "Pearson", "Spearman"):
        assert np.isnan(of(name, PREDS[:3], ones))


@pytest.mark.parametrize("scale", [2.0**90, 2.0**-90])
def test_squares_beyond_float32_leave_the_value_as_it_is(scale):
    p, t = np.float32([PREDS * scale, TARGETS * scale])
    for name in ("R2", "ExplainedVariance", "Pearson"):
        metric, plain = getattr(regression, name)(), of(name, PREDS, TARGETS)
        assert metric(preds=p, targets=t) == plain, name
        halves = [metric.get_state(preds=p[i], targets=t[i]) for i in ([0, 3], [1, 2])]
        assert (halves[0] | halves[1]).compute() == pytest.approx(plain, rel=1e-6)
    assert of("Pearson", p, TARGETS) == of("Pearson", PREDS, TARGETS)
    rows = regression.RootMeanSquaredError(mode="per_sample_sqrt")
    p, t = p.reshape(2, 2), t.reshape(2, 2)
    plain = rows(preds=PREDS.reshape(2, 2), targets=TARGETS.reshape(2, 2))
    assert rows(preds=p, targets=t) == scale * plain


def test_a_sum_past_the_largest_float_is_not_taken_for_a_value():
    large = np.float32(4e37)
    for name in ("R2", "ExplainedVariance", "Pearson"):
        assert np.isnan(of(name, PREDS * large, TARGETS * large)), name


def test_a_correlation_stays_between_its_ends():
    rng = np.random.default_rng(0)
    for row in np.float32(rng.normal(size=(30, 4))):
        assert 1 - 1e-12 < of("Pearson", row, row * 2) <= 1


def test_a_batch_without_examples_has_no_error():
    none = np.zeros((0, 3), np.float32)
    for mode in ("average_all", "trad", "per_sample_sqrt"):
        metric = regression.RootMeanSquaredError(mode=mode)
        assert np.isnan(metric(preds=none, targets=none))


def test_a_rank_of_what_is_no_number_is_not_known():
    preds = np.float32([1, np.nan, 3, 0])
    targets = np.float32([1, 2, 3, 0])
    assert np.isnan(regression.Spearman()(preds=preds, targets=targets))
    assert np.isnan(regression.Spearman()(preds=targets, targets=preds))
    keep = np.isfinite(preds)
    ranks = regression.Spearman()(preds=preds, targets=targets, mask=keep)
    assert ranks == pytest.approx(1.0)
