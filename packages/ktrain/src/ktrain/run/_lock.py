"""One trainer per workdir: `<workdir>/.lock`.

On one machine the lock is the kernel's (`flock`), so it is free the moment its
owner is gone, however it went. Other machines that share the folder may not see
that lock: for them the owner touches the file every ten seconds.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import fcntl
import json
import logging
import os
import pathlib
import socket
import sys
import threading
import time
from typing import Any

from ktrain import _errors

HEARTBEAT_S = 10.0
STALE_AFTER_S = 300.0

_logger = logging.getLogger("ktrain")


class WorkdirLock:
    """Holds a workdir for this process; a context manager.

        with WorkdirLock(workdir):
            ...

    The file holds host, pid, boot id, start time and command of its owner as JSON.
    It is removed on release, and at the end of the process.
    """

    def __init__(self, workdir: str | os.PathLike[str]):
        """Takes the folder; `acquire` makes it when it is missing."""
        self.path = pathlib.Path(workdir) / ".lock"
        self._handle: int | None = None
        self._guard = threading.Lock()
        self._stop = threading.Event()

    def __enter__(self) -> WorkdirLock:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    @property
    def is_held(self) -> bool:
        """Whether this object holds the lock."""
        return self._handle is not None

    def acquire(self) -> None:
        """Takes the lock at once, or says who has it.

        A lock whose owner is gone is taken over, with one line in the log.

        Raises:
          WorkdirLockedError: Another trainer has the workdir: on this machine, or on
            another one that gave a sign of life in the last five minutes.
          OSError: The folder cannot be written, or offers no locks.
        """
        if self._handle is not None:
            raise RuntimeError(f"this object already holds {self.path}")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        handle = _open_locked(self.path)
        try:
            self._check_previous_owner(handle)
            _write_owner(handle)
        except BaseException:
            os.close(handle)
            raise
        self._handle = handle
        self._stop = threading.Event()
        threading.Thread(
            target=self._beat,
            args=(handle, self._stop),
            name="ktrain-lock",
            daemon=True,
        ).start()
        _HELD.add(self)
        atexit.register(self.release)

    def _check_previous_owner(self, handle: int) -> None:
        owner = _read_owner(handle)
        if owner is None:
            return
        age = time.time() - os.fstat(handle).st_mtime
        if not _is_this_machine(owner) and age < STALE_AFTER_S:
            raise _locked(self.path, owner, age)
        _logger.warning(
            "took over %s from pid %s on host %s, which is gone (last sign of life %s"
            " ago)",
            self.path,
            owner.get("pid"),
            owner.get("host"),
            _duration(age),
        )

    def release(self) -> None:
        """Gives the workdir free and removes the file; does nothing when not held."""
        handle, self._handle = self._handle, None
        if handle is None:
            return
        with self._guard:
            self._stop.set()
        atexit.unregister(self.release)
        _HELD.discard(self)
        # Removed while locked: who waits for the old file sees that it is another.
        if _is_file_at(handle, self.path):
            with contextlib.suppress(OSError):
                os.unlink(self.path)
        os.close(handle)

    def _beat(self, handle: int, stop: threading.Event) -> None:
        while not stop.wait(HEARTBEAT_S):
            # Guarded, because a number of a closed file may mean another file.
            with self._guard, contextlib.suppress(OSError):
                if not stop.is_set():
                    os.utime(handle)


def _open_locked(path: pathlib.Path) -> int:
    """Gives a handle of the file that is at `path`, locked by this process."""
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            error.add_note(f"while locking the workdir {path.parent}")
            raise
        try:
            if _lock(handle, path):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _lock(handle: int, path: pathlib.Path) -> bool:
    """Locks the file; false when it was removed in between."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in {errno.EWOULDBLOCK, errno.EACCES}:
            raise _locked(path, *_present_owner(handle)) from None
        error.add_note(f"the file system of {path.parent} offers no file locks")
        raise
    return _is_file_at(handle, path)


def _is_file_at(handle: int, path: pathlib.Path) -> bool:
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(handle), there)


def _present_owner(handle: int) -> tuple[dict[str, Any], float]:
    # An owner that has just locked needs a moment to write who it is.
    for _ in range(20):
        owner = _read_owner(handle)
        if owner is not None:
            break
        time.sleep(0.02)
    else:
        owner = {}
    return owner, time.time() - os.fstat(handle).st_mtime


def _read_owner(handle: int) -> dict[str, Any] | None:
    try:
        owner = json.loads(os.pread(handle, 65536, 0))
    except ValueError:
        return None
    return owner if isinstance(owner, dict) else None


def _write_owner(handle: int) -> None:
    owner = {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "boot_id": _boot_id(),
        "started": round(time.time(), 3),
        "command": sys.argv[:50],
    }
    os.ftruncate(handle, 0)
    os.pwrite(handle, json.dumps(owner).encode(), 0)
    os.fsync(handle)


def _boot_id() -> str:
    """Gives what is the same for all containers of a machine until it restarts."""
    try:
        return pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _is_this_machine(owner: dict[str, Any]) -> bool:
    # With the same boot id `flock` has already told that the owner is gone. With the
    # same host name and another boot id, the machine was started again since.
    boot_id = _boot_id()
    if boot_id and owner.get("boot_id") == boot_id:
        return True
    return owner.get("host") == socket.gethostname()


def _locked(
    path: pathlib.Path, owner: dict[str, Any], age: float
) -> _errors.WorkdirLockedError:
    host, pid = owner.get("host", "unknown"), owner.get("pid", "unknown")
    started = owner.get("started")
    since = _duration(time.time() - started) if started else "an unknown time"
    here = _is_this_machine(owner) if owner else True
    if host == socket.gethostname() and pid == os.getpid():
        advice = (
            "This very process holds it: end its other run, or use another workdir."
        )
    elif here:
        advice = f"Wait for it, stop it (kill {pid}), or use another workdir."
    else:
        advice = (
            "Wait for it, stop it there, or use another workdir. If it is gone, the"
            f" lock\n  is free {_duration(STALE_AFTER_S)} after its last sign of life."
        )
    return _errors.WorkdirLockedError(
        f"another run is training in {path.parent}\n"
        f"  host {host}, pid {pid}, running for {since}, last sign of life"
        f" {_duration(age)} ago\n"
        f"  {advice}"
    )


def _duration(seconds: float) -> str:
    seconds = max(seconds, 0.0)
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


_HELD: set[WorkdirLock] = set()


def _forget_in_child() -> None:
    # A forked data worker would keep the kernel's lock alive after its parent died.
    # No thread is left in the child, so none of the thread locks may be touched.
    for lock in _HELD:
        if lock._handle is not None:
            os.close(lock._handle)
            lock._handle = None
    _HELD.clear()


os.register_at_fork(after_in_child=_forget_in_child)
