"""The same tree of calls in konfig and in other libraries, each by its public API.

A node is a call of `Leaf(a, b, below)`; ten nodes stand below each inner one. A library
that is not installed gives the reason instead of its operations.
"""

import copy
import dataclasses
import importlib.util
import json
import pickle
import sys
import types


@dataclasses.dataclass
class Leaf:
    a: int = 0
    b: str = "x"
    below: object = ()


def importable_leaf():
    """Puts `Leaf` where configs find it by name: `bench_nodes:Leaf`."""
    module = types.ModuleType("bench_nodes")
    Leaf.__module__, Leaf.__qualname__ = "bench_nodes", "Leaf"
    module.Leaf = Leaf
    sys.modules["bench_nodes"] = module


def tree(count, make):
    """A tree of about `count` nodes, built from its leaves upwards."""
    level = [make(i, []) for i in range(max(1, count - (count - 1) // 10 - 1))]
    number = len(level)
    while len(level) > 1:
        above = []
        for start in range(0, len(level), 10):
            above.append(make(number, level[start : start + 10]))
            number += 1
        level = above
    return level[0]


def through_pickle(cfg):
    return pickle.loads(pickle.dumps(cfg))


def plain_dicts():
    def make(i, below):
        return {"__qualname__": "bench_nodes:Leaf", "a": i, "b": "x", "below": below}

    def build(node):
        return Leaf(node["a"], node["b"], [build(below) for below in node["below"]])

    return {
        "make": make,
        "deepcopy": copy.deepcopy,
        "pickle": through_pickle,
        "to_json": json.dumps,
        "resolve": build,
        "read": json.loads,
        "written": json.dumps,
    }


def konfig():
    import konfig

    with konfig.imports():
        import bench_nodes

    return {
        "make": lambda i, below: bench_nodes.Leaf(a=i, b="x", below=below),
        "deepcopy": konfig.deepcopy,
        "pickle": through_pickle,
        "to_json": konfig.to_json,
        "resolve": konfig.resolve,
        "read": konfig.from_json,
        "written": konfig.to_json,
        "diff": lambda cfg: konfig.diff(cfg, cfg),
        "repr": repr,
        "fingerprint": konfig.fingerprint,
    }


def ml_collections():
    from ml_collections import ConfigDict

    return {
        "make": lambda i, below: ConfigDict({"a": i, "b": "x", "below": below}),
        "deepcopy": copy.deepcopy,
        "pickle": through_pickle,
        "to_json": lambda cfg: cfg.to_json_best_effort(),
        "repr": repr,
    }


def fiddle():
    import fiddle as fdl
    from fiddle.experimental import serialization

    return {
        "make": lambda i, below: fdl.Config(Leaf, a=i, b="x", below=below),
        "deepcopy": copy.deepcopy,
        "pickle": through_pickle,
        "to_json": serialization.dump_json,
        "resolve": fdl.build,
        "read": serialization.load_json,
        "written": serialization.dump_json,
        "repr": repr,
    }


def omegaconf_and_hydra():
    import hydra.utils
    from omegaconf import OmegaConf

    def make(i, below):
        return {"_target_": "bench_nodes.Leaf", "a": i, "b": "x", "below": below}

    def written(cfg):
        return json.dumps(OmegaConf.to_container(cfg, resolve=True))

    return {
        "make": make,
        "finish": OmegaConf.create,
        "deepcopy": copy.deepcopy,
        "pickle": through_pickle,
        "to_json": written,
        "resolve": hydra.utils.instantiate,
        "read": lambda text: OmegaConf.create(json.loads(text)),
        "written": written,
        "repr": repr,
    }


def kauldron():
    from kauldron import konfig

    with konfig.imports():
        import bench_nodes

    return {
        "make": lambda i, below: bench_nodes.Leaf(a=i, b="x", below=below),
        "deepcopy": copy.deepcopy,
        "pickle": through_pickle,
        "to_json": lambda cfg: cfg.to_json(),
        "resolve": konfig.resolve,
        "read": lambda text: konfig.ConfigDict(json.loads(text)),
        "written": lambda cfg: cfg.to_json(),
        "repr": repr,
    }


LIBRARIES = {
    "plain dicts": (plain_dicts, "json"),
    "konfig": (konfig, "konfig"),
    "ml_collections": (ml_collections, "ml_collections"),
    "fiddle": (fiddle, "fiddle"),
    "omegaconf+hydra": (omegaconf_and_hydra, "hydra"),
    "kauldron": (kauldron, "kauldron"),
}


def installed():
    """The libraries that can be measured, and the names of the others."""
    importable_leaf()
    found, missing = {}, []
    for name, (adapter, module) in LIBRARIES.items():
        if importlib.util.find_spec(module) is None:
            missing.append(name)
        else:
            found[name] = adapter()
    return found, missing
