"""Queries, replacements, flat forms, canonical calls, and the testing helpers."""

import textwrap
import typing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import konfig
from konfig import ConfigDict, _paths, testing

with konfig.imports(lazy=True):
    import types as T


class Dense:
    def __init__(self, width, act="relu", /, depth=1, *rest, bias=True):
        pass


class Model:
    def __init__(self, width, depth=1):
        pass


def config():
    shared = T.Dense(8)
    return ConfigDict(
        a=shared, b={"c": T.Dense(16, inner=T.Norm())}, l=[T.Other(), shared], n=3
    )


def test_nodes_are_found_by_target_and_pattern():
    cfg = config()
    assert list(konfig.select(cfg, target="types:Dense")) == ["a", "b.c", "l[1]"]
    assert list(konfig.select(cfg, "b.**", target="types.*")) == ["b.c", "b.c.inner"]
    assert konfig.select(cfg, "l[*]", target=T.Other) == {"l[0]": cfg.l[0]}
    assert konfig.select(cfg, "n") == {"n": 3}
    assert konfig.select(cfg, target=Dense) == {}
    assert konfig.select(cfg, target=konfig.Const("types:Norm")) == {
        "b.c.inner": cfg.b.c.inner
    }
    assert konfig.select(cfg, "nope.*") == {}
    cfg.need, cfg.m = konfig.required(int), cfg.ref.n
    assert list(konfig.select(cfg, target=T.Dense)) == ["a", "b.c", "l[1]"]
    assert konfig.select(cfg, "m") == {"m": 3}
    assert repr(konfig.select(cfg, "need")["need"]) == "<required int>"
    with pytest.raises(konfig.ConfigTypeError):
        konfig.select(cfg, target=3)


def test_nodes_are_replaced_in_a_copy():
    cfg = config()
    made = konfig.replace(
        cfg, "**", lambda node: T.Wide(node["0"] * 2), target="types:Dense"
    )
    assert (made.a, made.b.c) == (T.Wide(16), T.Wide(32))
    assert made.a is made.l[1]
    assert cfg == config()
    assert konfig.replace(cfg, "n", lambda n: n + 1).n == 4
    assert konfig.replace(ConfigDict(t=(1, 2)), "t[0]", str).t == ("1", 2)
    assert konfig.replace(cfg, "", lambda whole: whole.n) == 3
    with pytest.raises(konfig.ConfigTypeError, match="cannot stand"):
        konfig.replace(cfg, "n", lambda n: object())


def test_a_flat_config_is_put_together_again():
    cfg = ConfigDict(a={"b": [1, {"c": 2}], "d": {}}, e=None)
    cfg["x.y"] = {"1": 3}
    assert konfig.unflatten(konfig.flatten(cfg)) == cfg
    node = konfig.unflatten({"m.__qualname__": "os:getcwd", "m.0": 1})
    with pytest.raises(konfig.UnsafeTargetError):
        konfig.resolve(node)
    for broken in ({"a[1]": 1}, {"a": 1, "a.b": 2}, {"a.b": 2, "a": 1}, {"": 1}):
        with pytest.raises(konfig.ConfigKeyError):
            konfig.unflatten(broken)


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
KEYS = st.text(max_size=3).filter(lambda key: key[:2] != "__")
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(KEYS, TREES, max_size=3))
def test_any_tree_of_mappings_and_lists_survives_being_flat(tree):
    flat = konfig.flatten(ConfigDict(tree))
    assert konfig.same(konfig.unflatten(flat), ConfigDict(tree))


def test_calls_have_one_canonical_form():
    one = konfig.canonicalize(ConfigDict(m=konfig.call(Model, 3, depth=2)))
    two = konfig.canonicalize(ConfigDict(m=konfig.call(Model, 3, 2)))
    assert one == two
    assert list(one.m) == ["__qualname__", "width", "depth"]
    kept = konfig.canonicalize(konfig.call(Dense, 1, "gelu", 3, bias=False))
    assert list(kept) == ["__qualname__", "0", "1", "depth", "bias"]
    many = konfig.call(Dense, 1, "gelu", 3, 4)
    assert konfig.canonicalize(many) == many
    with konfig.imports(lazy=True):
        from pathlib import Path
    assert konfig.canonicalize(Path.cwd())["__qualname__"] == "pathlib:Path.cwd"
    unknown = T.Nothing(1)
    assert konfig.canonicalize(unknown) == unknown


def test_annotations_for_objects_that_may_be_configs():
    class Trainer(konfig.WithRef):
        pass

    assert typing.get_args(konfig.ConfigDictLike[Trainer]) == (Trainer, ConfigDict)
    with pytest.raises(RuntimeError, match="Trainer has no references"):
        Trainer().ref  # noqa: B018


def test_config_files_of_a_project_are_checked(tmp_path):
    good = tmp_path / "good.py"
    good.write_text(
        textwrap.dedent(
            """
            import konfig
            with konfig.imports():
                from fractions import Fraction
            def get_config(n=2):
                return konfig.ConfigDict(half=Fraction(1, n))
            """
        )
    )
    bad = tmp_path / "sub" / "bad.py"
    bad.parent.mkdir()
    bad.write_text(
        "import konfig\n"
        "def get_config():\n"
        "    return konfig.ConfigDict(a=konfig.required(int))\n"
    )
    (tmp_path / "other.py").write_text("x = 1\n")
    assert testing.config_files(tmp_path) == [str(good), str(bad)]
    cfg = testing.assert_resolves(good)
    digest = konfig.fingerprint(cfg, length=6)
    testing.assert_resolves(good, fingerprint=digest)
    with pytest.raises(AssertionError, match=f"not {digest}"):
        testing.assert_resolves(good, args={"n": 3}, fingerprint=digest)
    with pytest.raises(AssertionError, match=r"cfg\.a: error"):
        testing.assert_resolves(bad)
    testing.assert_resolves(bad, overrides=["a=3"])
    with pytest.raises(ZeroDivisionError):
        testing.assert_resolves(good, args={"n": 0})
    testing.assert_resolves(good, args={"n": 0}, build=False)


def test_items_that_are_not_set_are_flattened_as_their_declaration():
    cfg = ConfigDict(a=[konfig.required(int), 2], b=(konfig.placeholder(int),))
    assert konfig.flatten(cfg) == {"a[0]": "<required int>", "a[1]": 2, "b[0]": None}


def test_a_reference_that_fails_is_selected_as_it_is_written():
    cfg = ConfigDict(a=0)
    cfg.b = 1 / cfg.ref.a
    assert repr(konfig.select(cfg, "*")["b"]) == "1 / cfg.ref.a"


KEYS = st.sampled_from(["a", "b", 0, "0"])


@given(
    st.lists(KEYS | st.sampled_from([_paths.ANY, _paths.DEEP]), max_size=4),
    st.lists(KEYS, max_size=5),
)
def test_a_pattern_is_followed_key_by_key_to_what_it_matches(pattern, parts):
    reached = _paths.started(pattern)
    for key in parts:
        reached = _paths.advanced(pattern, reached, key)
    assert (len(pattern) in reached) == _paths.matches(pattern, parts)
