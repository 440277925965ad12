"""One readable line for each report."""

import math

from ktrain import writers

_VALUES = {
    "losses": {"total": 0.43123, "mse": 0.4, "reg": 0.03123},
    "metrics": {"acc": 0.912, "count": 12},
    "schedules/lr": 3e-3,
    "perf/steps_per_s": 214.9,
    "perf/share_eval": 0.25,
}


def _session():
    return writers.ConsoleWriter().open(workdir=None, start_step=0)


def test_a_line_has_the_loss_first_and_the_speed_last(capsys):
    _session().scalars("train", 100, _VALUES)
    assert capsys.readouterr().out == (
        "train  step=100  loss=0.4312  mse=0.4  reg=0.03123  acc=0.912  count=12"
        "  lr=0.003  steps/s=214.9\n"
    )


def test_columns_keep_their_place_from_line_to_line(capsys):
    session = _session()
    for step, loss in [(100, 0.51239), (1000, 0.5), (2000, 12.0)]:
        session.scalars("train", step, {"losses/total": loss, "metrics/acc": 1.0})
    session.scalars("eval/test", 2000, {"metrics/acc": 0.5})
    session.scalars("train", 2100, {"losses/total": 0.25, "metrics/acc": 1.0})
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == "train  step=100  loss=0.5124  acc=1"
    assert lines == [
        "train  step=1000  loss=0.5     acc=1",
        "train  step=2000  loss=12      acc=1",
        "eval/test  step=2000  acc=0.5",
        "train      step=2100  loss=0.25    acc=1",
    ]


def test_a_single_loss_is_shown_once(capsys):
    _session().scalars("train", 0, {"losses": {"total": 0.5, "xent": 0.5}})
    assert capsys.readouterr().out == "train  step=0  loss=0.5\n"


def test_names_that_would_become_equal_stay_whole(capsys):
    _session().scalars("train", 0, {"metrics/mse": 1.0, "schedules/mse": 2.0, "a": 3})
    assert capsys.readouterr().out == (
        "train  step=0  metrics/mse=1  schedules/mse=2  a=3\n"
    )


def test_texts_are_shortened_and_nan_is_shown(capsys):
    session = _session()
    session.scalars("train", 0, {"a": math.nan, "b": "two\nlines " + "x" * 50})
    session.text("train", 0, "params", "# Table\n|a|\n|b|")
    first, second = capsys.readouterr().out.splitlines()
    assert first == f"train  step=0  a=nan  b='two lines {'x' * 29}…'"
    assert second == "train  step=0  params: # Table  (and 2 more lines)"


def test_a_terminal_gets_the_columns_that_fit(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    _session().scalars("train", 100, _VALUES)
    assert capsys.readouterr().out == "train  step=100  loss=0.4312  +6 more\n"


def test_a_file_gets_all_columns_and_no_colours(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    _session().scalars("train", 100, _VALUES)
    out = capsys.readouterr().out
    assert out.endswith("steps/s=214.9\n")
    assert "\x1b" not in out
