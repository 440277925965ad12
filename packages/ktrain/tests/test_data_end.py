"""Training data that end before the training."""

import jax
import numpy as np
import pytest

import ktrain
from ktrain import errors


@pytest.mark.spec("core-52")
def test_data_that_end_too_early_say_how_many_steps_are_needed(parts):
    ds = ktrain.data.InMemoryPipeline(loader=parts.Line(n=16), batch_size=8)
    ds = ds.replace(num_epochs=1)
    trainer = parts.trainer(train_ds=parts.Unmeasured(ds), num_train_steps=10)
    with pytest.raises(errors.DataExhausted, match="after 2 of 10 updates") as caught:
        trainer.train()
    assert "num_train_steps=2" in str(caught.value)


@pytest.mark.spec("core-52")
def test_data_that_are_known_to_end_too_early_start_no_run(parts, tmp_path):
    ds = ktrain.data.InMemoryPipeline(loader=parts.Line(n=16), batch_size=8)
    trainer = parts.trainer(
        train_ds=ds.replace(num_epochs=1), num_train_steps=10, workdir=tmp_path / "run"
    )
    with pytest.raises(errors.DataExhausted, match="has 2 batches, and 10") as caught:
        trainer.train()
    assert "num_train_steps=2" in str(caught.value)
    assert not (tmp_path / "run").exists()
    # This call needs no more than there are.
    assert trainer.replace(stop_after_steps=2).train().stop_reason == "stop_after_steps"


@pytest.mark.spec("core-52")
def test_a_run_whose_data_ended_is_saved_and_can_go_on(saved, parts):
    def ds(epochs):
        return parts.Unmeasured(
            ktrain.data.InMemoryPipeline(
                loader=parts.Line(n=56), batch_size=8, num_epochs=epochs
            )
        )

    with pytest.raises(errors.DataExhausted):
        saved(num_train_steps=10, train_ds=ds(1)).train()
    result = saved(num_train_steps=10, train_ds=ds(2)).train()
    assert result.start_step == 7
    straight = parts.trainer(
        num_train_steps=10, train_ds=ds(2), model=parts.Mlp(dropout=0.2)
    ).train()
    jax.tree.map(np.testing.assert_array_equal, result.state, straight.state)
