"""Everything about a trainer that can be known before data or model is touched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ktrain import _errors, writers

Problem = tuple[str, Any, str]
"""(field, what was found, what is expected and what to do)."""

_CHOICES = {
    "on_preempt": ("save_exit", "ignore"),
    "resume": ("auto", "must", "never"),
    "on_config_drift": ("error", "warn", "accept"),
}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")


def check_trainer(trainer: Any) -> None:
    """Refuses a trainer that cannot work.

    Raises:
      TrainerConfigError: Lists all problems, one line each.
    """
    problems = [
        *_numbers(trainer),
        *_choices(trainer),
        *_losses(trainer),
        *_evaluators(trainer),
        *_places(trainer),
    ]
    if not problems:
        return
    lines = [f"  {field} = {found!r}: {text}" for field, found, text in problems]
    count = "1 field" if len(lines) == 1 else f"{len(lines)} fields"
    raise _errors.TrainerConfigError(
        f"{count} of the trainer cannot work:\n" + "\n".join(lines)
    )


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _numbers(trainer: Any) -> Iterator[Problem]:
    if not _whole(trainer.num_train_steps) or trainer.num_train_steps < 0:
        yield (
            "num_train_steps",
            trainer.num_train_steps,
            "expected a whole number of updates, at least 0",
        )
    for name in ("log_metrics_every", "stop_after_steps"):
        value = getattr(trainer, name)
        if value is not None and (not _whole(value) or value < 1):
            yield (
                name,
                value,
                "expected a whole number of at least 1; use None to turn it off",
            )
    if not _whole(trainer.seed):
        yield "seed", trainer.seed, "expected a whole number"


def _choices(trainer: Any) -> Iterator[Problem]:
    for name, choices in _CHOICES.items():
        value = getattr(trainer, name)
        if value not in choices:
            hint = _errors.did_you_mean(str(value), choices)
            yield name, value, f"expected one of {', '.join(map(repr, choices))}{hint}"


def _losses(trainer: Any) -> Iterator[Problem]:
    if not trainer.train_losses and not trainer.allow_no_loss:
        yield (
            "train_losses",
            dict(trainer.train_losses),
            "there is nothing to minimise; give a loss, or allow_no_loss=True",
        )
    if "total" in trainer.train_losses:
        yield "train_losses", "total", "this name is kept for the sum; rename the loss"


def _evaluators(trainer: Any) -> Iterator[Problem]:
    if not isinstance(trainer.evals, Mapping):
        yield "evals", trainer.evals, "expected a mapping of names to evaluators"
        return
    for name in trainer.evals:
        if name == "train":
            yield "evals", name, "this name is kept for training; rename the evaluator"
        elif not _NAME.fullmatch(str(name)):
            yield "evals", name, "a name has letters, digits, '_', '-' and '.' only"


def _places(trainer: Any) -> Iterator[Problem]:
    if trainer.workdir and "://" in str(trainer.workdir):
        yield "workdir", trainer.workdir, "expected a folder of this machine"
    if not trainer.workdir and writers.needs_workdir(trainer.writer):
        yield (
            "workdir",
            trainer.workdir,
            "the writer needs a folder; set workdir=, or writer=ConsoleWriter()",
        )
    own = getattr(trainer.checkpointer, "workdir", None)
    if trainer.checkpointer is not None and not trainer.workdir and _unset(own):
        yield (
            "workdir",
            trainer.workdir,
            "the checkpointer needs a folder; set workdir=, or checkpointer=None",
        )
    if trainer.resume == "must" and trainer.checkpointer is None:
        yield "resume", "must", "there is no checkpointer to resume from"


def _unset(value: Any) -> bool:
    return value is None or type(value).__name__ == "RootRef"
