import itertools

import jax
import numpy as np
import pytest

from kmetrics import MapAtK, Mrr, Ndcg, RecallAtK

RELEVANCE = np.float32([[10, 0, 0, 1, 5]])
SCORES = np.float32([[0.1, 0.2, 0.3, 4, 70]])
ALL = (Ndcg, RecallAtK, Mrr, MapAtK)


def test_ndcg_of_the_example():
    both = {"scores": SCORES, "relevance": RELEVANCE}
    assert Ndcg()(**both) == pytest.approx(0.6956940444, rel=1e-6)
    assert Ndcg(k=3)(**both) == pytest.approx(0.4123818818, rel=1e-6)


def test_all_rankings_worked_by_hand():
    # In order of the scores: relevance 5, 1, 0, 0, 10.
    both = {"scores": SCORES, "relevance": RELEVANCE}
    assert RecallAtK(k=3)(**both) == pytest.approx(2 / 3)
    assert RecallAtK()(**both) == 1.0
    assert Mrr()(**both) == 1.0
    assert MapAtK()(**both) == pytest.approx((1 + 1 + 3 / 5) / 3)
    assert MapAtK(k=1)(**both) == 1.0
    upside_down = {"scores": -SCORES, "relevance": np.float32([[0, 0, 1, 0, 1]])}
    assert Mrr()(**upside_down) == pytest.approx(1 / 3)
    assert Mrr(k=2)(**upside_down) == 0.0
    assert MapAtK(k=4)(**upside_down) == pytest.approx(1 / 3 / 2)


def of_order(metric, relevance, k):
    """Of a ranking in the order given, by the definitions."""
    hits = [r > 0 for r in relevance]
    if metric is Ndcg:
        gain = [r / np.log2(i + 2) for i, r in enumerate(relevance)][:k]
        ideal = [r / np.log2(i + 2) for i, r in enumerate(sorted(relevance)[::-1])][:k]
        return sum(gain) / sum(ideal)
    if metric is RecallAtK:
        return sum(hits[:k]) / sum(hits)
    if metric is Mrr:
        return next((1 / (i + 1) for i, hit in enumerate(hits[:k]) if hit), 0)
    precision = [sum(hits[: i + 1]) / (i + 1) for i in range(k) if hits[i]]
    return sum(precision) / min(k, sum(hits))


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("metric", ALL)
def test_ties_are_resolved_as_documented(metric, k):
    rng = np.random.default_rng(k)
    scores = rng.integers(0, 3, (12, 5)).astype(np.float32)
    relevance = rng.integers(0, 3, (12, 5))
    relevance[:, 0] = np.maximum(relevance[:, 0], 1)
    expected = []
    for own, rel in zip(scores, relevance, strict=True):
        orders = [
            of_order(metric, rel[list(order)], k)
            for order in itertools.permutations(range(5))
            if all(own[a] >= own[b] for a, b in itertools.pairwise(order))
        ]
        shared = metric in (Ndcg, RecallAtK)
        expected.append(np.mean(orders) if shared else min(orders))
    got = metric(k=k)(scores=scores, relevance=relevance)
    assert got == pytest.approx(np.mean(expected), rel=1e-5)


def test_ndcg_agrees_with_scikit_learn():
    sk = pytest.importorskip(
        "sklearn.metrics", reason="scikit-learn is the independent reference"
    )
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(12, 5)).round(1).astype(np.float32)
    relevance = rng.integers(0, 4, (12, 5))
    for k in (2, None):
        got = Ndcg(k=k, no_relevant="zero")(scores=scores, relevance=relevance)
        assert got == pytest.approx(sk.ndcg_score(relevance, scores, k=k), rel=1e-5)
    exponential = Ndcg(gain="exp2", no_relevant="zero")
    got = exponential(scores=scores, relevance=relevance)
    assert got == pytest.approx(sk.ndcg_score(2**relevance - 1, scores), rel=1e-5)


def test_the_exponential_gain_of_a_high_relevance_does_not_overflow():
    # By hand: beside 2^200 the others are nothing, and first is worth log2(3 + 1) = 2
    # times as much as third.
    relevance = np.float32([[0, 200, 0, 100, 150], [3, 0, 0, 0, 2]])
    scores = np.float32([[1, 3, 1, 4, 5], [9, 1, 1, 1, 3]])
    metric = Ndcg(gain="exp2")
    got = [
        metric(scores=scores, relevance=relevance, mask=np.arange(2) == i)
        for i in range(2)
    ]
    assert got == pytest.approx([0.5, 1.0], rel=1e-6)


@pytest.mark.parametrize("metric", ALL)
def test_masked_items_are_no_items_and_masked_queries_no_queries(metric):
    scores = np.concatenate([SCORES, np.float32([[np.nan, np.inf, 1, 2, 3]])])
    relevance = np.concatenate([RELEVANCE, np.float32([[9, 9, 0, 0, np.nan]])])
    # In order of the scores: relevance 5, 1, 0, 0, 10.
    expected = of_order(metric, [5, 1, 0, 0, 10], 2)
    for mask in (np.array([True, False]), np.float32([[2], [0]])):
        got = metric(k=2)(scores=scores, relevance=relevance, mask=mask)
        assert got == pytest.approx(expected)
    items = np.array([[True] * 4 + [False], [False] * 5])
    got = metric(k=2)(scores=scores, relevance=relevance, mask=items)
    assert got == pytest.approx(of_order(metric, [1, 0, 0, 10], 2))


@pytest.mark.parametrize("metric", ALL)
def test_a_query_without_a_relevant_item_is_left_out_or_zero(metric):
    scores = np.repeat(SCORES, 2, axis=0)
    relevance = np.stack([RELEVANCE[0], 0 * RELEVANCE[0]])
    one = of_order(metric, [5, 1, 0, 0, 10], 5)
    assert metric()(scores=scores, relevance=relevance) == pytest.approx(one)
    half = metric(no_relevant="zero")(scores=scores, relevance=relevance)
    assert half == pytest.approx(one / 2)
    assert np.isnan(metric()(scores=scores, relevance=0 * relevance))


@pytest.mark.parametrize("metric", ALL)
def test_a_score_that_is_no_number_ties_with_the_lowest(metric):
    got = metric(k=4)(
        scores=np.float32([[np.nan, -np.inf, 0.3, 4, np.inf]]), relevance=RELEVANCE
    )
    expected = metric(k=4)(scores=np.float32([[0, 0, 1, 2, 3]]), relevance=RELEVANCE)
    assert got == expected


def test_wrong_options_and_sizes_are_refused():
    with pytest.raises(ValueError, match="Mrr: k must be 1 or more"):
        Mrr(k=0)
    with pytest.raises(ValueError, match="gain='log' is not known"):
        Ndcg(gain="log")
    with pytest.raises(ValueError, match="no_relevant='one' is not known"):
        MapAtK(no_relevant="one")
    with pytest.raises(
        ValueError, match=r"Ndcg: a relevance is negative, or NaN\n.* -1"
    ):
        Ndcg()(scores=SCORES, relevance=-(RELEVANCE > 1).astype(np.float32))
    with pytest.raises(TypeError, match="relevance"):
        Ndcg()(scores=SCORES, relevance=RELEVANCE[:, :3])


def test_a_relevance_that_is_no_number_is_refused_where_it_counts():
    inputs = {"scores": np.float32([[1, 2]]), "relevance": np.float32([[np.nan, 1]])}
    with pytest.raises(ValueError, match="negative, or NaN\n  got nan"):
        Ndcg()(**inputs)
    assert Ndcg()(**inputs, mask=np.array([[False, True]])) == 1.0


@pytest.mark.parametrize("metric", ALL)
def test_a_relevance_that_is_none_gives_no_value_under_jit(metric):
    @jax.jit
    def value(relevance, mask):
        scores = np.float32([[3, 2, 1]])
        state = metric().get_state(scores=scores, relevance=relevance, mask=mask)
        return state.compute()

    every = np.ones((1, 3), bool)
    for unknown in (np.nan, -1.0):
        assert np.isnan(value(np.float32([[1, unknown, 0]]), every))
        # Also where nothing is relevant, for which a query may be skipped.
        assert np.isnan(value(np.float32([[0, unknown, 0]]), every))
        masked = np.array([[True, False, True]])
        assert value(np.float32([[1, unknown, 0]]), masked) == 1.0
