import dataclasses
import pickle

import jax
import numpy as np
import pytest

import kmetrics
from kmetrics import wrappers

TABLE = kmetrics.ConfusionMatrix(logits="preds", labels="y", mask="keep")
VIEWS = {
    "f1": kmetrics.FBeta(source=TABLE),
    "recall": kmetrics.Recall(source=TABLE, average="none"),
    "kappa": kmetrics.CohenKappa(source=TABLE),
    "dice": kmetrics.Dice(source=TABLE, average="micro"),
    "share": kmetrics.ConfusionMatrix(source=TABLE, normalize="all"),
}
RNG = np.random.default_rng(0)


def batch_of(n=4):
    return {
        "preds": RNG.normal(size=(n, 3)).astype(np.float32),
        "y": RNG.integers(0, 3, n),
        "keep": np.arange(n) > 0,
    }


@pytest.fixture(scope="module")
def batches():
    return [batch_of(), batch_of()]


def evaluated(collection, batches):
    get_states = jax.jit(collection.get_states)
    states = collection.empty()
    for batch in batches:
        states = collection.merge(states, get_states(batch))
    return states, collection.compute(states)


def test_the_tables_of_several_models_are_computed_one_by_one(batches):
    metric = VIEWS["f1"]
    state = metric.get_state_from_context(batches[0])
    both = jax.tree.map(lambda x: np.stack([x, x]), state)
    with pytest.raises(ValueError, match=r"several tables\n  counts \[2, 3, 3\]"):
        both.compute()
    assert jax.tree.map(lambda x: x[1], both).compute() == state.compute()


def test_metrics_of_one_source_keep_one_table(batches):
    shared = kmetrics.Collection({"table": TABLE, **VIEWS})
    states, values = evaluated(shared, batches)
    assert list(states) == ["table"]
    alone = {name: view.replace(source=None) for name, view in VIEWS.items()}
    apart = kmetrics.Collection({"table": TABLE, **alone})
    many, expected = evaluated(apart, batches)
    assert list(many) == list(values) == list(expected) == list(apart.names)
    for name, value in expected.items():
        np.testing.assert_array_equal(values[name], value, err_msg=name)


def test_the_source_itself_need_not_be_a_member(batches):
    collection = kmetrics.Collection(VIEWS)
    states = collection.get_states(batches[0])
    assert list(states) == ["f1"]
    values = collection.compute(states)
    assert list(values) == list(VIEWS)
    assert values["f1"] == VIEWS["f1"](batches[0])


def test_states_that_were_made_one_by_one_compute_too(batches):
    views = {"f1": VIEWS["f1"], "recall": VIEWS["recall"], "table": TABLE}
    collection = kmetrics.Collection(views)
    states = {name: m.get_state_from_context(batches[0]) for name, m in views.items()}
    expected = collection.compute(collection.get_states(batches[0]))
    np.testing.assert_equal(collection.compute(states), expected)
    np.testing.assert_equal(
        collection.compute({"recall": states["recall"]}),
        {"recall": expected["recall"]},
    )


def test_each_view_of_no_data_says_what_it_is_told_to():
    zero = kmetrics.Recall(source=TABLE, on_empty="zero")
    collection = kmetrics.Collection({"zero": zero, "f1": VIEWS["f1"]})
    values = collection.compute(collection.empty())
    assert values["zero"] == 0 and np.isnan(values["f1"])


def test_metrics_that_are_merely_alike_share_nothing():
    alike = {"a": kmetrics.FBeta(logits="preds", labels="y")}
    alike["b"] = alike["a"].replace()
    collection = kmetrics.Collection({**alike, "mean": kmetrics.Mean(values="preds")})
    assert list(collection.empty()) == ["a", "b", "mean"]
    other = TABLE.replace(ignore_index=0)
    two = {"f1": VIEWS["f1"], "other": kmetrics.FBeta(source=other)}
    assert list(kmetrics.Collection(two).empty()) == ["f1", "other"]


def test_a_view_reads_and_counts_as_its_source_does():
    view = kmetrics.FBeta(source=TABLE)
    assert view.keypaths() == TABLE.keypaths()
    assert view.replace(beta=2.0).labels == "y"
    assert kmetrics.Recall(source=view).state_source is TABLE
    assert pickle.loads(pickle.dumps(kmetrics.Collection(VIEWS))).names == (*VIEWS,)


def test_a_view_can_be_given_another_source():
    other = TABLE.replace(labels="other", ignore_index=0)
    view = VIEWS["recall"].replace(source=other)
    assert view == kmetrics.Recall(source=other, average="none")
    with pytest.raises(ValueError, match="labels is that of the source\n  got 'y'"):
        kmetrics.Recall(logits="preds", labels="y").replace(source=other)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"labels": "other"},
            "labels is that of the source\n  got 'other', the source",
        ),
        ({"num_classes": 7}, "num_classes is that of the source"),
        ({"ignore_index": 0}, "leave out ignore_index, or the source"),
    ],
)
def test_what_the_source_says_cannot_be_said_otherwise(options, message):
    with pytest.raises(ValueError, match=message):
        kmetrics.FBeta(source=TABLE, **options)


def test_a_source_has_a_table():
    with pytest.raises(TypeError, match="FBeta: source must be a metric of the table"):
        kmetrics.FBeta(source=kmetrics.Mean(values="x"))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Total(kmetrics.Metric):
    """The sum of the values whose mean another metric is."""

    of: kmetrics.Metric

    @property
    def state_source(self):
        return self.of

    def state_of(self, source_state):
        return TotalState(source_state.total, source_state.count).with_parent(self)


@kmetrics.state
class TotalState(kmetrics.AverageState):
    def compute(self):
        return float(self.total.numpy())


def test_a_metric_of_a_user_can_be_a_view_too():
    mean = kmetrics.Mean(values="x")
    collection = kmetrics.Collection({"sum": Total(of=mean), "mean": mean})
    states = collection.get_states({"x": np.float32([1, 2, 6])})
    assert list(states) == ["sum"]
    assert collection.compute(states) == {"sum": 9.0, "mean": 3.0}
    total = Total(of=mean)
    assert total({"x": np.float32([1, 2])}) == total(values=np.float32([3])) == 3.0
    assert total.keypaths() == ("x",)
    assert total.empty().compute() == 0.0


def test_a_view_is_skipped_where_an_input_of_its_source_is_missing():
    metric = kmetrics.SkipIfMissing(metric=Total(of=kmetrics.Mean(values="absent")))
    with pytest.warns(wrappers.MissingKeyWarning, match="Total is skipped.* no absent"):
        assert metric({"x": np.float32([1, 2])}) == {}
    assert metric({"absent": np.float32([1, 2])}) == 3.0
    named = metric.replace(keys=("values",))
    assert named.keys == ("values",)
