"""SIGKILL at any moment: the next start finds a good step and loses one save at most.

One helper process imports everything once and forks a child for each life of a run,
so that twenty deaths cost one start of Python.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

_KILLS = 15

_HELPER = Path(__file__).with_name("checkpoint_lives.py")


@pytest.fixture(scope="module")
def deaths(tmp_path_factory):
    done = subprocess.run(
        [sys.executable, _HELPER, tmp_path_factory.mktemp("lives"), str(_KILLS)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return json.loads(done.stdout)


def _steps(life: dict, event: str) -> list[int]:
    return [e["step"] for e in life["events"] if e["event"] == event]


@pytest.mark.spec("io-62")
@pytest.mark.slow
def test_after_every_kill_the_run_goes_on_from_a_good_step(deaths):
    *killed, last = deaths["random"]
    assert [life["ended"] for life in killed] == [-9] * _KILLS
    committed = saved = 0
    for life in deaths["random"]:
        start = life["events"][0]
        assert start["exact"]
        assert start["data"] == {"position": 7 * start["step"]}
        assert start["uncommitted"] == []
        assert start["step"] >= committed
        # When a save has returned, the one before it is committed.
        assert start["step"] >= saved - 1
        committed = max([start["step"], *_steps(life, "committed")])
        saved = max([start["step"], *_steps(life, "saved")])
    assert last["ended"] == 0
    end = last["events"][-1]
    assert end["exact"]
    assert end["steps"] == [end["step"] - 1, end["step"]]
    # The lives were long enough to be killed in the midst of saving.
    assert sum(len(_steps(life, "saved")) for life in killed) >= _KILLS


@pytest.mark.spec("io-63")
@pytest.mark.slow
def test_killed_before_the_manifest_the_step_does_not_exist(deaths):
    death = deaths["before manifest"]
    assert death["first"]["ended"] == -9
    assert death["before"]["step_000000003"] == ["INCOMPLETE", "state"]
    assert death["listed"] == [1, 2]
    _assert_goes_on(death["second"], start=2)


@pytest.mark.spec("io-64")
@pytest.mark.slow
def test_killed_before_old_steps_are_deleted_there_is_one_more(deaths):
    death = deaths["before retention"]
    assert death["first"]["ended"] == -9
    assert death["listed"] == [1, 2, 3]  # and max_to_keep is 2
    _assert_goes_on(death["second"], start=3)


@pytest.mark.spec("io-65")
@pytest.mark.slow
def test_killed_while_an_old_step_is_deleted_it_is_no_step(deaths):
    death = deaths["during retention"]
    assert death["first"]["ended"] == -9
    assert death["before"]["step_000000001"] == ["INCOMPLETE", "state"]
    assert death["listed"] == [2, 3]
    _assert_goes_on(death["second"], start=3)


def _assert_goes_on(life: dict, *, start: int) -> None:
    first, *_, end = life["events"]
    assert first["step"] == start
    assert first["exact"]
    assert first["uncommitted"] == []
    assert life["ended"] == 0
    assert end["steps"] == [3, 4]
    assert end["exact"]
