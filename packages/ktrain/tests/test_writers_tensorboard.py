"""Event files, read back with TensorBoard's own reader."""

import itertools
import math
import os
import subprocess
import sys

import pytest

from ktrain import errors, writers

event_accumulator = pytest.importorskip(
    "tensorboard.backend.event_processing.event_accumulator",
    reason="TensorBoard reads what is written; it is not a dependency of ktrain",
)


def _read(folder):
    reader = event_accumulator.EventAccumulator(
        str(folder), size_guidance={"scalars": 0, "tensors": 0}
    )
    reader.Reload()
    return reader


def _scalars(folder, tag):
    return [(event.step, event.value) for event in _read(folder).Scalars(tag)]


def _write(workdir, start_step, steps, *, tag=0.0, collection="train"):
    session = writers.TensorBoardWriter().open(workdir=workdir, start_step=start_step)
    for step in steps:
        session.scalars(collection, step, {"losses/total": step + tag})
    session.close()


@pytest.mark.spec("core-82", "io-109")
def test_tensorboard_reads_the_scalars_and_texts_that_were_written(tmp_path):
    session = writers.TensorBoardWriter().open(workdir=tmp_path, start_step=0)
    for step in range(3):
        values = {"losses/total": 0.5**step, "metrics": {"v": [step, 2 * step]}}
        session.scalars("train", step, {**values, "metrics/word": f"w{step}"})
    session.text("train", 2, "params", "| a | b |")
    session.close()
    reader = _read(tmp_path / "tb/train")
    assert set(reader.Tags()["scalars"]) == {
        "losses/total",
        "metrics/v/0",
        "metrics/v/1",
    }
    total = [(e.step, e.value) for e in reader.Scalars("losses/total")]
    assert total == [(0, 1.0), (1, 0.5), (2, 0.25)]
    assert [e.value for e in reader.Scalars("metrics/v/1")] == [0.0, 2.0, 4.0]
    texts = {
        tag: [(e.step, e.tensor_proto.string_val[0]) for e in reader.Tensors(tag)]
        for tag in reader.Tags()["tensors"]
    }
    assert texts == {
        "metrics/word/text_summary": [(0, b"w0"), (1, b"w1"), (2, b"w2")],
        "params/text_summary": [(2, b"| a | b |")],
    }


def test_nan_and_infinity_are_written_as_they_are(tmp_path):
    session = writers.TensorBoardWriter().open(workdir=tmp_path, start_step=0)
    session.scalars("train", 0, {"a": math.nan, "b": math.inf})
    session.close()
    assert math.isnan(_scalars(tmp_path / "tb/train", "a")[0][1])
    assert _scalars(tmp_path / "tb/train", "b") == [(0, math.inf)]


@pytest.mark.case("115")
def test_after_a_resume_tensorboard_shows_every_step_once(tmp_path):
    _write(tmp_path, 0, range(5))
    _write(tmp_path, 3, range(3, 7), tag=0.5)
    assert _scalars(tmp_path / "tb/train", "losses/total") == [
        *((0, 0.0), (1, 1.0), (2, 2.0)),
        *((3, 3.5), (4, 4.5), (5, 5.5), (6, 6.5)),
    ]


def test_a_value_at_the_step_of_the_checkpoint_stays_unless_written_again(tmp_path):
    _write(tmp_path, 0, [100, 200, 300])
    _write(tmp_path, 200, [400])
    points = _scalars(tmp_path / "tb/train", "losses/total")
    assert points == [(100, 100.0), (200, 200.0), (400, 400.0)]


def test_a_run_that_begins_anew_supersedes_all(tmp_path):
    _write(tmp_path, 0, [0, 10, 20])
    _write(tmp_path, 0, [5], tag=0.5)
    assert _scalars(tmp_path / "tb/train", "losses/total") == [(5, 5.5)]


def test_many_attempts_within_one_second_lose_nothing(tmp_path):
    for attempt in range(12):
        _write(tmp_path, attempt, [attempt, attempt + 1], tag=attempt / 16)
    assert len(list((tmp_path / "tb/train").iterdir())) == 12
    points = _scalars(tmp_path / "tb/train", "losses/total")
    expected = [(step, step + step / 16) for step in range(12)]
    assert points == [*expected, (12, 12 + 11 / 16)]


def test_the_files_are_on_disk_after_a_flush(tmp_path):
    session = writers.TensorBoardWriter().open(workdir=tmp_path, start_step=0)
    for step in range(50):
        session.scalars("train", step, {"a": step})
    session.flush()
    assert len(_scalars(tmp_path / "tb/train", "a")) == 50
    session.close()


def test_each_collection_is_a_run_of_its_own(tmp_path):
    _write(tmp_path, 0, [8073])
    _write(tmp_path, 0, [0], collection="eval/test")
    assert _scalars(tmp_path / "tb/train", "losses/total") == [(8073, 8073.0)]
    assert _scalars(tmp_path / "tb/eval/test", "losses/total") == [(0, 0.0)]


def test_no_workdir_is_an_error_that_names_the_writer():
    with pytest.raises(errors.TrainerConfigError, match="TensorBoardWriter writes"):
        writers.TensorBoardWriter().open(workdir=None, start_step=0)


def test_a_closed_session_does_not_write(tmp_path):
    session = writers.TensorBoardWriter().open(workdir=tmp_path, start_step=0)
    session.close()
    with pytest.raises(RuntimeError, match="closed"):
        session.scalars("train", 0, {"a": 1})


_IMPORTS = """
import sys
from ktrain import writers
session = writers.open_in_background(
    writers.default_writer(), workdir=sys.argv[1], start_step=0)
assert "tensorboardX" not in sys.modules
session.scalars("train", 0, {"a": 1.0})
session.close()
assert "tensorboardX" in sys.modules
heavy = {"tensorflow", "torch", "tensorboard", "matplotlib", "pandas", "absl"}
print(sorted(heavy & set(sys.modules)))
"""


@pytest.mark.slow
def test_tensorboardx_comes_with_the_first_value_and_no_framework_with_it(tmp_path):
    result = subprocess.run(
        [sys.executable, "-c", _IMPORTS, str(tmp_path)],
        capture_output=True,
        text=True,
        env=os.environ,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "[]"
    assert list(itertools.chain(tmp_path.glob("tb/train/events.out.tfevents.*")))
