"""A checkpoint of another model."""

import jax
import jax.numpy as jnp
import optax
import pytest

from ktrain import _errors
from ktrain.checkpoint import Checkpointer, _restore, _store
from ktrain.checkpoint._leaves import LeafSpec
from ktrain.checkpoint._mismatch import check_fits

_SGD = optax.sgd(0.1, momentum=0.9)


def _state(hidden: int, optimizer=_SGD) -> dict:
    params = {"h": {"kernel": jnp.ones((64, hidden)), "bias": jnp.ones(8)}}
    return {"step": jnp.int32(1), "params": params, "opt_state": optimizer.init(params)}


@pytest.fixture
def session(tmp_path):
    with Checkpointer(save_interval_steps=1, workdir=tmp_path).open() as session:
        session.save(40, _state(32), data=None, blocking=True)
        yield session


@pytest.mark.spec("io-82", "core-40")
def test_another_width_is_shown_by_name(session):
    with pytest.raises(_errors.CheckpointMismatchError) as error:
        session.restore(_state(16))
    assert str(error.value).splitlines() == [
        f"step 40 in {session.root} does not fit this model and optimizer"
        " (2 of 5 leaves differ)",
        "  params.h.kernel              checkpoint f32[64 32]  model f32[64 16]",
        "  opt_state[0].trace.h.kernel  checkpoint f32[64 32]  model f32[64 16]",
        "options: restore with the model and optimizer of that run, or train in a new"
        " workdir",
    ]


@pytest.mark.spec("core-41")
def test_another_optimizer_shows_only_its_own_state(session):
    with pytest.raises(_errors.CheckpointMismatchError) as error:
        session.restore(_state(32, optax.adam(0.1)))
    rows = [row.split() for row in str(error.value).splitlines()[1:-1]]
    assert {row[0].partition("[")[0] for row in rows} == {"opt_state"}
    assert "opt_state[0].count" in [row[0] for row in rows]
    assert [
        "opt_state[0].trace.h.bias",
        "checkpoint",
        "f32[8]",
        "model",
        "absent",
    ] in rows


def test_another_dtype_is_a_mismatch(session):
    state = _state(32)
    state["params"]["h"]["bias"] = state["params"]["h"]["bias"].astype(jnp.bfloat16)
    with pytest.raises(
        _errors.CheckpointMismatchError, match=r"f32\[8\] +model bf16\[8\]"
    ):
        session.restore(state)


def test_nothing_is_read_renamed_or_replaced_by_an_older_step(session, monkeypatch):
    session.save(41, _state(16), data=None, blocking=True)
    monkeypatch.setattr(_store, "read", None)
    for step in (None, 41):
        with pytest.raises(_errors.CheckpointMismatchError, match="step 41"):
            session.restore(_state(32), step=step)
    assert session.steps() == [40, 41]
    assert _restore._steps.set_aside(session.root) == []


def test_a_random_key_does_not_stand_for_its_numbers(session):
    session.save(50, {"key": jax.random.key(0)}, data=None, blocking=True)
    with pytest.raises(_errors.CheckpointMismatchError, match=r"key<fry>\[\]"):
        session.restore({"key": jnp.zeros(2, jnp.uint32)})


def test_long_tables_are_cut():
    stored = {f"params.w{i}": LeafSpec((i,), "float32") for i in range(50)}
    with pytest.raises(_errors.CheckpointMismatchError) as error:
        check_fits(stored, {}, step=1, where="runs/a")
    lines = str(error.value).splitlines()
    assert "50 of 50 leaves differ" in lines[0]
    assert len(lines) == 1 + 20 + 1 + 1
    assert lines[-2] == "  … and 30 more"
