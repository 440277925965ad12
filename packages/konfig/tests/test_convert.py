"""What a config can store, and what it refuses."""

import datetime
import enum
import fractions
import functools
from collections import OrderedDict, namedtuple
from types import MappingProxyType

import pytest

import konfig
from konfig import ConfigDict, Const

with konfig.imports():
    pass

with konfig.imports(lazy=True):
    pass

Pair = namedtuple("Pair", "init update")


def make_pair():
    """Builds as optax does: a named tuple of functions that have no name."""

    def init():
        return 0

    return Pair(init, init)


Point = namedtuple("Point", "x y")


class Color(enum.Enum):
    RED = 1


class Wrapped:
    def __init__(self, text):
        self.text = text

    def __as_konfig__(self):
        return {"text": self.text}


@pytest.mark.spec("konfig-24")
def test_importable_things_become_constants():
    assert ConfigDict({"f": len}).f == Const("builtins:len")
    assert ConfigDict({"t": int}).t == Const("builtins:int")


@pytest.mark.spec("konfig-25")
def test_a_lambda_is_refused_with_the_reason():
    with pytest.raises(konfig.ConfigTypeError, match="a lambda has no importable name"):
        ConfigDict({"f": lambda: 1})


def test_local_functions_and_bound_methods_are_refused_with_the_reason():
    def local():
        return 1

    with pytest.raises(konfig.ConfigTypeError, match="made inside a function"):
        ConfigDict({"f": local})
    with pytest.raises(konfig.ConfigTypeError, match="bound to an object"):
        ConfigDict({"f": [].append})


@pytest.mark.spec("konfig-26")
def test_a_named_tuple_becomes_a_call_of_its_class():
    cfg = ConfigDict({"p": Point(1, 2)})
    assert cfg.p["__qualname__"].endswith(":Point")
    assert konfig.resolve(cfg)["p"] == Point(1, 2)


@pytest.mark.spec("konfig-28")
def test_complex_numbers_and_any_mapping_can_be_stored():
    assert ConfigDict({"z": 1j}).z == 1j
    assert ConfigDict({"m": MappingProxyType({"a": 1})}).m.a == 1
    assert ConfigDict({"m": OrderedDict(a=1)}).m.a == 1


def test_values_of_the_standard_library_are_stored_as_calls():
    values = {
        "range": range(1, 9, 2),
        "date": datetime.date(2024, 1, 2),
        "time": datetime.datetime(2024, 1, 2, 3, 4, 5),
        "delta": datetime.timedelta(days=1, seconds=2),
        "fraction": fractions.Fraction(1, 3),
        "color": Color.RED,
    }
    assert dict(konfig.resolve(ConfigDict(values))) == values


def test_a_partial_becomes_a_call_of_partial():
    cfg = ConfigDict({"f": functools.partial(int, "3")})
    assert cfg.f["0"] == Const("builtins:int")
    assert konfig.resolve(cfg).f() == 3


def test_an_object_may_describe_itself():
    assert ConfigDict({"w": Wrapped("hi")}).w == {"text": "hi"}


def test_users_register_their_own_types():
    class Celsius:
        def __init__(self, degrees):
            self.degrees = degrees

    konfig.register_converter(Celsius, lambda value: {"degrees": value.degrees})
    assert ConfigDict({"t": Celsius(20)}).t.degrees == 20


@pytest.mark.spec("konfig-23")
def test_a_live_object_is_refused_at_once_with_its_path_and_the_remedies():
    class Model:
        pass

    with pytest.raises(ValueError, match="Model") as error:
        ConfigDict({"a": {"m": [Model()]}})
    text = str(error.value)
    assert isinstance(error.value, konfig.ConfigTypeError)
    assert "cfg.a.m[0]" in text
    assert "cfg..a" not in text
    assert "konfig.imports" in text
    assert "konfig.call" in text


def test_a_named_tuple_of_nameless_functions_is_refused_as_a_whole():
    cfg = ConfigDict({"optimizer": None})
    with pytest.raises(konfig.ConfigTypeError) as caught:
        cfg.optimizer = make_pair()
    text = str(caught.value)
    assert "a built Pair cannot stand in a config" in text
    assert "make_pair.<locals>.init" in text
    assert ".optimizer of the mapping\n" in text
    assert "import make_pair (or what calls it) inside konfig.imports()" in text
    assert cfg.optimizer is None
