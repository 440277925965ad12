"""One checkpoint, any number of devices and processes."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ktrain.checkpoint import Checkpointer, read_arrays

_DEVICES = Path(__file__).with_name("checkpoint_devices.py")
_ORIGINS = ("1", "4", "8")
_PROCESSES = Path(__file__).with_name("checkpoint_processes.py")


def _open(workdir):
    return Checkpointer(save_interval_steps=1, workdir=workdir).open()


def _state() -> dict:
    rng = np.random.default_rng(5)
    return {
        "w": jnp.asarray(rng.normal(size=(16, 6)), jnp.float32),
        "b": jnp.arange(8),
        "key": jax.random.split(jax.random.key(3), 8),
    }


def _environment() -> dict[str, str]:
    return {**os.environ, "JAX_PLATFORMS": "cpu"}


@pytest.fixture(scope="module")
def devices(tmp_path_factory):
    workdirs = {origin: tmp_path_factory.mktemp(origin) for origin in _ORIGINS}
    with _open(workdirs["1"]) as session:
        session.save(1, _state(), data=None)
    done = subprocess.run(
        [sys.executable, _DEVICES, *workdirs.values()],
        capture_output=True,
        text=True,
        timeout=200,
        env=_environment(),
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), workdirs


@pytest.mark.spec("io-84")
@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 4, 8])
@pytest.mark.parametrize("origin", _ORIGINS)
def test_restored_on_any_number_of_devices_as_asked(devices, origin, count):
    report, _ = devices
    assert report[origin][str(count)] == {
        "exact": True,
        "as asked": True,
        "shards": [count, [16 // count, 6]],
    }


@pytest.mark.spec("io-84")
@pytest.mark.case("106")
@pytest.mark.slow
@pytest.mark.parametrize("origin", ["4", "8"])
def test_saved_on_many_devices_and_restored_where_there_is_one(devices, origin):
    _, workdirs = devices
    state = _state()
    restored = _open(workdirs[origin]).restore(jax.eval_shape(lambda: state)).state
    assert np.array_equal(restored["w"], state["w"])
    assert np.array_equal(restored["b"], state["b"])
    assert jnp.all(restored["key"] == state["key"])
    arrays = read_arrays(workdirs[origin] / "checkpoints" / "step_000000001")
    assert np.array_equal(arrays["w"], state["w"])


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("localhost", 0))
        return listener.getsockname()[1]


@pytest.mark.slow
def test_two_processes_save_restore_fail_and_fall_back_together(tmp_path):
    port = str(_free_port())
    pair = [
        subprocess.Popen(
            [sys.executable, _PROCESSES, str(rank), port, tmp_path],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=_environment(),
        )
        for rank in (0, 1)
    ]
    try:
        outputs = [process.communicate(timeout=200) for process in pair]
    finally:
        for process in pair:
            process.kill()
    assert [p.returncode for p in pair] == [0, 0], outputs
    reports = [json.loads(out.splitlines()[-1]) for out, _ in outputs]
    # Gloo greets on the same stream.
    failures = [report.pop("failed save") for report in reports]
    assert reports[0] == reports[1]
    assert reports[0] == {
        "nothing": True,
        "newest": True,
        "named": True,
        "after it": [1, 2],
        "fallback": True,
        "folders": ["step_000000001", "step_000000002.corrupt-wrong-size"],
    }
    assert failures == [
        "step 3 could not be saved: OSError: the primary's disk went away",
        "step 3 could not be saved: RuntimeError: another process failed; see its log",
    ]
    arrays = read_arrays(tmp_path / "checkpoints" / "step_000000001")
    assert np.array_equal(arrays["w"], np.arange(24).reshape(8, 3))
    assert arrays["step"] == 1
