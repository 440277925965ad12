"""A config written as a config file that builds it again."""

import math
import pathlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import konfig
from konfig import ConfigDict

with konfig.imports(lazy=True):
    import types as T

    import optax


def again(cfg):
    """The config that the written source builds."""
    namespace = {}
    exec(konfig.to_python(cfg, lazy=True), namespace)
    return namespace["get_config"]()


def area(width, height=1):
    return width * height


def test_the_source_reads_like_one_that_a_person_wrote():
    cfg = ConfigDict(steps=10, name="x")
    cfg.schedule = optax.cosine_decay_schedule(1e-3, decay_steps=cfg.ref.steps)
    cfg.optimizer = optax.adam(learning_rate=cfg.ref.schedule, dtype=optax.bf16)
    assert konfig.to_python(cfg) == (
        "import konfig\n"
        "\n"
        "with konfig.imports():\n"
        "    import optax\n"
        "\n"
        "\n"
        "def get_config():\n"
        "    cfg = konfig.ConfigDict()\n"
        "    cfg.steps = 10\n"
        "    cfg.name = 'x'\n"
        "    cfg.schedule = optax.cosine_decay_schedule("
        "0.001, decay_steps=cfg.ref.steps)\n"
        "    cfg.optimizer = optax.adam("
        "learning_rate=cfg.ref.schedule, dtype=optax.bf16)\n"
        "    return cfg\n"
    )
    assert again(cfg) == cfg


def test_every_kind_of_value_can_be_written():
    cfg = ConfigDict(
        {
            "t": (1, (2, [3])),
            "s": {1},
            "f": frozenset({(1, 2)}),
            "e": frozenset(),
            "b": b"x\xff",
            "dots": ...,
            "i": -math.inf,
            "z": 1j,
            "slice": slice(1, None, 2),
            "path": pathlib.Path("a/b"),
            "pure": pathlib.PurePosixPath("a/b"),
            "const": konfig.Const("a.b:C"),
            "module": konfig.Const("pathlib:"),
            "call": T.A(1, x={"y": T.B}, **{"a b": 2, "class": 3}),
            "items": 3,
            "class": 4,
            "a.b": {"a": 1},
            3: "int",
            "r": konfig.required(int, "how many"),
            "p": konfig.placeholder(int | str, default=3, doc="what"),
            "o": konfig.placeholder(pathlib.PurePath),
            "own": konfig.call(konfig.ConfigDict, x=1),
        }
    )
    back = again(cfg)
    assert back == cfg
    for key in cfg:
        if key != "r":
            assert type(back[key]) is type(cfg[key]) or key in ("path", "pure")


def test_references_and_expressions_stay_what_they_are():
    cfg = ConfigDict(a=3, text="x", l=[1, 2], sub={"n": 2})
    half = cfg.ref.a / 2
    cfg.x = 2**cfg.ref.a - -cfg.ref.sub.n
    cfg.y = konfig.where(half > 1, half, konfig.maximum(half, 1))
    cfg.z = cfg.ref.text.upper().strip()
    cfg.s = cfg.ref.l[0] + (cfg.ref.l * 2)[1:][0]
    cfg.f = konfig.fstr("{}-{b}", cfg.ref.text, b=cfg.ref.a)
    cfg.g = konfig.ref_fn(area, cfg.ref.a, height=2)
    cfg.r = round(half) + math.floor(half) + abs(cfg.ref.a)
    cfg.n = konfig.not_(konfig.all_of(cfg.ref.a, konfig.any_of(cfg.ref.a == 3)))
    cfg.u = T.A | None
    cfg.sub.m = cfg.sub.ref.n * 2
    back = again(cfg)
    assert back == cfg
    for key in "xyzsfgrn":
        assert back[key] == cfg[key]
    back.a = 10
    assert back.g == 20


def test_what_is_shared_is_written_once():
    node = T.A(x=1)
    cfg = ConfigDict(a=node, b=[node], c={"d": {"e": node}})
    back = again(cfg)
    assert back.a is back.b[0] is back.c.d.e
    assert konfig.to_python(cfg).count("types.A(") == 1


def test_a_call_can_be_the_whole_config():
    cfg = T.A(1, [2], x=3)
    cfg.y = cfg.ref.x * 2
    assert again(cfg) == cfg


def test_what_no_source_can_say_is_refused_with_its_path():
    cfg = ConfigDict(a=1)
    cfg.f = konfig.ref_fn(lambda x: x, cfg.ref.a)
    with pytest.raises(konfig.SerializationError) as error:
        konfig.to_python(cfg)
    assert error.value.path == "cfg.f"
    outer = ConfigDict(a=1)
    with pytest.raises(konfig.SerializationError, match="outside"):
        konfig.to_python(ConfigDict(b=outer.ref.a))
    with pytest.raises(konfig.SerializationError, match="not a ConfigList"):
        konfig.to_python(konfig.ConfigList([1]))
    cfg.c = cfg
    with pytest.raises(konfig.ConfigCycleError):
        konfig.to_python(cfg)


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=4)
KEYS = st.text(max_size=4).filter(lambda key: key[:2] != "__") | st.integers()
TREES = st.recursive(
    SCALARS | st.floats(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(KEYS, TREES, max_size=4))
def test_any_tree_is_built_again_from_its_source(tree):
    cfg = ConfigDict(tree)
    assert konfig.same(again(cfg), cfg)


@pytest.mark.parametrize("fields", [{}, {"x": 1}])
def test_a_mapping_in_two_places_stays_one(fields):
    cfg = ConfigDict(a=fields)
    cfg.b = [cfg.a]
    twin = again(cfg)
    assert twin == cfg
    assert twin.b[0] is twin.a


def test_modules_named_like_names_of_the_source_get_another_one(tmp_path, monkeypatch):
    for name in ("cfg", "get_config", "shared_0"):
        (tmp_path / f"{name}.py").write_text("class X(dict): pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    cfg = konfig.ConfigDict(a=konfig.Const("cfg:X"), b=konfig.Const("shared_0:X"))
    cfg.c = cfg.d = konfig.ConfigDict({"x": konfig.Const("get_config:")})
    names = {}
    exec(konfig.to_python(cfg), names)
    assert names["get_config"]() == cfg


def test_what_no_source_can_say_is_named_by_its_whole_path():
    cfg, other = konfig.ConfigDict(a=1), konfig.ConfigDict(q=1)
    for lazy in (other.ref.q + 1, konfig.ref_fn(lambda x: x, cfg.ref.a)):
        cfg.l = [{"k": [lazy]}]
        with pytest.raises(konfig.SerializationError) as caught:
            konfig.to_python(cfg)
        assert caught.value.path == "cfg.l[0].k[0]"
