"""Every error that ktrain raises on its own account, and the exit code each has.

A message has four parts: what is wrong in the user's terms, where, what was got
and expected, and what to do. Errors of user code are never wrapped; the layers
above add a note.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_CONFIG = 3
EXIT_DATA = 4
EXIT_CHECKPOINT = 5
EXIT_PREEMPTED = 75
EXIT_INTERRUPTED = 130


class TrainError(Exception):
    """Base of ktrain's errors; `exit_code` is what the command line exits with."""

    exit_code = EXIT_FAILED


class TrainerConfigError(TrainError, ValueError):
    """Fields of a trainer (or of its parts) that cannot work, all of them at once."""

    exit_code = EXIT_CONFIG


class UnboundRootRefError(TrainError, ValueError):
    """A field that takes its value from the trainer was used without a trainer."""

    exit_code = EXIT_CONFIG


class ConfigDriftError(TrainError, ValueError):
    """The workdir holds a run of another config."""

    exit_code = EXIT_CONFIG


class TreeContractError(TrainError, ValueError):
    """Two trees that must agree differ in structure, shape or dtype."""


class NonFiniteError(TrainError, FloatingPointError):
    """A loss or the gradients became NaN or infinite."""


class EvaluatorError(TrainError, RuntimeError):
    """Evaluators failed; the first failure is the cause."""


class DataError(TrainError, ValueError):
    """The data cannot be used as the pipeline asks."""

    exit_code = EXIT_DATA


class DataExhausted(DataError):
    """The training data ended before the last step."""


class CheckpointError(TrainError, RuntimeError):
    """A checkpoint cannot be written or read."""

    exit_code = EXIT_CHECKPOINT


class CheckpointNotFoundError(CheckpointError, FileNotFoundError):
    """There is no checkpoint where one is required."""


class CheckpointMismatchError(CheckpointError, ValueError):
    """A checkpoint does not fit the model or the optimizer."""


class WorkdirLockedError(TrainError, RuntimeError):
    """Another process is training in the same workdir."""


def did_you_mean(name: str, known: Iterable[str], count: int = 3) -> str:
    """Gives `"; did you mean 'a' or 'b'?"`, or "" when nothing is near."""
    near = difflib.get_close_matches(name, [str(k) for k in known], n=count)
    if not near:
        return ""
    return "; did you mean " + " or ".join(repr(n) for n in near) + "?"


def table(rows: Iterable[tuple[str, ...]], *, limit: int = 20) -> str:
    """Aligns rows in columns, two spaces in front; says how many were left off."""
    rows = [tuple(str(cell) for cell in row) for row in rows]
    if not rows:
        return ""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  " + "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
        for row in rows[:limit]
    ]
    if len(rows) > limit:
        lines.append(f"  … and {len(rows) - limit} more")
    return "\n".join(lines)
