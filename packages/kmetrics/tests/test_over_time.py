import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kmetrics
from kmetrics import Ema, Every, Last, MaxOverTime, Mean, MinOverTime, losses
from kmetrics.testing import check_laws

MEAN = Mean(values="x")
# Means 2, 10, 3, and one without a value.
SERIES = [{"x": np.float32(x)} for x in ([1, 3], [10, 10], [2, 4])]
NOTHING = np.array([False, False])


def series(metric, batches=SERIES):
    states = map(metric.get_state_from_context, batches)
    return functools.reduce(lambda a, b: a | b, states, metric.empty())


def test_every_looks_at_each_nth_step_alone_outside_of_jit_and_inside():
    metric = Every(metric=MEAN, n=2)
    batches = [{**batch, "step": i} for i, batch in enumerate(SERIES)]
    assert metric.keypaths() == ("x", "step")
    assert series(metric, batches).compute() == 2.5
    get_state = jax.jit(metric.get_state_from_context)
    states = [get_state({**b, "step": np.int32(b["step"])}) for b in batches]
    assert [float(s.count.numpy()) for s in states] == [2, 0, 2]
    assert functools.reduce(lambda a, b: a | b, states).compute() == 2.5
    assert np.isnan(metric.get_state(step=1, values=np.ones(2)).compute())
    # Its states are those of the metric, and merge with them.
    assert (states[0] | MEAN.get_state(values=np.float32([5]))).compute() == 3.0


def test_every_takes_states_whose_shapes_come_from_the_data():
    @kmetrics.state
    class Highest(kmetrics.AutoState):
        each: jax.Array = kmetrics.max_field()

        def compute(self):
            return self.each

    class PerColumn(Mean):
        State = Highest

        def get_state(self, values, mask=None):
            return Highest(each=values.max(0))

    metric = Every(metric=PerColumn(), n=3)
    get_state = jax.jit(lambda step, x: metric.get_state(step=step, values=x))
    x = np.float32([[1, 5], [2, 3]])
    assert get_state(6, x).compute().tolist() == [2, 5]
    assert get_state(7, x).compute().tolist() == [-np.inf, -np.inf]


def test_older_batches_count_less_in_an_ema_worked_by_hand():
    state = series(Ema(metric=MEAN, decay=0.5))
    # Sums 4, 20, 6 of two values each, weighted 1/4, 1/2, 1 (and the same for all).
    assert state.compute() == pytest.approx((4 / 4 + 20 / 2 + 6) / (2 * 1.75))
    first = Ema(metric=MEAN, decay=0.9).get_state(values=np.float32([7]))
    assert first.compute() == 7.0
    table = Ema(metric=kmetrics.Recall(average="micro"), decay=0.5)
    right = {"logits": np.eye(2, dtype=np.float32), "labels": np.array([0, 1])}
    wrong = {"logits": np.eye(2, dtype=np.float32), "labels": np.array([1, 0])}
    merged = table.get_state(**wrong) | table.get_state(**right)
    assert merged.compute() == pytest.approx(2 / 3)


def test_an_ema_of_a_loss_is_a_carry_of_a_scan():
    metric = Ema(metric=losses.L2(), decay=0.5)

    def get_state(x):
        return metric.get_state(preds=x, targets=jnp.zeros(2))

    def step(state, x):
        return state.merge(get_state(x)), None

    rows = jnp.stack([batch["x"] for batch in SERIES])
    state, _ = jax.lax.scan(step, metric.empty(), rows)
    squares = [(1 + 9) / 4, (100 + 100) / 2, 4 + 16]
    assert state.compute() == pytest.approx(sum(squares) / 3.5)


def test_brackets_do_not_matter_over_time():
    batches = [{"values": batch["x"]} for batch in SERIES]
    for metric in (Ema(metric=Mean(), decay=0.5), Last(metric=Mean())):
        check_laws(metric, batches, splits=False, in_order=False)
    for metric in (MinOverTime(metric=Mean()), MaxOverTime(metric=Mean())):
        check_laws(metric, batches, splits=False)


def test_the_last_batch_is_the_one_merged_last():
    metric = Last(metric=MEAN)
    assert series(metric).compute() == 3.0
    late = metric.get_state_from_context(SERIES[0], mask=NOTHING)
    assert np.isnan((series(metric) | late).compute())
    assert np.isnan(metric.empty().compute())
    assert Last(metric=Mean(on_empty="zero")).empty().compute() == 0.0

    def step(state, x):
        return state.merge(Last(metric=Mean()).get_state(values=x)), None

    rows = np.float32([[1, 2], [5, 7]])
    one = Last(metric=Mean()).get_state(values=rows[0])
    start = one.empty_like()
    assert np.isnan(start.compute()) and (one | start).compute() == 1.5
    assert jax.lax.scan(step, start, rows)[0].compute() == 6.0
    merge = jax.jit(lambda a, b: a | b)
    assert merge(one, start).compute() == merge(start, one).compute() == 1.5
    exact = Last(metric=kmetrics.MedianAbsoluteError())
    ends = [exact.get_state(preds=rows[0][:n], targets=rows[0][:n] - n) for n in (1, 2)]
    assert (ends[0] | ends[1]).compute() == 2
    assert (ends[0] | ends[1].empty_like()).compute() == 1


def test_the_extremes_over_batches_ignore_what_has_no_value():
    none = [MEAN.replace(mask="m"), *SERIES]
    assert series(MinOverTime(metric=MEAN)).compute() == 2.0
    assert series(MaxOverTime(metric=MEAN)).compute() == 10.0
    for metric in (MinOverTime(metric=MEAN), MaxOverTime(metric=MEAN)):
        nothing = metric.get_state_from_context(none[1], mask=NOTHING)
        assert np.isnan(nothing.compute()) and np.isnan(metric.empty().compute())
        assert (nothing | series(metric)).compute() == series(metric).compute()
    compiled = jax.jit(MaxOverTime(metric=MEAN).get_state_from_context)
    assert compiled(SERIES[1]).compute() == 10.0
    both = MaxOverTime(metric=kmetrics.WithCi(metric=kmetrics.Accuracy()))
    ten = {"pred_labels": np.zeros(10, int), "labels": np.array([0] * 7 + [1] * 3)}
    assert both.get_state(**ten).compute()["value"] == pytest.approx(0.7)


def test_in_a_collection_and_over_devices_they_do_as_alone():
    collection = kmetrics.Collection(
        {
            "ema": Ema(metric=MEAN, decay=0.5),
            "last": Last(metric=MEAN),
            "max": MaxOverTime(metric=MEAN),
        }
    )
    states = [collection.get_states(batch) for batch in SERIES]
    values = collection.compute(functools.reduce(collection.merge, states))
    assert values == pytest.approx({"ema": 17 / 3.5, "last": 3.0, "max": 10.0})


def test_parts_of_a_batch_on_devices_are_no_series():
    ema, last = Ema(metric=MEAN, decay=0.5), Last(metric=MEAN)
    norm = kmetrics.Norm(tensor="x", across="last")
    around = (
        kmetrics.SkipIfMissing(metric=last),
        kmetrics.TreeMap(metric=Last(metric=Mean(values="tree"))),
        kmetrics.Grouped(metric=ema, by="by", groups=1, other=None),
    )

    collection = kmetrics.Collection({"ema": ema, "last": last})

    def on_each(x):
        context = {"x": x, "tree": {"a": x}, "by": jnp.zeros(2, int)}
        states = [m.get_state_from_context(context) for m in (ema, last, norm, *around)]
        together = collection.reduce(collection.get_states(context), "rows")
        return [state.reduce("rows") for state in states], together

    def on(device, state):
        return jax.tree.map(lambda x: x[device], state).compute()

    mapped = jax.jit(jax.vmap(on_each, axis_name="rows"))
    each, together = mapped(jnp.float32([[1, 3], [10, 10]]))
    assert each[0].factor.tolist() == [0.5, 0.5]  # one batch, in two parts
    for device in (0, 1):
        values = [on(device, state) for state in each]
        assert values[:2] == [6, 6] and values[3:5] == [6, {"a": 6}]
        assert values[2] == pytest.approx((10**0.5 + 200**0.5) / 2)
        assert values[5] == {"0": 6, "overall": 6}
        states = jax.tree.map(lambda x: x[device], together)  # noqa: B023
        assert collection.compute(states) == {"ema": 6, "last": 6}


def test_wrong_options_and_metrics_are_refused():
    with pytest.raises(ValueError, match="n must be 1 or more"):
        Every(metric=MEAN, n=0)
    with pytest.raises(ValueError, match=r"decay must be in \(0, 1\)"):
        Ema(metric=MEAN, decay=1.0)
    with pytest.raises(TypeError, match="Std makes MomentsState\nuse Last"):
        Ema(metric=kmetrics.Std(), decay=0.5).get_state(values=np.ones(2))
    with pytest.raises(kmetrics.HostOnlyError) as error:
        jax.jit(MaxOverTime(metric=kmetrics.Std()).get_state)(values=jnp.ones(2))
    assert "needs the value of each batch" in error.value.__notes__[0]
    with pytest.raises(TypeError, match="are numbers\n  ShowTexts computes: Text\n"):
        MinOverTime(metric=kmetrics.summaries.ShowTexts())(texts=["a"])


@pytest.mark.parametrize("step", [2.5, True, "2", np.array([2]), None])
def test_a_step_that_is_no_whole_number_is_refused(step):
    with pytest.raises(TypeError, match="Every: step must be a whole number"):
        Every(metric=MEAN, n=2).get_state(values=np.ones(2), step=step)


def test_every_under_jit_refuses_states_that_collect_on_the_host():
    metric = Every(metric=kmetrics.RocAuc(), n=2)
    scores, labels = np.float32([0.1, 0.8]), np.array([0, 1])
    assert metric.get_state(step=2, logits=scores, labels=labels).compute() == 1.0
    with pytest.raises(kmetrics.HostOnlyError, match="Every cannot skip steps of RocA"):
        jax.jit(lambda s: metric.get_state(step=s, logits=scores, labels=labels))(1)


@pytest.mark.parametrize("on_empty", ["nan", "zero", "raise"])
def test_a_batch_without_examples_is_no_extreme(on_empty):
    lowest = MinOverTime(metric=MEAN.replace(on_empty=on_empty))
    some, none = (
        lowest.get_state(values=SERIES[0]["x"], mask=m) for m in (None, NOTHING)
    )
    assert (some | none).compute() == 2.0
    if on_empty == "raise":
        with pytest.raises(kmetrics.EmptyMetricError, match="MinOverTime saw no data"):
            none.compute()
    else:
        expected = 0.0 if on_empty == "zero" else np.nan
        np.testing.assert_equal(none.compute(), expected)


def test_a_loss_without_examples_is_no_minimum_though_it_says_0():
    lowest = MinOverTime(metric=losses.L1())
    inputs = {"preds": np.float32([1, 3]), "targets": np.zeros(2, np.float32)}
    none = lowest.get_state(**inputs, mask=NOTHING)
    assert (lowest.get_state(**inputs) | none).compute() == 2.0
    traced = jax.jit(lambda mask: lowest.get_state(**inputs, mask=mask))(NOTHING)
    assert np.isnan(traced.compute())
