"""Every message as a user reads it, side by side in errors.json.

`KONFIG_WRITE_ERRORS=1 pytest packages/konfig/tests/test_errors.py` writes it anew; the
change is reviewed as text.
"""

import dataclasses
import json
import os
import pathlib
import re

import pytest

import konfig
from konfig import ConfigDict, sweep

with konfig.imports():
    import fractions as F
    import types as T

SNAPSHOT = pathlib.Path(__file__).with_name("errors.json")


class Target:
    def __init__(self, hidden: int, rate: float = 0.1):
        self.hidden = hidden

    def __repr__(self):
        return f"Target({self.hidden})"


@dataclasses.dataclass
class Finished:
    hidden: int


def inner():
    def function():
        return 1

    return function


def run_in_block(statement):
    exec(f"import konfig\nwith konfig.imports():\n    {statement}", {})


def with_lambda():
    cfg = config()
    cfg.twice = konfig.ref_fn(lambda steps: 2 * steps)(cfg.ref.steps)
    return cfg


def declared():
    return ConfigDict(rate=konfig.placeholder(float), steps=konfig.required(int))


def config():
    cfg = ConfigDict(steps=10, name="x", layers=[{"n": 1}])
    cfg.model = konfig.call(Target, 3)
    return cfg


def assign(key, value):
    config()[key] = value


def override(text):
    konfig.apply_overrides(config(), [text])


def circle():
    cfg = config()
    cfg.x, cfg.y = cfg.ref.y, cfg.ref.x
    return cfg.x


def lost():
    cfg = config()
    cfg.x = cfg.ref.model.hiden
    return cfg.x


def locked():
    cfg = config()
    cfg.lock()
    cfg.nam = 3


def inside_itself():
    cfg = config()
    cfg.model.rate = cfg
    konfig.resolve(cfg)


def outer():
    cfg = config()
    cfg.sub = {"x": cfg.ref.steps}
    konfig.to_json(cfg.sub)


CASES = {
    "missing attribute": lambda: config().nam,
    "missing key": lambda: config()["layers.n"],
    "field of a result": lambda: T.SimpleNamespace(x=1).y,
    "missing position": lambda: T.SimpleNamespace(1)[3],
    "flat key": lambda: assign("layers.n", 3),
    "method name": lambda: setattr(config(), "items", 3),
    "live object": lambda: assign("m", {"a": [1, Target(3)]}),
    "lambda": lambda: assign("f", lambda: 1),
    "misspelt name": lambda: F.Frction(1),
    "misspelt keyword": lambda: konfig.call(Target, hiden=3),
    "too many positions": lambda: konfig.call(Target, 1, 2, 3),
    "unknown field of a call": lambda: setattr(config().model, "rat", 3),
    "malformed name": lambda: konfig.Const("a b"),
    "malformed path": lambda: konfig.get_path(config(), "model..hidden"),
    "missing path": lambda: konfig.get_path(config(), "model.hiden"),
    "index out of range": lambda: konfig.get_path(config(), "layers[4]"),
    "module not there": lambda: konfig.resolve(
        konfig.from_json({"m": {"__const__": "fractoins:Fraction"}}, trusted=True)
    ),
    "attribute not there": lambda: konfig.resolve(ConfigDict(m=konfig.Const("math:p"))),
    "required": lambda: konfig.resolve(ConfigDict(a=konfig.required(int, "how many"))),
    "reference in a condition": lambda: bool(config().ref.steps),
    "reference in a text": lambda: f"{config().ref.steps}",
    "references in a circle": circle,
    "reference to nothing": lost,
    "config inside itself": inside_itself,
    "lock": locked,
    "override of nothing": lambda: override("model.hiden=3"),
    "override of another type": lambda: override("model.hidden=abc"),
    "override without value": lambda: override("model.hidden"),
    "override without match": lambda: override("**.zzz=3"),
    "override with a bad expression": lambda: override("model=py::a.b(1 + 2)"),
    "no config": lambda: konfig.cli.parse(["--cfg.steps=3"]),
    "no file": lambda: konfig.load("nowhere/config.py"),
    "reference to an outer config": outer,
    "broken JSON": lambda: konfig.from_json('{"a": }'),
    "broken tag": lambda: konfig.from_json({"a": {"__tuple__": 3}}),
    "newer format": lambda: konfig.from_json({"__konfig__": 2}),
    "untrusted": lambda: konfig.resolve(
        konfig.from_json({"__qualname__": "os:getcwd"})
    ),
    "two factors of a sweep": lambda: sweep.grid(a=[1]) * sweep.grid(a=[2]),
    "sweep of nothing": lambda: sweep.configs(config(), sweep.grid(stps=[1])),
    "export of an object": lambda: konfig.export({"a": [Target(3)]}),
    "keys with one text": lambda: konfig.to_json(
        ConfigDict({1: 2, "1": 3}), lossless=False
    ),
    "unknown file format": lambda: konfig.save(config(), "config.ini"),
    "unfit call": lambda: konfig.resolve(
        konfig.from_json(
            {"__qualname__": "fractions:Fraction", "nume": 1}, trusted=True
        )
    ),
    "list with holes": lambda: konfig.unflatten({"a[1]": 3}),
    "not allowed": lambda: konfig.resolve(
        {"__qualname__": "os:getcwd"}, allow=["os.*"]
    ),
    "call of a call": lambda: T.SimpleNamespace(x=1)(2),
    "call of a mapping": lambda: config()(2),
    "finished dataclass": lambda: assign("m", Finished(3)),
    "function inside a function": lambda: assign("f", inner()),
    "operator of a proxy": lambda: T.SimpleNamespace * 2,
    "class of a proxy": lambda: isinstance(3, T.SimpleNamespace),
    "star import": lambda: run_in_block("from types import *"),
    "module that is not there": lambda: run_in_block("import fractoins"),
    "reserved key": lambda: ConfigDict({"__id__": 1}),
    "slice of a config": lambda: config()[0:1],
    "inner position deleted": lambda: konfig.call(Target, 1, 2).__delitem__(0),
    "constant changed": lambda: setattr(konfig.const(dict), "__const__", "a:b"),
    "reference as a key": lambda: {config().ref.steps: 1},
    "length of a reference": lambda: len(config().ref.layers),
    "local function in a file": lambda: konfig.to_json(with_lambda()),
    "defaults that are no call": lambda: konfig.register_default_values(config()),
    "target that is not callable": lambda: konfig.resolve(
        konfig.from_json({"__qualname__": "math:pi"}, trusted=True)
    ),
    "hole in the positions": lambda: konfig.resolve({"__qualname__": "a:b", "1": 5}),
    "position beyond a list": lambda: override("layers[5].n=9"),
    "list where a mapping is meant": lambda: konfig.get_path(config(), "layers.n"),
    "append to a number": lambda: override("steps+=3"),
    "axes of two lengths": lambda: sweep.zip_(a=[1, 2], b=[1]),
    "placeholder of another type": lambda: setattr(declared(), "rate", "fast"),
    "required read": lambda: declared().steps,
    "wrong lock": lambda: config().lock("some"),
    "wrong refs": lambda: konfig.to_json(config(), refs="none"),
    "expression with a keyword twice": lambda: override("name=py::f.g(a=1, a=2)"),
}


def told(case):
    with pytest.raises(konfig.KonfigError) as caught:
        case()
    text = f"{type(caught.value).__name__}: {caught.value}"
    text = text.replace(__name__, "MODULE")
    return re.sub(r"created: \S+:\d+ in .*", "created: FILE:LINE in FUNCTION", text)


def test_every_message_is_the_one_that_was_reviewed():
    found = {name: told(case).splitlines() for name, case in CASES.items()}
    if os.environ.get("KONFIG_WRITE_ERRORS") == "1":
        text = json.dumps(found, indent=2, ensure_ascii=False)
        SNAPSHOT.write_text(text + "\n", encoding="utf-8")
    assert found == json.loads(SNAPSHOT.read_text(encoding="utf-8"))


def test_every_message_fits_on_a_screen():
    for name, case in CASES.items():
        text = told(case)
        assert len(text.splitlines()) <= 12, name
        assert len(text) <= 900, name


def test_errors_can_be_pickled():
    import pickle

    for case in CASES.values():
        with pytest.raises(konfig.KonfigError) as caught:
            case()
        again = pickle.loads(pickle.dumps(caught.value))
        assert (type(again), str(again)) == (type(caught.value), str(caught.value))
