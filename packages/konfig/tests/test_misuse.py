"""What a user tries that cannot work: each says what to write in place of it."""

import copy
import datetime
import fractions
import math
import pathlib
import pickle
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
        ("del T.x", "robbed of its attribute 'x'"),
        ("f'{T.SimpleNamespace}'", "put into a text"),
        ("int(T.SimpleNamespace)", "used with int"),
        ("range(T.SimpleNamespace)", "used as an index"),
        ("open(T.SimpleNamespace)", "used as a path"),
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


@pytest.mark.parametrize(
    ("act", "use", "instead"),
    [
        (lambda ref: [x for x in ref.l], "a loop", "konfig.ref_fn(list, cfg.ref.l)"),
        (
            lambda ref: 1 in ref.l,
            "a test with in",
            "operator.contains, cfg.ref.l, item",
        ),
        (lambda ref: range(ref.a), "range(…) or", "konfig.ref_fn(range, cfg.ref.a)"),
        (
            lambda ref: math.sqrt(ref.a),
            "a function of math",
            "ref_fn(float, cfg.ref.a)",
        ),
        (
            lambda ref: pathlib.Path(ref.s),
            "a path",
            'konfig.fstr("{}/file", cfg.ref.s)',
        ),
        (lambda ref: open(ref.s), "a path", "konfig.fstr"),
        (lambda ref: len(ref.l), "len(…)", "konfig.ref_fn(len, cfg.ref.l)"),
    ],
)
def test_a_reference_used_as_a_value_is_told_what_computes_later(act, use, instead):
    text = refused(lambda: act(ConfigDict(a=2, l=[1], s="x").ref))
    assert use in text.splitlines()[0]
    assert instead in text


@pytest.mark.parametrize(
    ("template", "args", "fault"),
    [
        ("{} {}", (1,), "no value is given for {}: '{} {}'"),
        ("{b}", (1,), "no value is given for {b}"),
        ("{:{}}", (1,), "no value is given for {}"),
        ("{", (), "not a template: "),
        ("{}}", (1,), "not a template: "),
        (3, (), "not a template: "),
        ("{}{0}", (1,), "fields {} or {0}, not both"),
        ("{!z}", (1,), "not a template: no conversion !z"),
    ],
)
def test_a_template_is_held_against_its_values_where_it_is_written(
    template, args, fault
):
    assert fault in refused(lambda: konfig.fstr(template, *args))


def test_templates_with_every_kind_of_field_are_read():
    cfg = ConfigDict(a=7, w=4)
    cfg.x = konfig.fstr("{}-{name}-{:0{w}d}-{{}}", 1, cfg.ref.a, name="n", w=cfg.ref.w)
    assert cfg.x == "1-n-0007-{}"
    cfg.y = konfig.fstr("{1}{0!r}", "a", cfg.ref.a)
    assert cfg.y == "7'a'"


@pytest.mark.parametrize("kind", [int, float, str, int | None])
def test_a_declared_scalar_takes_no_list(kind):
    cfg = ConfigDict(a=konfig.required(kind))
    assert "expected " in refused(lambda: setattr(cfg, "a", [1]))
    assert "a" in konfig.to_json(cfg)


def test_a_declared_text_takes_a_path_as_its_text():
    cfg = ConfigDict(a=konfig.required(str), b=konfig.required(int))
    cfg.a = pathlib.PurePosixPath("x/y")
    assert cfg.a == "x/y"
    assert "expected int" in refused(lambda: setattr(cfg, "b", pathlib.Path("x")))


def test_integer_keys_of_raw_calls_are_positions():
    raw = {"f": {"__qualname__": "fractions:Fraction", 0: 1, 1: 3}}
    assert konfig.resolve(raw, trusted=True).f == fractions.Fraction(1, 3)
    assert konfig.from_json(raw).f[1] == 3
    assert konfig.from_json({"a": {0: 1}}).a == {0: 1}


def test_a_constant_is_a_name_and_has_no_attributes():
    cfg = ConfigDict(dtype=konfig.Const("numpy:float32"))
    text = refused(lambda: cfg.dtype.itemsize)
    assert text.startswith("numpy:float32 is a name until konfig.resolve imports it")
    assert not hasattr(cfg.dtype, "itemsize")
    assert copy.copy(cfg.dtype) is cfg.dtype
    assert pickle.loads(pickle.dumps(cfg.dtype)) == cfg.dtype


@pytest.mark.parametrize("path", [3, None, {"a": 1}])
def test_a_path_is_a_text_or_its_keys(path):
    cfg = ConfigDict(a={"b": [1]})
    uses = (
        lambda: konfig.get_path(cfg, path),
        lambda: konfig.set_path(cfg, path, 1),
        lambda: konfig.del_path(cfg, path),
        lambda: konfig.origin(cfg, path),
        lambda: konfig.select(cfg, path),
    )
    for use in uses:
        assert "a path is a text or a tuple of its keys" in refused(use)
    for keys in (("a", "b", 0), ["a", "b", 0], "a.b[0]"):
        assert konfig.get_path(cfg, keys) == 1


def test_a_flat_config_is_a_mapping():
    assert "a flat config is a mapping of paths, not [1]" in refused(
        lambda: konfig.unflatten([1])
    )


def test_a_slice_holds_scalars():
    assert ConfigDict(s=slice(None, 3)).s == slice(None, 3)
    for bound in (object(), [1], {}, ConfigDict(a=1).ref.a):
        text = refused(lambda bound=bound: ConfigDict(s=[slice(bound, 3)]))
        assert "at:      cfg.s[0]" in text
    with pytest.raises(konfig.ConfigTypeError, match="bounds of a slice"):
        konfig.from_json({"s": {"__slice__": [{"a": 1}, 2, 3]}})


def test_a_reference_may_bound_a_slice():
    cfg = ConfigDict(n=2, l=[1, 2, 3])
    cfg.x = cfg.ref.l[: cfg.ref.n]
    twin = konfig.from_json(cfg.to_json(), trusted=True)
    for one in (cfg, copy.deepcopy(cfg), twin):
        assert one.x == [1, 2]
        one.n = 1
        assert one.x == [1]


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        (lambda ref: setattr(ref, "a", 1), AttributeError),
        (lambda ref: delattr(ref, "a"), AttributeError),
        (lambda ref: ref.__setitem__("a", 1), TypeError),
        (lambda ref: ref.__delitem__("a"), TypeError),
    ],
)
def test_a_reference_is_not_assigned_to(act, kind):
    with pytest.raises(
        kind, match=r"cfg\.ref\.m is a reference .* set the field itself"
    ):
        act(ConfigDict(m={"a": 1}).ref.m)


def test_items_of_a_tuple_are_read_by_path():
    cfg = ConfigDict(a=2)
    cfg.t = (cfg.ref.a * 2, konfig.placeholder(int, default=5))
    assert [konfig.get_path(cfg, ("t", index)) for index in range(2)] == [4, 5]
    konfig.apply_overrides(cfg, ["t[0]=1e1"])
    assert cfg.t[0] == 10
    assert type(cfg.t[0]) is int


def test_plain_data_is_compared_and_checked_as_the_config_it_would_be():
    plain, cfg = {"b": [{"x": (1,)}], "a": 1}, ConfigDict(a=1, b=[{"x": (1,)}])
    assert konfig.fingerprint(plain) == konfig.fingerprint(cfg)
    assert konfig.same(plain, cfg)
    assert str(konfig.diff(plain, {"b": [{"x": (1,)}], "a": 2})) == "~ a: 1 → 2"
    (problem,) = konfig.validate({"a": konfig.required(int)})
    assert problem.path == "cfg.a"
    for use in (konfig.fingerprint, konfig.validate, lambda x: konfig.diff(cfg, x)):
        assert "cannot stand in a config" in refused(lambda use=use: use(object()))


def test_a_default_is_given_where_a_call_has_no_such_position():
    node = konfig.call(fractions.Fraction, 1, 2)
    assert (node.get(5, "d"), node.get(-3, "d"), node.pop(5, "d")) == ("d", "d", "d")
    assert (node.get("numerator"), node.get(-1), node.pop("denominator")) == (1, 2, 2)
    assert (node.get("zz"), node.pop("zz", None), node.setdefault("numerator", 3)) == (
        None,
        None,
        1,
    )
    with pytest.raises(konfig.ConfigIndexError):
        node.pop(5)
    with pytest.raises(konfig.ConfigKeyError):
        node.pop("zz")
    cfg = ConfigDict(a=1)
    cfg.x = konfig.ref_fn({}.__getitem__, cfg.ref.a)
    for read in (cfg.get, cfg.pop):
        with pytest.raises(KeyError):
            read("x", "hides nothing")


def test_what_cannot_be_read_can_be_cleared():
    cfg = ConfigDict(need=konfig.required(int), call=konfig.call(dict, 1, 2))
    cfg.lost = cfg.ref.nothing
    for node in (cfg.call, cfg):
        node.clear()
        assert node == {}


def test_a_key_without_a_form_in_files_is_named():
    text = refused(lambda: ConfigDict(a={"b": {len: 1}}).to_json())
    assert "at:      cfg.a.b[<built-in function len>]" in text


def test_a_list_for_a_declared_tuple_is_a_tuple():
    cfg = ConfigDict(t=konfig.required(tuple))
    cfg.t = [1, cfg.ref.n]
    assert type(cfg.t) is tuple
    cfg.n = 2
    assert konfig.resolve(cfg).t == (1, 2)


def test_positions_of_calls_are_numbers_in_every_path():
    live = object()
    raw = {"__qualname__": "m:f", "0": live}
    node = konfig.call(fractions.Fraction, 1)
    assert "at:      cfg.a[0]" in refused(lambda: ConfigDict(a=raw))
    assert "at:      cfg.a[0]" in refused(lambda: konfig.from_json({"a": raw}))
    assert "at:      [0] of the call" in refused(lambda: konfig.call(dict, live))
    assert "at:      [0] of the call" in refused(lambda: node.__setitem__(0, live))
