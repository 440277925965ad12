"""resolve: order, sharing, freezing, and the errors of targets."""

import inspect
import pickle
import sys
import threading
import traceback

import pytest

import konfig
from konfig import ConfigDict, Const, FrozenDict

with konfig.imports():
    import builtins as B
    import types as T

CALLS = []


class E2(Exception):
    def __init__(self, *, code=0):
        super().__init__("text")
        self.code = code

    def __reduce__(self):
        return make_e2, (self.code,)


def make_e2(code):
    return E2(code=code)


class Boom:
    def __init__(self, x):
        raise E2(code=3)


class Counted:
    def __init__(self, name="x", **rest):
        CALLS.append(name)


class Hooked:
    def __init__(self, x, y=0):
        self.configs = []

    def __post_konfig_resolve__(self, cfg):
        self.configs.append(cfg)


class Keeps:
    __konfig_resolve_exclude_fields__ = ("y",)

    def __init__(self, x, y):
        self.x, self.y = x, y


@pytest.fixture(autouse=True)
def no_calls():
    CALLS.clear()


@pytest.mark.spec("konfig-53")
def test_a_node_is_built_once_wherever_it_is_used():
    node = konfig.call(Counted)
    built = konfig.resolve(ConfigDict({"a": node, "b": [node], "c": {"d": node}}))
    assert built.a is built.b[0] is built.c.d
    assert CALLS == ["x"]


def test_a_node_reached_by_reference_is_the_same_object():
    cfg = ConfigDict(a=konfig.call(Counted))
    cfg.b = cfg.ref.a
    built = konfig.resolve(cfg)
    assert built.a is built.b


def test_arguments_are_built_before_calls_in_their_order():
    konfig.resolve(
        konfig.call(
            Counted,
            "outer",
            a=konfig.call(Counted, "first"),
            b=konfig.call(Counted, "second"),
        )
    )
    assert CALLS == ["first", "second", "outer"]


@pytest.mark.spec("konfig-54")
def test_a_mapping_used_twice_is_one_object():
    shared = ConfigDict(x=1)
    built = konfig.resolve(ConfigDict({"a": shared, "b": shared}))
    assert built.a is built.b


@pytest.mark.spec("konfig-55")
def test_sharing_survives_json():
    node = konfig.call(Counted)
    text = konfig.to_json(ConfigDict({"a": node, "b": node}))
    built = konfig.resolve(konfig.from_json(text, trusted=True))
    assert built.a is built.b
    assert CALLS == ["x"]


@pytest.mark.spec("konfig-56")
@pytest.mark.parametrize("value", [3, None, "x", 1.5, b"y"])
def test_scalars_are_themselves(value):
    assert konfig.resolve(value) == value


@pytest.mark.spec("konfig-57")
def test_a_module_can_be_a_value():
    import types

    assert konfig.resolve(ConfigDict({"m": T})) == {"m": types}


@pytest.mark.spec("konfig-58")
def test_a_malformed_target_is_named_with_the_grammar():
    with pytest.raises(konfig.ConfigValueError, match=r"'nocolon'.*module.path:Attr"):
        konfig.resolve({"__qualname__": "nocolon"})


@pytest.mark.spec("konfig-60")
def test_a_hole_in_the_positions_is_refused():
    with pytest.raises(konfig.ConfigValueError, match="positional 0 is missing"):
        konfig.resolve({"__qualname__": "builtins:dict", "1": 5})


def failing():
    return ConfigDict(
        model=T.SimpleNamespace(layers=[1, T.SimpleNamespace(x=konfig.call(Boom, 2))])
    )


@pytest.mark.spec("konfig-61")
def test_an_error_of_a_target_is_the_same_object_with_notes():
    with pytest.raises(E2) as caught:
        konfig.resolve(failing())
    error = caught.value
    assert type(error) is E2
    assert (error.code, error.args) == (3, ("text",))
    assert pickle.loads(pickle.dumps(error)).code == 3
    where, target, call, created = error.__notes__
    assert where == "konfig: while resolving cfg.model.layers[1].x"
    assert target.startswith("  target:  ") and target.endswith(":Boom")
    assert call.endswith("Boom(2)")
    assert "test_resolve.py:" in created and "in failing" in created


def test_the_old_switch_in_a_config_is_told_to_be_ignored():
    cfg = ConfigDict({"_konfig_experimental_nofreeze": True, "a": [1]})
    cfg.b = cfg.ref.a
    with pytest.warns(UserWarning, match=r"freeze=False"):
        assert konfig.resolve(cfg) == {"a": (1,), "b": (1,)}
    assert "_konfig_experimental_nofreeze" in cfg


def test_positions_of_calls_are_numbers_in_the_path_of_an_error():
    cfg = ConfigDict(model=konfig.call(dict, [konfig.call(Boom, 2)]))
    with pytest.raises(E2) as caught:
        konfig.resolve(cfg)
    assert caught.value.__notes__[0] == "konfig: while resolving cfg.model[0][0]"


@pytest.mark.spec("konfig-62")
def test_the_traceback_shows_at_most_two_frames_of_konfig(monkeypatch):
    def frames():
        with pytest.raises(E2) as caught:
            konfig.resolve(failing())
        found = traceback.extract_tb(caught.value.__traceback__)
        return sum("/konfig/_" in frame.filename for frame in found)

    assert frames() <= 2
    monkeypatch.setenv("KONFIG_FULL_TRACEBACK", "1")
    assert frames() > 2


@pytest.mark.spec("konfig-63")
def test_all_missing_values_are_reported_at_once():
    cfg = ConfigDict(
        {"a": konfig.required(int), "b": {"c": konfig.required(str, "the name")}}
    )
    with pytest.raises(konfig.RequiredValueError) as error:
        konfig.resolve(cfg)
    text = str(error.value)
    assert "cfg.a (int)" in text
    assert "cfg.b.c (str): the name" in text
    cfg.a, cfg.b.c = 1, "n"
    assert konfig.resolve(cfg) == {"a": 1, "b": {"c": "n"}}


@pytest.mark.spec("konfig-64")
def test_a_config_inside_itself_is_a_short_error():
    cfg = ConfigDict(b={})
    cfg.b.c = cfg
    for use in (konfig.resolve, konfig.to_json):
        with pytest.raises(konfig.ConfigCycleError, match=r"cfg.b.c → cfg") as error:
            use(cfg)
        assert len(str(error.value)) < 300
    assert "…" in repr(cfg)


@pytest.mark.spec("konfig-65")
def test_four_hundred_levels_are_no_problem():
    data = {}
    at = data
    for _ in range(400):
        at["a"] = {}
        at = at["a"]
    cfg = ConfigDict(data)
    back = konfig.from_json(konfig.to_json(cfg))
    built = konfig.resolve(back)
    depth = 0
    while built:
        built = built["a"]
        depth += 1
    assert depth == 400


@pytest.mark.spec("konfig-66")
def test_constants_in_sets_are_imported():
    built = konfig.resolve(ConfigDict({"s": {B.int}}))
    assert built.s == frozenset({int})
    assert type(built.s) is frozenset


@pytest.mark.spec("konfig-68")
def test_without_freezing_lists_and_dicts_stay():
    built = konfig.resolve(ConfigDict({"a": [1, {"b": 2}]}), freeze=False)
    assert built == {"a": [1, {"b": 2}]}
    assert type(built) is dict
    assert type(built["a"]) is list


@pytest.mark.case("001")
def test_freezing_does_not_depend_on_the_order_of_fields():
    one = konfig.resolve(ConfigDict({"a": (), "b": []}))
    other = konfig.resolve(ConfigDict({"b": [], "a": ()}))
    assert one == other
    assert type(one.a) is type(one.b) is tuple


@pytest.mark.case("002")
def test_tuples_of_configs_are_frozen_and_hashable():
    built = konfig.resolve(ConfigDict({"a": ({"b": 1}, {"b": 2})}))
    assert type(built.to_dict()["a"][0]) is dict
    assert hash(built) == hash(konfig.resolve(ConfigDict({"a": ({"b": 1}, {"b": 2})})))


@pytest.mark.spec("konfig-69")
def test_a_frozen_dict_cannot_be_changed():
    frozen = FrozenDict(a=1, b={"x": 2})
    with pytest.raises(AttributeError, match=r"frozen.replace\(q=…\)"):
        frozen.q = 1
    with pytest.raises(TypeError):
        frozen["a"] = 2
    assert frozen.replace(a=5) == {"a": 5, "b": {"x": 2}}
    assert frozen | {"c": 3} == {"a": 1, "b": {"x": 2}, "c": 3}
    assert {"c": 3} | frozen == {"c": 3, "a": 1, "b": {"x": 2}}
    assert pickle.loads(pickle.dumps(frozen)) == frozen
    assert "a" in dir(frozen)


@pytest.mark.spec("konfig-71")
def test_the_hook_gets_the_config_once_and_read_only():
    node = konfig.call(Hooked, [1, {"a": 2}])
    cfg = ConfigDict(one=node, two=node)
    built = konfig.resolve(cfg)
    (config,) = built.one.configs
    assert config == node
    with pytest.raises(konfig.LockedError):
        config.y = 3
    node.y = 5
    assert "y" not in config


@pytest.mark.spec("konfig-72")
def test_excluded_fields_arrive_as_config():
    built = konfig.resolve(konfig.call(Keeps, {"a": 1}, y={"a": 1}))
    assert type(built.x) is FrozenDict
    assert type(built.y) is ConfigDict


def test_missing_arguments_are_a_config_error_and_errors_inside_are_not():
    with pytest.raises(konfig.ConfigTypeError, match="needs 'x', 'y'") as error:
        konfig.resolve(ConfigDict(k=konfig.call(Keeps)))
    assert "cfg.k" in str(error.value)
    with pytest.raises(TypeError) as caught:
        konfig.resolve(konfig.call(int, [1]))
    assert type(caught.value) is TypeError


def test_a_target_that_cannot_be_called_is_named():
    cfg = ConfigDict({"p": {"__qualname__": "math:pi"}})
    with pytest.raises(TypeError, match="math:pi is not callable, it is a float"):
        konfig.resolve(cfg, trusted=True)


def test_a_missing_attribute_is_named_with_the_path():
    cfg = ConfigDict({"p": Const("math:pie")})
    with pytest.raises(AttributeError, match="did you mean 'pi'") as error:
        konfig.resolve(cfg)
    assert "cfg.p" in str(error.value)


def test_exits_pass_untouched():
    with pytest.raises(SystemExit) as caught:
        konfig.resolve(konfig.call(raise_exit))
    assert not hasattr(caught.value, "__notes__")


def raise_exit():
    raise SystemExit(3)


@pytest.mark.spec("konfig-140")
def test_a_union_of_targets_is_kept_and_built():
    import types

    cfg = ConfigDict(t=T.SimpleNamespace | None)
    back = konfig.from_json(konfig.to_json(cfg), trusted=True)
    assert back == cfg
    assert konfig.resolve(back).t == types.SimpleNamespace | None


@pytest.mark.spec("konfig-141")
def test_threads_may_resolve_one_config():
    cfg = ConfigDict(a=1, n={"x": T.SimpleNamespace(y=2)})
    cfg.b = cfg.ref.a + 1
    expected = konfig.resolve(cfg)
    wrong = []

    def work():
        for _ in range(1000 // 8):
            if konfig.resolve(cfg) != expected:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_targets_lists_what_a_config_names():
    cfg = ConfigDict(a=T.SimpleNamespace(x=B.int), b=T.SimpleNamespace())
    assert konfig.targets(cfg) == ["types:SimpleNamespace", "builtins:int"]


def test_the_input_is_not_changed():
    cfg = failing()
    before = konfig.to_json(cfg)
    with pytest.raises(E2):
        konfig.resolve(cfg)
    assert konfig.to_json(cfg) == before


def test_a_call_that_cannot_fit_stops_before_its_arguments_are_built(monkeypatch):
    monkeypatch.setitem(sys.modules, "konfig_checked", sys.modules[__name__])
    CALLS.clear()
    with konfig.imports(check="off"):
        import konfig_checked as C
    with pytest.raises(konfig.ConfigTypeError, match="no parameter 'nope'"):
        konfig.resolve(C.Accepts(konfig.call(append_call), nope=1))
    assert not CALLS
    cfg = ConfigDict(a=konfig.call(Accepts))
    with pytest.raises(konfig.ConfigTypeError, match="needs 'x'") as error:
        konfig.resolve(cfg)
    assert error.value.path == "cfg.a"


def test_the_check_of_calls_can_be_left_out(monkeypatch):
    monkeypatch.setitem(sys.modules, "konfig_checked", sys.modules[__name__])
    with konfig.imports(check="off"):
        import konfig_checked as C
    cfg = C.Understated(1, extra=2)
    with pytest.raises(konfig.ConfigTypeError, match="no parameter 'extra'"):
        konfig.resolve(cfg)
    assert konfig.resolve(cfg, check=False) == (1, 2)


def append_call():
    CALLS.append(1)


class Accepts:
    def __init__(self, x):
        pass


def Understated(x, **more):
    return x, *more.values()


Understated.__signature__ = inspect.signature(Accepts)
