"""Metrics as JSON lines: crashes, resumes, and what the reader makes of them."""

import json
import math
import pathlib
import signal
import subprocess
import sys
import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ktrain import errors, writers


def _write(workdir, start_step, steps, *, tag=0.0, collection="train"):
    session = writers.JsonlWriter().open(workdir=workdir, start_step=start_step)
    for step in steps:
        session.scalars(collection, step, {"losses/total": step + tag})
    session.close()


def _points(workdir, collection="train"):
    path = pathlib.Path(workdir) / "metrics" / f"{collection}.jsonl"
    records = writers.read_jsonl(path)
    return [(r["step"], r["values"]["losses/total"]) for r in records]


def test_a_line_holds_step_time_extra_values_and_texts(tmp_path):
    session = writers.JsonlWriter().open(workdir=tmp_path, start_step=0)
    values = {"losses/total": 0.5, "metrics/note": "good"}
    session.scalars("eval/test", 7, values, {"num_examples": 297})
    session.close()
    (line,) = (tmp_path / "metrics/eval/test.jsonl").read_text().splitlines()
    record = json.loads(line)
    assert record.pop("time") > 1.7e9
    assert record == {
        "step": 7,
        "num_examples": 297,
        "values": {"losses/total": 0.5},
        "texts": {"metrics/note": "good"},
    }


@pytest.mark.spec("core-84")
def test_nan_and_infinity_are_valid_json_and_read_back_as_floats(tmp_path):
    session = writers.JsonlWriter().open(workdir=tmp_path, start_step=0)
    values = {"a": math.nan, "b": math.inf, "c": -math.inf, "text": "NaN"}
    session.scalars("train", 0, values)
    session.close()
    path = tmp_path / "metrics/train.jsonl"

    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    raw = json.loads(path.read_text(), parse_constant=refuse)
    assert raw["values"] == {"a": "NaN", "b": "Infinity", "c": "-Infinity"}
    (record,) = writers.read_jsonl(path)
    assert math.isnan(record["values"]["a"])
    assert (record["values"]["b"], record["values"]["c"]) == (math.inf, -math.inf)
    assert record["texts"] == {"text": "NaN"}


def test_records_of_one_step_are_read_as_one(tmp_path):
    session = writers.JsonlWriter().open(workdir=tmp_path, start_step=0)
    session.scalars("train", 5, {"a": 1}, {"note": "x"})
    session.text("train", 5, "table", "|a|")
    session.scalars("train", 5, {"b": 2})
    session.text("train", 5, "list", "- b")
    session.close()
    (record,) = writers.read_jsonl(tmp_path / "metrics/train.jsonl")
    assert record["values"] == {"a": 1, "b": 2}
    assert record["texts"] == {"table": "|a|", "list": "- b"}
    assert record["note"] == "x"


@pytest.mark.case("115")
def test_after_a_resume_every_point_is_there_once(tmp_path):
    _write(tmp_path, 0, range(5))
    _write(tmp_path, 3, range(3, 7), tag=0.5)
    assert _points(tmp_path) == [
        *((0, 0.0), (1, 1.0), (2, 2.0)),
        *((3, 3.5), (4, 4.5), (5, 5.5), (6, 6.5)),
    ]
    lines = (tmp_path / "metrics/train.jsonl").read_text().splitlines()
    assert len(lines) == 5 + 1 + 4, "old lines are superseded, not deleted"


@pytest.mark.case("116")
def test_each_collection_has_its_own_axis_of_steps(tmp_path):
    session = writers.open_in_background(
        writers.JsonlWriter(), workdir=tmp_path, start_step=0
    )
    session.scalars("train", 8073, {"losses/total": 1.0})
    session.scalars("eval", 0, {"losses/total": 2.0})
    session.close()
    assert _points(tmp_path) == [(8073, 1.0)]
    assert _points(tmp_path, "eval") == [(0, 2.0)]


def test_a_value_at_the_step_of_the_checkpoint_stays_unless_written_again(tmp_path):
    _write(tmp_path, 0, [100, 200, 300], collection="eval")
    _write(tmp_path, 200, [400], collection="eval", tag=0.5)
    assert _points(tmp_path, "eval") == [(100, 100.0), (200, 200.0), (400, 400.5)]


def test_a_step_that_is_written_again_keeps_nothing_of_the_attempt_before(tmp_path):
    for attempt, name in enumerate(["old", "new"]):
        session = writers.JsonlWriter().open(workdir=tmp_path, start_step=5 * attempt)
        session.scalars("train", 5, {name: attempt}, {f"{name}_note": "x"})
        session.close()
    (record,) = writers.read_jsonl(tmp_path / "metrics/train.jsonl")
    assert record["values"] == {"new": 1}
    assert "old_note" not in record


def test_a_run_that_begins_anew_supersedes_all(tmp_path):
    _write(tmp_path, 0, [0, 10, 20])
    _write(tmp_path, 0, [5], tag=0.5)
    assert _points(tmp_path) == [(5, 5.5)]


@given(
    st.lists(
        st.tuples(st.integers(0, 12), st.lists(st.integers(0, 6), max_size=5)),
        min_size=1,
        max_size=4,
    )
)
@settings(max_examples=40, deadline=None)
def test_the_logical_view_equals_a_plain_model_of_attempts(attempts):
    expected = {}
    with tempfile.TemporaryDirectory() as workdir:
        for number, (start, offsets) in enumerate(attempts):
            steps = sorted({start + offset for offset in offsets})
            if not steps:
                continue
            if start == 0:
                expected = {}
            expected = {s: v for s, v in expected.items() if s <= start}
            expected |= {step: step + number / 8 for step in steps}
            _write(workdir, start, steps, tag=number / 8)
        if expected:
            assert _points(workdir) == sorted(expected.items())


@pytest.mark.spec("io-110")
@given(cut=st.integers(1, 400))
@settings(max_examples=60, deadline=None)
def test_a_file_torn_at_any_byte_is_read_and_goes_on(cut):
    with tempfile.TemporaryDirectory() as workdir:
        _write(workdir, 0, range(0, 100, 10))
        path = pathlib.Path(workdir) / "metrics/train.jsonl"
        data = path.read_bytes()[:-cut]
        path.write_bytes(data)
        # A line without its line end is whole all the same.
        whole = sum(_is_json(line) for line in data.splitlines())
        assert len(_points(workdir)) == whole
        start = 10 * max(whole - 1, 0)
        _write(workdir, start, [start, 500], tag=0.5)
        kept = [(step, float(step)) for step in range(0, start, 10)]
        assert _points(workdir) == [*kept, (start, start + 0.5), (500, 500.5)]


def _is_json(line):
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


_WRITE_FOR_EVER = """
import itertools, sys
from ktrain import writers
session = writers.open_in_background(
    writers.JsonlWriter(), workdir=sys.argv[1], start_step=0)
for step in itertools.count():
    session.scalars("train", step, {"losses/total": float(step)})
    if step == 500:
        session.flush()
        print("written", flush=True)
"""


@pytest.mark.slow
def test_what_was_flushed_survives_a_kill_and_the_next_run_goes_on(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", _WRITE_FOR_EVER, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process, process.stdout:
        assert process.stdout.readline() == "written\n"
        process.send_signal(signal.SIGKILL)
    before = _points(tmp_path)
    assert before[:501] == [(step, float(step)) for step in range(501)]
    assert [step for step, _ in before] == list(range(len(before)))
    _write(tmp_path, 400, [400, 401], tag=0.5)
    assert _points(tmp_path)[-3:] == [(399, 399.0), (400, 400.5), (401, 401.5)]


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../up", "/abs", "a//b", "a/../b", "a/", " a", "a\n", "a\\b"],
)
def test_a_collection_cannot_leave_its_folder(tmp_path, name):
    session = writers.JsonlWriter().open(workdir=tmp_path / "run", start_step=0)
    with pytest.raises(errors.TrainerConfigError, match="cannot name a collection"):
        session.scalars(name, 0, {"a": 1})
    assert not list(tmp_path.rglob("*.jsonl"))


def test_names_with_dots_and_slashes_are_folders_and_files(tmp_path):
    _write(tmp_path, 0, [1], collection="eval/v1.5")
    assert (tmp_path / "metrics/eval/v1.5.jsonl").is_file()


def test_no_workdir_is_an_error_that_names_the_writer():
    with pytest.raises(errors.TrainerConfigError, match="JsonlWriter writes files"):
        writers.JsonlWriter().open(workdir=None, start_step=0)


def test_extra_cannot_replace_the_step(tmp_path):
    session = writers.JsonlWriter().open(workdir=tmp_path, start_step=0)
    with pytest.raises(ValueError, match="extra cannot hold step"):
        session.scalars("train", 1, {"a": 1}, {"step": 9})


def test_a_closed_session_does_not_write(tmp_path):
    session = writers.JsonlWriter().open(workdir=tmp_path, start_step=0)
    session.close()
    session.close()
    with pytest.raises(RuntimeError, match="closed"):
        session.scalars("train", 0, {"a": 1})
