"""JSON and files: without loss, strictly valid, and nothing runs while reading."""

import json
import math
import pathlib
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import konfig
from konfig import ConfigDict, Const

with konfig.imports(lazy=True):
    import types as T


def rt(value, **options):
    return konfig.from_json(konfig.to_json(value), trusted=True, **options)


def strict(text):
    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.spec("konfig-89")
def test_every_kind_of_value_comes_back():
    cfg = ConfigDict(
        {
            "t": (1, (2, [3])),
            "empty": (),
            "s": {1},
            "f": frozenset({(1, 2)}),
            "b": b"x\xff",
            "e": ...,
            "n": math.nan,
            "i": -math.inf,
            "z": 1j,
            "slice": slice(1, None, 2),
            "path": pathlib.Path("a/b"),
            "const": Const("a.b:C"),
            "big": 10**30,
            "call": T.A(1, x={"y": T.B}),
        }
    )
    back = rt(cfg)
    assert back == cfg
    for key in cfg:
        assert type(back[key]) is type(cfg[key])
    strict(konfig.to_json(cfg))


@pytest.mark.spec("konfig-90")
def test_keys_of_any_kind_come_back():
    cfg = ConfigDict({None: 1, 1: 2, "1": 3})
    assert rt(cfg) == cfg
    assert len(rt(cfg)) == 3


@pytest.mark.case("025")
def test_tuples_come_back_as_tuples_nested_and_as_keys():
    cfg = ConfigDict({"a": (1, 2), "b": [((),)], ("k", (1,)): 3})
    assert rt(cfg).a == (1, 2)
    assert type(rt(cfg).b[0]) is tuple
    assert rt(cfg)["k", (1,)] == 3


@pytest.mark.spec("konfig-47")
def test_the_data_is_not_changed_by_reading():
    data = {"a": {"__id__": 7, "x": 1}}
    konfig.from_json(data)
    assert data == {"a": {"__id__": 7, "x": 1}}


@pytest.mark.spec("konfig-93")
def test_json_of_kauldron_loads_with_the_same_meaning():
    one = {"__qualname__": "types.SimpleNamespace", "__id__": 0}
    cfg = konfig.from_json(json.dumps({"a": one, "b": one, "__raw__=3": [1]}))
    assert cfg.a is cfg.b
    assert cfg[3] == [1]
    built = konfig.resolve(cfg, trusted=True)
    assert built["a"] is built["b"]


@pytest.mark.spec("konfig-94")
def test_reading_imports_nothing():
    cfg = konfig.from_json('{"a": {"__qualname__": "wave:open"}}')
    assert cfg.a["__qualname__"] == "wave:open"
    assert "wave" not in sys.modules


def test_references_come_back_as_references():
    cfg = ConfigDict(steps=10, m={"a": 1})
    cfg.decay = cfg.ref.steps * 2
    cfg.m.b = cfg.m.ref.a
    cfg.l = [cfg.ref.m, cfg.ref.m.a + 1]
    back = rt(cfg)
    assert back == cfg
    back.steps, back.m.a = 1, 5
    assert (back.decay, back.m.b, back.l[1]) == (2, 5, 6)
    assert back.l[0] is back.m
    flat = konfig.from_json(konfig.to_json(cfg, refs="resolve"))
    assert flat.decay == 20
    flat.steps = 1
    assert flat.decay == 20


def test_a_reference_to_an_outer_config_is_refused_with_its_path():
    cfg = ConfigDict(a=1, sub={})
    cfg.sub.x = cfg.ref.a
    with pytest.raises(konfig.SerializationError, match=r"cfg.x") as error:
        konfig.to_json(cfg.sub)
    assert "outside" in str(error.value)


def test_a_local_function_is_refused_with_its_place():
    cfg = ConfigDict(a=1)
    cfg.x = konfig.ref_fn(lambda a: a, cfg.ref.a)
    with pytest.raises(TypeError, match=r"cfg.x") as error:
        konfig.to_json(cfg)
    assert "test_json.py:" in str(error.value)


def test_shared_nodes_are_written_once():
    node = T.A(x=1)
    cfg = ConfigDict(a=node, b=[node])
    data = json.loads(konfig.to_json(cfg))
    assert data["a"] == {"__qualname__": "types:A", "x": 1, "__id__": 0}
    assert data["b"] == [{"__id__": 0}]


@pytest.mark.parametrize("fields", [{"x": 1}, {}, {1: 2}], ids=str)
@pytest.mark.parametrize("options", [{}, {"sort_keys": True}, {"origins": True}])
@pytest.mark.parametrize("names", ["ab", "ba"])
def test_what_is_shared_is_read_back_in_every_order(fields, options, names):
    node = ConfigDict(fields)
    first, second = names
    cfg = ConfigDict({first: node, second: [{"y": node}]})
    back = konfig.from_json(konfig.to_json(cfg, **options))
    assert back == cfg
    assert back[first] is back[second][0].y


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": ]', "line|not JSON"),
        ('{"a": {"__tuple__": 3}}', "broken '__tuple__'"),
        ('{"a": {"__tuple__": [], "b": 1}}', "does not stand beside"),
        ('{"__konfig__": 1, "a": {"__id__": 5}}', "no earlier part"),
        ('{"a": {"__ref__": {}}}', "broken '__ref__'"),
        (b" \xc2", "not JSON"),
        ('{"__konfig__": 99}', "update konfig"),
        ('{"a": {"__qualname__": "a:b", "__const__": "a:b"}}', "both"),
        ('{"a": {"__qualname__": "a b"}}', "malformed name"),
        ('{"a": {"__kwargs__": {}}}', "stands alone"),
        ('{"a": {"__bytes__": "!"}}', "broken '__bytes__'"),
    ],
)
def test_broken_text_is_refused_with_the_reason(text, message):
    with pytest.raises(konfig.ConfigValueError, match=message):
        konfig.from_json(text)


def test_errors_in_data_name_the_path():
    with pytest.raises(konfig.ConfigValueError, match=r"cfg.a\[1\].b"):
        konfig.from_json('{"a": [0, {"b": {"__tuple__": 3}}]}')


@pytest.mark.case("008")
def test_files_are_written_whole_and_read_equal(tmp_path):
    cfg = ConfigDict(a=(1, 2), m=T.A(x=1))
    path = tmp_path / "config.json"
    konfig.save(cfg, path)
    assert konfig.load(path) == cfg
    assert [entry.name for entry in tmp_path.iterdir()] == ["config.json"]
    cfg.x = konfig.ref_fn(lambda: 1, 1)
    with pytest.raises(konfig.SerializationError):
        konfig.save(cfg, path)
    assert konfig.load(path).a == (1, 2)


def test_missing_files_and_formats_are_named(tmp_path):
    konfig.save(ConfigDict(a=1), tmp_path / "base.json")
    with pytest.raises(konfig.ConfigFileError, match=r"did you mean 'base.json'"):
        konfig.load(tmp_path / "bas.json")
    with pytest.raises(konfig.ConfigFileError, match="no folder"):
        konfig.load(tmp_path / "nowhere" / "a.json")
    with pytest.raises(konfig.ConfigFileError, match="suffix"):
        konfig.save(ConfigDict(), tmp_path / "config.ini")
    (tmp_path / "broken.json").write_text('{\n"a": 1,,\n}')
    with pytest.raises(konfig.ConfigValueError, match=r"broken.json:2, column 8"):
        konfig.load(tmp_path / "broken.json")


keys = st.one_of(
    st.text(max_size=4).filter(lambda text: not text.startswith("__")),
    st.integers(-3, 3),
    st.none(),
    st.tuples(st.integers(0, 2), st.text(max_size=2)),
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.just(...),
    st.sampled_from([Const("a:B"), Const("a.b:C.d"), slice(1, 2)]),
    st.frozensets(st.integers(0, 5), max_size=3),
)
trees = st.recursive(
    scalars,
    lambda below: st.one_of(
        st.lists(below, max_size=3),
        st.lists(below, max_size=3).map(tuple),
        st.dictionaries(keys, below, max_size=3),
        st.dictionaries(st.sampled_from("abc"), below, max_size=2).map(
            lambda fields: T.A(**fields)
        ),
    ),
    max_leaves=12,
)


@given(trees)
def test_any_tree_comes_back_the_same(tree):
    cfg = ConfigDict(root=tree)
    text = konfig.to_json(cfg)
    strict(text)
    assert konfig.same(konfig.from_json(text), cfg)
    assert konfig.from_json(text) == cfg
    assert not konfig.diff(konfig.from_json(text), cfg)


@pytest.mark.spec("konfig-52")
@given(trees)
def test_the_repr_rebuilds_any_tree(tree):
    cfg = ConfigDict(root=tree)
    names = {"ConfigDict": ConfigDict, "types": T, "a": konfig_proxy("a")}
    assert eval(repr(cfg), names) == cfg


def konfig_proxy(name):
    namespace = {}
    exec(
        f"import konfig\nwith konfig.imports(lazy=True):\n    import {name}\n",
        namespace,
    )
    return namespace[name]


tags = st.sampled_from(
    """__tuple__ __set__ __frozenset__ __items__ __float__ __bytes__ __complex__
    __slice__
    __ellipsis__ __path__ __ref__ __anchor__ __expr__ __kwargs__ __placeholder__
    __const__ __qualname__ __id__ __konfig__ a 0""".split()
)
data = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-2, 2),
        st.sampled_from(["", "a", "a:b", "add", "call", "[", "builtins:int", "nan"]),
    ),
    lambda below: st.one_of(
        st.lists(below, max_size=3), st.dictionaries(tags, below, max_size=3)
    ),
    max_leaves=8,
)


@given(data)
def test_any_data_is_read_or_refused(found):
    try:
        cfg = konfig.from_json(found)
    except konfig.KonfigError:
        return
    konfig.fingerprint(cfg)
    assert isinstance(repr(cfg), str)
    try:
        konfig.resolve(cfg)
    except konfig.KonfigError as error:
        assert not isinstance(error, konfig.ConfigImportError)
    except (TypeError, ValueError, ArithmeticError):
        pass  # an operator that does not fit its operands


def test_plain_json_is_what_other_tools_expect():
    cfg = ConfigDict({"t": (1, 2), "n": math.nan, 3: {1}, "b": b"x", "z": 1j})
    cfg.path, cfg.c = pathlib.PurePosixPath("a/b"), Const("a.b:C")
    cfg.twice = cfg.ref.t[1] * 2
    cfg.call = T.A(1, x=konfig.placeholder(int, default=7))
    data = strict(konfig.to_json(cfg, lossless=False))
    assert data == {
        "t": [1, 2],
        "n": "nan",
        "3": [1],
        "b": "eA==",
        "z": "1j",
        "path": "a/b",
        "c": {"__const__": "a.b:C"},
        "twice": 4,
        "call": {"__qualname__": "types:A", "0": 1, "x": 7},
    }
    assert konfig.to_json(ConfigDict(), lossless=False) == "{}"
    assert list(strict(cfg.to_json(lossless=False, sort_keys=True)))[:2] == ["3", "b"]
    with pytest.raises(konfig.SerializationError, match="one text"):
        konfig.to_json(ConfigDict({1: 2, "1": 3}), lossless=False)


def test_origins_travel_where_that_is_asked_for():
    cfg = ConfigDict(a={"b": 1})
    cfg.c = 2
    konfig.apply_overrides(cfg, ["a.b=3"])
    back = konfig.from_json(konfig.to_json(cfg, origins=True))
    assert back == cfg
    for path in ("", "a", "a.b", "c"):
        assert konfig.origin(back, path) == konfig.origin(cfg, path)
    assert "__origin__" not in konfig.to_json(cfg)
    for broken in ('{"__origin__": 3}', '{"__origin__": {"": 3}}'):
        with pytest.raises(konfig.ConfigValueError):
            konfig.from_json(broken)


@pytest.mark.parametrize(
    "use",
    [
        konfig.flatten,
        ConfigDict.to_dict,
        konfig.resolve,
        lambda cfg: konfig.to_json(cfg, lossless=False),
        lambda cfg: konfig.to_json(cfg, refs="resolve"),
    ],
)
def test_a_reference_to_what_it_stands_in_is_a_circle(use):
    cfg = konfig.from_json({"a": {"b": {"__ref__": ""}}})
    assert konfig.from_json(konfig.to_json(cfg)) == cfg
    with pytest.raises(konfig.ConfigCycleError):
        use(cfg)
