import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kmetrics
import kontext
from kmetrics import Norm, losses, wrappers
from kmetrics.trees import TreeMap, TreeReduce

PARAMS = {"enc": {"w": jnp.array([3.0, 4.0]), "b": jnp.array([12.0])}, "out": [84.0]}
NORM = Norm(tensor="params", axis=None, aggregation="concat")
CONTEXT = {"params": jax.tree.map(lambda x: jnp.atleast_1d(jnp.asarray(x)), PARAMS)}


@pytest.mark.spec("kmetrics-32")
def test_each_leaf_has_its_norm():
    assert TreeMap(metric=NORM)(CONTEXT) == {"enc.b": 12, "enc.w": 5, "out.0": 84}
    collection = kmetrics.Collection({"norm": TreeMap(metric=NORM)})
    states = jax.jit(collection.get_states)(CONTEXT)
    states = collection.merge(states, collection.get_states(CONTEXT))
    values = collection.compute(collection.merge(collection.empty(), states))
    assert values == {"norm/enc.b": 12, "norm/enc.w": 5, "norm/out.0": 84}


@pytest.mark.spec("kmetrics-31")
@pytest.mark.parametrize(
    ("order", "expected"), [(2, 85), (np.inf, 84), (0, 4), (1, 103)]
)
def test_the_norm_of_a_tree_is_that_of_all_its_entries(order, expected):
    metric = TreeReduce(metric=NORM.replace(ord=order))
    assert metric(CONTEXT) == pytest.approx(expected, rel=1e-6)
    state = metric.get_state_from_context(CONTEXT)
    assert state.parent == metric.metric
    assert (state | state).compute() == pytest.approx(expected, rel=1e-6)


def test_other_metrics_merge_over_the_leaves():
    mean = TreeReduce(metric=kmetrics.Mean(values="params"))
    assert mean(CONTEXT) == 103 / 4
    assert (mean.empty() | mean.get_state_from_context(CONTEXT)).compute() == 103 / 4


@pytest.mark.spec("kmetrics-33")
def test_a_glob_selects_leaves_and_an_idle_one_is_an_error():
    metric = TreeMap(metric=NORM.replace(tensor="params.**.w"))
    assert metric(CONTEXT) == {"params.enc.w": 5}
    with pytest.raises(kontext.PathLookupError, match="kernel"):
        TreeMap(metric=NORM.replace(tensor="params.**.kernel"))(CONTEXT)


@pytest.mark.spec("kmetrics-34")
def test_a_loss_per_leaf_shares_step_and_mask():
    preds = {"a": jnp.array([1.0, 5.0]), "b": jnp.array([2.0, 5.0])}
    context = {
        "preds": preds,
        "targets": jax.tree.map(jnp.zeros_like, preds),
        "mask": jnp.array([True, False]),
        "step": 5,
    }
    loss = losses.L2(preds="preds", targets="targets", mask="mask")
    assert TreeMap(metric=loss)(context) == {"a": 1, "b": 4}
    del context["mask"]
    scheduled = loss.replace(mask=None, weight=lambda step: step / 10)
    assert TreeMap(metric=scheduled)(context) == {"a": 6.5, "b": 7.25}
    padded = TreeMap(metric=loss.replace(mask=None)).get_state_from_context(
        context, mask=np.array([True, False]), example_roots={"preds"}
    )
    assert padded.compute() == {"a": 1, "b": 4}


def test_trees_that_do_not_fit_are_refused():
    loss = TreeMap(metric=losses.L2(preds="a", targets="b"))
    with pytest.raises(ValueError, match=r"different leaves\n  only in one of them: y"):
        loss({"a": {"x": jnp.ones(1)}, "b": {"x": jnp.ones(1), "y": jnp.ones(1)}})
    with pytest.raises(ValueError, match="none of the inputs is a tree"):
        loss({"a": jnp.ones(1), "b": jnp.ones(1)})
    for tree in ({}, {"x": ()}):
        with pytest.raises(ValueError, match="the tree of 'preds' has no leaves"):
            loss.get_state(preds=tree, targets=tree)
    with pytest.raises(
        TypeError, match=r"unexpected .*'typo'\n  it takes tensor, mask"
    ):
        TreeMap(metric=NORM).get_state(tensor={"x": jnp.ones(1)}, typo=1)
    norms = TreeMap(metric=NORM)
    one, two = ({"params": {name: jnp.ones(1)}} for name in "ab")
    with pytest.raises(kmetrics.MergeError, match="only in one of them: a, b"):
        norms.get_state_from_context(one) | norms.get_state_from_context(two)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Root(kmetrics.Metric):
    """A view: the root of the mean that another metric computes."""

    source: kmetrics.Metric

    @property
    def state_source(self):
        return self.source.state_source

    def state_of(self, source_state):
        return RootState(total=source_state.total, count=source_state.count)


@kmetrics.state
class RootState(kmetrics.AverageState):
    def compute(self):
        return np.sqrt(super().compute())


LEAVES = {"a": np.float32([3, 5]), "b": np.float32([8, 10])}
TREE = {"x": LEAVES, "by": np.array([0, 1])}
ROOT = Root(source=kmetrics.Mean(values="x"))


def test_a_view_is_computed_from_the_leaves_of_its_source():
    assert TreeMap(metric=ROOT)(TREE) == {"a": 2, "b": 3}
    assert TreeReduce(metric=ROOT)(TREE) == np.sqrt(26 / 4)
    state = TreeMap(metric=ROOT).get_state(values=LEAVES)
    assert state.compute() == {"a": 2, "b": 3}
    labels = {name: np.array([0, 1]) for name in "ab"}
    preds = {"a": np.array([0, 1]), "b": np.array([1, 1])}
    table = kmetrics.ConfusionMatrix(pred_labels="p", labels="y", num_classes=2)
    shares = TreeMap(metric=kmetrics.Precision(source=table, average="micro"))
    assert shares({"p": preds, "y": labels}) == {"a": 1, "b": 0.5}


@pytest.mark.parametrize("inner", [kmetrics.Mean(values="x"), ROOT])
def test_a_wrapper_is_computed_on_every_leaf(inner):
    def of(wrapper, **options):
        return TreeMap(metric=wrapper(metric=inner, **options))

    per_leaf = TreeMap(metric=inner)(TREE)
    assert of(kmetrics.SkipIfMissing)(TREE) == per_leaf
    assert of(kmetrics.Last)(TREE) == per_leaf
    every = of(kmetrics.Every, n=2)
    assert every({**TREE, "step": 4}) == per_leaf
    assert np.isnan(list(every({**TREE, "step": 5}).values())).all()
    grouped = of(kmetrics.Grouped, by="by", groups=2)
    values, alone = grouped(TREE), TreeMap(metric=inner)
    first = {name: leaf[:1] for name, leaf in LEAVES.items()}
    assert {k: v["0"] for k, v in values.items()} == alone({"x": first})
    assert {k: v["overall"] for k, v in values.items()} == per_leaf
    reduced = TreeReduce(metric=grouped.metric)
    assert reduced(TREE)["overall"] == TreeReduce(metric=inner)(TREE)
    merged = reduced.empty() | reduced.get_state_from_context(TREE)
    assert merged.compute()["overall"] == reduced(TREE)["overall"]


def test_leaves_are_no_batches_in_time():
    mean = kmetrics.Mean(values="x")
    with pytest.raises(TypeError, match=r"Ema\(metric=TreeReduce\(metric=...\)\)"):
        TreeReduce(metric=kmetrics.Ema(metric=mean, decay=0.5))(TREE)
    around = kmetrics.Ema(metric=TreeReduce(metric=mean), decay=0.5)
    assert around(TREE) == 26 / 4


def test_a_tree_is_skipped_if_a_glob_finds_no_leaf():
    tree = TreeMap(metric=kmetrics.Mean(values="x.*"))
    assert kmetrics.SkipIfMissing(metric=tree)(TREE) == {"x.a": 4, "x.b": 9}
    with pytest.warns(wrappers.MissingKeyWarning, match=r"has no x\.\*"):
        assert kmetrics.SkipIfMissing(metric=tree)({"y": 1}) == {}
