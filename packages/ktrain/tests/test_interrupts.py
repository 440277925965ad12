import os
import signal
import subprocess
import sys
import textwrap

import pytest

from ktrain.interrupts import Interrupts


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (signal.SIGTERM, "preempted"),
        (signal.SIGUSR1, "preempted"),
        (signal.SIGINT, "interrupted"),
    ],
)
def test_a_signal_is_noted_and_handlers_are_put_back(number, reason):
    before = signal.getsignal(number)
    with Interrupts() as interrupts:
        assert not interrupts.noted()
        assert interrupts.agreed() is None
        os.kill(os.getpid(), number)
        assert interrupts.noted()
        assert interrupts.agreed() == reason
    assert signal.getsignal(number) is before


def test_without_preempt_only_ctrl_c_is_noted():
    with Interrupts(preempt=False) as interrupts:
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupts.agreed() == "interrupted"


def test_a_second_ctrl_c_interrupts_at_once():
    with Interrupts():
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.slow
@pytest.mark.spec("core-62")
def test_a_second_sigterm_ends_the_process_at_once():
    script = textwrap.dedent(
        """
        import os, signal
        from ktrain.interrupts import Interrupts
        with Interrupts():
            os.kill(os.getpid(), signal.SIGTERM)
            print("first is noted", flush=True)
            os.kill(os.getpid(), signal.SIGTERM)
            print("never printed", flush=True)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True
    )
    assert done.returncode == 128 + signal.SIGTERM
    assert done.stdout == "first is noted\n"
