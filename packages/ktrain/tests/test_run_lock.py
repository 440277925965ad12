"""One trainer per workdir, however its owner ended."""

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from ktrain import errors, run

_HOLD = """
import sys, time
from ktrain import run
lock = run.WorkdirLock(sys.argv[1])
lock.acquire()
print("held", flush=True)
time.sleep(60)
"""


def _start(code, *args):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _hold(workdir):
    process = _start(_HOLD, workdir)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def _end(process):
    process.kill()
    process.communicate()


@pytest.mark.spec("core-85", "io-77")
@pytest.mark.slow
def test_a_second_trainer_fails_at_once_and_names_the_first(tmp_path, monkeypatch):
    def wait(seconds):
        raise AssertionError(f"waited for {seconds} s")

    owner = _hold(tmp_path)
    monkeypatch.setattr(time, "sleep", wait)
    try:
        with pytest.raises(errors.WorkdirLockedError) as caught:
            run.WorkdirLock(tmp_path).acquire()
    finally:
        _end(owner)
    message = str(caught.value)
    assert f"another run is training in {tmp_path}" in message
    assert f"host {socket.gethostname()}, pid {owner.pid}, running for " in message
    assert f"stop it (kill {owner.pid}), or use another workdir" in message


@pytest.mark.spec("io-78")
@pytest.mark.slow
def test_the_lock_of_a_killed_owner_is_free_at_once(tmp_path, caplog):
    owner = _hold(tmp_path)
    _end(owner)
    assert (tmp_path / ".lock").exists()
    with caplog.at_level(logging.WARNING, logger="ktrain"):
        with run.WorkdirLock(tmp_path):
            held = json.loads((tmp_path / ".lock").read_text())
            assert held["pid"] == os.getpid()
    (record,) = caplog.records
    assert f"took over {tmp_path}/.lock from pid {owner.pid}" in record.getMessage()


def test_the_file_tells_who_holds_it_and_goes_with_the_release(tmp_path):
    lock = run.WorkdirLock(tmp_path / "new")
    assert not lock.is_held
    with lock:
        assert lock.is_held
        owner = json.loads(lock.path.read_text())
        assert owner["host"] == socket.gethostname()
        assert owner["pid"] == os.getpid()
        assert abs(owner["started"] - time.time()) < 120
        assert set(owner) == {"host", "pid", "boot_id", "started", "command"}
    assert not lock.path.exists()
    lock.release()
    with lock:
        assert lock.path.exists()


def test_the_same_process_is_told_that_it_holds_it_itself(tmp_path):
    with run.WorkdirLock(tmp_path) as lock:
        with pytest.raises(errors.WorkdirLockedError, match="This very process"):
            run.WorkdirLock(tmp_path).acquire()
        with pytest.raises(RuntimeError, match="already holds"):
            lock.acquire()
        assert lock.path.exists(), "a refused lock leaves the owner's file"


def _leave_file(workdir, *, age, **owner):
    path = workdir / ".lock"
    known = {"pid": 7, "started": time.time() - 1000, "command": []}
    path.write_text(json.dumps({**known, **owner}))
    os.utime(path, (time.time() - age,) * 2)
    return path


def test_another_host_that_lives_is_respected(tmp_path):
    path = _leave_file(tmp_path, age=60, host="elsewhere", boot_id="other")
    with pytest.raises(errors.WorkdirLockedError) as caught:
        run.WorkdirLock(tmp_path).acquire()
    message = str(caught.value)
    assert "host elsewhere, pid 7" in message
    assert "last sign of life 60 s ago" in message
    assert "free 5 min after" in message
    assert json.loads(path.read_text())["host"] == "elsewhere"


@pytest.mark.spec("io-78")
@pytest.mark.parametrize(
    ("age", "owner"),
    [
        (301, {"host": "elsewhere", "boot_id": "other"}),
        (1, {"host": socket.gethostname(), "boot_id": "before the reboot"}),
    ],
    ids=["silent host", "machine started again"],
)
def test_the_lock_of_an_owner_that_is_gone_is_taken_over(tmp_path, caplog, age, owner):
    _leave_file(tmp_path, age=age, **owner)
    with caplog.at_level(logging.WARNING, logger="ktrain"):
        with run.WorkdirLock(tmp_path):
            pass
    (record,) = caplog.records
    assert "took over" in record.getMessage() and "pid 7" in record.getMessage()


def test_a_container_of_this_machine_needs_no_waiting(tmp_path):
    boot_id_file = "/proc/sys/kernel/random/boot_id"
    if not os.path.exists(boot_id_file):
        pytest.skip("this system has no boot id")
    with open(boot_id_file) as file:
        boot_id = file.read().strip()
    _leave_file(tmp_path, age=1, host="other-container", boot_id=boot_id)
    with run.WorkdirLock(tmp_path) as lock:
        assert lock.is_held


@pytest.mark.parametrize("content", ["", "garbage", "[]"])
def test_a_file_that_names_nobody_is_taken(tmp_path, content):
    (tmp_path / ".lock").write_text(content)
    with run.WorkdirLock(tmp_path) as lock:
        assert json.loads(lock.path.read_text())["pid"] == os.getpid()


def test_a_file_removed_by_hand_does_not_hurt(tmp_path):
    first = run.WorkdirLock(tmp_path)
    first.acquire()
    first.path.unlink()
    with run.WorkdirLock(tmp_path) as second:
        first.release()
        assert second.path.exists(), "the file of the second owner stays"
    assert not second.path.exists()


def test_the_owner_gives_signs_of_life(tmp_path, monkeypatch):
    monkeypatch.setattr("ktrain.run._lock.HEARTBEAT_S", 0.01)
    with run.WorkdirLock(tmp_path) as lock:
        os.utime(lock.path, (1, 1))
        deadline = time.monotonic() + 60
        while lock.path.stat().st_mtime == 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert time.time() - lock.path.stat().st_mtime < 120


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / ".lock").mkdir()
    with pytest.raises(OSError) as caught:
        run.WorkdirLock(tmp_path).acquire()
    assert caught.value.__notes__ == [f"while locking the workdir {tmp_path}"]


_RACE = """
import os, sys
from ktrain import errors, run
inside = os.path.join(sys.argv[1], "inside")
print("ready", flush=True)
sys.stdin.readline()
held = 0
while held < 40:
    try:
        with run.WorkdirLock(sys.argv[1]):
            os.close(os.open(inside, os.O_CREAT | os.O_EXCL))
            os.unlink(inside)
            held += 1
    except errors.WorkdirLockedError:
        pass
"""


@pytest.mark.slow
def test_racing_processes_are_never_inside_together(tmp_path):
    racers = [_start(_RACE, tmp_path) for _ in range(3)]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    errors_of = [racer.communicate(timeout=300)[1] for racer in racers]
    assert [racer.returncode for racer in racers] == [0, 0, 0], errors_of
    assert not (tmp_path / ".lock").exists()


_FORK = """
import os, sys, time
from ktrain import run
lock = run.WorkdirLock(sys.argv[1])
lock.acquire()
ours, theirs = os.pipe()
child = os.fork()
if child == 0:
    os.close(1)
    os.write(theirs, b"x")
    time.sleep(30)
    os._exit(0)
os.read(ours, 1)
print(child, flush=True)
time.sleep(60)
"""


@pytest.mark.slow
def test_a_forked_worker_does_not_keep_the_lock_of_its_dead_parent(tmp_path):
    owner = subprocess.Popen(
        [sys.executable, "-c", _FORK, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert owner.stdout is not None
    with owner, owner.stdout:
        child = int(owner.stdout.readline())
        try:
            with pytest.raises(errors.WorkdirLockedError):
                run.WorkdirLock(tmp_path).acquire()
            owner.kill()
            owner.wait()
            os.kill(child, 0)
            with run.WorkdirLock(tmp_path) as lock:
                assert lock.is_held
        finally:
            os.kill(child, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["sys.exit(0)", "1 / 0"])
def test_the_file_is_removed_at_the_end_of_the_process(tmp_path, ending):
    code = (
        "import sys; from ktrain import run\n"
        f"run.WorkdirLock(sys.argv[1]).acquire()\n{ending}\n"
    )
    _start(code, tmp_path).communicate(timeout=300)
    assert tmp_path.is_dir()
    assert not (tmp_path / ".lock").exists()
