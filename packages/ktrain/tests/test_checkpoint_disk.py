"""Full disks, read-only disks, and what is said at the end of a process."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from ktrain import _errors
from ktrain.checkpoint import Checkpointer


def _checkpointer(workdir, **fields) -> Checkpointer:
    return Checkpointer(**{"save_interval_steps": 1, "workdir": workdir, **fields})


@pytest.fixture
def small_disk(tmp_path):
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("a small file system can only be mounted by root")
    place = tmp_path / "disk"
    place.mkdir()
    size = ["mount", "-t", "tmpfs", "-o", "size=3500k", "tmpfs", str(place)]
    if subprocess.run(size, capture_output=True).returncode != 0:
        pytest.skip("this machine does not let its root mount a tmpfs")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.spec("io-66")
@pytest.mark.slow
def test_a_full_disk_is_named_with_bytes_and_harms_no_earlier_step(small_disk, capfd):
    rng = np.random.default_rng(0)
    state = [*rng.normal(size=(16, 1 << 14)).astype(np.float32)]  # 16 x 64 KiB
    session = _checkpointer(small_disk, max_to_keep=None).open()
    for step in (1, 2, 3):
        session.save(step, state, data=None, blocking=True)
    session.save(4, state, data=None)
    session._background.join()
    with pytest.raises(_errors.CheckpointError) as error:
        session.check()
    assert "step 4 could not be saved: no space is left" in str(error.value)
    assert "needed: about 1048576 bytes, free: " in str(error.value)
    assert session.steps() == [1, 2, 3]
    assert len(os.listdir(session.root)) == 3
    assert np.array_equal(session.restore(state).state, state)  # 16 x 16384
    shutil.rmtree(session.root / "step_000000001")
    session.save(4, state, data=None, blocking=True)
    assert session.steps() == [2, 3, 4]
    assert capfd.readouterr() == ("", "")


def _read_only(tmp_path):
    place = tmp_path / "read_only"
    place.mkdir()
    if os.geteuid() != 0:
        place.chmod(0o500)
        return place, lambda: place.chmod(0o700)
    mount = ["mount", "-t", "tmpfs", "-o", "ro,size=64k", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("root may write anywhere, and cannot mount a read-only folder here")
    return place, lambda: subprocess.run(["umount", str(place)], check=True)


@pytest.mark.spec("io-79")
def test_a_read_only_workdir_is_an_error_before_the_first_step(tmp_path):
    place, undo = _read_only(tmp_path)
    try:
        with pytest.raises(_errors.CheckpointError, match=f"{place} is read-only"):
            _checkpointer(place / "run").open()
        assert _checkpointer(place / "run").open(primary=False).steps() == []
    finally:
        undo()


def test_a_file_where_the_workdir_should_be_is_an_error(tmp_path):
    (tmp_path / "run").write_text("")
    with pytest.raises(_errors.CheckpointError, match="is not a folder"):
        _checkpointer(tmp_path / "run").open()


_QUIET = """
import logging, sys
logging.basicConfig(level=logging.INFO, stream=sys.stderr)
import jax.numpy as jnp
from ktrain.checkpoint import Checkpointer
logging.getLogger("jax._src.xla_bridge").setLevel(logging.ERROR)
with Checkpointer(save_interval_steps=1, workdir=sys.argv[1]).open() as session:
    for step in range(3):
        session.save(step, {"w": jnp.ones((64, 64))}, data=None)
    session.restore({"w": jnp.ones((64, 64))})
    try:
        session.restore({"w": jnp.ones((64, 32))})
    except Exception as error:
        print(error)
"""


@pytest.mark.spec("core-40")
@pytest.mark.slow
def test_nothing_but_ktrain_speaks_even_at_the_end_of_the_process(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", _QUIET, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0
    assert done.stderr == ""
    assert "w  checkpoint f32[64 64]  model f32[64 32]" in done.stdout


_UNREADABLE = """
import asyncio, logging, os, random, sys
logging.getLogger("ktrain").setLevel(logging.ERROR)
import numpy as np
from ktrain.checkpoint import Checkpointer
state = {f"w{i}": np.random.default_rng(i).normal(size=1000) for i in range(40)}
checkpointer = Checkpointer(
    save_interval_steps=1, workdir=sys.argv[1], max_to_keep=None, verify="size"
)
async def main():  # as in a notebook, where a loop is running
    with checkpointer.open() as session:
        for step in range(1, 22):
            session.save(step, state, data=None, blocking=True)
        for step in range(2, 22):
            data = session.root / f"step_{step:09d}" / "state" / "ocdbt.process_0" / "d"
            for path in data.iterdir():
                path.write_bytes(bytes(path.stat().st_size))
        print(session.restore(state).step)
asyncio.run(main())
"""


@pytest.mark.slow
def test_where_a_loop_runs_unreadable_arrays_make_no_noise(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", _UNREADABLE, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stderr == ""
    assert done.stdout.split() == ["1"]


_UNCLOSED = """
import sys
import jax.numpy as jnp
from ktrain.checkpoint import Checkpointer, _store
session = Checkpointer(save_interval_steps=1, workdir=sys.argv[1]).open()
def write(path, arrays):
    raise OSError("the disk went away")
_store.write = write
session.save(1, jnp.ones(3), data=None)
"""


@pytest.mark.slow
def test_the_error_of_a_session_that_was_never_closed_is_not_lost(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", _UNCLOSED, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "a checkpoint session was not closed: step 1 could not be" in done.stderr
    assert "Traceback" not in done.stderr
