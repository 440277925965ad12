"""What a trainer refuses before data or model is touched."""

import numpy as np
import pytest

import kmetrics
import ktrain
from ktrain import errors


@pytest.mark.spec("core-5")
@pytest.mark.parametrize("value", [0, -3, 2.5, True])
def test_a_log_interval_that_is_no_positive_number_is_refused(parts, value):
    with pytest.raises(errors.TrainerConfigError, match="log_metrics_every"):
        parts.trainer(log_metrics_every=value)


@pytest.mark.spec("core-7")
def test_an_unknown_field_is_refused(parts):
    with pytest.raises(TypeError, match="num_steps"):
        parts.trainer(num_steps=3)


@pytest.mark.spec("core-8")
def test_all_problems_are_told_at_once(parts):
    with pytest.raises(errors.TrainerConfigError) as caught:
        parts.trainer(num_train_steps=-1, log_metrics_every=0, resume="aut")
    text = str(caught.value)
    assert "3 fields of the trainer cannot work" in text
    assert "num_train_steps = -1" in text
    assert "log_metrics_every = 0" in text
    assert "did you mean 'auto'" in text


@pytest.mark.spec("core-9")
def test_a_checkpointer_without_a_workdir_is_named_as_the_reason(parts):
    with pytest.raises(errors.TrainerConfigError, match="the checkpointer needs"):
        parts.trainer(
            checkpointer=ktrain.checkpoint.Checkpointer(save_interval_steps=5)
        )


@pytest.mark.spec("core-13")
def test_a_loss_named_total_is_refused(parts):
    loss = kmetrics.losses.L2(preds="preds.y", targets="batch.y")
    with pytest.raises(errors.TrainerConfigError, match="kept for the sum"):
        parts.trainer(train_losses={"total": loss})


@pytest.mark.spec("core-14")
def test_no_losses_are_refused_unless_allowed(parts):
    with pytest.raises(errors.TrainerConfigError, match="allow_no_loss=True"):
        parts.trainer(train_losses={})
    result = parts.trainer(train_losses={}, allow_no_loss=True).train()
    assert int(result.state.step) == 12


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("optimizer", None, "an optax transformation"),
        ("train_losses", None, "a mapping of names to losses"),
        ("train_losses", {"l2": 3}, "train_losses['l2'] = 3"),
        ("train_metrics", ["accuracy"], "a mapping of names to metrics"),
        ("schedules", {"lr": 0.1}, "schedules['lr'] = 0.1"),
        ("evals", {"val": 5}, "evals['val'] = 5"),
        ("writer", None, "NoopWriter() writes nothing"),
        ("health", None, "a HealthPolicy"),
        ("rng_streams", None, "an RngStreams"),
        ("checkpointer", True, "a Checkpointer, or None"),
        ("train_ds", {}, "InMemoryPipeline"),
    ],
)
def test_a_field_of_the_wrong_kind_is_named_with_what_is_expected(
    parts, field, value, said
):
    with pytest.raises(errors.TrainerConfigError) as caught:
        parts.trainer(**{field: value})
    assert said in str(caught.value)
    assert field in str(caught.value)


def test_a_model_class_is_told_from_an_instance(parts):
    with pytest.raises(errors.TrainerConfigError, match=r"a class, not an instance"):
        parts.trainer(model=parts.Mlp)


def test_numbers_of_numpy_are_whole_numbers(parts):
    trainer = parts.trainer(num_train_steps=np.int64(2), seed=np.int32(0))
    assert int(trainer.train().state.step) == 2
