"""Signals that meet a run in its own process, as in a notebook or under a scheduler."""

import os
import signal

import jax
import numpy as np
import pytest

import ktrain
from ktrain.run import read_events


def every(n, **options):
    return ktrain.evals.Evaluator(run=ktrain.evals.EveryNSteps(n), **options)


class Signalling:
    """A pipeline that sends a signal to this process just before some batch.

    Attributes:
      drawn: Batches that were asked for.
    """

    batch_size = property(lambda self: self._pipeline.batch_size)
    element_spec = property(lambda self: self._pipeline.element_spec)

    def __init__(self, pipeline, number, at):
        self.drawn = 0
        self._pipeline, self._number, self._at = pipeline, number, at

    def open(self, **options):
        batches = self._pipeline.open(**options)
        draw = type(batches).__next__

        class Batches(type(batches)):
            def __next__(batches):
                self.drawn += 1
                if self.drawn == self._at:
                    os.kill(os.getpid(), self._number)
                return draw(batches)

        batches.__class__ = Batches
        return batches


def saved_steps(trainer):
    with trainer.checkpointer.open() as session:
        return session.steps()


@pytest.mark.slow
@pytest.mark.spec("core-60")
def test_sigterm_in_an_evaluation_leaves_it_at_the_next_batch(saved, parts):
    data = ktrain.data.InMemoryPipeline(loader=parts.Line(n=40, seed=1), batch_size=4)
    # Ten batches at step 0; the signal comes with the third at step 8.
    stopped = Signalling(data, signal.SIGTERM, at=13)
    evals = {"val": every(8, ds=stopped)}
    result = saved(evals=evals).train()
    assert (result.stop_reason, int(result.state.step)) == ("preempted", 8)
    assert stopped.drawn <= 14
    assert saved_steps(saved()) == [5, 8]
    (line,) = ktrain.writers.read_jsonl(result.workdir / "metrics" / "val.jsonl")
    assert line["step"] == 0
    assert read_events(result.workdir)[-1]["event"] == "preempt"

    again = saved(evals={"val": every(8, ds=data)}).train()
    assert (again.stop_reason, again.start_step) == ("done", 8)
    lines = ktrain.writers.read_jsonl(result.workdir / "metrics" / "val.jsonl")
    assert [line["step"] for line in lines] == [0, 8, 12]
    assert [line["num_examples"] for line in lines] == [40, 40, 40]


@pytest.mark.spec("core-63")
def test_ctrl_c_gives_control_back_with_the_state_saved(saved):
    handlers = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)]
    trainer = saved(log_metrics_every=None)
    ds = Signalling(trainer.train_ds, signal.SIGINT, at=7)
    result = trainer.replace(train_ds=ds).train()
    assert (result.stop_reason, int(result.state.step)) == ("interrupted", 7)
    assert saved_steps(trainer) == [5, 7]
    assert handlers == [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)]
    # The state can be used, and the run can go on in the same process.
    assert np.isfinite(jax.tree.leaves(result.state.params)[0]).all()
    assert trainer.train().start_step == 7
