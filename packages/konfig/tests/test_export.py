"""From finished objects back to configs."""

import collections
import dataclasses
import datetime
import enum
import functools
import math
import pathlib
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import konfig
from konfig import ConfigDict


class Color(enum.Enum):
    RED = 1


class Outer:
    class Inner:
        pass


Pair = collections.namedtuple("Pair", "left right")


@dataclasses.dataclass
class Point:
    x: int
    y: list = dataclasses.field(default_factory=list)
    _: dataclasses.KW_ONLY
    scale: float = 1.0
    area: float = dataclasses.field(init=False, default=0.0)


@dataclasses.dataclass
class Seeded:
    seed: dataclasses.InitVar[int]
    value: float = 0.0


@dataclasses.dataclass
class Offered:
    seed: dataclasses.InitVar[int] = 3
    value: float = 0.0


class Own:
    def __init__(self, *parts, name):
        self.parts, self.name = parts, name

    def __eq__(self, other):
        return (self.parts, self.name) == (other.parts, other.name)

    def __konfig_export__(self):
        made = {"__qualname__": konfig.export_qualname(self), "name": self.name}
        return made | {str(index): part for index, part in enumerate(self.parts)}


def again(obj, **options):
    data = konfig.export(obj, **options)
    text = konfig.to_json(data)
    return konfig.resolve(konfig.from_json(text, trusted=True), freeze=False)


@pytest.mark.spec("konfig-129")
@pytest.mark.parametrize(
    "obj",
    [
        {1, (2, 3)},
        frozenset({"a"}),
        b"x\xff",
        pathlib.Path("a/b"),
        Color.RED,
        Outer.Inner,
        slice(1, None, 2),
        ...,
        2j,
        math.inf,
        len,
        math,
        range(3),
        datetime.date(2026, 1, 2),
        {1: "a", "1": "b", None: (1,)},
        [1, [2, {"a": ()}]],
        Pair(1, Pair([2], "x")),
        Point(1, [Point(2)], scale=2.0),
        Offered(4, 2.0),
        Own(1, Point(2), name=Color.RED),
        random.Random,
    ],
    ids=lambda obj: type(obj).__name__,
)
def test_an_exported_object_is_built_again(obj):
    found = again(obj)
    assert found == obj
    assert type(found) is type(obj)
    assert konfig.resolve(konfig.export(obj), freeze=False) == obj


def test_a_partial_is_built_again():
    made = again(functools.partial(Point, 3, scale=4.0))
    assert (made.func, made.args, made.keywords) == (Point, (3,), {"scale": 4.0})


def test_defaults_can_be_left_out():
    data = konfig.export(Point(3), omit_defaults=True)
    assert list(data) == ["__qualname__", "x"]
    assert konfig.resolve(data) == Point(3)
    data = konfig.export(Point(3, [1], scale=1), omit_defaults=True)
    assert list(data) == ["__qualname__", "x", "y", "scale"]


def test_what_is_shared_stays_shared():
    inner = Point(1)
    found = again([inner, {"a": inner}])
    assert found[0] is found[1]["a"]


def test_a_config_is_data_already():
    cfg = ConfigDict(a=1, b={"c": [1]})
    cfg.d = cfg.ref.a
    made = konfig.export({"cfg": cfg})
    assert made.cfg == cfg
    assert made.cfg is not cfg


def test_names_are_those_that_lead_back():
    assert konfig.export_qualname(Outer.Inner) == f"{__name__}:Outer.Inner"
    assert konfig.export_qualname(Outer.Inner()) == f"{__name__}:Outer.Inner"
    assert konfig.export_qualname(len) == "builtins:len"

    class Local:
        pass

    for unnamed in (Local, Local(), lambda: 1):
        with pytest.raises(konfig.ConfigTypeError, match="no importable name"):
            konfig.export_qualname(unnamed)


def test_what_no_call_describes_is_refused_with_its_path():
    with pytest.raises(konfig.ConfigTypeError, match="__konfig_export__") as error:
        konfig.export({"a": [1, Point(object())]})
    assert error.value.path == "cfg.a[1].x"
    with pytest.raises(konfig.ConfigTypeError, match="does not keep 'seed'"):
        konfig.export(Seeded(3))
    loop = []
    loop.append(loop)
    with pytest.raises(konfig.ConfigTypeError, match="contains itself"):
        konfig.export(loop)
    with pytest.raises(konfig.ConfigValueError, match="arrays is"):
        konfig.export(1, arrays="text")

    class Wrong:
        def __konfig_export__(self):
            return {"a": 1}

    with pytest.raises(konfig.ConfigValueError, match="'__qualname__'"):
        konfig.export(Wrong())


TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.builds(Pair, inner, inner)
        | st.builds(Point, st.integers(), st.lists(inner, max_size=2))
        | st.dictionaries(st.integers() | st.just("a"), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TREES)
def test_any_tree_of_objects_is_built_again(tree):
    assert again(tree) == tree


def test_arrays_are_built_again():
    np = pytest.importorskip("numpy", reason="exports arrays of numpy")
    for array in (
        np.arange(6, dtype=np.int16).reshape(2, 3),
        np.asarray(2.5),
        np.asarray([1 + 2j]),
        np.asarray(["a", "bc"]),
        np.zeros((0, 2), np.float32),
    ):
        found = again(array)
        assert (found.dtype, found.shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(found, array)
    assert again(np.dtype("float32")) == np.dtype("float32")
    assert type(again(np.float32(3.5))) is np.float32
    big = np.arange(2000.0)
    with pytest.raises(konfig.ConfigTypeError, match="2000 elements"):
        konfig.export({"a": big})
    np.testing.assert_array_equal(again(big, arrays="base64"), big)
    with pytest.raises(konfig.ConfigTypeError, match="objects"):
        konfig.export(np.asarray([object()]))


def test_arrays_of_jax_are_built_again_and_keys_are_explained():
    jax = pytest.importorskip("jax", reason="exports arrays of jax")
    array = jax.numpy.asarray([1.5, 2], dtype=jax.numpy.bfloat16)
    found = again(array)
    assert isinstance(found, jax.Array)
    assert found.dtype == jax.numpy.bfloat16
    assert found.tolist() == [1.5, 2.0]
    with pytest.raises(konfig.ConfigTypeError, match="random key"):
        konfig.export(jax.random.key(0))


def test_scalars_of_numpy_keep_what_they_are_or_are_refused():
    np = pytest.importorskip("numpy", reason="exports scalars of numpy")
    nanoseconds = np.datetime64("2020-01-01T00:00:00.000000001")
    exact = [nanoseconds, np.datetime64("2020"), np.timedelta64(3, "ns")]
    exact += [np.timedelta64(2, "M"), np.datetime64("-5000-01-01")]
    exact += [np.datetime64("NaT", "s"), np.void(b"abc"), np.bytes_(b"x")]
    for value in exact:
        found = konfig.resolve(konfig.export(value), freeze=False)
        assert (found.dtype, str(found)) == (value.dtype, str(value))
    for dtype in ("V4", "M8[ns]", ">f4", "U3"):
        built = konfig.resolve(konfig.export(np.dtype(dtype)), freeze=False)
        assert built == np.dtype(dtype)
    row = np.zeros(2, dtype=[("a", "f4", (2,))])
    inexact = [row, row[0], row.dtype, np.dtype(("f4", (2,)))]
    inexact += [np.longdouble(1.5), np.ones(2, "g"), np.clongdouble(1)]
    for value in inexact:
        with pytest.raises(konfig.ConfigTypeError, match="no exact form"):
            konfig.export(value)
    for value in (nanoseconds, np.timedelta64(3, "ns"), np.longdouble(1.5)):
        with pytest.raises(konfig.ConfigTypeError, match="no exact form") as caught:
            konfig.ConfigDict(a=[value])
        assert caught.value.path == "cfg.a[0]"
