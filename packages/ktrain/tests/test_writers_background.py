"""Writing in a background thread: order, errors, waiting, cost."""

import logging
import threading

import numpy as np
import pytest

from ktrain import errors, writers
from ktrain.writers import _background


class Recorder:
    """Keeps what was written and by which thread; waits for `gate` before each."""

    def __init__(self, *, fail_at=None, gate=None):
        self.steps, self.threads, self.closed = [], set(), 0
        self.fail_at, self.gate = fail_at, gate

    def open(self, *, workdir, start_step):
        return self

    def scalars(self, collection, step, values, extra=None):
        if self.gate is not None:
            self.gate.wait()
        if step == self.fail_at:
            raise OSError("disk full")
        self.steps.append((collection, step, dict(values), extra))
        self.threads.add(threading.get_ident())

    def text(self, collection, step, name, markdown):
        self.steps.append((collection, step, name, markdown))

    def flush(self):
        self.threads.add(threading.get_ident())

    def close(self):
        self.closed += 1


def _open(writer, **kwargs):
    return writers.open_in_background(writer, workdir=None, start_step=0, **kwargs)


def test_one_other_thread_writes_everything_in_order():
    recorder = Recorder()
    session = _open(recorder)
    for step in range(100):
        session.scalars("train", step, {"a": step})
    session.flush()
    assert [step for _, step, *_ in recorder.steps] == list(range(100))
    assert len(recorder.threads) == 1
    assert threading.get_ident() not in recorder.threads
    session.close()
    assert recorder.closed == 1


def test_a_value_is_taken_as_it_is_at_the_call():
    gate = threading.Event()
    recorder = Recorder(gate=gate)
    session = _open(recorder)
    array, values, extra = np.zeros(2), {}, {"note": 1}
    values["v"] = array
    session.scalars("train", 0, values, extra)
    array += 1
    values["more"] = extra["note"] = 2
    gate.set()
    session.close()
    assert recorder.steps == [("train", 0, {"v/0": 0.0, "v/1": 0.0}, {"note": 1})]


def test_a_step_that_goes_back_is_an_error_naming_collection_and_both_steps():
    session = _open(writers.NoopWriter())
    session.scalars("train", 100, {"a": 1})
    session.scalars("train", 100, {"b": 1})
    session.scalars("eval", 0, {"a": 1})
    with pytest.raises(
        writers.StepOrderError, match=r"^train: step 99 comes after step 100"
    ):
        session.scalars("train", 99, {"a": 1})
    session.close()


@pytest.mark.parametrize("call", ["flush", "close"])
def test_an_exception_of_the_writer_is_raised_by_the_next_call(call):
    recorder = Recorder(fail_at=1)
    session = _open(recorder)
    for step in range(2):
        session.scalars("train", step, {"a": 1})
    with pytest.raises(OSError, match="disk full") as caught:
        getattr(session, call)()
    assert caught.value.__notes__ == [
        "raised in the writer thread while writing train at step 1"
    ]
    session.close()
    assert recorder.closed == 1


def test_records_after_a_failure_are_still_written():
    recorder = Recorder(fail_at=0)
    session = _open(recorder)
    session.scalars("train", 0, {"a": 1})
    with pytest.raises(OSError, match="disk full"):
        session.flush()
    session.scalars("train", 1, {"a": 1})
    session.close()
    assert [step for _, step, *_ in recorder.steps] == [1]


def test_an_unwritable_value_is_raised_where_it_was_given():
    session = _open(writers.NoopWriter())
    with pytest.raises(writers.UnwritableValueError, match=r"^metrics/x: "):
        session.scalars("train", 0, {"metrics/x": object()})
    with pytest.raises(errors.TrainerConfigError, match="cannot name a collection"):
        session.scalars("../up", 0, {"a": 1})
    session.close()


def test_a_full_queue_waits_says_so_and_loses_nothing(monkeypatch, caplog):
    monkeypatch.setattr(_background, "_SLOW_S", 0.02)
    gate = threading.Event()
    recorder = Recorder(gate=gate)
    session = _open(recorder, queue_size=2)
    threading.Timer(0.1, gate.set).start()
    with caplog.at_level(logging.WARNING, logger="ktrain"):
        for step in range(6):
            session.scalars("train", step, {"a": 1})
    session.close()
    assert [step for _, step, *_ in recorder.steps] == list(range(6))
    assert "the training waits for its writer: 2 records are queued" in caplog.text


def test_a_closed_session_refuses_calls_and_may_be_closed_again():
    session = _open(writers.NoopWriter())
    session.close()
    session.close()
    for call in (session.flush, lambda: session.scalars("train", 0, {"a": 1})):
        with pytest.raises(RuntimeError, match="closed"):
            call()
