"""Classes of fields besides dataclasses, and callable objects, under `typechecked`."""

import functools
from typing import NamedTuple, NotRequired, TypedDict, Unpack

import pytest

from ktyping import KTypeCheckError, Shape, dim, typechecked


@typechecked
class Pair(NamedTuple):
    """Two shapes."""

    x: Shape["n"]
    y: Shape["n"] = (1,)


def test_a_named_tuple_checks_its_fields_together():
    assert Pair((2,), (2,)).y == (2,)
    assert Pair((1,)) == ((1,), (1,))
    assert (Pair.__doc__, Pair._fields) == ("Two shapes.", ("x", "y"))
    with pytest.raises(KTypeCheckError) as caught:
        Pair((2,), y=(3,))
    assert (caught.value.subject, caught.value.axis) == ("field y", 0)
    assert "class Pair" in str(caught.value)


def test_copies_of_a_named_tuple_are_checked_as_well():
    pair = Pair((2,), (2,))
    assert pair._replace(x=(2,)) == pair and type(pair._make(pair)) is Pair
    with pytest.raises(KTypeCheckError):
        pair._replace(x=(3,))
    with pytest.raises(KTypeCheckError):
        Pair._make([(1,), (2,)])
    with pytest.raises(TypeError, match="missing"):
        Pair()


def test_a_named_tuple_as_an_argument_shares_the_dims_of_the_function():
    @typechecked
    def f(pair: Pair, z: Shape["n"]):
        return dim["n"]

    assert f(Pair((2,), (2,)), (2,)) == 2
    with pytest.raises(KTypeCheckError):
        f(Pair((2,), (2,)), (3,))


def test_a_class_of_attrs_checks_its_fields_together():
    attrs = pytest.importorskip("attrs", reason="this test defines a class of attrs")

    @typechecked
    @attrs.frozen
    class Point:
        x: Shape["n"]
        y: Shape["n"]
        label: str = "p"

    assert Point((2,), (2,)).label == "p"
    with pytest.raises(KTypeCheckError, match="field y"):
        Point((2,), (3,))
    with pytest.raises(KTypeCheckError, match="field label"):
        attrs.evolve(Point((2,), (2,)), label=3)

    @typechecked
    def f(point: Point, z: Shape["n"]):
        return True

    assert f(Point((2,), (2,)), (5,))


class Scale:
    factor = 2

    def __call__(self, x: Shape["n {self.factor}"]) -> Shape["n"]:
        return x[:1]


def test_of_a_callable_object_the_call_is_checked():
    scale = Scale()
    checked = typechecked(scale)
    assert checked((3, 2)) == (3,)
    with pytest.raises(KTypeCheckError):
        checked((3, 4))
    assert scale((3, 4)) == (3,)


def test_what_has_no_code_in_python_is_refused():
    for target in (len, functools.partial(len), 3, object, [1]):
        with pytest.raises(TypeError, match="typechecked cannot check"):
            typechecked(target)


class Options(TypedDict):
    """Keyword arguments."""

    size: Shape["n"]
    depth: NotRequired[int]


def test_keyword_arguments_of_a_typed_dict_are_tied_to_the_function():
    @typechecked
    def f(x: Shape["n"], **options: Unpack[Options]):
        return dim["n"], options

    assert f((2,), size=(2,)) == (2, {"size": (2,)})
    assert f((2,), size=(2,), depth=3)[1]["depth"] == 3
    for wrong, subject in [
        ({"size": (3,)}, "argument options['size']"),
        ({"size": (2,), "depth": "x"}, "argument options['depth']"),
        ({}, "argument options"),
        ({"size": (2,), "other": 1}, "argument options"),
    ]:
        with pytest.raises(KTypeCheckError) as caught:
            f((2,), **wrong)
        assert caught.value.subject == subject
