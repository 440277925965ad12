"""`ktrain run`."""

from __future__ import annotations

import logging
import shlex
from typing import Any

import click

import konfig
from ktrain import _errors
from ktrain.cli import _errors_shown, _source


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
    _print_result(result, words, trainer)
    return {
        "preempted": _errors.EXIT_PREEMPTED,
        "interrupted": _errors.EXIT_INTERRUPTED,
    }.get(result.stop_reason, _errors.EXIT_DONE)


def _set_workdir(cfg: Any, name: str, workdir: str | None) -> None:
    if workdir is not None:
        cfg.workdir = workdir
    elif not cfg.get("workdir"):
        digest = konfig.fingerprint(cfg, exclude=("workdir",))
        cfg.workdir = f"runs/{name}-{digest[:8]}"


def _check_is_trainer(trainer: Any) -> None:
    from ktrain.trainer import Trainer

    if not isinstance(trainer, Trainer):
        raise _errors.TrainerConfigError(
            f"the config resolves to a {type(trainer).__qualname__}, not to a"
            " ktrain.Trainer.\n  get_config() must return the config of a Trainer."
        )


def _print_result(result: Any, words: list[str], trainer: Any) -> None:
    step = int(result.state.step)
    told = {
        "done": f"done: {step} steps",
        "already_complete": f"already complete: {step} steps, nothing to compute",
        "stop_after_steps": f"stopped after {result.steps_run} steps, at step {step}",
        "preempted": f"stopped by a signal at step {step}; the state is saved",
        "interrupted": f"interrupted at step {step}; the state is saved",
    }[result.stop_reason]
    click.echo(told)
    for name, evaluation in result.evals.items():
        values = "  ".join(
            f"{key.removeprefix('metrics/')}={value:.6g}"
            for key, value in evaluation.values.items()
            if isinstance(value, (int, float))
        )
        click.echo(
            f"{name}: {values}  ({evaluation.num_examples} examples,"
            f" step {evaluation.step})"
        )
    click.echo(f"workdir: {trainer.workdir}")
    command = shlex.join(["ktrain", "run", *words, f"--workdir={trainer.workdir}"])
    click.echo(f"resume:  {command}")
