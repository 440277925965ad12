"""Everything about a trainer that can be known before data or model is touched."""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ktrain import _bind, _errors, writers

Problem = tuple[str, Any, str]
"""(field, what was found, what is expected and what to do)."""

_CHOICES = {
    "on_preempt": ("save_exit", "ignore"),
    "on_eval_error": ("raise", "continue"),
    "resume": ("auto", "must", "never"),
    "on_config_drift": ("error", "warn", "accept"),
}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")


def check_trainer(trainer: Any) -> None:
    """Refuses a trainer that cannot work.

    Raises:
      TrainerConfigError: Lists all problems, one line each.
    """
    problems = [*_kinds(trainer)]
    if problems:
        raise _problems_error(problems)
    problems = [
        *_numbers(trainer),
        *_choices(trainer),
        *_losses(trainer),
        *_evaluators(trainer),
        *_places(trainer),
    ]
    if problems:
        raise _problems_error(problems)


def _problems_error(problems: list[Problem]) -> _errors.TrainerConfigError:
    lines = [f"  {field} = {found!r}: {text}" for field, found, text in problems]
    count = "1 field" if len(lines) == 1 else f"{len(lines)} fields"
    return _errors.TrainerConfigError(
        f"{count} of the trainer cannot work:\n" + "\n".join(lines)
    )


_METHODS = {
    "train_ds": (("open", "element_spec"), "a pipeline, such as InMemoryPipeline(…)"),
    "optimizer": (("init", "update"), "an optax transformation, such as optax.adam(…)"),
    "writer": (("open",), "a writer; NoopWriter() writes nothing"),
    "checkpointer": (("open",), "a Checkpointer, or None"),
    "progress": (("start",), "a Progress, or None"),
    "health": (("check", "check_params"), "a HealthPolicy"),
    "rng_streams": (("init", "train", "eval"), "an RngStreams"),
    "sharding": (("layout",), "a ShardingStrategy"),
    "eval_ds": (("open", "element_spec"), "a pipeline, or None"),
}
_MAY_BE_NONE = ("checkpointer", "progress", "eval_ds")
_MAPPINGS = {
    "train_losses": (("get_state",), "losses"),
    "train_metrics": (("get_state",), "metrics"),
    "train_summaries": (("get_state",), "summaries"),
    "schedules": (("__call__",), "functions of the step"),
    "evals": (("open", "run"), "evaluators"),
}


def _kinds(trainer: Any) -> Iterator[Problem]:
    """Looks at what each field is able to do, not at its class."""
    for name, (methods, expected) in _METHODS.items():
        value = getattr(trainer, name)
        if value is None and name in _MAY_BE_NONE:
            continue
        if not all(hasattr(type(value), method) for method in methods):
            yield name, _short(value), f"expected {expected}"
    for name, (methods, what) in _MAPPINGS.items():
        value = getattr(trainer, name)
        if not isinstance(value, Mapping):
            yield name, _short(value), f"expected a mapping of names to {what}"
            continue
        for key, item in _leaves(value):
            if not all(hasattr(item, method) for method in methods):
                yield f"{name}[{key!r}]", _short(item), f"expected one of {what}"
    if isinstance(trainer.model, type):
        kind = trainer.model.__name__
        yield "model", _short(trainer.model), f"a class, not an instance: {kind}(…)"


def _leaves(mapping: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, item in mapping.items():
        if isinstance(item, Mapping):
            yield from _leaves(item, f"{prefix}{key}/")
        else:
            yield f"{prefix}{key}", item


def _short(value: Any) -> Any:
    text = repr(value)
    return value if len(text) <= 60 else _Text(text[:57] + "…")


class _Text(str):
    """Text that stands for a value in a message."""

    def __repr__(self) -> str:
        return str(self)


def _whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _numbers(trainer: Any) -> Iterator[Problem]:
    if not _whole(trainer.num_train_steps) or trainer.num_train_steps < 0:
        yield (
            "num_train_steps",
            trainer.num_train_steps,
            "expected a whole number of updates, at least 0",
        )
    for name in ("log_metrics_every", "log_summaries_every", "stop_after_steps"):
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
    if trainer.on_eval_error == "continue" and trainer.checkpointer is None:
        yield (
            "on_eval_error",
            "continue",
            "the errors are raised at the end, and nothing would keep the state; set"
            " checkpointer=",
        )
    if trainer.resume == "must" and trainer.checkpointer is None:
        yield "resume", "must", "there is no checkpointer to resume from"


def _unset(value: Any) -> bool:
    return value is None or isinstance(value, _bind.RootRef)
