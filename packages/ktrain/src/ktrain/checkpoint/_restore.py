"""From the steps on disk to a state: verify, fall back, set aside, read, place."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from ktrain import _errors
from ktrain.checkpoint import _leaves, _manifest, _mismatch, _steps, _store
from ktrain.checkpoint._group import Group
from ktrain.checkpoint._manifest import DamagedStep, Manifest

Verify = Literal["auto", "full", "size"]
OnCorrupt = Literal["fallback", "error"]

_T = TypeVar("_T")

_FULL_BELOW_BYTES = 2 << 30

_log = logging.getLogger("ktrain")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Restored:
    """A step that was read back.

    Attributes:
      step: Number of updates in the state.
      state: The state, of the structure and with the shardings asked for.
      data: Position of the training data, as its iterator gave it.
      clock: State of the timers.
      metrics: Values known when the step was saved.
      config_digest: Digest of the config that the run had.
    """

    step: int
    state: Any
    data: Any
    clock: Any
    metrics: Any
    config_digest: str | None


class Damage(NamedTuple):
    """A step that cannot be used, and why."""

    step: int
    problem: DamagedStep

    def __str__(self) -> str:
        """Gives one line for a list of damaged steps."""
        return f"step {self.step}: {self.problem}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Reader:
    """Reads steps of one folder, in agreement with the other processes."""

    root: Path
    group: Group
    verify: Verify
    on_corrupt: OnCorrupt

    def newest(self, like: Any) -> Restored | None:
        """Restores the newest good step; sets newer damaged ones aside.

        Raises:
          CheckpointError: There are steps, but none is good; nothing was changed.
          CheckpointMismatchError: The newest good step is of another model.
        """
        damages: list[Damage] = []
        for step in reversed(_steps.present(self.root)):
            try:
                restored = self._restore(step, like)
            except DamagedStep as problem:
                damages.append(Damage(step, problem))
                if self.on_corrupt == "error":
                    raise self._unusable(damages) from problem
                continue
            self._set_aside(damages, restored.step)
            return restored
        if damages or _steps.set_aside(self.root):
            raise self._unusable(damages)
        return None

    def exactly(self, step: int, like: Any) -> Restored:
        """Restores one step; changes nothing if it is damaged.

        Raises:
          CheckpointNotFoundError: There is no such step.
          CheckpointError: It is damaged.
          CheckpointMismatchError: It is of another model.
        """
        if step not in _steps.present(self.root):
            steps = _steps.committed(self.root)
            raise _errors.CheckpointNotFoundError(
                f"there is no checkpoint of step {step}\n"
                f"  where:     {self.root}\n"
                f"  available: {', '.join(map(str, steps)) or 'none'}"
            )
        try:
            return self._restore(step, like)
        except DamagedStep as problem:
            raise self._unusable([Damage(step, problem)]) from problem

    def _restore(self, step: int, like: Any) -> Restored:
        import jax

        folder = _steps.folder_of(self.root, step)
        manifest = self._agreed(lambda: self._inspect(folder, step))
        likes = _leaves.named_leaves(like)
        structure = jax.tree_util.tree_structure(like)
        wanted = _leaves.leaf_specs(likes)
        _mismatch.check_fits(manifest.leaves, wanted, step=step, where=self.root)
        values = self._read(folder, manifest, likes)
        leaves = [
            _leaves.from_store(values.pop(name), manifest.leaves[name], leaf)
            for name, leaf in likes.items()
        ]
        return Restored(
            step=step,
            state=structure.unflatten(leaves),
            data=manifest.data,
            clock=manifest.clock,
            metrics=manifest.metrics,
            config_digest=manifest.config_digest,
        )

    def _agreed(self, look: Callable[[], _T]) -> _T:
        try:
            result = look()
        except DamagedStep:
            self.group.all_ok(False)
            raise
        if not self.group.all_ok(True):
            raise DamagedStep("damaged", "another process cannot use it")
        return result

    def _inspect(self, folder: Path, step: int) -> Manifest:
        manifest = _manifest.read(folder, step)
        full = self.verify == "full"
        if self.verify == "auto":
            full = manifest.num_bytes < _FULL_BELOW_BYTES
        self._check_files(folder, manifest, full=full)
        return manifest

    def _check_files(self, folder: Path, manifest: Manifest, *, full: bool) -> None:
        if self.group.processes > 1 and not self.group.primary:
            return  # the files are shared: one process reads them all
        check = _manifest.check_contents if full else _manifest.check_sizes
        check(folder, manifest)

    def _read(
        self, folder: Path, manifest: Manifest, likes: Mapping[str, Any]
    ) -> dict[str, Any]:
        one = self.group.processes == 1
        values: dict[str, Any] = {}
        problem: Exception | None = None
        try:
            values = read_values(folder, manifest, {} if one else likes)
        except Exception as error:
            problem = error
        if self.group.all_ok(problem is None):
            return values
        # Only a checksum tells a damaged file from, say, a lack of memory.
        self._agreed(lambda: self._check_files(folder, manifest, full=True))
        raise _errors.CheckpointError(
            f"step {manifest.step} in {self.root} cannot be read, although its files"
            " are what was written"
        ) from problem

    def _set_aside(self, damages: list[Damage], good: int) -> None:
        for step, problem in damages:
            folder = _steps.folder_of(self.root, step)
            _log.warning(
                "checkpoint %s is damaged (%s); %s; going on from step %d",
                folder,
                problem,
                self._move(folder, problem.reason),
                good,
            )

    def _move(self, folder: Path, reason: str) -> str:
        if not self.group.primary:
            return "left in place"
        try:
            return f"moved to {_steps.quarantine(folder, reason).name}"
        except OSError as error:
            return f"left in place ({error})"

    def _unusable(self, damages: list[Damage]) -> _errors.CheckpointError:
        lines = [f"  {damage}" for damage in damages[:5]]
        lines += [f"  … and {len(damages) - 5} more"] if len(damages) > 5 else []
        lines += [f"  set aside earlier: {n}" for n in _steps.set_aside(self.root)[:3]]
        good = [s for s in _steps.committed(self.root) if s not in dict(damages)]
        advice = "To start again from nothing, choose a new workdir."
        if good:
            advice = f"Steps that look good: {', '.join(map(str, good[-5:]))}."
            if self.on_corrupt == "error":
                advice += ' on_corrupt="fallback" takes the newest of them.'
        return _errors.CheckpointError(
            "\n".join(
                [
                    f"no checkpoint in {self.root} can be used; nothing was changed",
                    *lines,
                    f"  {advice}",
                ]
            )
        )


def read_values(
    folder: Path, manifest: Manifest, likes: Mapping[str, Any]
) -> dict[str, Any]:
    """Reads every leaf of a step; leaves without a like are read as numpy arrays."""
    values = {
        name: _leaves.empty_array(leaf)
        for name, leaf in manifest.leaves.items()
        if leaf.is_empty
    }
    wanted = {
        name: _leaves.layout(likes.get(name))
        for name, leaf in manifest.leaves.items()
        if not leaf.is_empty
    }
    if wanted:
        values |= _store.read(folder / _manifest.ARRAYS, wanted)
    return values


def read_arrays(step_dir: str | Path) -> dict[str, Any]:
    """Reads one step without knowing its model.

    Args:
      step_dir: Folder of the step, `<workdir>/checkpoints/step_000000200`.

    Returns:
      The leaves by path, as numpy arrays; random keys as their raw data.

    Raises:
      CheckpointNotFoundError: There is no such folder.
      CheckpointError: The step is damaged.
    """
    folder = Path(step_dir)
    if not folder.is_dir():
        raise _errors.CheckpointNotFoundError(f"there is no checkpoint {folder}")
    try:
        manifest = _manifest.read(folder, _steps.step_of(folder))
        _manifest.check_contents(folder, manifest)
    except DamagedStep as problem:
        raise _errors.CheckpointError(f"{folder} is damaged: {problem}") from problem
    return read_values(folder, manifest, {})
