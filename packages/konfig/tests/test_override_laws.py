"""Overrides: whatever is typed is applied as a whole, or refused with one error."""

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
