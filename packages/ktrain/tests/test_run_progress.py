"""The bar on a real terminal, and the plain lines everywhere else."""

import os
import pty
import re
import subprocess
import sys
import time

import pytest

from ktrain import errors, run

_LINE = re.compile(r"[^\s=]+=[^\s=]+( [^\s=]+=[^\s=]+)*")

_TRAIN = """
import sys, time
from ktrain import run, writers
console = writers.ConsoleWriter().open(workdir=None, start_step=0)
with run.Progress(mode=sys.argv[1], interval_s=0.0).start(300, 0, "train") as progress:
    for step in range(0, 301, 100):
        progress.update(step, loss=1.0 / (step + 1))
        if step == 200:
            with progress.phase("eval test"):
                time.sleep(0.6)
                console.scalars("eval/test", step, {"metrics/acc": 0.5})
        else:
            time.sleep(0.12)
print("after the run")
"""


def _run(mode="auto", *, stdout, stderr, **env):
    return subprocess.Popen(
        [sys.executable, "-c", _TRAIN, mode],
        stdout=stdout,
        stderr=stderr,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "90", "LINES": "24", **env},
    )


def _read_terminal(handle):
    data = b""
    while True:
        try:
            chunk = os.read(handle, 65536)
        except OSError:
            break
        if not chunk:
            break
        data += chunk
    os.close(handle)
    return data.decode()


def _on_terminal(*, stdout_too, mode="auto", **env):
    ours, theirs = pty.openpty()
    stdout = theirs if stdout_too else subprocess.PIPE
    process = _run(mode, stdout=stdout, stderr=theirs, **env)
    os.close(theirs)
    shown = _read_terminal(ours)
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0, shown
    return shown, (out or b"").decode()


def _screen_lines(shown):
    """Gives what is left on the screen: later drawings cover earlier ones."""
    lines, row = [""], 0
    for token in re.findall(r"\x1b\[\??[0-9;]*[a-zA-Z]|\r|\n|[^\x1b\r\n]+", shown):
        if token == "\n":
            row += 1
            lines.extend([""] * (row + 1 - len(lines)))
        elif re.fullmatch(r"\x1b\[\d*A", token):
            row = max(row - int(token[2:-1] or 1), 0)
        elif token == "\x1b[2K":
            lines[row] = ""
        elif token != "\r" and not token.startswith("\x1b"):
            lines[row] += token
    return [line.rstrip() for line in lines]


@pytest.mark.slow
@pytest.mark.case("112")
def test_a_terminal_shows_a_bar_with_step_total_and_time_and_lines_above_it():
    shown, _ = _on_terminal(stdout_too=True)
    assert "\x1b[" in shown
    assert "eval test" in shown
    assert re.search(r"eta=0:00:0\d", shown)
    lines = [line for line in _screen_lines(shown) if line]
    assert lines[0] == "eval/test  step=200  acc=0.5"
    assert re.fullmatch(
        r"train ━+ 300/300 loss=0.003322 steps/s=\d+ eta=0:00:00", lines[1]
    )
    assert lines[2:] == ["after the run"]


@pytest.mark.slow
def test_lines_go_to_the_file_and_the_bar_to_the_terminal():
    shown, out = _on_terminal(stdout_too=False)
    assert "300/300" in shown and "acc=0.5" not in shown
    assert out == "eval/test  step=200  acc=0.5\nafter the run\n"


@pytest.mark.slow
@pytest.mark.case("133")
def test_a_pipe_gets_plain_lines_of_key_value_pairs():
    process = _run(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = (data.decode() for data in process.communicate(timeout=300))
    assert process.returncode == 0, err
    assert out == "eval/test  step=200  acc=0.5\nafter the run\n"
    assert "\x1b" not in err
    lines = err.splitlines()
    assert all(_LINE.fullmatch(line) for line in lines), err
    assert lines[0] == "step=0/300 loss=1"
    pairs = [dict(pair.split("=") for pair in line.split()) for line in lines]
    assert pairs[-1]["step"] == "300/300"
    assert pairs[-1]["eta"] == "0:00:00"
    assert set(pairs[1]) == {"step", "loss", "steps/s", "eta"}
    assert any(pair.get("phase") == "eval_test" for pair in pairs)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "env"), [("off", {}), ("auto", {"KTRAIN_NO_PROGRESS": "1"})]
)
def test_off_shows_nothing_but_the_lines(mode, env):
    shown, out = _on_terminal(stdout_too=False, mode=mode, **env)
    assert shown == ""
    assert out == "eval/test  step=200  acc=0.5\nafter the run\n"


@pytest.mark.slow
def test_a_dumb_terminal_gets_plain_lines():
    shown, _ = _on_terminal(stdout_too=False, TERM="dumb")
    assert "\x1b" not in shown
    assert "step=300/300" in shown


@pytest.mark.slow
def test_a_bar_that_is_asked_for_is_drawn_without_a_terminal():
    process = _run("bar", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0
    assert b"\x1b[" in err and b"300/300" in err


def test_the_first_and_the_last_step_always_have_a_line(capsys):
    with run.Progress(mode="lines", interval_s=3600).start(10) as progress:
        for step in range(11):
            progress.update(step, loss=0.5, steps_per_s=4.0)
    assert capsys.readouterr().err.splitlines() == [
        "step=0/10 loss=0.5 steps/s=4 eta=0:00:02",
        "step=10/10 loss=0.5 steps/s=4 eta=0:00:00",
    ]


def test_the_last_line_is_not_repeated(capsys):
    progress = run.Progress(mode="lines").start(10, 5)
    progress.update(5)
    progress.close()
    progress.close()
    assert capsys.readouterr().err == "step=5/10\n"


def test_the_last_line_tells_that_the_last_phase_is_over(capsys):
    with run.Progress(mode="lines", interval_s=0).start(10) as progress:
        progress.update(9)
        progress.update(10)
        with progress.phase("eval test"):
            progress.update(10)
    first, evaluating, *_, last = capsys.readouterr().err.splitlines()
    assert first == "step=9/10"
    assert evaluating.startswith("step=10/10 phase=eval_test")
    assert last.startswith("step=10/10") and "phase" not in last


def test_an_unknown_total_is_left_out(capsys):
    with run.Progress(mode="lines").start(None) as progress:
        progress.update(5, steps_per_s=2.0)
    assert capsys.readouterr().err == "step=5 steps/s=2\n"


def test_a_run_without_a_step_shows_nothing(capsys):
    run.Progress(mode="lines").start(10).close()
    assert capsys.readouterr().err == ""


def test_speed_is_measured_when_it_is_not_given(capsys):
    with run.Progress(mode="lines", interval_s=0).start(1000, 100) as progress:
        progress.update(100)
        time.sleep(0.15)
        progress.update(130)
    first, second = capsys.readouterr().err.splitlines()
    assert first == "step=100/1000"
    speed = float(dict(p.split("=") for p in second.split())["steps/s"])
    assert 0 < speed <= 30 / 0.15


def test_lines_are_printed_with_and_without_a_progress(capsys):
    run.print_line("before")
    progress = run.Progress(mode="off").start(1)
    run.print_line("during")
    progress.print("direct")
    progress.close()
    progress.print("late")
    run.print_line("after")
    assert capsys.readouterr().out.split() == [
        "before",
        "during",
        "direct",
        "late",
        "after",
    ]


def test_a_phase_ends_with_its_exception(capsys):
    with run.Progress(mode="lines", interval_s=0).start(2) as progress:
        progress.update(1)
        with pytest.raises(KeyError):
            with progress.phase("eval"):
                raise KeyError
        with progress.phase("eval"), progress.phase("inner"):
            pass
    phases = re.findall("phase=(.*?) ", capsys.readouterr().err.replace("\n", " \n"))
    assert phases == ["eval", "eval", "inner", "eval"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"mode": "lnes"}, "Progress.mode cannot be 'lnes'; did you mean 'lines'"),
        ({"interval_s": -1}, "Progress.interval_s must be 0 or more seconds, got -1"),
    ],
)
def test_bad_fields_are_refused(fields, message):
    with pytest.raises(errors.TrainerConfigError, match=re.escape(message)):
        run.Progress(**fields)


def test_an_update_between_two_lines_does_nearly_nothing():
    progress = run.Progress(mode="lines", interval_s=3600).start(10**6)
    progress.update(0)
    calls = 0

    def tally(frame, event, arg):
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(tally)
    try:
        for step in range(1000):
            progress.update(step)
    finally:
        sys.setprofile(None)
    progress.close()
    assert calls < 6 * 1000
