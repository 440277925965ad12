import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kmetrics
from kmetrics import Accuracy, AverageState, Mean
from kmetrics._student import t_quantile
from kmetrics.slices import Grouped
from kmetrics.uncertainty import Bootstrap, BootstrapState, WithCi, poisson_weights

VALUES, IDS = np.float32([1, 2, 3, 4, 5]), np.array([0, 1, 0, 2, 1])


@pytest.mark.spec("kmetrics-71")
def test_each_group_has_its_mean_and_unknown_ids_their_own_place():
    metric = Grouped(metric=Mean(values="x"), by="g", groups=3)
    got = metric({"x": VALUES, "g": IDS})
    assert got.pop("other") != got["0"] and len(got) == 4
    assert got == {"0": 2, "1": 3.5, "2": 4, "overall": 3}
    strays = metric({"x": VALUES, "g": np.array([0, 7, 0, -1, 1])})
    assert strays["other"] == 3.0
    assert (strays["0"], strays["1"]) == (2.0, 5.0)
    assert np.isnan(strays["2"])


def test_a_group_of_later_batches_keeps_its_place():
    metric = Grouped(
        metric=Mean(), groups=["cat", "dog"], other=None, include_overall=False
    )
    state = metric.get_state(values=VALUES[:2], by=np.array([[1], [9]]))
    assert np.isnan(state.compute()["cat"])
    state |= metric.get_state(values=VALUES[2:], by=np.array([0, 0, 1]))
    assert (metric.empty() | state).compute() == {"cat": 3.5, "dog": 3.0}


def test_groups_are_masked_as_the_metric_is():
    metric = Grouped(metric=Mean(values="x", mask="m"), by="g", groups=2)
    collection = kmetrics.Collection({"by": metric})
    context = {"x": VALUES, "g": IDS % 2, "m": np.array([1, 1, 1, 1, 0])}
    states = jax.jit(collection.get_states)(
        context, mask=np.array([True, True, True, False, True])
    )
    assert states.rest == {}  # sums, hence packed
    values = collection.compute(collection.merge(states, states))
    assert (values["by/0"], values["by/1"], values["by/overall"]) == (2, 2, 2)


def test_groups_that_cannot_be_told_apart_are_refused():
    with pytest.raises(ValueError, match="two groups have one name"):
        Grouped(metric=Mean(), groups=("a", "a"))
    with pytest.raises(ValueError, match="two groups have one name"):
        Grouped(metric=Mean(), groups=("other",))
    with pytest.raises(ValueError, match="one group or more"):
        Grouped(metric=Mean())


@pytest.mark.spec("kmetrics-72")
def test_a_bootstrap_does_not_depend_on_the_batches():
    data = np.random.default_rng(0).integers(0, 2, 64).astype(np.float32)
    metric, ids = Bootstrap(metric=Mean(), n=50), np.arange(64)
    get_state = jax.jit(lambda x, i: metric.get_state(values=x, ids=i))
    merge = jax.jit(lambda a, b: a.merge(b))
    results = []
    for parts in (1, 7, 64):
        state = metric.empty()
        for i in np.array_split(ids, parts):
            state = merge(state, get_state(data[i], i))
        results.append(state.compute())
    assert results[0] == results[1] == results[2]
    assert results[0]["value"] == data.mean()
    assert results[0]["lo"] < data.mean() < results[0]["hi"]
    assert results[0]["sd"] == pytest.approx(data.std() / 8, rel=0.3)


def test_the_weights_are_poisson_of_mean_one():
    weights = np.asarray(poisson_weights(0, jnp.arange(200), 100)).ravel()
    assert weights.mean() == pytest.approx(1, abs=5 / np.sqrt(len(weights)))
    assert weights.var() == pytest.approx(1, abs=0.06)
    assert (weights == 0).mean() == pytest.approx(np.exp(-1), abs=0.02)


@pytest.mark.spec("kmetrics-73")
def test_replicates_without_any_example_are_left_out():
    data = np.float32([1, 0, 1, 1, 1, 1, 0, 1, 1, 0])
    weights = np.random.default_rng(0).poisson(1.0, (20_000, 10)).astype(np.float32)
    assert (weights.sum(1) == 0).sum() == 3
    masks = np.concatenate([np.ones((1, 10), np.float32), weights])
    states = jax.jit(jax.vmap(lambda m: AverageState.from_values(data, m)))(masks)
    got = BootstrapState(states=states).compute()
    drawn = weights[weights.sum(1) > 0].astype(float)
    expected = (drawn * data).sum(1) / drawn.sum(1)
    assert got["sd"] == pytest.approx(expected.std(ddof=1), rel=1e-6)
    assert got["value"] == pytest.approx(0.7)
    assert got["sd"] == pytest.approx(0.1535, abs=5e-5)
    assert (got["lo"], got["hi"]) == pytest.approx((0.375, 1.0))


@pytest.mark.spec("kmetrics-74")
def test_the_wilson_interval_of_seven_in_ten():
    labels = np.array([0] * 7 + [1] * 3)
    metric = WithCi(metric=Accuracy(pred_labels="p", labels="y"))
    got = metric({"p": np.zeros(10, int), "y": labels})
    assert got["value"] == 0.7
    bounds = (got["lo"], got["hi"])
    assert bounds == pytest.approx((0.3967781475, 0.8922087326), abs=1e-9)
    normal = metric.replace(method="normal")({"p": np.zeros(10, int), "y": labels})
    assert normal["hi"] == pytest.approx(0.7 + 1.959964 * np.sqrt(0.021), abs=1e-6)
    assert np.isnan(metric.empty().compute()["lo"])


def test_the_bootstrap_of_a_loss_leaves_out_replicates_without_any_example():
    x = np.float32([1, 3])
    loss = kmetrics.losses.L1(preds="x", targets="zero", weight=0.5)
    context = {"x": x, "zero": np.zeros(2, np.float32), "id": np.arange(2)}
    metric = Bootstrap(metric=loss, ids="id", n=40)
    got = metric(context)
    times = np.asarray(poisson_weights(0, jnp.arange(2), 40))
    drawn = times[times.sum(1) > 0]
    assert len(drawn) < 40
    expected = 0.5 * (drawn * x).sum(1) / drawn.sum(1)
    assert (got["value"], got["lo"]) == (1.0, pytest.approx(expected.min()))
    assert got["sd"] == pytest.approx(expected.std(ddof=1), rel=1e-6)


def test_the_interval_of_a_mean_worked_by_hand():
    metric = WithCi(metric=kmetrics.Std(values="x"), method="t")
    # Mean 2, deviation 1 / sqrt(2) of the mean; t of one degree is tan(0.475 pi).
    got = metric({"x": np.float32([1, 3])})
    half = np.tan(0.475 * np.pi)
    assert (got["value"], got["hi"]) == (2.0, pytest.approx(2 + half))
    parts = [metric.get_state(values=np.float32([x])) for x in (1, 3)]
    assert (metric.empty() | parts[0] | parts[1]).compute() == pytest.approx(got)
    one = parts[0].compute()
    assert one["value"] == 1.0 and np.isnan(one["lo"]) and np.isnan(one["hi"])
    assert np.isnan(metric.empty().compute()["value"])


@pytest.mark.parametrize("df", [1, 2, 4.5, 30, 1e4, 1e9])
def test_quantiles_of_the_t_distribution(df):
    stats = pytest.importorskip("scipy.stats", reason="scipy is the reference")
    for p in (0.55, 0.9, 0.975, 0.9999):
        assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-7)


@pytest.mark.parametrize("method", ["wilson", "t"])
def test_an_interval_of_nothing_is_what_its_metric_says(method):
    inner = Accuracy if method == "wilson" else kmetrics.Std
    zero, strict = (
        WithCi(metric=inner(on_empty=option), method=method)
        for option in ("zero", "raise")
    )
    assert zero.empty().compute()["value"] == 0
    with pytest.raises(kmetrics.EmptyMetricError, match="WithCi saw no data"):
        strict.empty().compute()


def test_a_nan_in_the_data_leaves_no_interval_of_the_replicates_without_it():
    got = Bootstrap(metric=Mean(), n=40)(
        values=np.float32([np.nan, 1]), ids=np.arange(2)
    )
    assert np.isnan(list(got.values())).all()


def test_wrong_options_are_refused():
    with pytest.raises(ValueError, match="method='beta' is not known"):
        WithCi(metric=Mean(), method="beta")
    with pytest.raises(ValueError, match=r"ci must be in \(0, 1\)"):
        Bootstrap(metric=Mean(), ci=95)
    with pytest.raises(ValueError, match="n must be 1 or more"):
        Bootstrap(metric=Mean(), n=0)
    with pytest.raises(TypeError, match=r"Std makes MomentsState\nuse Bootstrap"):
        WithCi(metric=kmetrics.Std()).get_state(values=VALUES)

    class NoMask(Mean):
        def get_state(self, values):
            return AverageState.from_values(values)

    with pytest.raises(kmetrics.MaskNotAcceptedError, match="NoMask"):
        Grouped(metric=NoMask(), groups=1).get_state(values=VALUES, by=IDS)


def test_an_interval_of_a_share_is_refused_for_what_is_none():
    wilson = kmetrics.WithCi(metric=kmetrics.Mean())
    with pytest.raises(ValueError, match="Mean has the mean 7"):
        wilson(values=np.float32([5, 9]))
    tokens = {"logits": np.zeros((2, 3), np.float32), "labels": np.array([0, 1])}
    with pytest.raises(TypeError, match="Perplexity makes PerplexityState"):
        kmetrics.WithCi(metric=kmetrics.Perplexity())(**tokens)


def twice_and_once(metric, mask, **inputs):
    """The value on both examples, the first of weight 2, and on it written twice.

    Both have three rows, of which one weighs 0 or none, so that they share programs.
    """
    rows = np.array([0, 0, 1])
    again = {name: np.asarray(x)[rows] for name, x in inputs.items()}
    mask = np.ones(2) if mask is None else mask
    twice, once = (
        np.float32(mask[rows]) * np.float32(weights).reshape(-1, *[1] * (mask.ndim - 1))
        for weights in ([2, 0, 1], [1, 1, 1])
    )
    return metric(**again, mask=twice), metric(**again, mask=once)


def test_an_example_of_weight_2_counts_as_two():
    rng = np.random.default_rng(5)
    scores = np.float32(rng.normal(size=(2, 4, 3)))
    labels = rng.integers(0, 3, (2, 4))
    cells = np.array([[1, 1, 0, 1], [1, 0, 1, 1]], bool)
    got = twice_and_once(
        kmetrics.BitsPerByte(),
        cells,
        logits=scores,
        labels=labels,
        num_bytes=np.array([3, 50]),
    )
    assert got[0] == pytest.approx(got[1], rel=1e-6)
    ranked = {"scores": scores[..., 0], "relevance": np.array([[0, 1, 0, 0]] * 2)}
    for metric in (kmetrics.Ndcg(), kmetrics.Mrr()):
        got = twice_and_once(metric, cells, **ranked)
        assert got[0] == pytest.approx(got[1], rel=1e-6)
    clusters = kmetrics.Ari(num_clusters=3, num_classes=3, per_example=True)
    got = twice_and_once(
        clusters, cells, preds=labels, targets=rng.integers(0, 3, (2, 4))
    )
    assert got[0] == pytest.approx(got[1], rel=1e-6)
    poses = np.tile(np.eye(4, dtype=np.float32), (2, 3, 1, 1))
    turned = poses.copy()
    turned[0, 0, :2, :2] = [[0, -1], [1, 0]]
    metric = kmetrics.PoseRotationError()
    got = twice_and_once(metric, None, preds=turned, targets=poses)
    # By hand: of the six pairs, the first three twice, four are off by 90 degrees.
    assert got == (pytest.approx(40, rel=1e-6), pytest.approx(40, rel=1e-6))


def test_ids_that_are_no_integers_of_the_examples_are_refused():
    values = np.ones(4, np.float32)
    texts = np.array(list("abcd"))
    for ids in (np.full(4, 0.5), np.zeros((4, 3), int), np.array(1), texts, None):
        with pytest.raises(ValueError, match="Grouped: by must be integers"):
            Grouped(metric=Mean(), groups=2)(values=values, by=ids)
        with pytest.raises(ValueError, match="Bootstrap: ids must be integers"):
            Bootstrap(metric=Mean(), n=2)(values=values, ids=ids)
    is_odd = np.array([[False], [True], [False], [True]])
    got = Grouped(metric=Mean(), groups=2)(values=np.arange(4.0), by=is_odd)
    assert (got["0"], got["1"]) == (1.0, 2.0)


def test_one_id_is_not_taken_for_that_of_all_examples():
    grouped = Grouped(metric=Mean(values="x"), by="g", groups=2)
    one, two = np.array([0]), {"x": np.ones((2, 3), np.float32)}
    with pytest.raises(ValueError, match=r"by \[1\], values \[2, 3\]"):
        grouped(values=two["x"], by=one)
    with pytest.raises(ValueError, match=r"one per example\n  by \[1\], x \[2, 3\]"):
        grouped({**two, "g": one})
    with pytest.raises(ValueError, match=r"Bootstrap: ids .*\n  ids \[3\], values \[2"):
        Bootstrap(metric=Mean(), n=2)(values=two["x"], ids=np.arange(3))
    with pytest.raises(TypeError, match=r"missing a required argument: 'by'"):
        grouped(values=two["x"])
    # A batch of one example, whatever the other axes.
    assert grouped({"x": two["x"][:1], "g": one})["0"] == 1.0


def test_texts_are_grouped_on_the_host():
    exact = kmetrics.ExactMatch(preds="p", targets="t")
    grouped = Grouped(metric=exact, by="g", groups=("de", "en"), other=None)
    texts = {"p": np.array(["a", "b", "c"]), "t": np.array(["a", "c", "c"])}
    state = grouped.get_state_from_context({**texts, "g": np.array([0, 1, 1])})
    assert state.compute() == {"de": 1.0, "en": 0.5, "overall": 2 / 3}
    more = grouped.get_state(preds=["x"], targets=["y"], by=np.array([0]))
    assert (grouped.empty() | state | more).compute()["de"] == 0.5
    with pytest.raises(
        kmetrics.HostOnlyError, match=r"ExactMatch .* not under"
    ) as error:
        jax.jit(lambda by: grouped.get_state(preds=["x"], targets=["y"], by=by))(
            IDS[:1]
        )
    assert error.value.__notes__[:2] == ["in ExactMatch", "in Grouped"]


def test_groups_that_collect_on_the_host_merge_there():
    grouped = Grouped(metric=kmetrics.RocAuc(), groups=2, other=None)
    scores, labels = np.float32([1, 2, 4, 3]), np.array([0, 1, 0, 1])
    first, second = (
        grouped.get_state(logits=scores[i], labels=labels[i], by=np.array([0, 1]))
        for i in (np.array([0, 2]), np.array([1, 3]))
    )
    # Group 0: 1 for no, 2 for yes. Group 1: 4 for no, 3 for yes. All: 1 2 3 4.
    assert (first | second).compute() == {"0": 1.0, "1": 0.0, "overall": 0.5}


@pytest.mark.parametrize(
    "metric",
    [
        kmetrics.Spearman(),
        kmetrics.MedianAbsoluteError(),
        kmetrics.Bleu(),
        kmetrics.Last(metric=kmetrics.Wer()),
    ],
)
def test_a_metric_whose_mask_does_not_weigh_is_not_resampled(metric):
    assert not metric.mask_weighs
    with pytest.raises(TypeError, match=f"cannot resample {type(metric).__name__}"):
        Bootstrap(metric=metric)


def test_a_bootstrap_of_several_results_is_refused():
    state = Bootstrap(metric=kmetrics.Quantiles(), n=2).get_state(
        values=np.ones(4, np.float32), ids=np.arange(4)
    )
    with pytest.raises(TypeError, match="one number\n  Quantiles computes 3 results"):
        state.compute()


@kmetrics.state
class ToldState(kmetrics.AverageState):
    def compute(self):
        return f"about {super().compute():.0f}"


class Told(Mean):
    def get_state(self, values, mask=None):
        return ToldState.from_values(values, mask)


def test_a_bootstrap_of_what_is_no_number_is_refused():
    state = Bootstrap(metric=Told(), n=2).get_state(
        values=np.ones(4, np.float32), ids=np.arange(4)
    )
    with pytest.raises(TypeError, match="one number\n  Told computes a str"):
        state.compute()
