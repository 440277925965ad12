"""JSON files, JSON lines, the status and the events of a run."""

import json
import logging
import math
import pathlib
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ktrain import run

_FINITE = st.floats(allow_nan=False, allow_infinity=False)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | _FINITE | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


@settings(max_examples=50, deadline=None)
@given(_JSON)
def test_json_values_come_back_equal(value):
    assert json.loads(run.dumps(value)) == value


def test_numbers_arrays_paths_and_sets_become_json():
    value = {
        1: np.float32(0.5),
        "array": np.arange(4).reshape(2, 2),
        "path": pathlib.Path("a/b"),
        "set": {"b", "a"},
        "nan": np.array([math.nan, -math.inf]),
        "long": np.longdouble(2),
    }
    assert run.to_json(value) == {
        "1": 0.5,
        "array": [[0, 1], [2, 3]],
        "path": "a/b",
        "set": ["a", "b"],
        "nan": ["NaN", "-Infinity"],
        "long": 2.0,
    }


def test_what_is_not_json_is_an_error_that_says_where(tmp_path):
    path = tmp_path / "a.json"
    run.write_json(path, {"old": 1})
    with pytest.raises(TypeError, match=r"value\.a\[1\]\.b cannot be .* a complex"):
        run.write_json(path, {"a": [0, {"b": 1j}]})
    assert run.read_json(path) == {"old": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "deep" / "a.json"
    done = threading.Event()
    run.write_json(path, [""])

    def write():
        for size in range(100):
            run.write_json(path, ["x" * size], durable=False)
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    sizes = [0]
    while not done.is_set():
        (text,) = run.read_json(path)
        sizes.append(len(text))
    thread.join()
    assert sizes == sorted(sizes)
    assert [p.name for p in path.parent.iterdir()] == ["a.json"]


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    run.write_json(path, 1)

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        run.write_json(path, 2)
    assert run.read_json(path) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_a_file_that_is_not_json_is_named(tmp_path):
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(ValueError, match="Expecting") as caught:
        run.read_json(tmp_path / "a.json")
    assert caught.value.__notes__ == [f"in the file {tmp_path / 'a.json'}"]


@pytest.mark.slow
def test_lines_of_two_processes_do_not_mix(tmp_path):
    code = (
        "import sys; from ktrain import run\n"
        "lines = run.JsonLines(sys.argv[1])\n"
        "for i in range(200): lines.append({'who': sys.argv[2], 'x': 'y' * i})\n"
    )
    path = tmp_path / "a.jsonl"
    workers = [
        subprocess.Popen([sys.executable, "-c", code, str(path), who]) for who in "ab"
    ]
    assert [worker.wait() for worker in workers] == [0, 0]
    records = list(run.read_json_lines(path))
    assert len(path.read_text().splitlines()) == len(records) == 400
    for who in "ab":
        assert [len(r["x"]) for r in records if r["who"] == who] == list(range(200))


def test_half_a_line_is_ended_and_passed_over(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": 2\n[3]\n{"a": "\xff"}\n{"a":')
    lines = run.JsonLines(path)
    assert not lines.was_empty
    lines.append({"a": 4})
    lines.close()
    lines.close()
    assert list(run.read_json_lines(path)) == [{"a": 1}, {"a": "\ufffd"}, {"a": 4}]


_FULL_DISK = """
import resource, sys
from ktrain import run
lines = run.JsonLines(sys.argv[1])
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
written = 0
try:
    while True:
        lines.append({"a": written, "text": "x" * 10})
        written += 1
except OSError as error:
    print(written, error)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
lines.append({"a": "after"})
lines.append({"a": "last"})
"""


@pytest.mark.slow
def test_a_disk_that_was_full_spoils_no_line_before_or_after(tmp_path):
    path = tmp_path / "a.jsonl"
    result = subprocess.run(
        [sys.executable, "-c", _FULL_DISK, str(path)], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("3 [Errno 27]")
    values = [record["a"] for record in run.read_json_lines(path)]
    assert values == [0, 1, 2, "after", "last"]


def test_a_status_or_event_that_cannot_be_written_ends_no_run(tmp_path, caplog):
    (tmp_path / "status.json").mkdir()
    (tmp_path / "events.jsonl").mkdir()
    status, events = run.StatusFile(tmp_path, interval_s=0), run.EventLog(tmp_path)
    with caplog.at_level(logging.WARNING, logger="ktrain"):
        assert not status.write(phase="train", step=1)
        assert not status.write(phase="train", step=2)
        events.add("start", 0)
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == 2
    assert messages[0].startswith(f"cannot write {tmp_path}/status.json: ")
    assert messages[1].startswith(f"the event 'start' is not in {tmp_path}/events")


def test_the_status_has_what_a_scheduler_asks_for(tmp_path):
    status = run.StatusFile(tmp_path)
    wrote = status.write(
        phase="train",
        step=20,
        num_train_steps=100,
        steps_per_s=4.0,
        metrics={"losses/total": np.float32(0.5), "bad": math.nan},
    )
    assert wrote
    value = run.read_status(tmp_path)
    assert value == run.read_status(tmp_path / "status.json")
    assert value["updated_at"].startswith("20") and value["pid"] > 0
    assert {k: value[k] for k in ("phase", "step", "num_train_steps", "eta_s")} == {
        "phase": "train",
        "step": 20,
        "num_train_steps": 100,
        "eta_s": 20.0,
    }
    assert value["metrics"] == {"losses/total": 0.5, "bad": "NaN"}


def test_the_status_is_written_at_most_once_in_an_interval(tmp_path):
    status = run.StatusFile(tmp_path, interval_s=60)
    assert status.write(phase="train", step=1)
    assert not status.write(phase="train", step=2)
    assert run.read_status(tmp_path)["step"] == 1
    assert status.write(phase="done", step=3, force=True)
    assert run.read_status(tmp_path)["phase"] == "done"
    assert not status.write(phase="train", step=4)
    quick = run.StatusFile(tmp_path, interval_s=0)
    assert quick.write(phase="a", step=1) and quick.write(phase="a", step=2)


def test_a_run_without_a_status_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"status\.json"):
        run.read_status(tmp_path)


def test_events_are_kept_in_order_over_restarts_and_crashes(tmp_path):
    assert run.read_events(tmp_path) == []
    log = run.EventLog(tmp_path)
    assert not log.path.exists(), "no event, no file"
    log.add("start", 0, seed=1)
    log.close()
    with log.path.open("a") as file:
        file.write('{"event": "chec')
    log = run.EventLog(tmp_path)
    log.add("resume", 10)
    log.add("error", np.int32(12), message="NaN", loss=math.nan)
    log.close()
    events = run.read_events(tmp_path)
    assert [(e["event"], e["step"]) for e in events] == [
        ("start", 0),
        ("resume", 10),
        ("error", 12),
    ]
    assert events[0]["seed"] == 1
    assert events[2]["loss"] == "NaN"
    assert all(e["time"] > 1.7e9 for e in events)


def test_an_unknown_event_is_an_error_with_a_suggestion(tmp_path):
    log = run.EventLog(tmp_path)
    with pytest.raises(ValueError, match="'checkpont'; did you mean 'checkpoint'"):
        log.add("checkpont", 0)
    with pytest.raises(ValueError, match="own field 'time'"):
        log.add("eval", 0, time=1)
    assert not log.path.exists()
