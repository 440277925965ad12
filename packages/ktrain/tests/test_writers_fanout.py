"""Several writers as one; failures of one of them."""

import dataclasses
import logging

import pytest

from ktrain import errors, writers


@dataclasses.dataclass
class Recorder:
    """A writer of a user: keeps the calls, and fails at `fail_at`."""

    fail_at: int | None = None
    fail_open: bool = False
    calls: list = dataclasses.field(default_factory=list)

    def open(self, *, workdir, start_step):
        if self.fail_open:
            raise OSError("no server")
        self.calls.append(("open", start_step))
        return self

    def scalars(self, collection, step, values, extra=None):
        if step == self.fail_at:
            raise OSError("disk full")
        self.calls.append((collection, step, dict(values), extra))

    def text(self, collection, step, name, markdown):
        self.calls.append((collection, step, name, markdown))

    def flush(self):
        self.calls.append("flush")

    def close(self):
        self.calls.append("close")


def _write(writer, steps=range(4)):
    session = writer.open(workdir=None, start_step=0)
    for step in steps:
        session.scalars("train", step, {"a": step}, {"note": "x"})
    session.text("train", 9, "table", "|a|")
    session.flush()
    session.close()


def test_every_writer_gets_everything_in_order():
    a, b = Recorder(), Recorder()
    _write(writers.MultiWriter(a=a, b=b), steps=[0])
    assert a.calls == [
        ("open", 0),
        ("train", 0, {"a": 0}, {"note": "x"}),
        ("train", 9, "table", "|a|"),
        "flush",
        "close",
    ]
    assert b.calls == a.calls


def test_a_failing_writer_is_reported_once_and_the_others_go_on(caplog):
    good, bad = Recorder(), Recorder(fail_at=1)
    with caplog.at_level(logging.WARNING, logger="ktrain"):
        _write(writers.MultiWriter(bad=bad, good=good))
    assert [call[1] for call in good.calls if call[0] == "train"] == [0, 1, 2, 3, 9]
    assert bad.calls == [("open", 0), ("train", 0, {"a": 0}, {"note": "x"}), "close"]
    (record,) = caplog.records
    message = record.getMessage()
    assert "'bad' failed while writing train at step 1" in message
    assert "OSError: disk full" in message


def test_a_writer_that_cannot_open_is_left_out(caplog):
    good = Recorder()
    with caplog.at_level(logging.WARNING, logger="ktrain"):
        _write(writers.MultiWriter(bad=Recorder(fail_open=True), good=good))
    assert "'bad' failed while opening" in caplog.text
    assert good.calls[-1] == "close"


def test_strict_raises_what_the_writer_raised_and_names_it():
    session = writers.MultiWriter(
        strict=True, tracker=Recorder(fail_at=2), good=Recorder()
    ).open(workdir=None, start_step=0)
    with pytest.raises(OSError, match="disk full") as caught:
        session.scalars("train", 2, {"a": 1})
    assert caught.value.__notes__ == [
        "raised by the writer 'tracker' while writing train at step 2"
    ]


@pytest.mark.parametrize("strict", [False, True])
def test_all_writers_are_closed_when_one_of_them_fails_to(strict, caplog):
    class Broken(Recorder):
        def close(self):
            raise OSError("gone")

    last = Recorder()
    session = writers.MultiWriter(strict=strict, bad=Broken(), last=last).open(
        workdir=None, start_step=0
    )
    if strict:
        with pytest.raises(OSError, match="gone"):
            session.close()
    else:
        session.close()
    assert last.calls[-1] == "close"
    assert ("'bad' failed while closing" in caplog.text) == (not strict)


def test_a_value_that_nobody_can_write_is_raised_also_without_strict():
    recorder = Recorder()
    session = writers.MultiWriter(a=recorder).open(workdir=None, start_step=0)
    with pytest.raises(writers.UnwritableValueError, match=r"^metrics/x: "):
        session.scalars("train", 0, {"metrics/x": object()})
    session.scalars("train", 1, {"metrics/x": 1.0})
    assert recorder.calls[-1][1] == 1


def test_writers_of_files_need_a_workdir_and_say_so():
    assert writers.needs_workdir(writers.default_writer())
    assert not writers.needs_workdir(
        writers.MultiWriter(console=writers.ConsoleWriter(), mine=Recorder())
    )
    opened = Recorder()
    multi = writers.MultiWriter(a=opened, jsonl=writers.JsonlWriter())
    with pytest.raises(errors.TrainerConfigError, match="no workdir"):
        multi.open(workdir=None, start_step=0)
    assert opened.calls == [("open", 0), "close"], "what was opened is closed again"


@pytest.mark.parametrize("child", ["jsonl", 3, writers.JsonlWriter], ids=str)
def test_something_that_is_no_writer_is_refused_by_name(child):
    with pytest.raises(errors.TrainerConfigError, match=r"MultiWriter\(mine=\.\.\.\)"):
        writers.MultiWriter(mine=child)


def test_one_name_given_twice_is_refused():
    a = Recorder()
    with pytest.raises(errors.TrainerConfigError, match="'a' twice"):
        writers.MultiWriter(writers={"a": a}, a=a)


def test_replace_gives_the_same_writers():
    multi = writers.MultiWriter(a=writers.NoopWriter())
    strict = dataclasses.replace(multi, strict=True)
    assert strict.writers == multi.writers
    assert strict.strict and not multi.strict


@pytest.mark.spec("core-45")
def test_all_default_writers_write_vectors_dicts_and_texts(tmp_path, capsys):
    session = writers.default_writer().open(workdir=tmp_path, start_step=0)
    values = {"metrics": {"v": [1, 2, 3], "d": {"x": 0.5}, "t": "word"}}
    session.scalars("train", 0, values)
    session.close()
    out = capsys.readouterr().out
    assert out == "train  step=0  v/0=1  v/1=2  v/2=3  d/x=0.5  t='word'\n"
    (record,) = writers.read_jsonl(tmp_path / "metrics/train.jsonl")
    assert record["values"]["metrics/v/2"] == 3
    assert record["texts"] == {"metrics/t": "word"}
    assert list((tmp_path / "tb/train").glob("events.out.tfevents.*"))


def test_the_noop_writer_writes_nothing_but_still_refuses_bad_values():
    session = writers.NoopWriter().open(workdir=None, start_step=0)
    session.scalars("train", 0, {"a": 1})
    session.text("train", 0, "a", "b")
    with pytest.raises(writers.UnwritableValueError, match=r"^a: "):
        session.scalars("train", 1, {"a": object()})
    session.flush()
    session.close()
