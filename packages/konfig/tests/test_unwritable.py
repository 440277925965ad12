"""Values at the edge of what files can hold: kept, or refused with their path."""

import json
import os

import pytest

import konfig
from konfig import ConfigDict

HUGE = 10**5000


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "é\udc80"])
def test_lone_surrogates_come_back_from_json(tmp_path, text):
    cfg = ConfigDict(a={"b": text}, t=(text,))
    cfg[text] = 1
    written = konfig.to_json(cfg)
    written.encode()
    assert json.loads(written)["a"]["b"] == text
    assert konfig.from_json(written) == cfg
    konfig.save(cfg, tmp_path / "c.json")
    assert konfig.load(tmp_path / "c.json") == cfg
    assert json.loads(konfig.to_json(cfg, lossless=False))["a"]["b"] == text


def test_file_names_that_are_no_text_come_back():
    path = os.fsdecode(b"data-\xff")
    cfg = ConfigDict(path=path)
    assert konfig.from_json(konfig.to_json(cfg).encode()).path == path
    assert konfig.fingerprint(cfg) == konfig.fingerprint(konfig.deepcopy(cfg))


def refused(act):
    with pytest.raises(konfig.SerializationError) as caught:
        act()
    return caught.value


def test_two_halves_that_json_reads_as_one_are_refused():
    cfg = ConfigDict(a={"b": ["x", "\ud83d\ude00"]})
    assert refused(lambda: konfig.to_json(cfg)).path == "cfg.a.b[1]"


@pytest.mark.parametrize(
    ("name", "value"),
    [("c.toml", "\ud800"), ("c.toml", HUGE), ("c.yaml", HUGE), ("c.json", HUGE)],
    ids=["toml text", "toml", "yaml", "json"],
)
def test_what_a_format_cannot_hold_leaves_the_old_file_whole(tmp_path, name, value):
    if name == "c.yaml":
        pytest.importorskip("ruamel.yaml", reason="the extra yaml writes YAML")
    file = tmp_path / name
    konfig.save(ConfigDict(a=1), file)
    cfg = ConfigDict(a={"b": [value]})
    before = file.read_bytes()
    error = refused(lambda: konfig.save(cfg, file))
    assert error.path == "cfg.a.b[0]"
    assert len(str(error)) < 300
    assert file.read_bytes() == before
    assert os.listdir(tmp_path) == [name]


def test_lone_surrogates_come_back_from_yaml(tmp_path):
    pytest.importorskip("ruamel.yaml", reason="the extra yaml writes YAML")
    cfg = ConfigDict(a=["\ud800", "é\udfffb"])
    konfig.save(cfg, tmp_path / "c.yaml")
    assert konfig.load(tmp_path / "c.yaml") == cfg


def test_a_key_that_a_format_cannot_hold_is_named():
    cfg = ConfigDict(a={"\ud800": 1})
    error = refused(lambda: konfig.save(cfg, "c.toml"))
    assert error.path == "cfg.a['\\ud800']"


def test_an_int_beyond_the_digits_of_python_is_refused_with_its_path():
    cfg = ConfigDict(a={"b": [HUGE]})
    for options in ({}, {"lossless": False}, {"refs": "resolve"}):
        error = refused(lambda options=options: konfig.to_json(cfg, **options))
        assert error.path == "cfg.a.b[0]"
    changes = konfig.diff(ConfigDict(x=1), ConfigDict(x=HUGE))
    assert refused(changes.as_overrides).path == "cfg.x"
    with pytest.raises(konfig.ConfigValueError, match="more digits than Python reads"):
        konfig.from_json(f'{{"a": {"1" * 5000}}}')


def test_an_int_beyond_the_digits_of_python_is_printed_and_compared():
    cfg = ConfigDict(a=HUGE)
    assert eval(repr(cfg), {"ConfigDict": ConfigDict}) == cfg
    namespace = {}
    exec(konfig.to_python(cfg), namespace)
    assert namespace["get_config"]() == cfg
    assert konfig.fingerprint(cfg) != konfig.fingerprint(ConfigDict(a=HUGE + 1))
    assert len(str(konfig.diff(cfg, ConfigDict(a=1)))) < 200


def test_a_long_int_within_the_digits_of_python_is_kept():
    cfg = ConfigDict(a=-(10**4000))
    assert konfig.from_json(konfig.to_json(cfg)) == cfg


@pytest.mark.parametrize("path", [f"a[{'1' * 5000}]", f"a.{'1' * 5000}", "a[--5]"])
def test_a_position_that_no_list_has_is_no_path(path):
    with pytest.raises(konfig.ConfigValueError, match="not a config path"):
        konfig.get_path(ConfigDict(a=[1]), path)


def test_deep_brackets_are_refused_and_not_a_crash():
    with pytest.raises(konfig.ConfigCycleError, match="nested too deeply"):
        konfig.from_json("[" * 100_000)
