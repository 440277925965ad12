import logging

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kmetrics
import ktrain
from ktrain import errors
from ktrain.evals import EveryNSteps


def every(n, **options):
    return ktrain.evals.Evaluator(run=EveryNSteps(n), **options)


@pytest.mark.spec("io-49", "io-50")
@pytest.mark.parametrize(
    ("steps", "due"), [(60, [0, 20, 40, 60]), (70, [0, 20, 40, 60, 70])]
)
def test_every_20_steps_and_the_last(steps, due):
    assert [k for k in range(steps + 1) if EveryNSteps(20).due(k, steps)] == due


def test_first_and_last_can_be_left_out():
    run = EveryNSteps(20, first=False, last=False)
    assert [k for k in range(71) if run.due(k, 70)] == [20, 40, 60]


@given(n=st.integers(1, 50), steps=st.integers(1, 200), step=st.integers(0, 199))
def test_next_due_never_jumps_over_a_due_step(n, steps, step):
    run = EveryNSteps(n)
    step = min(step, steps - 1)
    later = [k for k in range(step + 1, steps + 1) if run.due(k, steps)]
    assert step < run.next_due(step, steps) <= later[0]


@pytest.mark.parametrize("n", [0, -1, 2.5, True])
def test_an_interval_that_is_no_positive_number_is_refused(n):
    with pytest.raises(errors.TrainerConfigError, match="at least 1"):
        EveryNSteps(n)


@pytest.mark.spec("io-42")
@pytest.mark.parametrize("batch_size", [1, 7, 21, 22, 64])
def test_every_example_counts_exactly_once_for_every_batch_size(parts, batch_size):
    ds = ktrain.data.InMemoryPipeline(
        loader=parts.Line(n=21, seed=1), batch_size=batch_size
    )
    trainer = parts.trainer(evals={"val": every(5, ds=ds)})
    state = trainer.init_state()
    result = trainer.evals["val"].evaluate(state)
    data = parts.Line(n=21, seed=1)()
    enc, dec = state.params["enc"], state.params["dec"]
    hidden = np.maximum(data["x"] @ enc["kernel"] + enc["bias"], 0)
    error = np.asarray(hidden @ dec["kernel"] + dec["bias"] - data["y"])
    assert result.num_examples == 21
    assert result.values["losses/l2"] == pytest.approx((error**2).mean(), rel=1e-5)
    assert result.values["metrics/gap"] == pytest.approx(np.abs(error).mean(), rel=1e-5)


@pytest.mark.spec("io-46")
def test_an_evaluator_inherits_what_it_is_not_given(parts):
    trainer = parts.trainer(evals={"val": every(5), "none": every(5, metrics={})})
    val = trainer.evals["val"]
    assert val.model is trainer.model
    assert val.losses is trainer.train_losses
    assert val.metrics is trainer.train_metrics
    assert val.ds is trainer.eval_ds
    assert trainer.evals["none"].metrics == {}


@pytest.mark.spec("core-49")
def test_a_metric_on_gradients_is_left_out_when_inherited(parts, caplog):
    norm = kmetrics.Norm(tensor="grads.enc.kernel")
    trainer = parts.trainer(
        train_metrics={"norm": norm, "gap": parts.Gap()}, evals={"val": every(5)}
    )
    with caplog.at_level(logging.INFO, "ktrain"):
        result = trainer.evals["val"].evaluate(trainer.init_state())
    assert "metrics/norm" not in result.values
    assert "metrics/gap" in result.values
    assert "norm (reads grads)" in caplog.text
    assert len(caplog.records) == 1


@pytest.mark.spec("core-49")
def test_a_metric_on_gradients_is_refused_when_given(parts):
    norm = kmetrics.Norm(tensor="grads.enc.kernel")
    trainer = parts.trainer(evals={"val": every(5, metrics={"norm": norm})})
    with pytest.raises(errors.TrainerConfigError, match=r"norm \(reads grads\)"):
        trainer.train()


@pytest.mark.spec("io-44")
def test_results_of_one_name_are_refused_with_the_name_of_the_evaluator(parts):
    clash = {
        "a": kmetrics.Moments(values="preds"),
        "a/mean": kmetrics.Mean(values="preds"),
    }
    trainer = parts.trainer(evals={"test": every(2, metrics=clash)})
    with pytest.raises(kmetrics.NameCollisionError, match="named 'a/mean'") as caught:
        trainer.train()
    assert "evals['test']" in caught.value.__notes__


def test_a_metric_without_a_mask_is_refused_on_padded_data(parts):
    class NoMask(parts.Gap):
        def get_state(self, pred, target):
            return kmetrics.AverageState.from_values(jnp.abs(pred - target))

    trainer = parts.trainer(evals={"val": every(5, metrics={"plain": NoMask()})})
    with pytest.raises(TypeError, match="plain"):
        trainer.train()


@pytest.mark.spec("io-47")
@pytest.mark.parametrize("name", ["train", "a/b", ""])
def test_a_name_that_cannot_be_a_collection_is_refused(parts, name):
    with pytest.raises(errors.TrainerConfigError, match="evals"):
        parts.trainer(evals={name: every(5)})


@pytest.mark.spec("io-57")
def test_evaluating_no_batch_is_refused():
    with pytest.raises(errors.TrainerConfigError, match="num_batches=None"):
        every(5, num_batches=0)


def test_a_schedule_or_a_count_of_the_wrong_kind_is_refused():
    with pytest.raises(errors.TrainerConfigError, match="EveryNSteps"):
        ktrain.evals.Evaluator(run=5)
    with pytest.raises(errors.TrainerConfigError, match="whole number"):
        every(5, num_batches=2.5)


def test_num_batches_limits_the_evaluation(parts):
    trainer = parts.trainer(evals={"val": every(5, num_batches=2)})
    assert trainer.evals["val"].evaluate(trainer.init_state()).num_examples == 16


def test_an_evaluator_without_data_is_refused(parts):
    trainer = parts.trainer(eval_ds=None, evals={"val": every(5)})
    with pytest.raises(errors.TrainerConfigError, match="no data to evaluate on"):
        trainer.train()


def test_evaluation_changes_no_number_of_training(parts):
    with_evals = parts.trainer(evals={"val": every(3)}).train().state
    without = parts.trainer().train().state
    assert (
        np.asarray(with_evals.params["enc"]["kernel"])
        == np.asarray(without.params["enc"]["kernel"])
    ).all()


def test_results_are_those_of_the_newest_evaluation(parts):
    result = parts.trainer(num_train_steps=12, evals={"val": every(5)}).train()
    assert result.evals["val"].step == 12
    assert result.evals["val"].num_examples == 21
