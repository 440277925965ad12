"""How many steps stay."""

import random

import jax.numpy as jnp
import pytest

from ktrain.checkpoint import Checkpointer
from ktrain.checkpoint._retention import surplus


def _kept_by_the_book(steps: set[int], keep: int) -> set[int]:
    kept = set(steps)
    while len(kept) > keep:
        kept.remove(min(kept))
    return kept


@pytest.mark.spec("io-89")
def test_a_thousand_random_histories_end_as_by_the_book():
    rng = random.Random(0)
    for _ in range(1000):
        steps = set(rng.sample(range(10_000), rng.randrange(12)))
        keep = rng.randint(1, 6)
        gone = surplus(rng.sample(sorted(steps), len(steps)), keep)
        assert steps - set(gone) == _kept_by_the_book(steps, keep)
        assert gone == sorted(gone)
        assert surplus(sorted(steps), None) == []


@pytest.mark.spec("io-89")
@pytest.mark.slow
def test_after_every_save_the_folder_holds_the_newest(tmp_path):
    session = Checkpointer(
        save_interval_steps=1, workdir=tmp_path, max_to_keep=2
    ).open()
    history: set[int] = set()
    for step in (3, 1, 7, 8, 5, 20):
        session.save(step, jnp.ones(2), data=None, blocking=True)
        history = _kept_by_the_book(history | {step}, 2)
        assert session.steps() == sorted(history)
    assert len(list(session.root.iterdir())) == 2


@pytest.mark.case("122")
@pytest.mark.slow
def test_steps_of_an_earlier_run_count(tmp_path):
    checkpointer = Checkpointer(save_interval_steps=1, workdir=tmp_path)
    with checkpointer.open() as session:
        for step in range(1, 5):
            session.save(step, jnp.ones(2), data=None)
    with checkpointer.open() as session:
        assert session.restore(jnp.ones(2)).step == 4
        for step in range(5, 10):
            session.save(step, jnp.ones(2), data=None)
    assert session.steps() == [7, 8, 9]


def test_none_keeps_all(tmp_path):
    checkpointer = Checkpointer(
        save_interval_steps=1, workdir=tmp_path, max_to_keep=None
    )
    with checkpointer.open() as session:
        for step in range(5):
            session.save(step, jnp.ones(2), data=None)
    assert session.steps() == [0, 1, 2, 3, 4]
