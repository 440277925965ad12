"""ConfigDict: what can be stored, read and changed."""

import copy
import pickle
import sys

import pytest

import konfig
from konfig import ConfigDict, ConfigList, Const

with konfig.imports():
    import pathlib as P
    import types as T

with konfig.imports(lazy=True):
    import types as L


@pytest.mark.spec("konfig-1")
def test_a_proxy_call_is_a_node_with_a_target():
    node = T.SimpleNamespace(x=1)
    assert node == ConfigDict({"__qualname__": "types:SimpleNamespace", "x": 1})


@pytest.mark.spec("konfig-2")
def test_positional_arguments_are_read_by_index():
    node = P.Path("a", "b")
    assert (node[1], node[-1]) == ("b", "b")
    assert node == {"__qualname__": "pathlib:Path", "0": "a", "1": "b"}


@pytest.mark.spec("konfig-4")
def test_a_gap_in_positional_arguments_is_refused():
    with pytest.raises(IndexError, match="1 positional argument") as error:
        P.Path("a")[3] = "x"
    assert "pathlib:Path" in str(error.value)


def test_the_next_position_appends_and_only_the_last_can_go():
    node = P.Path("a")
    node[1] = "b"
    assert node == P.Path("a", "b")
    with pytest.raises(konfig.ConfigIndexError, match="later ones would move"):
        del node[0]
    del node[1]
    assert node == P.Path("a")


@pytest.mark.spec("konfig-5")
def test_a_keyword_named_self_is_an_argument():
    assert L.X(self=1)["self"] == 1


@pytest.mark.spec("konfig-31")
def test_a_value_does_not_lock_its_type():
    cfg = ConfigDict({"lr": 1})
    cfg.lr = 0.5
    assert cfg.lr == 0.5


@pytest.mark.spec("konfig-32")
def test_a_tuple_stays_a_tuple():
    cfg = ConfigDict({"a": [1]})
    cfg.a = (1, 2)
    assert cfg.a == (1, 2)
    assert type(cfg.a) is tuple


@pytest.mark.spec("konfig-33")
def test_a_missing_field_suggests_the_nearest():
    with pytest.raises(AttributeError, match="did you mean 'a'"):
        ConfigDict({"a": 1}).aa  # noqa: B018
    with pytest.raises(KeyError, match="fields: a"):
        ConfigDict({"a": 1})["zzz"]
    assert not hasattr(ConfigDict(a=1), "b")
    assert getattr(ConfigDict(a=1), "b", 5) == 5


@pytest.mark.spec("konfig-34")
def test_a_flat_key_that_looks_like_a_path_is_refused():
    cfg = ConfigDict({"y": {"z": 1}})
    with pytest.raises(konfig.ConfigKeyError, match="set_path"):
        cfg["y.z"] = 3
    cfg["no.child"] = 1
    assert cfg["no.child"] == 1


@pytest.mark.spec("konfig-36")
def test_tuples_are_ordinary_keys():
    cfg = ConfigDict({("a", 1): 2})
    assert cfg["a", 1] == 2
    assert konfig.from_json(konfig.to_json(cfg)) == cfg


@pytest.mark.spec("konfig-37", "konfig-39")
def test_equality_is_that_of_mappings():
    assert ConfigDict({"a": 1}) == {"a": 1}
    assert ConfigDict({"a": 1, "b": 2}) == ConfigDict({"b": 2, "a": 1})
    assert ConfigDict({"a": [1]}) != ConfigDict({"a": (1,)})
    assert ConfigDict({"a": 1}) != ConfigDict({"a": 1, "b": 2})


@pytest.mark.spec("konfig-40")
def test_union_takes_any_value_from_the_right():
    assert ConfigDict({"a": 1}) | {"a": "x"} == {"a": "x"}
    assert {"a": 0} | ConfigDict({"b": 1}) == {"a": 0, "b": 1}
    cfg = ConfigDict({"a": {"b": 1}})
    cfg |= {"a": {"c": 2}}
    assert cfg == {"a": {"b": 1, "c": 2}}


@pytest.mark.spec("konfig-41", "konfig-42")
def test_merging_replaces_a_call_of_another_target_and_changes_the_same():
    old = ConfigDict({"m": L.A(x=1)})
    assert (old | {"m": L.B(z=3)}).m == L.B(z=3)
    assert (old | {"m": {"x": 2}}).m == L.A(x=2)
    assert old.m == L.A(x=1)


@pytest.mark.spec("konfig-44", "konfig-45")
def test_names_of_methods_are_fields_by_item_only():
    cfg = ConfigDict()
    with pytest.raises(konfig.ConfigAttributeError, match=r"cfg\['items'\]"):
        cfg.items = 5
    cfg["items"] = 5
    assert cfg["items"] == 5
    assert T.SimpleNamespace(items=5)["items"] == 5


@pytest.mark.spec("konfig-48")
def test_a_locked_config_refuses_new_fields_and_suggests_old_ones():
    cfg = ConfigDict({"hidden": 1, "sub": {"a": 1}})
    cfg.lock()
    with pytest.raises(konfig.LockedError, match="hidden"):
        cfg.hiden = 1
    with pytest.raises(konfig.LockedError):
        cfg.sub.b = 1
    cfg.hidden = 2
    assert cfg.is_locked
    with cfg.unlocked():
        cfg.more = {"x": 1}
    with pytest.raises(konfig.LockedError):
        cfg.more.y = 2


def test_a_config_locked_whole_refuses_every_change():
    cfg = ConfigDict({"a": 1, "l": [1]})
    cfg.lock("all")
    for change in (
        lambda: setattr(cfg, "a", 2),
        lambda: cfg.l.append(2),
        lambda: cfg.pop("a"),
    ):
        with pytest.raises(konfig.LockedError, match="unlocked"):
            change()
    assert cfg == {"a": 1, "l": [1]}


def test_mutable_mapping_methods_are_all_there():
    cfg = ConfigDict(a=1, b=2)
    assert cfg.pop("a") == 1
    assert cfg.setdefault("c", 3) == 3
    assert cfg.popitem() == ("b", 2) or cfg == {"b": 2}
    cfg.clear()
    assert len(cfg) == 0


def test_constants_are_values():
    const = Const("a.b:C")
    assert const == Const("a.b.C")
    assert {const: 1}[Const("a:b.C")] == 1
    assert const.__const__ == "a.b:C"
    with pytest.raises(AttributeError, match="assign a new constant"):
        const.__const__ = "x:y"
    assert pickle.loads(pickle.dumps(const)) == const


@pytest.mark.parametrize("text", ["", "a b", "a:b:c", "a..b", ":b", "a:b c", None])
def test_malformed_names_are_refused_with_the_grammar(text):
    with pytest.raises(konfig.ConfigValueError, match=r"module.path:Attr.path"):
        Const(text)


@pytest.mark.spec("konfig-49", "konfig-50")
def test_repr_shows_tuples_and_required_fields():
    assert "(1,)" in repr(ConfigDict({"a": (1,)}))
    assert "<required int>" in repr(ConfigDict({"r": konfig.required(int)}))


def test_repr_shows_references_as_their_source_even_when_broken():
    cfg = ConfigDict(steps=1)
    cfg.decay = cfg.ref.steps * 2
    cfg.broken = cfg.ref.nope
    assert "'decay': cfg.ref.steps * 2" in repr(cfg)
    assert "cfg.ref.nope" in repr(cfg)


@pytest.mark.spec("konfig-92")
def test_a_key_is_never_decoded():
    assert ConfigDict({"__raw__=a b": 5})["__raw__=a b"] == 5


@pytest.mark.parametrize("key", ["__id__", "__ref__", "__tuple__", "__expr__"])
def test_keys_with_a_meaning_in_json_are_refused(key):
    with pytest.raises(konfig.ConfigValueError, match="meaning in JSON"):
        ConfigDict({"a": {key: 1}})
    with pytest.raises(konfig.ConfigKeyError, match="meaning in JSON"):
        ConfigDict()[key] = 1


def test_the_callers_dict_is_not_changed():
    given = {"a": {"b": [1]}}
    cfg = ConfigDict(given)
    cfg.a.b.append(2)
    assert given == {"a": {"b": [1]}}


@pytest.mark.case("010")
def test_assigning_a_node_to_its_own_field_changes_nothing():
    cfg = ConfigDict({"a": {"b": 1}})
    cfg.a = cfg.a
    assert cfg == {"a": {"b": 1}}


@pytest.mark.case("011")
def test_a_copy_owns_its_top_level_and_a_deepcopy_everything():
    cfg = ConfigDict({"x": 1, "n": 3, "s": {}})
    cfg.s.d = cfg.ref.n
    shallow = copy.copy(cfg)
    shallow.x = 42
    assert cfg.x == 1
    deep = copy.deepcopy(cfg)
    deep.n = 5
    assert (deep.s.d, cfg.s.d) == (5, 3)


@pytest.mark.case("016")
def test_a_refused_assignment_changes_nothing():
    cfg = ConfigDict({"l": [1]})
    with pytest.raises(konfig.ConfigTypeError, match=r"at: +\.l\[1\] of the mapping"):
        cfg.l = [1, object()]
    with pytest.raises(konfig.ConfigTypeError):
        cfg.l.extend([2, object()])
    assert cfg.l == [1]


@pytest.mark.case("005")
def test_integer_keys_stay_integers():
    cfg = ConfigDict({"a": {0: "x"}})
    back = konfig.from_json(konfig.to_json(cfg))
    assert back == cfg
    assert list(back.a) == [0]


def test_origins_name_the_line_and_survive_copies():
    cfg = ConfigDict(a=1)
    line = sys._getframe().f_lineno - 1
    for node in (cfg, copy.deepcopy(cfg), pickle.loads(pickle.dumps(cfg))):
        with pytest.raises(AttributeError, match=rf"test_node.py:{line} in test_"):
            node.b  # noqa: B018


@pytest.mark.spec("konfig-29", "konfig-30")
def test_lists_check_and_convert_what_enters():
    cfg = ConfigDict({"l": [1]})
    with pytest.raises(konfig.ConfigTypeError):
        cfg.l.append(object())
    cfg.l.append({"x": 1})
    assert cfg.l[1].x == 1
    cfg.l += [{"y": 2}]
    cfg.l[0:1] = [{"z": 3}]
    cfg.l.insert(0, {"w": 4})
    assert [list(node) for node in cfg.l] == [["w"], ["z"], ["x"], ["y"]]


def test_lists_read_references_wherever_they_are_read():
    cfg = ConfigDict(a=5)
    cfg.l = [cfg.ref.a, 1]
    assert cfg.l[0] == 5
    assert list(cfg.l) == [5, 1]
    assert sorted(cfg.l) == [1, 5]
    assert 1 in cfg.l
    cfg.l.sort()
    assert cfg.l == [1, 5]
    longer = cfg.l + ConfigList([2])
    assert (type(longer), longer) == (ConfigList, [1, 5, 2])
    assert pickle.loads(pickle.dumps(cfg.l)) == [1, 5]


def test_a_subclass_survives_copies():
    class Special(ConfigDict):
        pass

    assert type(copy.deepcopy(Special(a=1))) is Special


class Trainer:
    def __init__(self, model=None, setup=None, steps=1):
        self.model, self.setup, self.steps = model, setup, steps


@pytest.fixture
def defaults():
    node = konfig.call(Trainer, setup={"log": True}, steps=3)
    node.model = {"n": node.ref.steps}
    konfig.register_default_values(node)
    yield node
    from konfig import _defaults

    _defaults._DEFAULTS.clear()


@pytest.mark.spec("konfig-127", "konfig-128")
def test_new_calls_begin_with_the_registered_values(defaults):
    one, other = konfig.call(Trainer), konfig.call(Trainer, None, steps=5)
    assert one == defaults
    one.setup.log = False
    one.steps = 9
    assert one.model.n == 9
    assert other.setup.log is True
    assert (other[0], other.steps, "model" in other) == (None, 5, False)
    del one["setup"]
    assert "setup" not in konfig.from_json(konfig.to_json(one))
    assert "setup" not in ConfigDict({"__qualname__": one["__qualname__"]})


def test_default_values_are_registered_once(defaults):
    konfig.register_default_values(konfig.deepcopy(defaults))
    assert konfig.defaults_of(defaults) == defaults
    assert konfig.defaults_of("nowhere:X") is None
    with pytest.raises(ValueError, match="has other default values"):
        konfig.register_default_values(konfig.call(Trainer, steps=4))
    with pytest.raises(konfig.ConfigTypeError, match="as a call"):
        konfig.register_default_values(ConfigDict(a=1))


def test_arguments_and_origins_can_be_asked_for():
    node = P.Path("a", "b")
    node.x = 1
    line = sys._getframe().f_lineno - 1
    assert konfig.arguments(node) == (("a", "b"), {"x": 1})
    assert f"test_node.py:{line} in test_" in konfig.origin(node, "x")
    assert f":{line - 1} in " in konfig.origin(node)
    konfig.apply_overrides(node, ["x=2"])
    assert konfig.origin(node, "x") == "x=2 on the command line"
    with pytest.raises(konfig.ConfigTypeError):
        konfig.arguments(ConfigDict(a=1))


def test_setdefault_gives_what_is_stored():
    cfg = ConfigDict(a=1)
    cfg.setdefault("b", {}).x = 2
    assert cfg.setdefault("a", 5) == 1
    assert cfg == {"a": 1, "b": {"x": 2}}


def test_a_placeholder_refuses_a_default_that_it_could_not_hold():
    with pytest.raises(konfig.ConfigTypeError, match="expected int, got 'x'"):
        konfig.placeholder(int, default="x")
    with pytest.raises(konfig.ConfigTypeError, match="required field has no default"):
        konfig.placeholder(int, default=1, required=True)
    assert type(ConfigDict(a=konfig.placeholder(float, default=1)).a) is float
