"""Configs of jax, flax and optax, where those are installed."""

import json
import pickle
import subprocess
import sys

import pytest

import konfig
from konfig import ConfigDict, FrozenDict

jax = pytest.importorskip("jax", reason="shows FrozenDict as a pytree")
linen = pytest.importorskip("flax.linen", reason="shows configs of flax modules")
pytest.importorskip("optax", reason="shows configs of optimizers")

with konfig.imports():
    import jax.numpy as jnp
    import optax
    from flax import linen as nn


class MLP(linen.Module):
    hidden: int
    rate: float = 0.1

    @linen.compact
    def __call__(self, x):
        return linen.Dense(self.hidden)(x)


@pytest.mark.spec("konfig-22")
def test_a_flax_module_is_refused_with_the_remedies():
    with pytest.raises(ValueError, match=r"flax.linen") as error:
        ConfigDict({"m": linen.Dense(3)})
    text = str(error.value)
    assert isinstance(error.value, konfig.ConfigTypeError)
    for part in ("cfg.m", "konfig.imports", "konfig.call"):
        assert part in text


@pytest.mark.spec("konfig-46")
def test_a_positional_parameter_is_set_by_name():
    cfg = ConfigDict(m=nn.Dense(16))
    cfg.m.features = 32
    assert konfig.resolve(cfg).m.features == 32


@pytest.mark.spec("konfig-70")
def test_a_frozen_dict_is_a_pytree_whatever_the_order_of_its_keys():
    mixed = jax.tree.map(lambda x: x + 1, FrozenDict({1: 2, "a": 3}))
    assert mixed == {1: 3, "a": 4}
    assert isinstance(mixed, FrozenDict)
    total = jax.tree.map(lambda x, y: x + y, FrozenDict(a=1, b=2), FrozenDict(b=1, a=2))
    assert total == FrozenDict(a=3, b=3)
    ((path, _),) = jax.tree_util.tree_leaves_with_path(FrozenDict(a=1))
    assert jax.tree_util.keystr(path) == "['a']"


def test_a_frozen_dict_is_a_pytree_in_a_fresh_process():
    data = pickle.dumps(FrozenDict(a=FrozenDict(b=1)))
    code = f"import jax, pickle; print(jax.tree.leaves(pickle.loads({data!r})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["[1]"], done.stderr


def test_a_frozen_dict_is_written_and_read_by_flax():
    serialization = pytest.importorskip("flax.serialization", reason="writes it")
    built = konfig.resolve(ConfigDict(b={"x": 1}, a=[2, 3]))
    state = serialization.to_state_dict(built)
    assert state == {"b": {"x": 1}, "a": {"0": 2, "1": 3}}
    data = serialization.to_bytes(
        FrozenDict(w=jax.numpy.arange(3.0), n=FrozenDict({1: 2}))
    )
    empty = FrozenDict(w=jax.numpy.zeros(3), n=FrozenDict({1: 0}))
    back = serialization.from_bytes(empty, data)
    assert isinstance(back, FrozenDict)
    assert back.w.tolist() == [0.0, 1.0, 2.0]
    assert back.n == {1: 2}
    with pytest.raises(ValueError, match=r"keys \['a'\], expected \['b'\]"):
        serialization.from_state_dict(FrozenDict(b=1), {"a": 1})
    with pytest.raises(ValueError, match="two keys have one text"):
        serialization.to_state_dict(FrozenDict({1: 1, "1": 2}))


def test_keywords_of_flax_optax_and_dataclasses_are_checked():
    with pytest.raises(TypeError, match="did you mean 'learning_rate'"):
        optax.adam(learning_rte=1e-3)
    with pytest.raises(TypeError, match="did you mean 'features'"):
        nn.Dense(featurs=3)
    with pytest.raises(TypeError, match="did you mean 'hidden'"):
        konfig.call(MLP, hiden=3)
    assert konfig.resolve(konfig.call(MLP, 3, name="enc")).name == "enc"
    with pytest.raises(konfig.OverrideError, match="expected int"):
        konfig.apply_overrides(ConfigDict(m=konfig.call(MLP, 3)), ["m.hidden=abc"])


def test_dtypes_and_schedules():
    cfg = ConfigDict(steps=100, dtype=jnp.bfloat16, m=nn.Dense(3, dtype=jnp.float32))
    cfg.schedule = optax.cosine_decay_schedule(0.1, decay_steps=cfg.ref.steps)
    cfg.tx = optax.adam(cfg.ref.schedule)
    assert cfg.dtype == jnp.bfloat16
    back = konfig.from_json(konfig.to_json(cfg), trusted=True)
    back.steps = 10
    built = konfig.resolve(back)
    assert built.dtype == jax.numpy.bfloat16
    assert float(built.schedule(10)) == 0.0
    konfig.apply_overrides(cfg, ["tx=py::optax.adam(1)"])
    konfig.apply_overrides(cfg, ["tx.learning_rate=1"])
    assert json.loads(konfig.to_json(cfg))["tx"]["0"] == 1


@pytest.mark.spec("konfig-96")
def test_an_allowed_optimizer_is_built_from_data():
    text = konfig.to_json(ConfigDict(o=optax.adam(learning_rate=1e-3)))
    built = konfig.resolve(konfig.from_json(text), allow=["optax.*"])
    assert built.o.init({"w": jax.numpy.ones(2)}) is not None


def test_scalars_of_numpy_and_jax_are_stored_as_numbers():
    import numpy

    cfg = ConfigDict(a=numpy.float32(0.5), b=numpy.int64(3), c=jax.numpy.float32(1.5))
    assert cfg == {"a": 0.5, "b": 3, "c": 1.5}
    assert [type(value) for value in cfg.values()] == [float, int, float]
    with pytest.raises(konfig.ConfigTypeError, match=r"numpy.ndarray"):
        cfg.d = numpy.ones(3)
    with pytest.raises(konfig.ConfigTypeError, match=r"jax\.random\.key\(seed\)"):
        cfg.d = jax.random.key(0)


def test_nnx_modules_are_checked_like_linen_modules():
    nnx = pytest.importorskip("flax.nnx", reason="shows nnx modules")
    node = konfig.call(nnx.Linear, 2, 3)
    with pytest.raises(TypeError, match="did you mean 'rngs'"):
        konfig.call(nnx.Linear, 2, 3, rng=1)
    with pytest.raises(konfig.OverrideError, match="expected int"):
        konfig.apply_overrides(ConfigDict(m=node), ["m.in_features=abc"])
    node.rngs = konfig.call(nnx.Rngs, 0)
    assert konfig.resolve(node).kernel.shape == (2, 3)


def test_an_absent_argument_takes_the_type_of_its_default():
    cfg = ConfigDict(tx=optax.adam(1e-3))
    konfig.apply_overrides(cfg, ["tx.b1=1"])
    assert type(cfg.tx.b1) is float
    with pytest.raises(konfig.OverrideError, match=r"expected .*got 'abc'") as error:
        konfig.apply_overrides(cfg, ["tx.learning_rate=abc"])
    assert len(str(error.value)) < 200
