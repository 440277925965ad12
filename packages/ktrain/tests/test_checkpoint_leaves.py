"""Names and kinds of leaves: everything that goes to disk comes back as it was."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import optax
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktrain import _errors
from ktrain.checkpoint import Checkpointer, _leaves, read_arrays


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class State:
    step: Any
    params: Any
    opt_state: Any


def _adam_state() -> State:
    params = {"Dense_0": {"kernel": jnp.ones((3, 2)), "bias": jnp.zeros(2)}}
    return State(jnp.int32(0), params, optax.adam(0.1).init(params))


def test_names_are_readable_paths():
    assert sorted(_leaves.named_leaves(_adam_state())) == [
        "opt_state[0].count",
        "opt_state[0].mu.Dense_0.bias",
        "opt_state[0].mu.Dense_0.kernel",
        "opt_state[0].nu.Dense_0.bias",
        "opt_state[0].nu.Dense_0.kernel",
        "params.Dense_0.bias",
        "params.Dense_0.kernel",
        "step",
    ]


def test_keys_that_are_no_identifiers_are_quoted():
    tree = {"a/b": 1, "a.b": 2, "ok": {0: 3, "0": 4}}
    names = _leaves.named_leaves({"x": tree["ok"][0], "y": {"a/b": 1, "a.b": 2}})
    assert list(names) == ["x", "y['a.b']", "y['a/b']"]
    assert list(_leaves.named_leaves({"m": {3: 1}})) == ["m[3]"]


def test_a_state_that_is_one_array_has_a_name():
    assert list(_leaves.named_leaves(np.zeros(3))) == ["state"]


_KEYS = st.one_of(
    st.text(max_size=4), st.sampled_from(["a", "a.b", "['a']", "a[0]", "]", "'", "0"])
)
_TREES = st.recursive(
    st.just(np.float32(1)),
    lambda children: st.one_of(
        st.dictionaries(_KEYS, children, max_size=3),
        st.lists(children, max_size=3),
        st.tuples(children, children),
    ),
    max_leaves=12,
)


@given(_TREES)
def test_no_two_leaves_share_a_name(tree):
    assert len(_leaves.named_leaves(tree)) == len(jax.tree.leaves(tree))


def _leaf_kinds() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(4, 3))
    return {
        "f32": jnp.asarray(values, jnp.float32),
        "bf16": jnp.asarray(values, jnp.bfloat16),
        "f16": jnp.asarray(values, jnp.float16),
        "f8": jnp.asarray(values, jnp.float8_e4m3fn),
        "int4": jnp.asarray([-8, 0, 7], jnp.int4),
        "bool": jnp.asarray(values > 0),
        "u8": jnp.asarray([0, 255], jnp.uint8),
        "c64": jnp.asarray(values[0] + 1j * values[1], jnp.complex64),
        "special": jnp.asarray([np.nan, -np.inf, -0.0, 1e-45], jnp.float32),
        "scalar": jnp.int32(7),
        "key": jax.random.key(3),
        "keys": jax.random.split(jax.random.key(4, impl="rbg"), 5),
        "no_elements": jnp.zeros((0, 3), jnp.bfloat16),
        "no_keys": jax.random.split(jax.random.key(1, impl="rbg"), (2, 0)),
        "host_f64": values,
        "host_bf16": values.astype(ml_dtypes.bfloat16),
        "host_scalar": np.float64(0.1),
        "python": {"int": 3, "float": 0.1, "bool": True, "complex": 1j},
        "none": None,
        "containers": {
            "dict": {},
            "list": [],
            "tuple": (),
            "optax": optax.EmptyState(),
        },
        "odd": {"ä/b.c%\n'\"": jnp.ones(2), "..": jnp.ones(1), "x" * 300: jnp.zeros(1)},
    }


def _assert_same(got: Any, expected: Any) -> None:
    assert type(got) is type(expected)
    if isinstance(expected, jax.Array) and _leaves._is_key(expected):
        assert got.dtype == expected.dtype
        got, expected = jax.random.key_data(got), jax.random.key_data(expected)
    got, expected = np.asarray(got), np.asarray(expected)
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    assert got.tobytes() == expected.tobytes()


@pytest.mark.spec("io-60")
@pytest.mark.slow
def test_every_kind_of_leaf_comes_back_bit_identical(tmp_path):
    state = _leaf_kinds()
    with Checkpointer(save_interval_steps=1, workdir=tmp_path).open() as session:
        session.save(1, state, data=None)
        restored = session.restore(state).state
    assert jax.tree.structure(restored) == jax.tree.structure(state)
    jax.tree.map(_assert_same, restored, state)
    keys = jax.random.uniform(restored["keys"][2]), jax.random.uniform(state["keys"][2])
    assert keys[0] == keys[1]


@pytest.mark.parametrize("wrong", ["text", object(), b"bytes"])
def test_a_leaf_that_is_no_array_is_named_before_anything_is_written(tmp_path, wrong):
    session = Checkpointer(save_interval_steps=1, workdir=tmp_path).open()
    with pytest.raises(_errors.CheckpointError) as error:
        session.save(1, {"ok": jnp.ones(1), "wrong": [wrong]}, data=None)
    assert str(error.value).startswith("wrong[0] has no place in a checkpoint")
    assert f"got:      {type(wrong).__name__}" in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_abstract_arrays_say_enough_to_restore(tmp_path):
    state = _adam_state()
    like = jax.eval_shape(lambda: state)
    session = Checkpointer(save_interval_steps=1, workdir=tmp_path).open()
    session.save(1, state, data=None)
    restored = session.restore(like).state
    assert isinstance(restored, State)
    jax.tree.map(_assert_same, restored, state)
    assert not any(leaf.weak_type for leaf in jax.tree.leaves(restored))


@pytest.mark.spec("io-92")
def test_the_state_given_to_restore_stays_valid(tmp_path):
    state = _adam_state()
    session = Checkpointer(save_interval_steps=1, workdir=tmp_path).open()
    session.save(1, state, data=None)
    restored = session.restore(state).state
    train = jax.jit(lambda s: jax.tree.map(lambda x: x + 1, s), donate_argnums=0)
    train(restored)
    assert float(state.params["Dense_0"]["kernel"].sum()) == 6.0
    assert float(train(state).params["Dense_0"]["kernel"].sum()) == 12.0


def test_a_save_is_of_the_moment_although_the_buffers_are_donated(tmp_path):
    add = jax.jit(lambda x: x + 1, donate_argnums=0)
    x = jnp.zeros(100_000)
    session = Checkpointer(save_interval_steps=1, workdir=tmp_path).open()
    for step in range(4):
        session.save(step, x, data=None)
        x = add(add(x))
    session.close()
    like = jax.eval_shape(lambda: x)
    for step in session.steps():
        assert np.unique(session.restore(like, step=step).state) == [2 * step]


def test_read_arrays_needs_no_model(tmp_path):
    state = {"a": jnp.arange(3), "k": jax.random.key(5), "e": jnp.zeros((0, 2))}
    session = Checkpointer(save_interval_steps=1, workdir=tmp_path).open()
    session.save(4, state, data=None, blocking=True)
    arrays = read_arrays(session.root / "step_000000004")
    assert {name: a.tolist() for name, a in arrays.items()} == {
        "a": [0, 1, 2],
        "k": [0, 5],
        "e": [],
    }
    assert all(type(a) is np.ndarray for a in arrays.values())
    assert arrays["e"].shape == (0, 2)
