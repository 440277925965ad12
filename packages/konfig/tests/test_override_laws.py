"""Overrides: whatever is typed is applied as a whole, or refused with one error."""

import fractions

import pytest
from hypothesis import given
from hypothesis import strategies as st

import konfig
from konfig import ConfigDict

with konfig.imports():
    import types as T


WORDS = """n none t l d a model layers x.y [0] [-1] 0 * ** . = := += :del : ( ) , 1 2.5
    None true {"a":1} [1] py:: ref:: json:: file:: str:: {"__ref__":"n"} {"__id__":0}
    f.g(1) __qualname__ __class__ lambda""".split()


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map("".join), max_size=3))
def test_what_is_refused_leaves_the_config_as_it_was(overrides):
    cfg = ConfigDict(n=1, none=None, t=(1, 2), l=[1, {"a": 1}], d={"a": 1, "x.y": 2})
    cfg.model = T.SimpleNamespace(layers=[{"n": 1}], again=cfg.ref.n)
    before = konfig.to_json(cfg, origins=True)
    try:
        konfig.apply_overrides(cfg, overrides)
    except konfig.OverrideError:
        assert konfig.to_json(cfg, origins=True) == before
    else:
        assert konfig.from_json(konfig.to_json(cfg)) == cfg


@given(st.text(max_size=20))
def test_any_text_is_applied_or_refused_as_an_override(text):
    for override in (text, f"n={text}", f"none={text}", f"none=py::{text}"):
        cfg = ConfigDict(n=1, none=None, d={"a": 1})
        try:
            konfig.apply_overrides(cfg, [override])
        except konfig.OverrideError:
            pass


def test_of_several_overrides_all_are_applied_or_none():
    cfg = ConfigDict(n=10, name="x", d={"a": 1})
    before, flags = konfig.to_json(cfg, origins=True), ["n=5", "new.deep:=1"]
    for wrong in ("stps=1", "steps", "**=[1]", "name:=json::{"):
        with pytest.raises(konfig.OverrideError):
            konfig.apply_overrides(cfg, [*flags, wrong])
        assert konfig.to_json(cfg, origins=True) == before
    layers = ConfigDict(l=[{"n": 1}, {"n": 2}], last=konfig.placeholder(int))
    before = konfig.to_json(layers)
    with pytest.raises(konfig.OverrideError):
        konfig.apply_overrides(layers, ["l+=3", "l[0].n=5", "l[1]:del", "last=x"])
    assert konfig.to_json(layers) == before


def test_a_wildcard_deletes_from_the_end_and_outer_values_last():
    cfg = ConfigDict(l=[1, 2, 3], d={"a": {"a": 1}, "b": 2})
    changed = konfig.apply_overrides(cfg, ["l[*]:del", "d.**.a:del", "d.*=3"])
    assert changed[:3] == ["cfg.l[0]", "cfg.l[1]", "cfg.l[2]"]
    assert cfg == {"l": [], "d": {"b": 3}}


def test_what_a_wildcard_reaches_twice_is_changed_once():
    shared = ConfigDict(l=[1], n=2)
    cfg = ConfigDict(a=shared, b=(shared,), c={"l": [5]})
    changed = konfig.apply_overrides(cfg, ["**.l+=4", "**.n:del"])
    assert changed == ["cfg.a.l", "cfg.b[0].l", "cfg.c.l", "cfg.a.n", "cfg.b[0].n"]
    assert cfg == {"a": {"l": [1, 4]}, "b": ({"l": [1, 4]},), "c": {"l": [5, 4]}}


def test_deleting_takes_every_spelling_that_setting_takes():
    cfg = ConfigDict(m={"0": 1, "10": 2}, f=konfig.call(fractions.Fraction, 1, 2))
    konfig.apply_overrides(cfg, ["m.10:del", "m[0]:del", "f.denominator:del"])
    assert cfg == {"m": {}, "f": konfig.call(fractions.Fraction, 1)}
    del cfg.f.numerator
    assert cfg.f == konfig.call(fractions.Fraction)
    with pytest.raises(konfig.ConfigAttributeError, match="numerator"):
        del cfg.f.numerator


@pytest.mark.parametrize("name", ["need", "lost"])
def test_nothing_is_appended_to_what_has_no_value(name):
    cfg = ConfigDict(need=konfig.required(list))
    cfg.lost = cfg.ref.nothing
    with pytest.raises(konfig.OverrideError, match="there is none yet") as caught:
        konfig.apply_overrides(cfg, [f"{name}+=3"])
    assert caught.value.hint == f"set it: cfg.{name}=VALUE"


@pytest.mark.parametrize("given", ["a=3", {"a": 3}, [3], 3, None])
def test_overrides_are_a_list_of_texts(given, tmp_path):
    path = tmp_path / "c.json"
    konfig.save(ConfigDict(a=1), path)
    for use in (
        lambda: konfig.apply_overrides(ConfigDict(a=1), given),
        lambda: konfig.load_config(path, overrides=given),
        lambda: konfig.load(path, given),
    ):
        with pytest.raises(konfig.ConfigTypeError, match="a list of texts") as caught:
            use()
        assert "['model.hidden=128'" in caught.value.hint


def test_a_set_stays_a_set():
    cfg = ConfigDict(s={1, 2})
    konfig.apply_overrides(cfg, ["s=[3, 3]"])
    assert cfg.s == {3}
    for text in ("3", "[[1]]"):
        with pytest.raises(konfig.OverrideError, match="expected set"):
            konfig.apply_overrides(cfg, [f"s={text}"])
    konfig.apply_overrides(cfg, ["s=None"])
    assert cfg.s is None
