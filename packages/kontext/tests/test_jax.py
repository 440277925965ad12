"""Paths over what JAX and Flax make: arrays, key paths, registered types, states."""

import collections
import dataclasses
import types
from typing import Any

import pytest

import kontext
from kontext import Key, Path, flatten, get, has, unflatten, update

jax = pytest.importorskip("jax", reason="kontext needs no JAX, but knows its nodes")


class Keyless:
    def __init__(self, a, b):
        self.a, self.b = a, b


jax.tree_util.register_pytree_node(
    Keyless, lambda k: ((k.a, k.b), None), lambda _, children: Keyless(*children)
)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Registered:
    x: Any
    name: str = dataclasses.field(default="static", metadata={"static": True})


@pytest.mark.spec("kontext-61")
def test_jax_key_paths_become_paths():
    tree = {"a": [Registered(1)], "k": Keyless(2, {"c": 3})}
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    paths = {str(Path.from_jax_path(key_path)): leaf for key_path, leaf in leaves}
    assert paths == {"a[0].x": 1, "k[0]": 2, "k[1].c": 3}


def test_paths_become_jax_key_paths():
    tree = {"a": [Registered(1)], "k": Keyless(2, {"c": 3}), "m": {4: (5,)}}
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    for key_path, _ in leaves:
        assert Path.from_jax_path(key_path).as_jax(like=tree) == key_path
    with pytest.raises(
        kontext.PathTypeError, match=r"below 'a\[0\]' that is called 'y'"
    ):
        kontext.parse("a[0].y").as_jax(like=tree)
    with pytest.raises(kontext.PathTypeError, match="the top of `like` that is called"):
        kontext.parse("y").as_jax(like=tree)


def test_every_way_to_write_a_place_gives_the_key_path_of_jax():
    pair = collections.namedtuple("Pair", "x y")
    tree = {"l": [0, 1, 2], "p": pair(3, {"4": 5}), "k": Keyless(6, 7)}
    for written, canonical in (
        ("l[-1]", "l[2]"),
        ("p[1]['4']", "p.y['4']"),
        ("p[-2]", "p.x"),
        ("p.y[4]", "p.y['4']"),
        ("k[1]", "k[1]"),
    ):
        key_path = kontext.parse(written).as_jax(like=tree)
        assert str(Path.from_jax_path(key_path)) == canonical
        assert get(tree, written) == get(tree, canonical)
    for path in ("l[3]", "l[-4]", "p.y.z"):
        with pytest.raises(kontext.PathTypeError, match="JAX sees nothing below"):
            kontext.parse(path).as_jax(like=tree)


def test_key_paths_of_jax_without_jax_are_refused(monkeypatch):
    monkeypatch.setattr("kontext._jax.sys", types.SimpleNamespace(modules={}))
    with pytest.raises(kontext.PathTypeError, match="needs JAX, which this program"):
        kontext.parse("a").as_jax(like={"a": 1})


def test_flat_leaves_are_those_of_jax():
    tree = {"b": [Registered(1)], "a": Keyless(2, {"c": 3}), "n": None}
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    paths = {str(Path.from_jax_path(key_path)): leaf for key_path, leaf in leaves}
    assert flatten(tree) == paths
    doubled = unflatten({path: leaf * 2 for path, leaf in paths.items()}, like=tree)
    assert doubled["b"] == [Registered(2)]
    assert (doubled["a"].a, doubled["a"].b) == (4, {"c": 6})


@dataclasses.dataclass
class KeylessFields:
    a: Any
    b: Any


jax.tree_util.register_pytree_node(
    KeylessFields,
    lambda k: ((k.a, k.b), None),
    lambda _, children: KeylessFields(*children),
)


@jax.tree_util.register_pytree_with_keys_class
@dataclasses.dataclass
class Renamed:
    a: Any

    def tree_flatten_with_keys(self):
        return [(jax.tree_util.DictKey("first"), self.a)], None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


NAMED_BY_JAX = {
    "k": Keyless(1, {"c": 3}),
    "f": KeylessFields(2, [4]),
    "r": Renamed(5),
    "p": jax.tree_util.Partial(max, 6, key=7),
}


def test_every_place_that_jax_names_is_read_and_changed_as_a_copy():
    tree = NAMED_BY_JAX
    flat = flatten(tree)
    assert list(flat) == [
        "k[0]",
        "k[1].c",
        "f[0]",
        "f[1][0]",
        "r.first",
        "p[0][0]",
        "p[1].key",
    ]
    for path, leaf in flat.items():
        assert get(tree, path) == leaf
        new = update(tree, path, 9)
        assert flatten(new) == {**flat, path: 9}
    assert flatten(unflatten(flat, like=tree)) == flat == flatten(tree)
    assert kontext.get_all(tree, "f.*") == {"f[0]": 2, "f[1]": [4]}
    assert kontext.get_all(tree, "**.first") == {"r.first": 5}
    assert get(tree, "k.a") == 1
    for path in ("k[0]", "f[0]", "r.first"):
        with pytest.raises(kontext.PathTypeError, match="immutable"):
            kontext.set(tree, path, 9)
        with pytest.raises(kontext.PathTypeError, match="fixed"):
            kontext.delete(tree, path)
    assert flatten(tree) == flat and vars(tree["r"]) == {"a": 5}
    for path, names in (("f[2]", "'a', 'b', 0, 1"), ("r.z", "'a', 'first'")):
        with pytest.raises(kontext.PathLookupError, match=f"fields: {names}"):
            get(tree, path)


def test_arrays_of_jax_do_not_clamp_an_index():
    tree = {"x": jax.numpy.arange(3)}
    assert get(tree, "x[-1]") == 2
    assert not has(tree, "x[3]")
    assert not has(tree, "x[...,3]")
    assert not has(tree, "x.mean")
    assert get(tree, "x.shape[0]") == 3


def test_arrays_of_jax_are_updated_not_set():
    tree = {"x": jax.numpy.arange(3)}
    assert update(tree, "x[-1]", 7)["x"].tolist() == [0, 1, 7]
    assert tree["x"].tolist() == [0, 1, 2]
    with pytest.raises(kontext.PathTypeError, match="immutable"):
        kontext.set(tree, "x[0]", 1)


def test_keys_resolve_inside_of_jit():
    @dataclasses.dataclass
    class Loss:
        preds: Key = "preds.out[..., 0]"

    @jax.jit
    def step(context):
        return kontext.resolve_from_keyed_obj(context, Loss())["preds"].sum()

    assert step({"preds": {"out": jax.numpy.ones((4, 2))}}) == 4


@pytest.mark.slow
def test_keys_of_linen_modules_are_found_and_intermediates_read():
    nn = pytest.importorskip(
        "flax.linen", reason="models of Flax are dataclasses with keys"
    )

    class Encoder(nn.Module):
        image: Key = "batch.image"
        features: int = 3

        @nn.compact
        def __call__(self, image):
            return nn.Dense(self.features, name="out")(image)

    model = Encoder()
    assert kontext.get_keypaths(model) == {"image": "batch.image"}
    x = jax.numpy.ones((2, 4))
    context = {"batch": {"image": x}}
    inputs = kontext.resolve_from_keyed_obj(context, model, func=model.__call__)
    _, state = model.init_with_output(
        jax.random.key(0), **inputs, capture_intermediates=True
    )
    assert flatten(state["params"]).keys() == {"out.kernel", "out.bias"}
    assert get(
        {"interms": state["intermediates"]}, "interms.out.__call__[0]"
    ).shape == (
        2,
        3,
    )


@pytest.mark.slow
@pytest.mark.spec("kontext-62")
def test_nnx_states_are_read_by_path():
    nnx = pytest.importorskip("flax.nnx", reason="states of Flax NNX are nodes")

    class Model(nnx.Module):
        def __init__(self, rngs):
            self.lin = nnx.Linear(2, 3, rngs=rngs)

    _, state = nnx.split(Model(nnx.Rngs(0)))
    leaves, _ = jax.tree_util.tree_flatten_with_path(state)
    paths = {str(Path.from_jax_path(key_path)): leaf for key_path, leaf in leaves}
    assert set(flatten(state)) == set(paths) == {"lin.kernel.value", "lin.bias.value"}
    assert get(state, "lin.kernel.value") is paths["lin.kernel.value"]
    zeros = update(state, "lin.bias.value", jax.numpy.zeros(3) + 1)
    assert type(zeros) is type(state)
    assert get(zeros, "lin.bias.value").tolist() == [1, 1, 1]
    assert get(state, "lin.bias.value").tolist() == [0, 0, 0]
    with pytest.raises(kontext.PathTypeError, match="computed, not stored"):
        update(state, "lin.bias.shape", 3)
    # A state gives what lies in it as states, but holds dicts: so must its copies.
    kept = kontext.filter(state, "**.value")
    mapped = update(state, "lin", lambda lin: jax.tree.map(lambda x: x + 1, lin))
    assert get(mapped, "lin.bias.value").tolist() == [1, 1, 1]
    for copied in (zeros, kept, mapped, unflatten(flatten(state), like=state)):
        assert jax.tree.structure(copied) == jax.tree.structure(state)


@pytest.mark.spec("kontext-37")
def test_frozen_dicts_and_structs_are_updated():
    core = pytest.importorskip("flax.core", reason="Flax has a frozen mapping")
    struct = pytest.importorskip("flax.struct", reason="Flax has frozen dataclasses")

    @struct.dataclass
    class State:
        params: Any
        step: int
        apply: Any = struct.field(pytree_node=False, default=None)

    frozen = core.freeze({"a": {"b": 1, "c": 2}})
    new = update(frozen, "a.b", 5)
    assert type(new) is core.FrozenDict
    assert new == core.freeze({"a": {"b": 5, "c": 2}})
    assert jax.tree.structure(new) == jax.tree.structure(frozen)
    assert frozen["a"]["b"] == 1
    state = State(params=frozen, step=0, apply=len)
    assert update(state, "**.b", 7).params["a"]["b"] == 7
    assert update(state, "step", 1) == State(params=frozen, step=1, apply=len)
    assert set(flatten(state)) == {"params.a.b", "params.a.c", "step"}
