"""Resume is exact: the state, the data position, the random keys, the logs."""

import os
import signal
import subprocess
import sys
import textwrap

import jax
import numpy as np
import optax
import pytest

import kmetrics
import ktrain
from ktrain import errors
from ktrain.run import read_events


def leaves(tree):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]


def same(a, b):
    return all((x == y).all() for x, y in zip(leaves(a), leaves(b), strict=True))


def every(n, **options):
    return ktrain.evals.Evaluator(run=ktrain.evals.EveryNSteps(n), **options)


def steps_of(trainer):
    with trainer.checkpointer.open() as session:
        return session.steps()


@pytest.mark.spec("core-1")
def test_the_last_state_is_saved_whatever_the_interval(saved):
    trainer = saved(num_train_steps=12)
    trainer.train()
    assert steps_of(trainer) == [5, 10, 12]


@pytest.mark.case("107")
@pytest.mark.slow
@pytest.mark.spec("io-61")
@pytest.mark.parametrize("stop", [1, 4, 5, 7])
def test_stopping_anywhere_and_resuming_equals_a_straight_run(saved, parts, stop):
    straight = parts.trainer(num_train_steps=10, model=parts.Mlp(dropout=0.2)).train()
    first = saved(num_train_steps=10, stop_after_steps=stop).train()
    assert int(first.state.step) == stop
    second = saved(num_train_steps=10).train()
    assert second.start_step == stop
    assert second.steps_run == 10 - stop
    assert same(second.state, straight.state)


@pytest.mark.spec("core-66")
def test_stop_after_steps_counts_from_the_resumed_step(saved):
    saved(num_train_steps=12, stop_after_steps=5).train()
    result = saved(num_train_steps=12, stop_after_steps=3).train()
    assert (result.start_step, int(result.state.step)) == (5, 8)


@pytest.mark.spec("core-37", "io-90")
def test_a_finished_run_started_again_computes_nothing(saved):
    done = saved(evals={"val": every(5)}).train()
    again = saved(evals={"val": every(5)}).train()
    assert again.stop_reason == "already_complete"
    assert again.steps_run == 0
    assert again.evals == {}
    assert same(again.state, done.state)


@pytest.mark.spec("core-39")
def test_more_steps_go_on_from_the_end(saved):
    saved(num_train_steps=6).train()
    result = saved(num_train_steps=9).train()
    assert (result.start_step, int(result.state.step)) == (6, 9)


@pytest.mark.spec("core-42")
def test_resume_must_and_never_are_strict(saved):
    with pytest.raises(errors.CheckpointNotFoundError, match="holds no checkpoint"):
        saved(resume="must").train()
    saved(num_train_steps=5).train()
    with pytest.raises(errors.CheckpointError, match="newest: step 5"):
        saved(resume="never").train()


@pytest.mark.spec("core-40", "io-82")
def test_another_width_names_every_parameter_that_differs(saved, parts):
    saved(num_train_steps=5).train()
    with pytest.raises(errors.CheckpointMismatchError) as caught:
        saved(num_train_steps=9, model=parts.Mlp(hidden=16, dropout=0.2)).train()
    assert "params.enc.kernel" in str(caught.value)
    assert "f32[4 8]" in str(caught.value)
    assert "f32[4 16]" in str(caught.value)


@pytest.mark.spec("core-41")
def test_another_optimizer_differs_in_its_state_only(saved):
    saved(num_train_steps=5).train()
    with pytest.raises(errors.CheckpointMismatchError) as caught:
        saved(num_train_steps=9, optimizer=optax.sgd(0.1)).train()
    assert "opt_state" in str(caught.value)
    assert "params.enc" not in str(caught.value)


def test_an_evaluation_that_was_done_is_not_repeated_on_resume(saved):
    saved(num_train_steps=5, evals={"val": every(5)}).train()
    result = saved(num_train_steps=10, evals={"val": every(5)}).train()
    lines = ktrain.writers.read_jsonl(result.workdir / "metrics" / "val.jsonl")
    assert [line["step"] for line in lines] == [0, 5, 10]
    raw = (result.workdir / "metrics" / "val.jsonl").read_text()
    assert raw.count('"step": 5,') == 1


def test_the_log_has_each_step_once_after_a_resume(saved):
    saved(num_train_steps=12, stop_after_steps=7, log_metrics_every=2).train()
    result = saved(num_train_steps=12, log_metrics_every=2).train()
    lines = ktrain.writers.read_jsonl(result.workdir / "metrics" / "train.jsonl")
    assert [line["step"] for line in lines] == [0, 2, 4, 6, 8, 10]
    kinds = [event["event"] for event in read_events(result.workdir)]
    assert kinds[0] == "start"
    assert "resume" in kinds
    assert kinds[-1] == "complete"


@pytest.mark.spec("core-86")
def test_a_trainer_without_a_config_leaves_its_files_all_the_same(saved):
    import json

    result = saved(num_train_steps=5).train()
    config = json.loads((result.workdir / "config.json").read_text())
    assert config["exact"] is False
    run = json.loads((result.workdir / "run.json").read_text())
    assert run["attempts"][0]["stop_reason"] == "done"
    assert run["attempts"][0]["seed"] == 0
    spec = json.loads((result.workdir / "element_spec.json").read_text())
    assert spec["x"] == {"shape": [8, 4], "dtype": "float32"}
    params = json.loads((result.workdir / "params.json").read_text())
    assert params["enc.kernel"]["count"] == 32
    assert "`preds.y`" in (result.workdir / "context.md").read_text()
    assert (result.workdir / "train_complete.json").exists()
    assert not (result.workdir / ".lock").exists()


@pytest.mark.spec("core-6")
def test_what_is_off_makes_no_file(saved):
    result = saved(
        log_metrics_every=None, checkpointer=None, writer=ktrain.writers.NoopWriter()
    ).train()
    names = {path.name for path in result.workdir.iterdir()}
    assert not names & {"metrics", "tb", "checkpoints"}


@pytest.mark.spec("core-53")
@pytest.mark.parametrize("log_every", [1, 100, None])
def test_a_state_that_is_not_finite_is_never_saved(saved, parts, log_every):
    schedule = optax.piecewise_constant_schedule(1e-3, {8: 1e38})
    trainer = saved(
        optimizer=optax.sgd(schedule), num_train_steps=20, log_metrics_every=log_every
    )
    with pytest.raises(errors.NonFiniteError):
        trainer.train()
    assert steps_of(trainer) == [5]


def test_a_run_without_checkpoints_does_not_end_with_nan(parts):
    schedule = optax.piecewise_constant_schedule(1e-3, {8: 1e38})
    with pytest.raises(errors.NonFiniteError, match="after 12 updates: parameters"):
        parts.trainer(optimizer=optax.sgd(schedule), log_metrics_every=None).train()


def test_an_interrupt_between_an_update_and_its_count_saves_the_right_step(
    saved, parts, monkeypatch
):
    from ktrain.run import ProgressSession

    shown = ProgressSession.update

    def broken(self, step, **values):
        if step >= 6:
            raise BrokenPipeError("the terminal is gone")
        return shown(self, step, **values)

    monkeypatch.setattr(ProgressSession, "update", broken)
    trainer = saved(log_metrics_every=None)
    with pytest.raises(BrokenPipeError):
        trainer.train()
    monkeypatch.undo()
    with trainer.checkpointer.open() as session:
        restored = session.restore(trainer.state_spec)
    assert int(restored.state.step) == restored.step
    result = saved(log_metrics_every=None).train()
    straight = parts.trainer(
        log_metrics_every=None, model=parts.Mlp(dropout=0.2)
    ).train()
    assert int(result.state.step) == 12
    assert same(result.state, straight.state)


@pytest.mark.spec("core-85")
def test_a_second_trainer_in_the_workdir_is_refused(saved, tmp_path):
    trainer = saved()
    from ktrain.run import WorkdirLock

    (tmp_path / "run").mkdir()
    with (
        WorkdirLock(tmp_path / "run"),
        pytest.raises(errors.WorkdirLockedError, match=str(os.getpid())),
    ):
        trainer.train()


SCRIPT = textwrap.dedent(
    """
    import sys, time
    sys.path.insert(0, sys.argv[1])
    import conftest, ktrain
    parts = conftest.Parts

    class Slow(parts.Gap):
        pass

    trainer = parts.trainer(
        workdir=sys.argv[2],
        num_train_steps=int(sys.argv[3]),
        model=parts.Mlp(dropout=0.2),
        writer=ktrain.writers.JsonlWriter(),
        log_metrics_every=10,
        checkpointer=ktrain.checkpoint.Checkpointer(save_interval_steps=20),
        evals={"val": ktrain.evals.Evaluator(run=ktrain.evals.EveryNSteps(50))},
    )
    pipeline = trainer.train_ds
    if len(sys.argv) > 4:
        # Slow enough that a signal meets the run in the middle.
        class Paced:
            batch_size = pipeline.batch_size
            element_spec = pipeline.element_spec
            def open(self, **options):
                batches = pipeline.open(**options)
                real = type(batches).__next__
                class Batches(type(batches)):
                    def __next__(self):
                        time.sleep(float(sys.argv[4]))
                        return real(self)
                batches.__class__ = Batches
                return batches
        trainer = trainer.replace(train_ds=Paced())
    result = trainer.train()
    print(result.stop_reason, int(result.state.step), flush=True)
    """
)


def start(tmp_path, workdir, steps, pause=None):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    words = [sys.executable, script, os.path.dirname(__file__), workdir, steps, pause]
    return subprocess.Popen(
        [str(word) for word in words if word is not None],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def wait_for(path, seconds=300):
    import time

    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"{path} did not come"
        time.sleep(0.01)


def arrays(workdir, step):
    return ktrain.checkpoint.read_arrays(workdir / "checkpoints" / f"step_{step:09d}")


@pytest.mark.slow
@pytest.mark.case("118")
@pytest.mark.spec("io-74")
def test_sigterm_saves_leaves_and_the_resumed_run_is_exact(tmp_path):
    workdir = tmp_path / "killed"
    process = start(tmp_path, workdir, 60, 0.02)
    wait_for(workdir / "checkpoints" / "step_000000020" / "MANIFEST.json")
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=300)
    reason, step = output.split()[-2:]
    assert reason == "preempted"
    assert 20 <= int(step) < 60
    assert (arrays(workdir, int(step)))["step"] == int(step)

    output, _ = start(tmp_path, workdir, 60).communicate(timeout=120)
    assert output.split()[-2:] == ["done", "60"]
    straight = tmp_path / "straight"
    start(tmp_path, straight, 60).communicate(timeout=120)
    for name, array in arrays(straight, 60).items():
        assert (array == arrays(workdir, 60)[name]).all(), name


def test_the_loss_of_a_weighted_sum_is_logged_as_total(parts):
    l2 = kmetrics.losses.L2(preds="preds.y", targets="batch.y")
    l1 = kmetrics.losses.L1(preds="preds.y", targets="batch.y", weight=0.5)
    metrics = parts.trainer(train_losses={"l2": l2, "l1": l1}).train().last_metrics
    assert metrics["losses/total"] == pytest.approx(
        metrics["losses/l2"] + metrics["losses/l1"]
    )
