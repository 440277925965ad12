"""Dataclasses, TypedDict and NamedTuple with arrays, annotations as strings."""

from __future__ import annotations

import dataclasses
from typing import Annotated, ClassVar, NamedTuple, NotRequired, TypedDict

import pytest

import ktyping as kt
from ktyping import Float, Int, KTypeCheckError, Shape, typechecked

np = pytest.importorskip("numpy", reason="these tests check arrays of numpy")


def z(*shape):
    return np.zeros(shape, np.float32)


@typechecked
@dataclasses.dataclass
class Cloud:
    pos: Float["n 3"]
    col: Float["n c"]
    kind: ClassVar[str] = "cloud"


@dataclasses.dataclass
class Named(Cloud):
    label: str = "x"
    weight: Float["n"] | None = None


@typechecked
@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    x: Float["n"]
    scale: dataclasses.InitVar[float]
    y: Float["n"] = dataclasses.field(default=None, init=False)

    def __post_init__(self, scale):
        object.__setattr__(self, "y", self.x * scale)


def refused(function, *args, **kwargs):
    with pytest.raises(KTypeCheckError) as caught:
        function(*args, **kwargs)
    return caught.value


@pytest.mark.spec("ktyping-62", "ktyping-63")
def test_fields_are_checked_together():
    assert Cloud(z(4, 3), z(4, 2)).col.shape == (4, 2)
    error = refused(Cloud, z(4, 3), z(5, 2))
    assert (error.code, error.axis, error.subject) == ("size", 0, "field col")
    assert "n = 4 from pos axis 0" in str(error)
    error = refused(Cloud, z(4, 3), "s")
    assert (error.code, error.subject) == ("backend", "field col")


@pytest.mark.spec("ktyping-64")
def test_a_changed_instance_is_refused_when_it_is_passed():
    @typechecked
    def f(a: Cloud):
        return a

    cloud = Cloud(z(4, 3), z(4, 2))
    assert f(cloud) is cloud
    cloud.col = z(5, 2)
    error = refused(f, cloud)
    assert (error.code, error.subject) == ("size", "argument a.col")
    assert refused(f, 3).code == "type"


@pytest.mark.spec("ktyping-65")
def test_a_subclass_that_is_not_decorated_is_checked_with_its_own_fields():
    assert Named(z(4, 3), z(4, 2), "y").label == "y"
    assert refused(Named, z(4, 3), z(5, 2)).code == "size"
    assert refused(Named, z(4, 3), z(4, 2), 3).subject == "field label"
    assert refused(Named, z(4, 3), z(4, 2), "y", z(5)).subject == "field weight"


@pytest.mark.spec("ktyping-66")
def test_dims_of_a_dataclass_are_its_own():
    @typechecked
    def f(a: Cloud, x: Float["n"]):
        return kt.dim["n"]

    assert f(Cloud(z(4, 3), z(4, 2)), z(9)) == 9


def test_frozen_classes_with_slots_and_post_init_are_checked():
    assert Frozen(z(3), 2.0).y.shape == (3,)
    assert refused(Frozen, z(3, 2), 2.0).subject == "field x"


@pytest.mark.case("047")
def test_values_of_fields_stand_in_specs():
    @typechecked
    @dataclasses.dataclass
    class Sized:
        size: int
        x: Int["{size}"]
        y: Int["{self.size}+1"]

    four, five = np.zeros(4, int), np.zeros(5, int)
    assert Sized(4, four, five).size == 4
    assert refused(Sized, 3, four, five).subject == "field x"
    assert refused(Sized, 4, four, four).subject == "field y"


@pytest.mark.spec("ktyping-77", "ktyping-78")
def test_local_names_are_found_in_annotations_that_are_strings():
    Local = Float["n 2"]

    class Thing:
        pass

    @typechecked
    def f(x: Local, thing: Thing | None = None) -> Float["n"]:
        return x[:, 0]

    assert f(z(3, 2), Thing()).shape == (3,)
    assert refused(f, z(3, 3)).axis == 1
    assert refused(f, z(3, 2), 4).subject == "argument thing"


@pytest.mark.spec("ktyping-76")
@pytest.mark.case("061")
def test_an_unknown_name_leaves_its_own_annotation_unchecked():
    @typechecked
    def f(x: Float["n"], y: OnlyWhenChecking, w: Float["n"]):
        return kt.dim["n"]

    with pytest.warns(kt.UnresolvedAnnotationWarning, match="OnlyWhenChecking") as seen:
        assert f(z(3), object(), z(3)) == 3
        assert f(z(3), object(), z(3)) == 3
        assert refused(f, z(3), object(), z(4)).code == "size"
    assert len(seen) == 1


def test_a_method_may_name_its_class():
    class Node:
        @typechecked
        def join(self, other: Node) -> Node:
            return other

    node = Node()
    assert node.join(node) is node
    assert refused(node.join, 3).code == "type"


class Batch(TypedDict):
    image: Float["b h w"]
    label: NotRequired[Int["b"]]


@pytest.mark.case("062")
def test_a_typed_dict_is_checked_with_dims_of_its_own():
    @typechecked
    def f(batch: Batch, b: Shape["b"] = (7,)):
        return kt.dim["b"]

    assert f({"image": z(2, 3, 4)}) == 7
    assert f({"image": z(2, 3, 4), "label": np.zeros(2, int)}) == 7
    assert refused(f, {"image": z(2, 3, 4), "label": np.zeros(3, int)}).code == "size"
    assert "missing keys: 'image'" in str(refused(f, {}))
    assert "unexpected keys: 'x'" in str(refused(f, {"image": z(2, 3, 4), "x": 1}))

    class Empty(TypedDict, total=False):
        x: int

    @typechecked
    def g(value: Empty):
        return value

    assert g({}) == {}


class Pair(NamedTuple):
    x: Float["n"]
    y: Float["n"]


def test_a_named_tuple_shares_the_dims_of_the_function():
    @typechecked
    def f(pair: Pair, w: Float["n"]):
        return kt.dim["n"]

    assert f(Pair(z(3), z(3)), z(3)) == 3
    assert refused(f, Pair(z(3), z(4)), z(3)).subject == "argument pair.y"
    assert refused(f, Pair(z(3), z(3)), z(4)).code == "size"


@pytest.mark.case("046")
def test_dims_of_dataclasses_are_not_tied_to_each_other():
    @typechecked
    def f(v: Cloud) -> Cloud:
        return Cloud(z(2, 3), z(2, 2))

    assert f(Cloud(z(10, 3), z(10, 2))).pos.shape == (2, 3)

    @typechecked
    def g(v: Annotated[Cloud, kt.share]) -> Annotated[Cloud, kt.share]:
        assert kt.dim["n"] == 10
        return Cloud(z(2, 3), z(2, 2))

    error = refused(g, Cloud(z(10, 3), z(10, 2)))
    assert error.subject == "return value.pos"
    assert "n is 2, but n = 10 from v.pos axis 0" in str(error)


def test_modes_apply_to_dataclasses():
    with kt.config.override("off"):
        assert Cloud("a", "b").pos == "a"
    with kt.config.override("warn"), pytest.warns(kt.KTypeCheckWarning):
        Cloud(z(4, 3), z(5, 2))


def test_decorating_a_dataclass_twice_is_decorating_it_once():
    before = Cloud.__init__
    assert typechecked(Cloud) is Cloud
    assert Cloud.__init__ is before
