import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import kmetrics
import kontext
from kmetrics.testing import check_laws

MEAN = kmetrics.Mean(values="x")
SPREAD = kmetrics.Bootstrap(metric=MEAN, ids="id", n=3)
PETS = {"by": "kind", "groups": ("cat", "dog"), "other": None}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ends(kmetrics.Metric):
    """A metric of a user that tells its names."""

    values: kontext.Key = kontext.REQUIRED
    told: tuple[str, ...] | str = ("low", "high")

    def metric_names(self):
        return self.told

    def get_state(self, values):
        return EndsState.from_values(jnp.asarray(values))


@kmetrics.state
class EndsState(kmetrics.AverageState):
    def compute(self):
        return {"low": super().compute() - 1, "high": super().compute() + 1}


@pytest.mark.parametrize(
    ("metric", "names"),
    [
        (MEAN, None),
        (SPREAD, ("value", "lo", "hi", "sd")),
        (kmetrics.WithCi(metric=MEAN), ("value", "lo", "hi")),
        (kmetrics.Grouped(metric=MEAN, **PETS), ("cat", "dog", "overall")),
        (
            kmetrics.Grouped(metric=SPREAD, include_overall=False, **PETS),
            tuple(f"{p}/{n}" for p in ("cat", "dog") for n in SPREAD.metric_names()),
        ),
        (kmetrics.Last(metric=SPREAD), SPREAD.metric_names()),
        (kmetrics.Quantiles(q=(0.5, 0.999)), ("p50", "p99.9")),
        (kmetrics.RocAuc(), None),
        (kmetrics.RocAuc(method="binned"), ("value", "bound")),
        (kmetrics.TreeMap(metric=SPREAD), None),
    ],
)
def test_a_metric_tells_the_names_of_its_results(metric, names):
    assert metric.metric_names() == names


def test_a_collection_tells_the_names_that_compute_gives():
    collection = kmetrics.Collection(
        {
            "all": MEAN,
            "by": {"pet": kmetrics.Grouped(metric=MEAN, **PETS)},
            "ends": Ends(values="x"),
        }
    )
    context = {"x": np.float32([1, 3]), "kind": np.array([0, 1])}
    values = collection.compute(collection.get_states(context))
    assert tuple(values) == collection.metric_names()
    assert values["ends/low"] == 1.0


@pytest.mark.spec("kmetrics-88")
def test_results_that_would_share_a_name_are_refused_at_construction():
    pets = kmetrics.Grouped(metric=MEAN, **PETS)
    with pytest.raises(kmetrics.NameCollisionError) as error:
        kmetrics.Collection({"by": pets, "by/cat": MEAN})
    assert str(error.value).splitlines() == [
        "two results are both named 'by/cat'",
        "  of the metrics 'by' and 'by/cat'",
        "rename one of them",
    ]
    kmetrics.Collection({"by": pets, "by/bird": MEAN})


@pytest.mark.parametrize("told", ["low", ("low", 3), ["low"]])
def test_names_of_results_that_are_no_names_are_refused(told):
    ends = Ends(values="x")
    object.__setattr__(ends, "told", told)
    with pytest.raises(TypeError, match=r"Ends\.metric_names must give names"):
        kmetrics.Collection({"ends": ends})


def test_a_count_is_refused_under_the_name_of_a_result():
    collection = kmetrics.Collection({"x/count": MEAN, "x": MEAN})
    states = collection.get_states({"x": np.float32([1, 3])})
    assert collection.compute(states) == {"x/count": 2.0, "x": 2.0}
    with pytest.raises(kmetrics.NameCollisionError, match="'x/count'"):
        collection.compute(states, log_count=True)


def test_telling_other_names_than_those_of_the_results_breaks_a_law():
    batches = [{"values": np.float32([1])}, {"values": np.float32([2])}]
    check_laws(Ends(), batches)
    with pytest.raises(kmetrics.LawError, match="metric_names tells the names"):
        check_laws(Ends(told=("low",)), batches)
