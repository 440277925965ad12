"""The main job, as a user runs it: the command, killed, changed, mistyped."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from ktrain.checkpoint import read_arrays
from ktrain.writers import read_jsonl

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIG = "examples/digits/config.py"

pytestmark = pytest.mark.slow


def command(*words, flags=""):
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
    return subprocess.Popen(
        [sys.executable, "-m", "ktrain", "run", CONFIG, *map(str, words)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run(*words, flags=""):
    process = command(*words, flags=flags)
    output, _ = process.communicate(timeout=300)
    return process.returncode, output


def last_step(workdir):
    (*_, newest) = sorted((workdir / "checkpoints").glob("step_?????????"))
    return newest


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """An undisturbed run."""
    workdir = tmp_path_factory.mktemp("digits") / "run"
    code, output = run("--workdir", workdir)
    assert code == 0, output
    return workdir, output


def test_it_reaches_98_percent_counting_every_test_image_once(done):
    workdir, output = done
    complete = json.loads((workdir / "train_complete.json").read_text())
    assert complete["step"] == 600
    assert complete["evals"]["test"]["metrics/accuracy"] >= 0.98
    assert complete["evals"]["test"]["num_examples"] == 359
    assert "(359 examples, step 600)" in output


def test_it_says_what_it_does_and_how_to_go_on(done):
    workdir, output = done
    assert "conv1.kernel" in output
    assert "35,914" in output
    assert "step=600/600" in output
    assert "steps/s=" in output
    assert "eta=" in output
    assert f"workdir: {workdir}" in output
    assert f"resume:  ktrain run {CONFIG} --workdir={workdir}" in output
    assert "\x1b[" not in output


def test_losses_and_metrics_are_json_lines_and_tensorboard_events(done):
    workdir, _ = done
    train = read_jsonl(workdir / "metrics" / "train.jsonl")
    assert [line["step"] for line in train] == list(range(0, 600, 50))
    assert train[-1]["values"]["losses/total"] < train[0]["values"]["losses/total"] / 10
    evaluated = read_jsonl(workdir / "metrics" / "test.jsonl")
    assert [line["step"] for line in evaluated] == [0, 200, 400, 600]
    for collection in ("train", "test"):
        assert list((workdir / "tb" / collection).glob("events.out.tfevents.*"))


def test_started_again_it_is_complete_and_computes_nothing(done):
    workdir, _ = done
    before = (workdir / "metrics" / "train.jsonl").read_bytes()
    code, output = run("--workdir", workdir)
    assert code == 0
    assert "already complete: 600 steps" in output
    assert "(359 examples, step 600)" in output
    assert (workdir / "metrics" / "train.jsonl").read_bytes() == before


@pytest.mark.spec("io-62")
def test_killed_and_started_again_it_ends_with_the_same_bits(done, tmp_path):
    straight, _ = done
    workdir = tmp_path / "killed"
    process = command("--workdir", workdir)
    first = workdir / "checkpoints" / "step_000000100" / "MANIFEST.json"
    end = time.monotonic() + 120
    while not first.exists():
        assert time.monotonic() < end, "no checkpoint in two minutes"
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (workdir / "train_complete.json").exists()

    code, output = run("--workdir", workdir)
    assert code == 0, output
    assert "resumed from step " in output
    expected = read_arrays(last_step(straight))
    got = read_arrays(last_step(workdir))
    assert last_step(workdir).name == last_step(straight).name == "step_000000600"
    assert expected.keys() == got.keys()
    for name, array in expected.items():
        assert (array == got[name]).all(), name
    manifests = [
        json.loads((last_step(w) / "MANIFEST.json").read_text())
        for w in (straight, workdir)
    ]
    assert manifests[0]["data"] == manifests[1]["data"]


def test_overrides_change_the_model_and_the_length(tmp_path):
    workdir = tmp_path / "run"
    words = ["--cfg.model.hidden=128", "--cfg.num_train_steps=20", "--workdir", workdir]
    code, output = run(*words)
    assert code == 0, output
    assert "done: 20 steps" in output
    params = json.loads((workdir / "params.json").read_text())
    assert params["hidden.kernel"]["shape"] == [256, 128]
    config = json.loads((workdir / "config.json").read_text())
    assert config["num_train_steps"] == 20


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("--cfg.model.hiden=128", "hidden"),
        ("--cfg.num_train_stepz=5", "num_train_steps"),
        ("--cfg.num_train_steps=many", "int"),
    ],
)
def test_a_mistake_is_refused_and_nothing_is_written(tmp_path, override, said):
    workdir = tmp_path / "run"
    code, output = run(override, "--workdir", workdir)
    assert code == 3, output
    assert said in output
    assert len(output.splitlines()) < 25
    assert not workdir.exists()


def test_four_devices_compute_what_one_computes(tmp_path):
    losses = {}
    for count in (1, 4):
        workdir = tmp_path / str(count)
        code, output = run(
            "--cfg.num_train_steps=30",
            "--cfg.log_metrics_every=1",
            "--workdir",
            workdir,
            flags=f"--xla_force_host_platform_device_count={count}",
        )
        assert code == 0, output
        assert (
            json.loads((workdir / "run.json").read_text())["attempts"][0]["devices"]
            == count
        )
        lines = read_jsonl(workdir / "metrics" / "train.jsonl")
        losses[count] = [line["values"]["losses/total"] for line in lines]
        evaluated = read_jsonl(workdir / "metrics" / "test.jsonl")
        assert [line["num_examples"] for line in evaluated] == [359, 359]
    assert len(losses[1]) == 30
    for one, four in zip(losses[1], losses[4], strict=True):
        assert abs(one - four) < 1e-5
