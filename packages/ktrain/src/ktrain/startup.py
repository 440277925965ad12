"""Before the first update: workdir, lock, data, the config of before, the state."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import jax
import numpy as np
from etils import epath

from ktrain import _errors, drift
from ktrain.checkpoint import CheckpointSession, Restored
from ktrain.run import WorkdirLock, read_json


def open_batches(trainer: Any) -> Any:
    """Gives the iterator of this process's rows of the training batches."""
    return trainer.train_ds.open(
        purpose="train",
        process_index=jax.process_index(),
        process_count=jax.process_count(),
    )


def check_length(trainer: Any, batches: Any) -> None:
    """Refuses finite data that are known to end before this run does.

    Raises:
      DataExhausted: Says how many batches there are and how many are needed.
    """
    available, total = batches.num_batches, trainer.num_train_steps
    more = trainer.stop_after_steps
    needed = total if more is None else min(total, more)
    if available is None or available >= needed:
        return
    raise _errors.DataExhausted(
        f"train_ds has {available} batches, and {needed} updates need {needed}.\n"
        "  Use num_epochs=None to repeat the data, or"
        f" num_train_steps={available}."
    )


def check_eval_errors(trainer: Any) -> None:
    """Refuses to train on after a failed evaluation where others wait in it."""
    if trainer.on_eval_error == "continue" and jax.process_count() > 1:
        raise _errors.TrainerConfigError(
            f"on_eval_error = 'continue': there are {jax.process_count()} processes,"
            " and the others would wait for one that left an evaluation.\n"
            "  Use on_eval_error='raise'; with a checkpointer the run goes on when it"
            " is started again."
        )


def enter_workdir(trainer: Any, stack: contextlib.ExitStack, primary: bool) -> Any:
    """Makes and locks the workdir; all processes fail together when one cannot."""
    if not trainer.workdir:
        return None
    workdir = epath.Path(trainer.workdir)
    failure: Exception | None = None
    if primary:
        try:
            workdir.mkdir(parents=True, exist_ok=True)
            stack.enter_context(WorkdirLock(workdir))
        except OSError as error:
            failure = _errors.TrainerConfigError(
                f"workdir = {str(workdir)!r} cannot be used: {error}\n"
                "  Give a folder that can be made and written."
            )
        except _errors.TrainError as error:
            failure = error
    _fail_together(failure)
    return workdir


def _fail_together(failure: Exception | None) -> None:
    """Raises in every process when one failed; all processes meet here."""
    if jax.process_count() > 1:
        from jax.experimental import multihost_utils

        failed = multihost_utils.process_allgather(np.array(failure is not None))
        if failure is None and np.any(failed):
            raise _errors.TrainError(
                f"process {int(np.argmax(failed))} could not start; see its output"
            )
    if failure is not None:
        raise failure


def open_checkpoints(
    trainer: Any, stack: contextlib.ExitStack, primary: bool
) -> CheckpointSession | None:
    """Gives the open checkpoints; None without a checkpointer."""
    if trainer.checkpointer is None:
        return None
    opened = trainer.checkpointer.open(primary=primary, processes=jax.process_count())
    return stack.enter_context(opened)


def check_drift(
    trainer: Any, workdir: Any, checkpoints: CheckpointSession | None
) -> list[str]:
    """Compares the configs where there is a state to go on from."""
    if workdir is None or checkpoints is None or checkpoints.latest() is None:
        return []
    defaults = {
        field.name: field.default
        for field in dataclasses.fields(trainer)
        if isinstance(field.default, (bool, int, float, str))
    }
    return drift.check_drift(
        workdir, trainer.raw_cfg, defaults=defaults, policy=trainer.on_config_drift
    )


def restore(trainer: Any, checkpoints: CheckpointSession | None) -> Restored | None:
    """Gives the newest good state as `trainer.resume` says; None to start afresh."""
    latest = None if checkpoints is None else checkpoints.latest()
    if latest is not None and trainer.resume == "never":
        raise _errors.CheckpointError(
            f"{trainer.workdir} already holds checkpoints (newest: step {latest}), and"
            " resume='never' forbids to go on from them.\n"
            "  Use another workdir, or resume='auto'."
        )
    restored = None
    if checkpoints is not None:
        # Also when no step is committed: leftovers of a dead writer are not a run.
        restored = checkpoints.restore(trainer.state_spec)
    if restored is None and trainer.resume == "must":
        raise _errors.CheckpointNotFoundError(
            f"{trainer.workdir} holds no checkpoint, and resume='must' asks for one.\n"
            "  Check the workdir, or use resume='auto' to start from the beginning."
        )
    return restored


def is_complete(trainer: Any, restored: Restored, workdir: Any) -> bool:
    """Tells whether nothing is left to do, the last evaluations included."""
    if restored.step < trainer.num_train_steps:
        return False
    if workdir is None or restored.step > trainer.num_train_steps:
        return True
    path = workdir / "train_complete.json"
    return path.exists() and read_json(path)["step"] == restored.step
