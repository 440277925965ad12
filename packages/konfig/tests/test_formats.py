"""YAML and TOML files, and containers of other config libraries."""

import math
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import konfig
from konfig import ConfigDict

with konfig.imports(lazy=True):
    import types as T


def config():
    cfg = ConfigDict(
        {
            "none": None,
            "text": 'a "b"\n\\ \x7f ü',
            "t": (1, 2.0),
            "nan": math.nan,
            "small": 1e-5,
            "a b": {"x.y": [1, [2], {"z": None, "e": {}}]},
            3: "int",
        }
    )
    cfg.call = T.A(1, x={"y": [T.B(), T.B]})
    cfg.twice = cfg.ref.small * 2
    cfg.again = cfg.call
    return cfg


@pytest.mark.parametrize("suffix", [".yaml", ".yml", ".toml", ".json"])
def test_a_config_comes_back_from_every_format(suffix, tmp_path):
    if suffix in (".yaml", ".yml"):
        pytest.importorskip("ruamel.yaml", reason="reads and writes YAML")
    path = tmp_path / f"config{suffix}"
    cfg = config()
    konfig.save(cfg, path)
    back = konfig.load(path, trusted=True)
    assert konfig.same(back, cfg)
    assert back.again is back.call
    changed = konfig.load(path, ["small=1"])
    assert changed.twice == 2.0
    with pytest.raises(konfig.UnsafeTargetError):
        konfig.resolve(changed)
    source, _ = konfig.cli.parse([str(path), "small=3"])
    assert source.build().small == 3.0


def test_toml_reads_like_toml(tmp_path):
    path = tmp_path / "config.toml"
    konfig.save(ConfigDict(steps=3, name=None, model={"hidden": [1, 2]}), path)
    assert path.read_text() == (
        "__konfig__ = 1\nsteps = 3\nname = {__none__ = true}\n\n"
        "[model]\nhidden = [1, 2]\n"
    )
    path.write_text("[model]\nhidden = 4\nwhen = 2026-01-02\n")
    cfg = konfig.load(path)
    assert cfg.model.hidden == 4
    assert cfg.model.when["__qualname__"] == "datetime:date"


def test_what_toml_cannot_say_is_refused_and_nothing_is_written(tmp_path):
    path = tmp_path / "config.toml"
    for value in (ConfigDict(n=2**70), konfig.ConfigList([1])):
        with pytest.raises(konfig.SerializationError):
            konfig.save(value, path)
    assert not list(tmp_path.iterdir())


def test_faults_are_named_by_line_and_column(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text("a = 1\nb = = 2\n")
    with pytest.raises(konfig.ConfigValueError, match="not TOML") as error:
        konfig.load(path)
    assert error.value.origin == f"{path}:2, column 5"
    path.write_bytes(b"\xff")
    with pytest.raises(konfig.ConfigValueError, match="not TOML"):
        konfig.load(path)
    pytest.importorskip("ruamel.yaml", reason="reads and writes YAML")
    path = tmp_path / "config.yaml"
    path.write_text("a: 1\nb: [1, 2\n")
    with pytest.raises(konfig.ConfigValueError, match="not YAML") as error:
        konfig.load(path)
    assert error.value.origin.startswith(f"{path}:3, column ")


HOSTILE = {
    "object": "!!python/object/apply:os.system ['true']",
    "module": "a: !!python/name:os.system",
    "bomb": "a: &a [x, x, x, x, x, x, x, x, x]\n"
    + "".join(
        f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
        for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    ),
    "loop": "a: &a [*a]",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_yaml_is_refused(name, tmp_path):
    pytest.importorskip("ruamel.yaml", reason="reads and writes YAML")
    path = tmp_path / "config.yaml"
    path.write_text(HOSTILE[name])
    with pytest.raises(konfig.ConfigValueError, match="not YAML"):
        konfig.load(path)


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ruamel.yaml", None)
    with pytest.raises(konfig.ConfigFileError, match=r"ruamel\.yaml"):
        konfig.save(ConfigDict(a=1), tmp_path / "config.yaml")
    assert not list(tmp_path.iterdir())


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.text(max_size=3), VALUES, max_size=3))
def test_any_tree_comes_back_from_toml(tree):
    from konfig._formats import data_of
    from konfig._io import data_text

    cfg = ConfigDict(tree)
    data = data_of(
        data_text(cfg, ".toml").encode("utf-8", "surrogatepass"), ".toml", ""
    )
    assert konfig.same(konfig.from_json(data), cfg)


def test_configs_of_ml_collections_are_taken_over():
    ml = pytest.importorskip("ml_collections", reason="converts its containers")
    given = ml.ConfigDict({"a": 1, "b": {"c": [1, 2]}, "t": (1, 2)})
    given.later = ml.config_dict.placeholder(int)
    given.twice = given.get_ref("a") * 2
    cfg = ConfigDict(m=given, f=ml.FrozenConfigDict({"a": {"x": 1}}))
    assert cfg.m.b == {"c": [1, 2]}
    assert cfg.m.twice == 2
    assert cfg.f.a.x == 1
    cfg.m.later = 3
    with pytest.raises(konfig.ConfigTypeError, match="expected int"):
        cfg.m.later = "x"
    assert konfig.from_json(konfig.to_json(cfg)) == cfg


def test_containers_of_omegaconf_are_taken_over():
    omega = pytest.importorskip("omegaconf", reason="converts its containers")
    made = omega.OmegaConf.create(
        {"a": 1, "b": "${a}", "l": [1, {"x": "${a}"}], "need": "???", "n": None}
    )
    cfg = ConfigDict(o=made)
    assert cfg.o.b == 1
    assert cfg.o.l == [1, {"x": 1}]
    assert cfg.o.n is None
    with pytest.raises(konfig.RequiredValueError, match=r"cfg\.o\.need"):
        konfig.resolve(cfg)


def test_frozen_mappings_of_others_are_taken_over():
    module = pytest.importorskip("immutabledict", reason="converts its mapping")
    cfg = ConfigDict(m=module.immutabledict({"a": {"b": 1}}))
    assert cfg.m.a.b == 1
