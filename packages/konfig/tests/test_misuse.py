"""What a user tries that cannot work: each says what to write in place of it."""

import datetime
import types

import pytest

import konfig
from konfig import ConfigDict

with konfig.imports():
    import types as T


def refused(act):
    with pytest.raises(konfig.KonfigError) as caught:
        act()
    return str(caught.value)


NODE = T.SimpleNamespace(x=1)


@pytest.mark.parametrize(
    ("act", "symbol"),
    [
        (lambda: NODE * 2, "*"),
        (lambda: 2 * NODE, "*"),
        (lambda: sum([NODE, NODE]), "+"),
        (lambda: NODE - NODE, "-"),
        (lambda: NODE**2, "**"),
        (lambda: NODE < 2, "<"),
        (lambda: sorted([NODE, NODE]), "<"),
        (lambda: -NODE, "-"),
        (lambda: NODE & {}, "&"),
    ],
)
def test_operators_of_a_described_call_say_that_nothing_is_built(act, symbol):
    text = refused(act)
    head = "types.SimpleNamespace(…) is described, not built, so it cannot be used"
    assert text.startswith(f"{head} with {symbol}\n")
    assert "cfg.ref.a * 2" in text


def test_operators_of_a_mapping_are_refused_in_the_words_of_configs():
    assert refused(lambda: ConfigDict() + {}) == (
        "a mapping of a config cannot be used with +"
    )


def test_a_reference_combines_with_a_node_on_both_sides():
    cfg = ConfigDict(a=2)
    node = konfig.call(dict, x=1)
    assert repr(cfg.ref.a * node) == "cfg.ref.a * dict(x=1)"
    assert repr(node * cfg.ref.a) == "dict(x=1) * cfg.ref.a"


def proxied(statement):
    scope = {"T": T}
    return lambda: exec(statement, scope)


@pytest.mark.parametrize(
    ("statement", "use"),
    [
        ("if T.SimpleNamespace: pass", "used as a condition"),
        ("class A(T.SimpleNamespace): pass", "subclassed"),
        ("list(T.SimpleNamespace)", "iterated"),
        ("with T.SimpleNamespace: pass", "entered by with"),
        ("T.x = 3", "given an attribute 'x'"),
        ("3 in T.SimpleNamespace", "used with in"),
    ],
)
def test_a_proxy_says_how_it_was_used(statement, use):
    assert f"is a config proxy, so it cannot be {use}\n" in refused(proxied(statement))


@pytest.mark.parametrize(
    ("value", "instead"),
    [
        (types, "konfig.const(types)"),
        (iter([1]), "a list: list(value)"),
        ((i for i in [1]), "a list: list(value)"),
        (bytearray(b"x"), "bytes: bytes(value)"),
        (type("Name", (str,), {})("x"), "a plain text: str(value)"),
        (type("Count", (int,), {})(3), "a plain number: int(value)"),
    ],
)
def test_a_refused_value_is_told_its_plain_form(value, instead):
    assert instead in refused(lambda: ConfigDict(a=value))


def test_class_methods_written_in_c_have_a_name():
    cfg = ConfigDict(a=dict.fromkeys, b=datetime.date.fromisoformat)
    assert cfg.a == konfig.Const("builtins:dict.fromkeys")
    assert konfig.resolve(cfg)["b"]("2024-01-02") == datetime.date(2024, 1, 2)
    assert "bound to an object" in refused(lambda: ConfigDict(a=[].append))


@pytest.mark.parametrize("given", ["abc", 3, [1]])
def test_a_config_is_made_of_a_mapping_or_of_pairs(given):
    text = refused(lambda: ConfigDict(given))
    assert text == f"a config is made of a mapping or of pairs, not of {given!r}"
    assert refused(lambda: ConfigDict().update(given)) == text


def test_the_last_field_is_popped():
    cfg = konfig.call(dict, 1, x=2)
    assert cfg.popitem() == ("x", 2)
    assert cfg.popitem() == ("0", 1)
    assert "it has no field" in refused(ConfigDict().popitem)


def test_names_in_other_places_are_texts():
    data = konfig.from_json({"__qualname__": "math:floor", "0": 1.5})
    for allow in (3, [3]):
        text = refused(lambda allow=allow: konfig.resolve(data, allow=allow))
        assert text.startswith(f"allow holds names of targets, not {allow!r}")
    for patterns in (3, [3]):
        text = refused(konfig.lazy_modules(patterns).__enter__)
        assert text.startswith(f"modules are named by texts, not by {patterns!r}")
    assert "a class and a function" in refused(lambda: konfig.register_converter(3, 4))
    assert "not a target: 3" in refused(lambda: konfig.defaults_of(3))


class Model:
    def __init__(self, size=0):
        self.size = size


def test_defaults_are_asked_for_by_the_class_itself():
    assert konfig.defaults_of(Model) is None
    konfig.register_default_values(konfig.call(Model, size=1))
    assert konfig.defaults_of(Model).size == 1
    assert konfig.defaults_of(konfig.proxy(Model)) == konfig.call(Model)
