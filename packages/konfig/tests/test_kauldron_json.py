"""Files that Kauldron 1.4.4 wrote: they load with the meaning they had there."""

import fractions
import math
import pathlib

import pytest

import konfig
from konfig import ConfigDict, Const

FILES = sorted(pathlib.Path(__file__).with_name("kauldron_json").glob("*.json"))

with konfig.imports(lazy=True):
    import functools
    import types
    from fractions import Fraction
    from pathlib import PurePosixPath

    import optax
    from flax import linen as nn

EXPECTED = {
    "call": {"opt": optax.adam(1e-3, b1=0.8)},
    "constant": {
        "dtype": Const("numpy:float32"),
        "init": nn.initializers.zeros,
        "act": nn.relu,
    },
    "from_import": {"m": nn.Dense(features=3), "o": optax.adam(0.1)},
    "keys": {"m": {0: "zero", 1: "yes", 2.5: "f"}},
    "nested_calls": {"opt": optax.chain(optax.clip(1.0), optax.adam(1e-3))},
    "partial": {"f": functools.partial(Fraction, 1, denominator=3)},
    "paths": {"p": PurePosixPath("a", "b"), "f": Fraction(1, 3)},
    "placeholder": {"p": None, "q": 1},
    "plain": {
        "a": 1,
        "b": 2.5,
        "c": "x",
        "d": None,
        "e": True,
        "l": [1, [2, {"x": 3}]],
        "m": {"n": {"o": 1}},
    },
    "refs": {
        "steps": 10,
        "half": 5,
        "opt": optax.cosine_decay_schedule(0.1, decay_steps=10),
    },
    "root_call": optax.sgd(learning_rate=0.1),
    "shared": {
        "a": types.SimpleNamespace(x=1),
        "b": types.SimpleNamespace(x=1),
        "c": {"d": types.SimpleNamespace(x=1)},
    },
    "shared_plain": {"a": {"x": 1}, "b": {"x": 1}},
    "tuples": {"t": [1, 2], "n": types.SimpleNamespace(dims=[3, [4]])},
}


def load(name):
    return konfig.load(pathlib.Path(__file__).with_name("kauldron_json") / name)


def test_every_file_is_looked_at():
    assert {path.stem for path in FILES} == {*EXPECTED, "nan"}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_holds_what_was_written(name):
    cfg = load(f"{name}.json")
    assert cfg == ConfigDict(EXPECTED[name])
    assert konfig.same(konfig.from_json(konfig.to_json(cfg)), cfg)


def test_numbers_that_json_lacks_are_read():
    cfg = load("nan.json")
    assert math.isnan(cfg.n)
    assert cfg.i == math.inf


def test_what_was_shared_is_one_object():
    built = konfig.resolve(load("shared.json"), allow=["types.*"])
    assert built.a is built.b is built.c.d
    cfg = load("shared_plain.json")
    assert cfg.a is cfg.b


def test_calls_are_built_once_they_are_allowed():
    with pytest.raises(konfig.UnsafeTargetError):
        konfig.resolve(load("partial.json"))
    made = konfig.resolve(load("partial.json"), allow=["functools.*", "fractions.*"])
    assert made.f() == fractions.Fraction(1, 3)
    # A pattern with * never covers pathlib: its class is named.
    allow = ["fractions.*", "pathlib:PurePosixPath"]
    built = konfig.resolve(load("paths.json"), allow=allow)
    assert built == {"p": pathlib.PurePosixPath("a/b"), "f": fractions.Fraction(1, 3)}


def test_an_empty_mapping_that_is_shared_is_one_object():
    cfg = konfig.from_json('{"a": {"__id__": 0}, "b": {"__id__": 0}, "c": {}}')
    assert cfg == {"a": {}, "b": {}, "c": {}}
    assert cfg.a is cfg.b is not cfg.c
    cfg.a.x = 1
    assert konfig.from_json(konfig.to_json(cfg)).b == {"x": 1}
