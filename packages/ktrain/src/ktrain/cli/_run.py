"""`ktrain run`."""

from __future__ import annotations

import logging
import shlex
from typing import Any

import click

import konfig
from ktrain import _errors, drift
from ktrain.cli import _errors_shown, _source
from ktrain.run import read_json

_WORKDIR_WORDS = ("workdir=", "cfg.workdir=", "--cfg.workdir")


def run(words: list[str], *, workdir: str | None) -> int:
    """Trains; gives the exit code. Nothing is written before the config is valid."""
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    logging.getLogger("ktrain").setLevel(logging.INFO)
    with _errors_shown.stage("config"):
        cfg, name = _source.load(words)
        _set_workdir(cfg, name, workdir)
        trainer = konfig.resolve(cfg)
        _check_is_trainer(trainer)
    click.echo(f"workdir: {trainer.workdir}")
    result = trainer.train()
    saved = trainer.checkpointer is not None
    _print_result(result, words, saved=saved)
    if result.stop_reason == "interrupted":
        return _errors.EXIT_INTERRUPTED
    if result.stop_reason == "preempted":
        # A scheduler runs 75 again: worth it when there is a state to go on from.
        return _errors.EXIT_PREEMPTED if saved else _errors.EXIT_FAILED
    return _errors.EXIT_DONE


def _set_workdir(cfg: Any, name: str, workdir: str | None) -> None:
    if workdir is not None:
        cfg.workdir = workdir
    elif not cfg.get("workdir"):
        digest = konfig.fingerprint(cfg, exclude=drift.FREE)
        cfg.workdir = f"runs/{name}-{digest[:8]}"


def _check_is_trainer(trainer: Any) -> None:
    from ktrain.trainer import Trainer

    if not isinstance(trainer, Trainer):
        raise _errors.TrainerConfigError(
            f"the config resolves to a {type(trainer).__qualname__}, not to a"
            " ktrain.Trainer.\n  get_config() must return the config of a Trainer."
        )


def _print_result(result: Any, words: list[str], *, saved: bool) -> None:
    step = int(result.state.step)
    kept = "the state is saved" if saved else "nothing is saved without a checkpointer"
    told = {
        "done": f"done: {step} steps",
        "already_complete": f"already complete: {step} steps, nothing to compute",
        "stop_after_steps": f"stopped after {result.steps_run} steps, at step {step}",
        "preempted": f"stopped by a signal at step {step}; {kept}",
        "interrupted": f"interrupted at step {step}; {kept}",
    }[result.stop_reason]
    click.echo(told)
    for line in _evaluations(result):
        click.echo(line)
    click.echo(f"workdir: {result.workdir}")
    if not any(word.startswith(_WORKDIR_WORDS) for word in words):
        words = [*words, f"--workdir={result.workdir}"]
    click.echo(f"resume:  {shlex.join(['ktrain', 'run', *words])}")


def _evaluations(result: Any) -> list[str]:
    """Gives a line per evaluator: of this call, or of the run that was complete."""
    if result.stop_reason == "already_complete":
        return [_line(name, **found) for name, found in _recorded(result.workdir)]
    return [
        _line(name, step=found.step, num_examples=found.num_examples, **found.values)
        for name, found in result.evals.items()
    ]


def _recorded(workdir: Any) -> list[tuple[str, dict[str, Any]]]:
    path = workdir / "train_complete.json"
    return list(read_json(path)["evals"].items()) if path.exists() else []


def _line(name: str, *, step: int, num_examples: int, **values: Any) -> str:
    shown = "  ".join(
        f"{key.removeprefix('metrics/')}={value:.6g}"
        for key, value in values.items()
        if isinstance(value, (int, float))
    )
    return f"{name}: {shown}  ({num_examples} examples, step {step})"
