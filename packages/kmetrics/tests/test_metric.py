import dataclasses
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kmetrics
import kontext


@dataclasses.dataclass(frozen=True, kw_only=True)
class MeanGap(kmetrics.Metric):
    preds: kontext.Key = kontext.REQUIRED
    targets: kontext.Key = kontext.REQUIRED
    scales: object = 1.0

    State = kmetrics.AverageState

    def get_state(self, preds, targets, mask=None):
        return kmetrics.AverageState.from_values(preds - targets, mask=mask)


@dataclasses.dataclass(frozen=True, kw_only=True)
class NoMask(kmetrics.Metric):
    values: kontext.Key = kontext.REQUIRED

    def get_state(self, values):
        return kmetrics.AverageState.from_values(values)


CONTEXT = {"batch": {"y": jnp.array([1.0, 2.0])}, "preds": jnp.array([2.0, 5.0])}
GAP = MeanGap(preds="preds", targets="batch.y")


def test_a_metric_of_a_user_reads_a_context_or_takes_names():
    assert GAP(CONTEXT) == 2.0
    assert GAP(preds=jnp.ones(2), targets=jnp.zeros(2)) == 1.0
    assert isinstance(GAP(CONTEXT), float)
    with pytest.raises(TypeError, match="not both"):
        GAP(CONTEXT, preds=jnp.ones(2))


def test_the_state_belongs_to_the_metric_and_its_empty_one_too():
    state = GAP.get_state_from_context(CONTEXT)
    assert state.parent == GAP
    assert GAP.empty().parent == GAP
    assert (GAP.empty() | state).compute() == 2.0
    assert state.with_parent(GAP.replace(scales=2)).parent == GAP


def test_a_metric_without_a_state_class_has_no_empty_state():
    with pytest.raises(kmetrics.StateDefinitionError, match="State = kmetrics"):
        NoMask(values="x").empty()


@pytest.mark.spec("kmetrics-66")
def test_metrics_that_differ_in_keys_merge_and_share_one_trace():
    other = MeanGap(preds="elsewhere", targets="batch.z")
    assert GAP != other
    traces = []

    @jax.jit
    def merge(a, b):
        traces.append(None)
        return a.merge(b)

    a = GAP.get_state(preds=jnp.ones(2), targets=jnp.zeros(2))
    b = other.get_state(preds=jnp.ones(2), targets=jnp.zeros(2))
    assert merge(a, b).compute() == merge(b, a).compute() == merge(a, a).compute() == 1
    assert len(traces) == 1


def test_metrics_with_different_options_do_not_merge():
    a = GAP.get_state(preds=jnp.ones(2), targets=jnp.zeros(2))
    b = GAP.replace(scales=2.0).get_state(preds=jnp.ones(2), targets=jnp.zeros(2))
    with pytest.raises(kmetrics.MergeError, match="different options") as error:
        a.merge(b)
    assert "scales=2.0" in str(error.value)


@pytest.mark.spec("kmetrics-68")
def test_lists_and_dicts_among_the_options_can_be_hashed():
    metric = GAP.replace(scales=[0, {"a": [1, 2]}, {3}])
    assert hash(metric) == hash(GAP.replace(scales=[0, {"a": [1, 2]}, {3}]))
    assert metric.scales[1] == {"a": (1, 2)}
    with pytest.raises(TypeError, match="cannot be changed"):
        metric.scales[1]["a"] = 2
    assert pickle.loads(pickle.dumps(metric)) == metric
    state = jax.jit(metric.get_state)(jnp.ones(2), jnp.zeros(2))
    assert state.compute() == 1.0
    assert GAP.replace(scales=np.float32(2)).scales == 2.0
    with pytest.raises(TypeError, match=r"MeanGap.scales is of type ndarray"):
        GAP.replace(scales=np.ones(3))


def test_a_mask_reaches_a_metric_that_reads_examples():
    mask = jnp.array([True, False])
    roots = frozenset({"batch"})
    state = GAP.get_state_from_context(CONTEXT, mask=mask, example_roots=roots)
    assert state.compute() == 1.0
    away = MeanGap(preds="preds", targets="preds")
    state = away.get_state_from_context(CONTEXT, mask=mask, example_roots=roots)
    assert state.count.numpy() == 2


def test_a_metric_that_takes_no_mask_is_refused_on_a_padded_batch():
    metric = NoMask(values="batch.y")
    mask = jnp.array([True, False])
    with pytest.raises(kmetrics.MaskNotAcceptedError) as error:
        metric.get_state_from_context(CONTEXT, mask=mask)
    assert isinstance(error.value, TypeError)
    assert str(error.value) == (
        "NoMask cannot leave out the padding of a padded batch\n"
        "  its get_state takes no argument mask\n"
        "add mask=None to get_state and hand it on, for example to "
        "AverageState.from_values"
    )
    # Without padding, or off the examples, it works as it is.
    assert metric.get_state_from_context(CONTEXT).compute() == 1.5
    roots = frozenset({"preds"})
    state = metric.get_state_from_context(CONTEXT, mask=mask, example_roots=roots)
    assert state.compute() == 1.5


def test_keypaths_are_the_paths_in_order():
    assert GAP.keypaths() == ("preds", "batch.y")
    assert GAP.replace(preds=["a.b", {"c": "d[0]"}]).keypaths() == (
        "a.b",
        "d[0]",
        "batch.y",
    )


def test_a_key_that_leads_nowhere_is_an_error_of_kontext():
    with pytest.raises(kontext.PathLookupError, match="MeanGap"):
        GAP.replace(targets="batch.z")(CONTEXT)
    with pytest.raises(kontext.RequiredKeyError, match="targets"):
        MeanGap(preds="preds")(CONTEXT)


def test_compute_on_a_metric_is_refused_when_the_class_is_made():
    with pytest.raises(kmetrics.StateDefinitionError, match="belongs to its state"):

        class Wrong(kmetrics.Metric):
            def compute(self):
                return 0


def test_what_is_no_class_of_states_is_refused_when_the_metric_is_defined():
    class Undecorated(kmetrics.State):
        pass

    for kind, message in {
        Undecorated: "Undecorated is unknown to jax\nwrite @kmetrics.state",
        int: "State of Wrong is not a class of states\n  got <class 'int'>",
        "AverageState": "State of Wrong is not a class of states",
    }.items():
        with pytest.raises(kmetrics.StateDefinitionError, match=message):
            type("Wrong", (kmetrics.Metric,), {"State": kind})


def test_a_state_that_cannot_merge_is_refused():
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Raw(kmetrics.Metric):
        def get_state(self, x):
            return x

    with pytest.raises(TypeError, match="must return a state"):
        Raw().get_state(1.0)


def test_a_state_of_a_user_reads_the_options_of_its_metric():
    @kmetrics.state
    class PowerState(kmetrics.AutoState):
        total: jax.Array = kmetrics.sum_field()

        def compute(self):
            return self.total**self.parent.power

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Power(kmetrics.Metric):
        power: int = 2
        State = PowerState

        def get_state(self, x):
            return PowerState(total=x.sum())

    assert Power(power=3)(x=jnp.ones(2)) == 8
    assert Power()(x=jnp.ones(2)) == 4


def test_a_state_of_flax_is_taken_as_it_is():
    struct = pytest.importorskip(
        "flax.struct", reason="flax is not a dependency; users may bring its states"
    )

    @struct.dataclass
    class Total:
        total: jax.Array

        def merge(self, other):
            return Total(self.total + other.total)

        def compute(self):
            return self.total

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Sum(kmetrics.Metric):
        x: kontext.Key = "x"

        def get_state(self, x):
            return Total(x.sum())

    collection = kmetrics.Collection({"sum": Sum()})
    states = jax.jit(collection.get_states)({"x": jnp.arange(3)})
    assert collection.compute(collection.merge(states, states)) == {"sum": 6.0}


def test_a_metric_says_which_way_is_better_and_how_far_it_goes():
    assert kmetrics.FBeta().higher_is_better and kmetrics.FBeta().range == (0, 1)
    error = kmetrics.MeanSquaredError()
    assert (error.higher_is_better, error.range) == (False, (0, np.inf))
    assert kmetrics.losses.L2().higher_is_better is False
    assert kmetrics.Mean().higher_is_better is kmetrics.Mean().range is None
    around = kmetrics.WithCi(metric=kmetrics.Every(metric=kmetrics.FBeta(), n=2))
    assert (around.higher_is_better, around.range) == (True, (0, 1))
    assert around == kmetrics.WithCi(
        metric=kmetrics.Every(metric=kmetrics.FBeta(), n=2)
    )


def test_all_metrics_but_those_of_any_numbers_say_which_way_is_better():
    public = (getattr(kmetrics, name) for name in kmetrics.__all__)
    metrics = [
        c for c in public if isinstance(c, type) and issubclass(c, kmetrics.Metric)
    ]
    unknown = {c.__name__ for c in metrics if c.higher_is_better is None}
    around = {c.__name__ for c in metrics if "metric" in c.__dataclass_fields__}
    of_numbers = {"Mean", "MeanCov", "Moments", "Norm", "Quantiles", "Std"}
    others = {"Metric", "ConfusionMatrix", "CosineSimilarity", "SingleDimension"}
    others |= {"NoopMetric"}
    assert unknown - around == of_numbers | others
