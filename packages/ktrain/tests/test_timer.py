"""Speed, shares and totals by a clock that the test turns; real compilations."""

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ktrain import timer


class Clock:
    """A clock that stands still until it is turned."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now

    def turn(self, seconds):
        self.now += seconds


def _started(step=0, **kwargs):
    clock = Clock()
    chrono = timer.Chrono(clock=clock, **kwargs)
    chrono.start(step)
    return clock, chrono


def test_speed_is_steps_over_the_time_outside_of_phases():
    # By hand: 30 steps in 10 s, of which 3 s evaluate and 1 s saves: 30 / 6 = 5.
    clock, chrono = _started(step=100, batch_size=64)
    clock.turn(4)
    with chrono.phase("eval"):
        clock.turn(3)
    with chrono.phase("checkpoint"):
        clock.turn(1)
    clock.turn(2)
    values = chrono.report(130)
    assert values["perf/steps_per_s"] == pytest.approx(5.0)
    assert values["perf/examples_per_s"] == pytest.approx(320.0)
    assert values["perf/share_eval"] == pytest.approx(0.3)
    assert values["perf/share_checkpoint"] == pytest.approx(0.1)
    assert values["perf/share_train"] == pytest.approx(0.6)
    assert values["perf/total_seconds"] == pytest.approx(10.0)


def test_each_report_begins_a_new_window():
    clock, chrono = _started()
    clock.turn(10)
    with chrono.phase("eval"):
        clock.turn(5)
    chrono.report(10)
    clock.turn(2)
    values = chrono.report(20)
    assert values["perf/steps_per_s"] == pytest.approx(5.0)
    assert "perf/share_eval" not in values
    assert values["perf/total_seconds"] == pytest.approx(17.0)


def test_without_steps_there_is_no_speed():
    clock, chrono = _started(step=7)
    assert "perf/steps_per_s" not in chrono.report(7)
    clock.turn(1)
    assert "perf/steps_per_s" not in chrono.report(7)


def test_time_in_an_inner_phase_counts_for_it_alone():
    clock, chrono = _started()
    with chrono.phase("eval"):
        clock.turn(1)
        with chrono.phase("write"):
            clock.turn(2)
        clock.turn(1)
    values = chrono.report(0)
    assert values["perf/share_eval"] == pytest.approx(0.5)
    assert values["perf/share_write"] == pytest.approx(0.5)
    assert values["perf/share_train"] == 0


def test_a_report_inside_a_phase_takes_its_part():
    clock, chrono = _started()
    with chrono.phase("eval"):
        clock.turn(1)
        assert chrono.report(0)["perf/share_eval"] == 1
        clock.turn(3)
    clock.turn(1)
    assert chrono.report(0)["perf/share_eval"] == pytest.approx(0.75)


def test_a_phase_ends_with_its_exception():
    clock, chrono = _started()
    with pytest.raises(KeyError):
        with chrono.phase("eval"):
            clock.turn(1)
            raise KeyError
    clock.turn(1)
    assert chrono.report(1)["perf/steps_per_s"] == pytest.approx(1.0)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["train", "eval", "write it"]), st.integers(0, 9)),
        max_size=12,
    )
)
def test_shares_add_up_to_one_and_totals_to_the_clock(spans):
    clock, chrono = _started()
    for name, seconds in spans:
        with chrono.phase(name):
            clock.turn(seconds)
    values = chrono.report(1)
    shares = [v for k, v in values.items() if k.startswith("perf/share_")]
    assert not shares or sum(shares) == pytest.approx(1.0)
    assert values["perf/total_seconds"] == sum(seconds for _, seconds in spans)


def test_the_total_goes_on_over_restarts():
    clock, chrono = _started()
    clock.turn(100)
    saved = json.loads(json.dumps(chrono.state()))
    clock, resumed = _started(step=50)
    resumed.restore(saved)
    clock.turn(20)
    assert resumed.total_seconds == pytest.approx(120.0)
    assert resumed.report(60)["perf/total_seconds"] == pytest.approx(120.0)
    assert resumed.report(60)["perf/total_seconds"] == pytest.approx(120.0)


def test_a_report_before_the_start_is_an_error():
    with pytest.raises(RuntimeError, match=r"needs Chrono\.start"):
        timer.Chrono().report(0)


def test_compilations_are_counted_since_the_start():
    jax = pytest.importorskip("jax", reason="counts the compilations of jax")
    step = jax.jit(lambda x: x * 3 + 1)
    before, after = timer.Chrono(), timer.Chrono()
    before.start(0)
    argument = jax.numpy.arange(5.0)
    known = before.compile_count
    step(argument)
    step(argument)
    assert before.compile_count == known + 1
    assert before.compile_seconds > 0
    after.start(0)
    step(argument)
    assert (after.compile_count, after.compile_seconds) == (0, 0)
    step(jax.numpy.arange(6.0))
    assert after.compile_count >= 1
    assert before.report(0)["perf/compile_count"] == before.compile_count


@pytest.mark.slow
def test_importing_writers_run_and_timer_loads_no_heavy_library():
    code = (
        "import sys, ktrain.writers, ktrain.run, ktrain.timer\n"
        "heavy = {'jax', 'flax', 'rich', 'tensorboardX', 'tensorflow', 'orbax'}\n"
        "print(*sorted(heavy & set(sys.modules)))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == []
