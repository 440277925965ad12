"""Lives and deaths of runs that save at every step; `test_checkpoint_crash` reads them.

Everything is imported once and each life is a fork, so that twenty deaths cost one
start of Python. Prints one JSON object.
"""

import json
import os
import random
import shutil
import signal
import sys
import time
import warnings
from pathlib import Path

import jax
import numpy as np
import orbax.checkpoint  # noqa: F401  # before the forks, not in each

from ktrain.checkpoint import Checkpointer, _manifest, _retention

# jax warns of threads that a fork leaves behind; no device is in use here.
warnings.filterwarnings("ignore", message="os.fork")

LAST = 1_000_000


def initial():
    rng = np.random.default_rng(0)
    w, moment = rng.normal(size=(300, 200)), rng.normal(size=7)
    return {"w": w, "step": np.int64(0), "moments": [moment]}


def advance(state):
    (moment,) = state["moments"]
    w = np.cos(3 * state["w"]) + moment[0]
    moment = 0.99 * moment + w[0, :7]
    return {"w": w, "step": state["step"] + 1, "moments": [moment]}


def expected(step):
    state = initial()
    for _ in range(step):
        state = advance(state)
    return state


def same(a, b):
    pairs = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    return all(np.asarray(x).tobytes() == np.asarray(y).tobytes() for x, y in pairs)


def open_session(workdir):
    return Checkpointer(save_interval_steps=1, workdir=workdir, max_to_keep=2).open()


def life(workdir, say, last=LAST):
    session = open_session(workdir)
    restored = session.restore(initial())
    state = restored.state if restored else initial()
    step = restored.step if restored else 0
    folders = [p for p in session.root.glob("*")]
    say(
        event="start",
        step=step,
        exact=same(state, expected(step)),
        data=restored.data if restored else {"position": 0},
        uncommitted=[p.name for p in folders if not (p / "MANIFEST.json").exists()],
    )
    while step < last:
        state = advance(state)
        step += 1
        session.save(step, state, data={"position": 7 * step})
        say(event="saved", step=step)
        if step % 3 == 0:
            session.wait()
            say(event="committed", step=step)
    session.close()
    exact = same(state, expected(step))
    say(event="end", step=step, steps=session.steps(), exact=exact)


def child(act):
    """Forks; the child acts and reports through a pipe."""
    receive, send = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(receive)
        code = 1
        try:
            act(lambda **event: os.write(send, (json.dumps(event) + "\n").encode()))
            code = 0
        finally:
            os._exit(code)
    os.close(send)
    return pid, receive


def read_lines(receive, count):
    text = ""
    while text.count("\n") < count and (more := os.read(receive, 1)):
        text += more.decode()
    return text


def finish(pid, receive, text=""):
    with os.fdopen(receive) as pipe:
        text += pipe.read()
    _, status = os.waitpid(pid, 0)
    ended = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    whole = [line for line in text.splitlines(True) if line.endswith("\n")]
    return {"ended": ended, "events": [json.loads(line) for line in whole]}


def killed_at_random(workdir, kills):
    rng = random.Random(1)
    lives = []
    for _ in range(kills):
        pid, receive = child(lambda say: life(workdir, say))
        text = read_lines(receive, rng.choice([1, 4, 6]))
        time.sleep(rng.uniform(0, 0.15))  # a save takes about 0.05 s
        os.kill(pid, signal.SIGKILL)
        lives.append(finish(pid, receive, text))
    reached = max(e["step"] for ended in lives for e in ended["events"])
    pid, receive = child(lambda say: life(workdir, say, reached + 2))
    lives.append(finish(pid, receive))
    return lives


def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)


def dying_in(workdir, module, name):
    """Saves steps 1 and 2, dies in step 3 at the given function, lives again."""

    def act(say):
        session = open_session(workdir)
        for step in (1, 2):
            data = {"position": 7 * step}
            session.save(step, expected(step), data=data, blocking=True)
        setattr(module, name, die)
        session.save(3, expected(3), data={"position": 21}, blocking=True)

    first = finish(*child(act))
    root = Path(workdir, "checkpoints")
    before = {p.name: sorted(q.name for q in p.iterdir()) for p in root.iterdir()}
    listed = open_session(workdir).steps()
    second = finish(*child(lambda say: life(workdir, say, 4)))
    return {"first": first, "before": before, "listed": listed, "second": second}


def main(workdir, kills):
    workdir = Path(workdir)
    print(
        json.dumps(
            {
                "random": killed_at_random(workdir / "random", int(kills)),
                "before manifest": dying_in(workdir / "a", _manifest, "write"),
                "before retention": dying_in(workdir / "b", _retention, "surplus"),
                "during retention": dying_in(workdir / "c", shutil, "rmtree"),
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
