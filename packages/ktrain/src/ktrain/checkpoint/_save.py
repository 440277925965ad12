"""From a state to a committed step on disk, all or nothing."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import logging
import shutil
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

from ktrain import _errors
from ktrain.checkpoint import _leaves, _manifest, _retention, _steps, _store
from ktrain.checkpoint._group import Group
from ktrain.checkpoint._leaves import LeafSpec

_log = logging.getLogger("ktrain")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Snapshot:
    """One state, detached from the program that goes on changing it.

    Attributes:
      step: Number of updates in the state.
      arrays: The leaves by path, in a form that can be written.
      leaves: What they are.
      extras: Plain JSON data beside them: data, clock, metrics, config_digest.
    """

    step: int
    arrays: Mapping[str, Any]
    leaves: Mapping[str, LeafSpec]
    extras: Mapping[str, Any]

    @classmethod
    def take(
        cls, step: int, state: Any, extras: Mapping[str, Any], *, to_host: bool
    ) -> Snapshot:
        """Takes a snapshot; copies the arrays if `to_host`, else refers to them."""
        named = _leaves.named_leaves(state)
        leaves = _leaves.leaf_specs(named)
        if to_host:
            _leaves.start_transfer(named)
        detach = _leaves.to_host if to_host else _leaves.to_store
        return cls(
            step=step,
            arrays={name: detach(leaf) for name, leaf in named.items()},
            leaves=leaves,
            extras=extras,
        )

    @property
    def num_bytes(self) -> int:
        """Size of all arrays."""
        return sum(array.nbytes for array in self.arrays.values())


@dataclasses.dataclass(frozen=True, kw_only=True)
class Writer:
    """Writes steps into one folder, in agreement with the other processes."""

    root: Path
    group: Group
    max_to_keep: int | None

    def write(self, snapshot: Snapshot) -> None:
        """Writes and commits a step, then deletes those beyond `max_to_keep`.

        Raises:
          CheckpointError: It could not be written; its folder is gone again.
        """
        folder = _steps.folder_of(self.root, snapshot.step)
        is_begun = False
        try:
            self._begin(snapshot.step)
            is_begun = True
            self._fill(folder, snapshot)
            self._commit(folder, snapshot)
        except Exception as error:
            if self.group.primary and is_begun:
                with contextlib.suppress(OSError):
                    _steps.discard(folder)
            raise _failure(folder, snapshot, error) from error
        if self.group.primary:
            self._retire()

    def _begin(self, step: int) -> None:
        with self._together():
            if self.group.primary:
                _steps.begin(self.root, step)

    def _fill(self, folder: Path, snapshot: Snapshot) -> None:
        filled = {
            name: array
            for name, array in snapshot.arrays.items()
            if not snapshot.leaves[name].is_empty
        }
        with self._together():
            if filled:
                _store.write(folder / _manifest.ARRAYS, filled)

    def _commit(self, folder: Path, snapshot: Snapshot) -> None:
        with self._together():
            if self.group.primary:
                _manifest.write(
                    folder,
                    step=snapshot.step,
                    leaves=snapshot.leaves,
                    extras=snapshot.extras,
                )
                _steps.finish(folder)

    @contextlib.contextmanager
    def _together(self) -> Generator[None]:
        try:
            yield
        except Exception:
            self.group.all_ok(False)
            raise
        if not self.group.all_ok(True):
            raise RuntimeError("another process failed; see its log")

    def _retire(self) -> None:
        if self.max_to_keep is None:
            return
        steps = _steps.committed(self.root)
        for step in _retention.surplus(steps, self.max_to_keep):
            try:
                _steps.discard(_steps.folder_of(self.root, step))
            except OSError as error:
                _log.warning("step %d could not be deleted: %s", step, error)


def _failure(
    folder: Path, snapshot: Snapshot, error: Exception
) -> _errors.CheckpointError:
    what = f"{type(error).__name__}: {_first_line(error):.160}"
    lines = [f"  where: {folder}"]
    if _is_disk_full(error):
        what = "no space is left on the device"
        free = shutil.disk_usage(_existing(folder)).free
        lines += [
            f"  needed: about {snapshot.num_bytes} bytes, free: {free} bytes",
            "  Free some space, or keep fewer steps (max_to_keep).",
        ]
    return _errors.CheckpointError(
        "\n".join(
            [
                f"step {snapshot.step} could not be saved: {what}",
                *lines,
                "  Steps saved before are untouched; this one can be saved again.",
            ]
        )
    )


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def _is_disk_full(error: BaseException) -> bool:
    return any(
        getattr(cause, "errno", None) == errno.ENOSPC
        or "no space left on device" in str(cause).lower()
        for cause in _causes(error)
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _existing(path: Path) -> Path:
    while not path.exists():
        path = path.parent
    return path
