"""When to save, what to keep, how far to check: the description of checkpoints."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ktrain import _errors
from ktrain._bind import RootBound, RootRef, root, value_of
from ktrain.checkpoint._group import Group
from ktrain.checkpoint._restore import OnCorrupt, Reader, Verify
from ktrain.checkpoint._save import Writer
from ktrain.checkpoint._schedule import Schedule
from ktrain.checkpoint._session import CheckpointSession

_FOLDER = "checkpoints"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Checkpointer(RootBound):
    """Saves the state of a run into `<workdir>/checkpoints/step_000000200/`.

    A step is written whole or not at all, every file has a checksum, and a damaged
    step is set aside in favour of the one before it.

    Example:
      ```
      checkpointer = Checkpointer(workdir="runs/a", save_interval_steps=100)
      with checkpointer.open() as session:
          session.save(100, state, data=iterator.state())
      ```

    Attributes:
      save_interval_steps: Updates between saves; None saves only when asked to.
      workdir: Folder of the run; that of the trainer by default.
      max_to_keep: How many steps stay on disk, the newest; None keeps all.
      save_step_zero: Save the initial state too.
      verify: What is checked before a restore: `"full"` reads every file and compares
        checksums, `"size"` looks at sizes only, `"auto"` is full below 2 GiB.
      on_corrupt: `"fallback"` takes the step before a damaged one, `"error"` raises.
    """

    save_interval_steps: int | None
    workdir: str | os.PathLike[str] = root("workdir")
    max_to_keep: int | None = 3
    save_step_zero: bool = False
    verify: Verify = "auto"
    on_corrupt: OnCorrupt = "fallback"

    def __post_init__(self) -> None:
        """Checks every field.

        Raises:
          TrainerConfigError: Some are of no use; lists all of them.
        """
        problems = [*self._problems()]
        if problems:
            raise _errors.TrainerConfigError(
                "Checkpointer has fields that cannot work\n" + _errors.table(problems)
            )

    def open(self, *, primary: bool = True, processes: int = 1) -> CheckpointSession:
        """Opens the folder of the checkpoints; creates nothing.

        Args:
          primary: This process writes. Without it nothing is ever created, renamed or
            deleted (with several processes: exactly one is primary).
          processes: How many processes save and restore together, in a folder that all
            of them see.

        Returns:
          A session; use it with `with`, or `close` it.

        Raises:
          UnboundRootRefError: `workdir` is that of a trainer, and there is none.
          TrainerConfigError: `workdir` is not a local folder.
          CheckpointError: The folder cannot be written (if primary).
        """
        folder = _local_path(value_of(self.workdir)).absolute() / _FOLDER
        if primary:
            _require_writable(folder)
        group = Group(primary, processes)
        return CheckpointSession(
            root=folder,
            group=group,
            schedule=Schedule(self.save_interval_steps, self.save_step_zero),
            writer=Writer(root=folder, group=group, max_to_keep=self.max_to_keep),
            reader=Reader(
                root=folder,
                group=group,
                verify=self.verify,
                on_corrupt=self.on_corrupt,
            ),
        )

    def _problems(self) -> Iterator[tuple[str, str, str]]:
        for name in ("save_interval_steps", "max_to_keep"):
            value = getattr(self, name)
            if value is not None and not (_is_int(value) and value >= 1):
                yield _problem(name, value, "an int of at least 1, or None")
        if not isinstance(self.save_step_zero, bool):
            yield _problem("save_step_zero", self.save_step_zero, "a bool")
        if self.verify not in {"auto", "full", "size"}:
            yield _problem("verify", self.verify, '"auto", "full" or "size"')
        if self.on_corrupt not in {"fallback", "error"}:
            yield _problem("on_corrupt", self.on_corrupt, '"fallback" or "error"')
        if not isinstance(self.workdir, RootRef) and not _is_local_path(self.workdir):
            yield _problem("workdir", self.workdir, "a local folder")


def _problem(name: str, value: Any, expected: str) -> tuple[str, str, str]:
    return (name, f"got {value!r:.60}", f"expected {expected}")


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_local_path(value: Any) -> bool:
    if not isinstance(value, (str, os.PathLike)):
        return False
    return bool(os.fspath(value)) and "://" not in os.fspath(value)


def _local_path(value: Any) -> Path:
    # A workdir filled in by a trainer has not been looked at yet.
    if not _is_local_path(value):
        raise _errors.TrainerConfigError(
            f"the checkpointer needs a workdir on a local disk, got {value!r}"
        )
    return Path(value)


def _require_writable(folder: Path) -> None:
    place = folder
    while not place.exists():
        place = place.parent
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        raise _errors.CheckpointError(
            f"checkpoints cannot be written to {folder}\n"
            f"  {place} is {'read-only' if place.is_dir() else 'not a folder'}\n"
            "  Choose another workdir, or train without a checkpointer."
        )
