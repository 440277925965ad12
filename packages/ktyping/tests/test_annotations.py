"""Which values an annotation accepts, arrays and others."""

import pickle
from typing import Any, Literal, TypeVar

import pytest

import ktyping as kt
from ktyping import (
    Array,
    Bool,
    Float,
    Int,
    KTypeCheckError,
    Num,
    ShapeSpecSyntaxError,
    dim,
    typechecked,
)

np = pytest.importorskip("numpy", reason="these tests check arrays of numpy")


def z(*shape):
    return np.zeros(shape, np.float32)


def i(*shape):
    return np.zeros(shape, np.int32)


def refused(function, *args, **kwargs):
    with pytest.raises(KTypeCheckError) as caught:
        function(*args, **kwargs)
    return caught.value


def checked(annotation):
    @typechecked
    def f(x: annotation):
        return dict(dim)

    return f


def test_both_forms_of_an_array_type_are_one_type():
    assert Float[Array, "a b"] is Float["a b"]
    assert Float[np.ndarray, "a"] is not Float["a"]
    assert checked(Float[np.ndarray, "a"])(z(3)) == {"a": 3}
    assert checked(Float[np.ndarray | np.generic, "a"])(z(3)) == {"a": 3}
    assert refused(checked(Float[np.generic, "a"]), z(3)).code == "backend"


@pytest.mark.spec("ktyping-44")
def test_families_joined_before_the_brackets_accept_each():
    assert kt.isinstance(i(3), (Array | Float)["a"])
    assert kt.isinstance(i(3), (Int | Float)["a"])
    assert not kt.isinstance(i(3), (Float | Bool)["a"])


@pytest.mark.spec("ktyping-46")
def test_an_array_type_joins_with_none_classes_and_names():
    assert kt.isinstance(None, Float["a"] | None)
    assert kt.isinstance(None, None | Float["a"])
    assert kt.isinstance(z(3), Float["a"] | int)
    assert set((Float["a"] | "Fwd").__args__) >= {Float["a"]}


@pytest.mark.spec("ktyping-47")
def test_wrong_use_of_an_array_type_is_a_type_error():
    with pytest.raises(TypeError, match="has a shape already"):
        Float["a"]["b"]
    with pytest.raises(TypeError, match="brackets"):
        Float("a")
    with pytest.raises(TypeError, match="array class"):
        Float["a", "b"]
    with pytest.raises(ShapeSpecSyntaxError):
        Float["a + 1"]


@pytest.mark.spec("ktyping-48")
def test_a_union_binds_by_the_member_that_fits_all_arguments():
    @typechecked
    def f(x: Float["a"] | Float["b"], y: Float["a b"]):
        return dict(dim)

    assert f(z(3), z(7, 3)) == {"a": 7, "b": 3}
    assert f(z(7), z(7, 3)) == {"a": 7, "b": 3}


@pytest.mark.spec("ktyping-49")
def test_every_reading_of_the_other_arguments_is_shown():
    @typechecked
    def f(x: Float["b n"] | Float["b m"], y: Float["b m"]):
        pass

    error = refused(f, z(8, 3), z(7, 3))
    assert error.code == "size"
    assert len(error.hypotheses) == 2
    assert "reading 1" in str(error) and "reading 2" in str(error)


@pytest.mark.spec("ktyping-50")
def test_a_union_that_does_not_fit_explains_each_member():
    error = refused(checked(Float["3"] | Int["1"]), i(3))
    assert error.code in ("size", "dtype")
    assert "dtype i32 is not Float" in str(error)
    assert "size is 3, but 1 is wanted" in str(error)


@pytest.mark.case("050")
def test_alternatives_are_tried_with_what_the_others_bind():
    @typechecked
    def f(x: Float["*b 3"], y: Float["*b 3"] | Float["*b n 3"]):
        return dict(dim)

    assert f(z(5, 3), z(5, 7, 3)) == {"b": 5, "n": 7}
    assert f(z(5, 3), z(5, 3)) == {"b": 5}


@pytest.mark.spec("ktyping-56", "ktyping-57")
def test_items_of_containers_are_checked_with_their_path():
    @typechecked
    def f(xs: list[Float["n"]] | dict[str, Float["n"]]):
        return dim["n"]

    assert f([z(3), z(3)]) == 3
    assert f({"a": z(3), "b": z(3)}) == 3

    @typechecked
    def many(xs: list[Float["n"]]):
        pass

    @typechecked
    def named(xs: dict[str, Float["n"]]):
        pass

    error = refused(many, [z(3), z(4)])
    assert (error.code, error.subject) == ("size", "argument xs[1]")
    error = refused(named, {"a": z(3), "b": z(4)})
    assert (error.code, error.subject) == ("size", "argument xs['b']")


@pytest.mark.spec("ktyping-60")
def test_a_default_of_none_must_be_declared():
    with pytest.raises(TypeError, match=r"\| None"):

        @typechecked
        def f(y: Float["a"] = None):
            pass


@pytest.mark.spec("ktyping-61")
def test_a_declared_none_binds_nothing():
    @typechecked
    def f(x: Float["a"] | None, y: Float["a"]):
        return dim["a"]

    assert f(None, z(5)) == 5
    assert refused(f, z(4), z(5)).code == "size"


T = TypeVar("T")


@pytest.mark.spec("ktyping-74")
def test_a_type_variable_stands_for_one_class_in_a_call():
    @typechecked
    def f(a: T, b: T, out: Any) -> T:
        return out

    assert f(1, 2, 3) == 3
    error = refused(f, 1, 2, "x")
    assert (error.code, error.subject) == ("type", "return value")
    assert refused(f, 1, "x", 3).code == "type"


@pytest.mark.spec("ktyping-52")
def test_raw_keys_are_keys():
    assert kt.isinstance(np.zeros(2, np.uint32), kt.PRNGKeyLike)
    assert kt.isinstance(3, kt.PRNGKeyLike)
    assert kt.isinstance([1, 2], kt.PRNGKeyLike)
    assert not kt.isinstance("x", kt.PRNGKeyLike)


def test_scalars_are_python_numbers_and_arrays_without_axes():
    assert kt.isinstance(1.5, kt.ScalarFloat)
    assert kt.isinstance(z(), kt.ScalarFloat)
    assert not kt.isinstance(z(1), kt.ScalarFloat)
    assert not kt.isinstance(np.zeros((), "V4"), kt.Scalar)
    error = refused(checked(Float[""]), 1.5)
    assert "ScalarFloat" in str(error)


@pytest.mark.case("P16")
def test_arrays_without_axes_match_a_run_and_python_numbers_do_not():
    assert kt.isinstance(z(), Float["*b"])
    assert not kt.isinstance(1.5, Float["*b"])


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        (Literal["a", 1], 1, True),
        (int, 3, "3"),
        (float, 3, "3"),
        (str | None, None, 3),
        (type[int], bool, str),
        (tuple[int, ...], (1, 2), (1, "x")),
        (tuple[()], (), (1,)),
        (set[int], {1}, {"x"}),
        (Num, i(3), np.zeros(3, bool)),
    ],
)
def test_annotations_without_arrays_are_checked(annotation, good, bad):
    assert kt.isinstance(good, annotation)
    assert refused(checked(annotation), bad).code in ("type", "structure", "dtype")


def test_callables_are_checked_for_the_number_of_arguments():
    from collections.abc import Callable

    assert kt.isinstance(len, Callable[[list], int])
    assert not kt.isinstance(lambda: 3, Callable[[int], int])
    assert not kt.isinstance(3, Callable)


def test_array_types_survive_pickling():
    for kind in (Float, Float["*b n"], Float[np.ndarray, "n"], Float.spec["2"]):
        assert pickle.loads(pickle.dumps(kind)) is kind


def test_other_types_survive_pickling():
    for kind in (kt.Shape["a b"], kt.PyTree[Float["n"]], Float["a"] | None):
        assert pickle.loads(pickle.dumps(kind)) == kind


def test_bare_families_follow_the_lattice():
    assert issubclass(kt.Float32, Float)
    assert issubclass(Int, Num)
    assert not issubclass(Float, Int)
    assert issubclass(Float, Array)


def test_the_builtin_isinstance_asks_too():
    assert isinstance(z(2, 3), Float["a b"])
    assert not isinstance(z(3), Float["a b"])


def test_a_protocol_asks_for_its_members():
    from typing import Protocol

    class Steps(Protocol):
        count: int

        def step(self, x): ...

    class Model:
        count = 3

        def step(self, x):
            return x

    assert kt.isinstance(Model(), Steps)
    assert "has no count, step" in str(refused(checked(Steps), 3j))


def test_an_object_whose_shape_raises_is_refused_not_crashed_on():
    class Bad:
        dtype = np.dtype("float32")

        @property
        def shape(self):
            raise RuntimeError("no shape")

    for _ in range(2):
        assert refused(checked(Float["n"]), Bad()).code == "backend"
        assert refused(checked(Float["n"] | None), Bad()).code in ("backend", "type")


@pytest.mark.spec("ktyping-98")
def test_sizes_of_numpy_are_sizes():
    assert kt.isinstance((np.int64(3), 2), kt.Shape["3 2"])
