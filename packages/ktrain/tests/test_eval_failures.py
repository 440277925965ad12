"""Evaluators that raise: the state is kept, and nobody is left in the dark."""

import traceback

import jax
import numpy as np
import pytest

import ktrain
from ktrain import errors
from ktrain.run import read_events


def every(n, **options):
    return ktrain.evals.Evaluator(run=ktrain.evals.EveryNSteps(n), **options)


def steps_of(trainer):
    with trainer.checkpointer.open() as session:
        return session.steps()


@pytest.mark.spec("core-50")
def test_an_error_in_an_evaluator_saves_the_state_and_says_where(saved, parts):
    class Fails(parts.Gap):
        def get_state(self, pred, target, mask=None):
            raise OSError("no luck")

    evals = {"val": every(4, metrics={"bad": Fails()})}
    evals["val"] = evals["val"].replace(run=ktrain.evals.EveryNSteps(4, first=False))
    trainer = saved(evals=evals)
    with pytest.raises(OSError, match="no luck") as caught:
        trainer.train()
    notes = "\n".join(caught.value.__notes__)
    assert "evaluator 'val' at step 4" in notes
    assert "after 4 of 12 updates" in notes
    assert steps_of(trainer) == [4]
    assert saved(num_train_steps=12).train().start_step == 4


@pytest.mark.spec("core-50")
def test_training_goes_on_after_failed_evaluations_and_tells_at_the_end(saved, parts):
    class Fails(parts.Gap):
        def get_state(self, pred, target, mask=None):
            raise OSError("no luck")

    evals = {"bad": every(2, metrics={"bad": Fails()}), "good": every(4)}
    trainer = saved(evals=evals, on_eval_error="continue")
    with pytest.raises(ExceptionGroup, match="evaluators that failed: 'bad'") as caught:
        trainer.train()
    (error,) = caught.value.exceptions
    assert type(error) is OSError
    assert "evaluator 'bad' at step 0" in "\n".join(error.__notes__)
    assert "failed again at steps 2, 4, 6, 8, 10 and 1 more" in error.__notes__[-1]
    # The frames of the failure would keep a state and a batch on the device.
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    assert not any("model_state" in frame.f_locals for frame in frames)
    assert steps_of(trainer) == [5, 10, 12]
    folder = trainer.workdir
    good = ktrain.writers.read_jsonl(folder / "metrics" / "good.jsonl")
    assert [line["step"] for line in good] == [0, 4, 8, 12]
    failed = [e for e in read_events(folder) if e["event"] == "eval_error"]
    assert [event["step"] for event in failed] == [0, 2, 4, 6, 8, 10, 12]
    assert not (folder / "train_complete.json").exists()
    # What failed at the end is evaluated by the next run, and nothing else is.
    again = saved(evals={"bad": every(2), "good": every(4)}).train()
    assert (again.stop_reason, again.steps_run, {*again.evals}) == ("done", 0, {"bad"})
    straight = parts.trainer(model=parts.Mlp(dropout=0.2)).train()
    jax.tree.map(np.testing.assert_array_equal, again.state, straight.state)


def test_going_on_after_a_failed_evaluation_needs_a_place_for_the_state(parts):
    with pytest.raises(errors.TrainerConfigError, match="nothing would keep the state"):
        parts.trainer(on_eval_error="continue")


def test_an_evaluation_that_failed_at_the_end_is_done_by_the_next_run(saved, parts):
    class Fails(parts.Gap):
        def get_state(self, pred, target, mask=None):
            raise OSError("no luck")

    last = ktrain.evals.EveryNSteps(100, first=False)
    bad = ktrain.evals.Evaluator(run=last, metrics={"bad": Fails()})
    with pytest.raises(OSError, match="no luck"):
        saved(evals={"val": bad}).train()
    again = saved(evals={"val": bad.replace(metrics={})}).train()
    assert again.stop_reason == "done"
    assert again.steps_run == 0
    assert again.evals["val"].step == 12
    assert (again.workdir / "train_complete.json").exists()
    assert saved(evals={"val": bad}).train().stop_reason == "already_complete"
