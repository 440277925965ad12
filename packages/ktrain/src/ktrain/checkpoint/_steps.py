"""The folders of steps: their names, their birth and their end.

A folder is deleted only if it carries the mark `INCOMPLETE`, which ktrain puts there
before it writes and before it deletes, or holds nothing that could be read. Whatever
else turns out to be unusable is set aside under another name, never deleted.
"""

from __future__ import annotations

import logging
import re
import shutil
from pathlib import Path

from ktrain.checkpoint import _manifest

_NAME = re.compile(r"step_(\d{9}|[1-9]\d{9,})")
_SET_ASIDE = re.compile(r"step_\d{9,}\.corrupt-.*")

_UNFINISHED_ARRAYS = ".orbax-checkpoint-tmp"

_log = logging.getLogger("ktrain")


def folder_of(root: Path, step: int) -> Path:
    """Gives the folder of a step, whether or not it exists."""
    return root / f"step_{step:09d}"


def step_of(folder: Path) -> int:
    """Gives the step that a folder's name says; -1 if it says none."""
    match = _NAME.fullmatch(folder.name)
    return int(match[1]) if match else -1


def present(root: Path) -> list[int]:
    """Gives the steps that have a folder, good or not, in ascending order."""
    steps = [step_of(Path(name)) for name in _folder_names(root)]
    return sorted(step for step in steps if step >= 0)


def set_aside(root: Path) -> list[str]:
    """Gives the names of the folders that were set aside as damaged."""
    return sorted(filter(_SET_ASIDE.fullmatch, _folder_names(root)))


def committed(root: Path) -> list[int]:
    """Gives the steps that were written to the end, read from the disk."""
    return [step for step in present(root) if is_committed(root, step)]


def is_committed(root: Path, step: int) -> bool:
    """Says whether a step has its manifest and every file has its size."""
    folder = folder_of(root, step)
    try:
        _manifest.check_sizes(folder, _manifest.read(folder, step))
    except _manifest.DamagedStep:
        return False
    return True


def begin(root: Path, step: int) -> Path:
    """Makes the folder of a new step, marked as incomplete, and gives it.

    A folder that is in the way is removed if it is a leftover, else set aside.
    """
    folder = folder_of(root, step)
    if folder.exists() and not remove_leftover(folder):
        quarantine(folder, "in-the-way")
    folder.mkdir(parents=True)
    _mark(folder)
    _manifest.sync(root)
    _manifest.sync(root.parent)
    return folder


def finish(folder: Path) -> None:
    """Takes the mark off a folder that is committed."""
    (folder / _manifest.INCOMPLETE).unlink()


def discard(folder: Path) -> None:
    """Deletes a step: first it ceases to be a step, then its files go."""
    if not folder.is_dir():
        return
    _unlist(folder)
    for path in folder.iterdir():
        if path.name == _manifest.INCOMPLETE:
            continue
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    (folder / _manifest.INCOMPLETE).unlink()
    try:
        folder.rmdir()
    except OSError:
        _mark(folder)  # a thread of a failed save is still writing: leave it to clean
        raise


def clean(root: Path) -> None:
    """Removes what writers left that died while they wrote or deleted a step."""
    for step in present(root):
        remove_leftover(folder_of(root, step))


def remove_leftover(folder: Path) -> bool:
    """Removes a folder if a dead writer left it; says whether."""
    if not folder.is_dir() or not _is_leftover(folder):
        return False
    discard(folder)
    _log.info("removed %s, the leftover of an interrupted save or delete", folder)
    return True


def quarantine(folder: Path, reason: str) -> Path:
    """Renames a damaged step so that it is no step any more; gives its new place."""
    target = folder.with_name(f"{folder.name}.corrupt-{reason}")
    count = 1
    while target.exists():
        count += 1
        target = folder.with_name(f"{folder.name}.corrupt-{reason}-{count}")
    folder.rename(target)
    _manifest.sync(folder.parent)
    return target


def _is_leftover(folder: Path) -> bool:
    names = {path.name for path in folder.iterdir()}
    if _manifest.NAME in names:
        return False
    unfinished = all(name.endswith(_UNFINISHED_ARRAYS) for name in names)
    return unfinished or _manifest.INCOMPLETE in names


def _unlist(folder: Path) -> None:
    manifest = folder / _manifest.NAME
    if manifest.exists():
        # One rename unlists and marks, and needs no space on a disk that is full.
        manifest.replace(folder / _manifest.INCOMPLETE)
        _manifest.sync(folder)
    else:
        _mark(folder)


def _mark(folder: Path) -> None:
    (folder / _manifest.INCOMPLETE).touch()
    _manifest.sync(folder)


def _folder_names(root: Path) -> list[str]:
    if not root.is_dir():
        return []
    return [path.name for path in root.iterdir() if path.is_dir()]
