"""Data that is not what `to_json` writes: refused with its path and what it was."""

import json

import pytest

import konfig

BROKEN = [
    ({"__expr__": []}, "broken '__expr__': []"),
    ({"__expr__": "add"}, "broken '__expr__': 'add'"),
    ({"__expr__": ["nope", 1]}, "unknown operation 'nope' in a reference"),
    ({"__expr__": ["add", 1]}, "'add' of a reference has 1 operands"),
    ({"__expr__": ["neg", 1, 2]}, "'neg' of a reference has 2 operands"),
    ({"__expr__": ["where", True, 1]}, "'where' of a reference has 2 operands"),
    ({"__expr__": ["call"]}, "'call' of a reference has 0 operands"),
    ({"__expr__": ["attr", 1, 2]}, "'attr' of a reference needs a text"),
    ({"__expr__": ["format", 1]}, "'format' of a reference needs a text"),
    (
        {"__expr__": ["maximum", 1], "__kwargs__": {"key": {"__const__": "os:remove"}}},
        "'maximum' of a reference has operands by name",
    ),
    ({"__placeholder__": 3}, "broken '__placeholder__': 3"),
    ({"__placeholder__": {"type": 3}}, "broken '__placeholder__': {'type': 3}"),
    (
        {"__placeholder__": {"value": {"__placeholder__": {}}}},
        "broken '__placeholder__'",
    ),
    ({"__placeholder__": {"default": {"__placeholder__": {}}}}, "broken '__placeh"),
    ({"__placeholder__": {"type": []}}, "broken '__placeholder__': {'type': []}"),
    ({"__placeholder__": {"typ": "builtins:int"}}, "broken '__placeholder__'"),
    ({"__items__": [["__qualname__", 3]]}, "malformed name 3"),
    ({"__items__": [["__qualname__", "a b"]]}, "malformed name 'a b'"),
    ({"__items__": [["__const__", "a:b"]]}, "'__const__' has a meaning in JSON"),
    ({"__items__": [["__id__", 3]]}, "'__id__' has a meaning in JSON"),
    ({"__items__": 3}, "broken '__items__': 3"),
    ({"__items__": [[1]]}, "broken '__items__': [[1]]"),
    ({"__items__": [[[1], 2]]}, "broken '__items__': [[[1], 2]]"),
    ({"__tuple__": {"a": 1}}, "broken '__tuple__': {'a': 1}"),
    ({"__tuple__": "ab"}, "broken '__tuple__': 'ab'"),
    ({"__set__": {"a": 1}}, "broken '__set__': {'a': 1}"),
    ({"__frozenset__": [{"a": 1}]}, "broken '__frozenset__': [{'a': 1}]"),
]


@pytest.mark.parametrize(("tag", "fault"), BROKEN)
def test_a_broken_tag_is_shown_with_its_path(tag, fault):
    with pytest.raises(konfig.ConfigValueError) as caught:
        konfig.from_json(json.dumps({"a": [0, {"b": tag}]}))
    assert fault in caught.value.message
    assert caught.value.path == "cfg.a[1].b"


def test_a_fault_inside_a_tag_is_the_one_that_is_told():
    with pytest.raises(konfig.ConfigValueError) as caught:
        konfig.from_json({"a": {"__tuple__": [{"__float__": "x"}]}})
    assert caught.value.message == "broken '__float__': 'x'"


@pytest.mark.parametrize(
    ("anchor", "fault"),
    [("no", "cfg.no is not there for cfg.ref.x"), ("n", "no config is there to be")],
)
def test_a_reference_to_what_is_not_in_the_file_is_told_with_both_places(
    tmp_path, anchor, fault
):
    path = tmp_path / "c.json"
    ref = {"__ref__": "x", "__anchor__": anchor}
    path.write_text(json.dumps({"n": 3, "a": [{"b": {"__expr__": ["add", ref, 1]}}]}))
    with pytest.raises(konfig.ConfigValueError) as caught:
        konfig.load(path)
    assert fault in caught.value.message
    assert (caught.value.path, caught.value.origin) == ("cfg.a[0].b", str(path))


def test_a_key_that_no_mapping_can_have_stays_a_text():
    assert konfig.from_json({"__raw__=[1]": 2}) == {"__raw__=[1]": 2}


def test_whatever_is_read_can_be_printed():
    for op in ("add", "neg", "call", "attr", "getitem", "format", "round"):
        for count in range(4):
            data = {"a": {"__expr__": [op, *["x"] * count]}}
            try:
                cfg = konfig.from_json(data)
            except konfig.ConfigValueError:
                continue
            assert "a" in repr(cfg)
            assert konfig.from_json(konfig.to_json(cfg)) == cfg


def test_a_file_that_cannot_be_read_is_a_config_error(tmp_path):
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(konfig.ConfigFileError, match="cannot read"):
            konfig.from_json(path)


def test_a_file_that_cannot_be_written_is_a_config_error(tmp_path):
    cfg = konfig.ConfigDict(a=1)
    with pytest.raises(konfig.ConfigFileError, match="no folder"):
        konfig.save(cfg, tmp_path / "no" / "c.json")
    with pytest.raises(konfig.ConfigFileError, match="to_python"):
        konfig.save(cfg, tmp_path / "c.py")
    with pytest.raises(konfig.SerializationError, match=r"konfig\.ConfigDict\(value="):
        konfig.to_json(object())
