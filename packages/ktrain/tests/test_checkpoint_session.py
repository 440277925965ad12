"""Saving in the background, listing, and coming back."""

import logging
import os
import threading

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from ktrain import _errors
from ktrain.checkpoint import Checkpointer, _manifest, _store, read_arrays


def _checkpointer(workdir, **fields) -> Checkpointer:
    return Checkpointer(**{"save_interval_steps": 1, "workdir": workdir, **fields})


def test_everything_saved_together_comes_back_together(tmp_path):
    with _checkpointer(tmp_path).open() as session:
        session.save(
            7,
            {"w": jnp.arange(3.0)},
            data={"epoch": 1, "position": 9},
            clock={"seconds": 1.5},
            metrics={"eval": {"acc": np.float32(0.5)}, "loss": jnp.float32(2)},
            config_digest="abc",
        )
        restored = session.restore({"w": jax.ShapeDtypeStruct((3,), jnp.float32)})
    assert restored.step == 7
    assert restored.state["w"].tolist() == [0, 1, 2]
    assert restored.data == {"epoch": 1, "position": 9}
    assert restored.clock == {"seconds": 1.5}
    assert restored.metrics == {"eval": {"acc": 0.5}, "loss": 2.0}
    assert restored.config_digest == "abc"


def test_no_step_at_all_is_none(tmp_path):
    assert _checkpointer(tmp_path).open().restore(jnp.ones(2)) is None
    assert _checkpointer(tmp_path).open().latest() is None


def test_the_newest_step_is_taken_unless_another_is_named(tmp_path):
    session = _checkpointer(tmp_path).open()
    for step in (1, 3, 2):
        session.save(step, jnp.float32(step), data={"at": step})
    session.wait()
    assert (session.steps(), session.latest()) == ([1, 2, 3], 3)
    assert float(session.restore(jnp.float32(0)).state) == 3
    assert session.restore(jnp.float32(0), step=2).data == {"at": 2}


def test_a_step_that_is_not_there_lists_those_that_are(tmp_path):
    session = _checkpointer(tmp_path).open()
    session.save(10, jnp.ones(1), data=None)
    session.save(20, jnp.ones(1), data=None)
    with pytest.raises(_errors.CheckpointNotFoundError) as error:
        session.restore(jnp.ones(1), step=7)
    assert "no checkpoint of step 7" in str(error.value)
    assert "available: 10, 20" in str(error.value)
    assert isinstance(error.value, FileNotFoundError)


@pytest.mark.spec("io-80")
def test_reading_a_wrong_path_is_an_error_and_creates_nothing(tmp_path):
    wrong = tmp_path / "nowhere"
    session = _checkpointer(wrong).open(primary=False)
    with pytest.raises(_errors.CheckpointNotFoundError, match="available: none"):
        session.restore(jnp.ones(1), step=3)
    with pytest.raises(_errors.CheckpointNotFoundError, match="no checkpoint"):
        read_arrays(wrong / "step_000000003")
    assert session.restore(jnp.ones(1)) is None
    session.close()
    assert list(tmp_path.iterdir()) == []


def test_opening_to_write_creates_nothing_before_the_first_save(tmp_path):
    with _checkpointer(tmp_path / "run").open() as session:
        assert session.restore(jnp.ones(1)) is None
        assert list(tmp_path.iterdir()) == []
        session.save(1, jnp.ones(1), data=None)
    assert session.root == tmp_path / "run" / "checkpoints"
    assert (session.root / "step_000000001" / "MANIFEST.json").is_file()


def test_a_reader_does_not_save(tmp_path):
    session = _checkpointer(tmp_path).open(primary=False)
    with pytest.raises(_errors.CheckpointError, match="for reading only"):
        session.save(1, jnp.ones(1), data=None)


def test_steps_are_due_at_multiples():
    session = _checkpointer("runs/a", save_interval_steps=10).open()
    assert [step for step in range(31) if session.due(step)] == [10, 20, 30]
    assert [session.next_due(step) for step in (0, 9, 10, 11, 29)] == [
        10,
        10,
        20,
        20,
        30,
    ]
    assert session.next_due(-1) == 10


def test_step_zero_is_due_on_request():
    checkpointer = _checkpointer("runs/a", save_interval_steps=10, save_step_zero=True)
    session = checkpointer.open()
    assert session.due(0)
    assert session.next_due(-1) == 0


def test_without_an_interval_nothing_is_due():
    session = _checkpointer("runs/a", save_interval_steps=None).open()
    assert not any(session.due(step) for step in range(30))
    assert session.next_due(0) is None


def test_a_committed_step_is_left_as_it_is(tmp_path, caplog):
    session = _checkpointer(tmp_path).open()
    assert session.save(5, jnp.float32(1), data=None)
    with caplog.at_level(logging.INFO, logger="ktrain"):
        assert not session.save(5, jnp.float32(2), data=None)
    assert "step 5 is in" in caplog.text
    assert float(session.restore(jnp.float32(0)).state) == 1


class _Hold:
    """Holds the background writer at its first byte until it is let go."""

    def __init__(self, monkeypatch, error: Exception | None = None):
        self.reached = threading.Event()
        self.let_go = threading.Event()
        write = _store.write

        def held(path, arrays):
            self.reached.set()
            assert self.let_go.wait(20)
            if error is not None:
                raise error
            write(path, arrays)

        monkeypatch.setattr(_store, "write", held)


def test_save_returns_before_anything_is_written(tmp_path, monkeypatch):
    hold = _Hold(monkeypatch)
    session = _checkpointer(tmp_path).open()
    state = np.ones(3)
    session.save(1, {"w": state}, data=None)
    assert hold.reached.wait(20)
    state[:] = 5  # what happens to the state now is no business of the save
    session.check()
    assert session.steps() == []
    hold.let_go.set()
    session.wait()
    assert session.steps() == [1]
    assert session.restore({"w": state}).state["w"].tolist() == [1, 1, 1]


@pytest.mark.case("103")
def test_closing_waits_for_the_commit(tmp_path, monkeypatch):
    hold = _Hold(monkeypatch)
    with _checkpointer(tmp_path, save_interval_steps=5).open() as session:
        session.save(7, jnp.ones(1), data=None)
        threading.Timer(0.05, hold.let_go.set).start()
    assert session.steps() == [7]


def test_a_blocking_save_is_committed_when_it_returns(tmp_path):
    session = _checkpointer(tmp_path).open()
    session.save(1, jnp.ones(1), data=None, blocking=True)
    assert session.steps() == [1]


@pytest.mark.spec("io-81")
@pytest.mark.parametrize("look", ["check", "wait", "close", "save", "restore"])
def test_a_failed_save_is_raised_once_and_forgotten(tmp_path, monkeypatch, look):
    session = _checkpointer(tmp_path).open()
    session.save(1, jnp.float32(1), data=None, blocking=True)
    hold = _Hold(monkeypatch, ValueError("the disk went away"))
    session.save(2, jnp.float32(2), data=None)
    hold.let_go.set()
    session._background.join()
    arguments = {"save": (3, jnp.ones(1)), "restore": (jnp.ones(1),)}.get(look, ())
    with pytest.raises(_errors.CheckpointError) as error:
        getattr(session, look)(*arguments, **({"data": None} if look == "save" else {}))
    assert "step 2 could not be saved: ValueError: the disk went away" in str(
        error.value
    )
    assert isinstance(error.value.__cause__, ValueError)
    monkeypatch.undo()
    session.check()
    assert session.steps() == [1]
    assert os.listdir(session.root) == ["step_000000001"]
    assert session.due(2)
    session.save(2, jnp.float32(2), data=None)
    assert float(session.restore(jnp.float32(0)).state) == 2


def test_the_error_of_user_code_comes_first_on_the_way_out(tmp_path, monkeypatch):
    hold = _Hold(monkeypatch, OSError("broken"))
    hold.let_go.set()
    with pytest.raises(ZeroDivisionError) as error:
        with _checkpointer(tmp_path).open() as session:
            session.save(2, jnp.ones(1), data=None)
            raise ZeroDivisionError
    assert "step 2 could not be saved: OSError: broken" in error.value.__notes__[0]


def test_data_that_cannot_be_stored_is_refused_before_anything_starts(tmp_path):
    session = _checkpointer(tmp_path).open()
    with pytest.raises(
        _errors.CheckpointError, match=r"data\['rng'\] cannot be stored"
    ):
        session.save(1, jnp.ones(1), data={"rng": np.zeros(3)})
    assert list(tmp_path.iterdir()) == []


def _updates(optimizer):
    @jax.jit
    def update(state, x):
        loss = lambda w: jnp.mean(jnp.tanh(x @ w) ** 2)  # noqa: E731
        grads = jax.grad(loss)(state["params"])
        updates, opt_state = optimizer.update(grads, state["opt_state"])
        params = optax.apply_updates(state["params"], updates)
        return {"params": params, "opt_state": opt_state, "step": state["step"] + 1}

    return update


def _same_bytes(a, b) -> bool:
    return np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.mark.spec("io-61")
@pytest.mark.slow
def test_a_run_resumed_at_any_step_ends_bit_identical(tmp_path):
    optimizer = optax.adam(1e-2)
    update = _updates(optimizer)
    params = jax.random.normal(jax.random.key(0), (8, 4))
    batches = np.random.default_rng(1).normal(size=(13, 5, 8)).astype(np.float32)
    state = {
        "params": params,
        "opt_state": optimizer.init(params),
        "step": jnp.int32(0),
    }
    like = jax.eval_shape(lambda: state)

    def run(state, position, session=None):
        for step in range(int(state["step"]), 40):
            if session is not None:
                session.save(step, state, data={"position": position})
            state = update(state, batches[position])
            position = (position + 3) % 13
        return state, position

    with _checkpointer(tmp_path, max_to_keep=None).open() as session:
        straight, end = run(state, 5, session)
    assert session.steps() == list(range(40))
    for step in range(40):
        restored = session.restore(like, step=step)
        resumed, position = run(restored.state, restored.data["position"])
        assert position == end
        for a, b in zip(
            jax.tree.leaves(resumed), jax.tree.leaves(straight), strict=True
        ):
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_the_manifest_is_the_last_file_to_appear(tmp_path, monkeypatch):
    seen = []
    sync = _manifest.sync

    def watch(path):
        step = tmp_path / "checkpoints" / "step_000000001"
        seen.append(((step / "state" / "_METADATA").exists(), _listed()))
        sync(path)

    def _listed():
        return _checkpointer(tmp_path).open(primary=False).steps()

    monkeypatch.setattr(_manifest, "sync", watch)
    with _checkpointer(tmp_path).open() as session:
        session.save(1, jnp.ones(3), data=None)
    written, listed = zip(*seen, strict=True)
    assert listed == tuple(sorted(listed)) and listed[-1] == [1]
    assert all(is_written for is_written, steps in seen if steps)
    assert not written[0]
