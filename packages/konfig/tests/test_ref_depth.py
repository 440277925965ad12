"""Operations in each other: as many as every operation on a config can follow."""

import copy
import pickle

import pytest

import konfig
from konfig import ConfigDict

DEEPEST = 200


def deep(levels, step=lambda value: value + 1):
    cfg = ConfigDict(a=1)
    value = cfg.ref.a
    for _ in range(levels):
        value = step(value)
    cfg.x = value
    return cfg


def in_a_list(value):
    return konfig.ref_fn(sum, [value, 1])


def run(source):
    namespace = {}
    exec(source, namespace)
    return namespace["get_config"]()


COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda cfg: pickle.loads(pickle.dumps(cfg)),
    "json": lambda cfg: konfig.from_json(konfig.to_json(cfg, indent=1), trusted=True),
    "python": lambda cfg: run(konfig.to_python(cfg)),
    "merge": lambda cfg: ConfigDict() | cfg,
    "diff": lambda cfg: konfig.apply(cfg, konfig.diff(ConfigDict(cfg, x=2), cfg)),
}


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize(("levels", "step"), [(200, lambda v: v + 1), (99, in_a_list)])
def test_the_deepest_reference_survives(name, levels, step):
    cfg = deep(levels, step)
    twin = COPIES[name](cfg)
    assert twin == cfg
    twin.a = 10
    assert (twin.x, cfg.x) == (10 + levels, 1 + levels)


def test_the_deepest_reference_is_read_and_compared():
    cfg = deep(DEEPEST)
    assert cfg.x == konfig.resolve(cfg)["x"] == 1 + DEEPEST
    assert konfig.fingerprint(cfg) != konfig.fingerprint(deep(DEEPEST - 1))
    assert konfig.validate(cfg).ok
    assert "cfg.ref" not in konfig.to_json(cfg, lossless=False)
    assert "…" in repr(cfg)


def test_a_deeper_reference_is_refused_where_it_is_made():
    with pytest.raises(konfig.RefError, match="more than 200 operations") as error:
        deep(DEEPEST + 1)
    assert "konfig.ref_fn(sum" in error.value.hint


def test_a_deeper_reference_in_a_file_is_refused_with_its_path():
    data = {"__ref__": "a"}
    for _ in range(DEEPEST + 1):
        data = {"__expr__": ["neg", data]}
    with pytest.raises(konfig.RefError, match="more than 200") as error:
        konfig.from_json({"a": 1, "b": {"x": data}})
    assert error.value.path == "cfg.b.x"


def test_many_operands_are_one_operation():
    cfg = ConfigDict({f"f{index}": index for index in range(1_000)})
    cfg.total = konfig.ref_fn(sum, [cfg.ref[f"f{index}"] for index in range(1_000)])
    assert konfig.deepcopy(cfg).total == sum(range(1_000))
