"""The saved position of an iterator: written as plain data, checked before use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ktrain import _errors
from ktrain.data import _batch

Mode = Literal["exact", "position"]
_VERSION = 1


def write(
    plan: _batch.BatchPlan, position: int, batches: int, identity: Mapping[str, Any]
) -> dict[str, Any]:
    """Gives the JSON data that says where an iterator stands, and in which order."""
    return {
        "version": _VERSION,
        "epoch": position // plan.num_examples,
        "position": position,
        "batches": batches,
        **identity,
    }


def identity(
    plan: _batch.BatchPlan, *, seed: int, shuffle: bool, fingerprint: str
) -> dict[str, Any]:
    """Gives everything that decides which example stands at which position.

    The number of epochs is not part of it: a run may be made longer.
    """
    return {
        "seed": seed,
        "fingerprint": fingerprint,
        "pipeline": {
            "num_examples": plan.num_examples,
            "batch_size": plan.batch_size,
            "shuffle": shuffle,
            "remainder": plan.remainder,
            "span_epochs": plan.span_epochs,
        },
    }


def read(
    state: Any, plan: _batch.BatchPlan, present: Mapping[str, Any], mode: Mode
) -> tuple[int, int]:
    """Gives the position in the stream and the number of batches before it.

    Args:
      state: What `write` gave, perhaps after a way through JSON.
      plan: How the present iterator cuts its batches.
      present: Its `identity`.
      mode: "position" allows another batch size.

    Raises:
      DataError: The state is damaged, or of another order.
    """
    if mode not in {"exact", "position"}:
        raise ValueError(f"restore got mode={mode!r}; expected 'exact' or 'position'.")
    if not isinstance(state, Mapping):
        raise _damaged(f"it is {type(state).__name__}, expected a mapping")
    if state.get("version") != _VERSION:
        raise _errors.DataError(
            f"The saved position has the unknown version {state.get('version')!r};"
            f" this ktrain reads version {_VERSION}.\n"
            "  Use the ktrain that wrote it, or start in a new workdir."
        )
    _check_identity(state, present, mode)
    return _checked_place(state, plan), _count(state, "batches")


def _check_identity(
    state: Mapping[str, Any], present: Mapping[str, Any], mode: Mode
) -> None:
    saved = _flat(state)
    differing = [
        (name, f"saved {saved.get(name)!r}", f"now {value!r}")
        for name, value in _flat(present).items()
        if saved.get(name) != value
    ]
    names = [row[0] for row in differing]
    if not differing or (mode == "position" and names == ["batch_size"]):
        return
    advice = "Use the same data and settings, or start in a new workdir."
    if names == ["batch_size"]:
        advice = (
            "Use the same batch size, or restore(state, mode='position') to go on"
            " with the next example."
        )
    raise _errors.DataError(
        "The data cannot continue from the saved position: its order is not the"
        f" same.\n{_errors.table(differing)}\n  {advice}"
    )


def _checked_place(state: Mapping[str, Any], plan: _batch.BatchPlan) -> int:
    position, epoch = _count(state, "position"), _count(state, "epoch")
    if epoch != position // plan.num_examples:
        raise _damaged(
            f"position {position} is not in epoch {epoch} of"
            f" {plan.num_examples} examples"
        )
    end = plan.num_positions
    if end is not None and position > end:
        raise _errors.DataError(
            f"The saved position is after the end of the data: {position} of"
            f" {end} examples ({plan.num_epochs} epochs).\n"
            "  Raise num_epochs at least to what it was."
        )
    return position


def _count(state: Mapping[str, Any], name: str) -> int:
    value = state.get(name)
    if type(value) is not int or value < 0:
        raise _damaged(f"{name} is {value!r}, expected an integer >= 0")
    return value


def _flat(state: Mapping[str, Any]) -> dict[str, Any]:
    order = state.get("pipeline")
    fields = dict(order) if isinstance(order, Mapping) else {}
    known = {"fingerprint": state.get("fingerprint"), "seed": state.get("seed")}
    return {**known, **fields}


def _damaged(reason: str) -> _errors.DataError:
    return _errors.DataError(
        f"The saved position is damaged: {reason}.\n"
        "  Restore an earlier checkpoint, or start in a new workdir."
    )
