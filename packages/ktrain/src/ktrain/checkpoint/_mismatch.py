"""What to say when a checkpoint and a model are of different shapes."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ktrain import _errors
from ktrain.checkpoint._leaves import LeafSpec


def check_fits(
    stored: Mapping[str, LeafSpec],
    wanted: Mapping[str, LeafSpec],
    *,
    step: int,
    where: str | os.PathLike[str],
) -> None:
    """Compares what is stored with what the program needs, leaf by leaf.

    Raises:
      CheckpointMismatchError: A path, a shape or a dtype differs; lists them.
    """
    rows = [*_differing(stored, wanted)]
    if not rows:
        return
    total = len(stored.keys() | wanted.keys())
    plural = "leaf differs" if len(rows) == 1 else "leaves differ"
    raise _errors.CheckpointMismatchError(
        f"step {step} in {os.fspath(where)} does not fit this model and optimizer"
        f" ({len(rows)} of {total} {plural})\n"
        f"{_errors.table(rows)}\n"
        "options: restore with the model and optimizer of that run, or train in a"
        " new workdir"
    )


def _differing(
    stored: Mapping[str, LeafSpec], wanted: Mapping[str, LeafSpec]
) -> list[tuple[str, str, str]]:
    rows = []
    names = [*wanted, *(name for name in stored if name not in wanted)]
    for name in sorted(names, key=_weight):
        there, here = stored.get(name), wanted.get(name)
        if there is None or here is None or not _same(there, here):
            rows.append(
                (
                    name,
                    f"checkpoint {there or 'absent'}",
                    f"model {here or 'absent'}",
                )
            )
    return rows


def _same(a: LeafSpec, b: LeafSpec) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype


def _weight(name: str) -> int:
    # A changed layer shows in params first; the optimizer state only repeats it.
    return 0 if name.startswith("params") else 2 if name.startswith("opt_state") else 1
