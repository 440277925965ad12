"""Scopes and dims, without any array library: `Shape` binds dims as arrays do."""

import threading

import pytest

import ktyping as kt
from ktyping import (
    AmbiguousDimensionError,
    KTypeCheckError,
    NoActiveScopeError,
    Shape,
    ShapeError,
    UnboundDimensionError,
    check_type,
    dim,
    shape,
    typechecked,
)


def test_dims_of_the_arguments_are_read_in_the_body():
    @typechecked
    def f(x: Shape["*b n"], y: Shape["n"]):
        return dim["n"], dim["*b"], "n" in dim, "m" in dim, dict(dim), len(dim)

    assert f((2, 3, 4), (4,)) == (
        4,
        (2, 3),
        True,
        False,
        {"*b": (2, 3), "n": 4},
        2,
    )


@pytest.mark.spec("ktyping-10")
def test_a_dim_with_two_readings_cannot_be_read():
    with typechecked() as scope:
        check_type((3, 7), Shape["*b *o c"])
        assert dim["c"] == 7
        with pytest.raises(AmbiguousDimensionError, match="can be"):
            dim["*b"]
        assert len(scope.candidates) == 2


@pytest.mark.spec("ktyping-17")
def test_every_reading_is_a_candidate():
    with typechecked() as scope:
        check_type((1, 2), Shape["... a ..."])
        assert scope.candidates == ({"a": (1,)}, {"a": (2,)})


@pytest.mark.spec("ktyping-15", "ktyping-18")
def test_an_absent_or_anonymous_axis_is_no_dim():
    with typechecked():
        check_type((3,), Shape["a? b"])
        check_type((2, 3), Shape["_ _"])
        assert "a" not in dim
        assert dict(dim) == {"b": 3}


@pytest.mark.spec("ktyping-21")
def test_an_axis_of_size_one_says_nothing_about_a_broadcast_name():
    with typechecked():
        check_type((1,), Shape["#a"])
        with pytest.raises(UnboundDimensionError, match="size 1, which says nothing"):
            dim["a"]


def test_an_unbound_dim_lists_what_is_bound_and_what_waits():
    with typechecked():
        check_type((3, 4), Shape["n//2 m"])
        with pytest.raises(UnboundDimensionError) as caught:
            dim["n"]
        assert "Bound: m." in str(caught.value)
        assert "n//2 = 3" in str(caught.value)


def test_a_run_is_read_with_a_star():
    with typechecked():
        check_type((2, 3), Shape["*b"])
        with pytest.raises(AmbiguousDimensionError, match=r'dim\["\*b"\]'):
            dim["b"]


@pytest.mark.spec("ktyping-90")
def test_a_dim_can_be_set_once():
    with typechecked():
        dim["a"] = 3
        dim["a"] = 3
        with pytest.raises(ValueError, match="it is 3 already"):
            dim["a"] = 4
        with pytest.raises(ValueError, match="negative"):
            dim["b"] = -1
        with pytest.raises(TypeError, match="whole number"):
            dim["b"] = 1.5
        dim["*c"] = [2, 3]
        assert dict(dim) == {"a": 3, "*c": (2, 3)}
        with pytest.raises(KTypeCheckError):
            check_type((4,), Shape["a"])


@pytest.mark.parametrize("key", ["", "*", "a b", "_a", "3", 3])
def test_what_is_no_name_cannot_be_read(key):
    with typechecked(), pytest.raises(UnboundDimensionError, match="not the name"):
        dim[key]


def test_dims_print_with_and_without_a_scope():
    assert repr(dim) == "dim{no active scope}"
    with typechecked():
        assert repr(dim) == "dim{}"
        check_type((2, 3, 4), Shape["*b n"])
        assert repr(dim) == "dim{*b: (2, 3), n: 4}"


@pytest.mark.spec("ktyping-88", "ktyping-89")
def test_a_shape_is_computed_from_dims():
    with typechecked():
        check_type((2, 3, 4), Shape["*b c"])
        assert shape("*b c 1 c+1 2*c sum(*b)") == (2, 3, 4, 1, 5, 8, 5)
        assert shape("c/2") == (2,)
        with pytest.raises(ShapeError, match="negative"):
            shape("c-9")
        with pytest.raises(ShapeError, match="4/3 is not whole"):
            shape("c/3")
        with pytest.raises(ShapeError, match="no size"):
            shape("...")
        with pytest.raises(UnboundDimensionError):
            shape("m")


def test_a_shape_takes_values_of_arguments():
    @typechecked
    def f(n: int, sizes: list[int]):
        return shape("{n} *{sizes} {n}+1 {sizes[0]}")

    assert f(3, [5, 6]) == (3, 5, 6, 4, 5)


def helper():
    return dim["n"]


@pytest.mark.spec("ktyping-79")
def test_code_inside_the_function_reads_dims_and_other_code_does_not():
    @typechecked
    def f(x: Shape["n"], read):
        def inner():
            return dim["n"]

        return inner(), [dim["n"] for _ in range(2)], (lambda: dim["n"])(), read()

    assert f((3,), lambda: None) == (3, [3, 3], 3, None)
    with pytest.raises(NoActiveScopeError, match="helper"):
        f((3,), helper)


def test_a_function_defined_inside_reads_dims_when_another_checked_one_calls_it():
    @typechecked
    def call(x: Shape["m"], function):
        return function()

    @typechecked
    def f(x: Shape["n"]):
        return call((7,), lambda: dim["n"])

    assert f((3,)) == 3


def test_a_nested_call_has_dims_of_its_own():
    @typechecked
    def inner(x: Shape["n"]):
        return dim["n"]

    @typechecked
    def outer(x: Shape["n"]):
        return inner((7,)), dim["n"]

    assert outer((3,)) == (7, 3)


def test_a_recursive_function_keeps_its_dims_apart():
    @typechecked
    def f(x: Shape["n"], depth: int):
        below = f((dim["n"] + 1,), depth - 1) if depth else ()
        return (dim["n"], *below)

    assert f((3,), 2) == (3, 4, 5)


def test_without_a_new_scope_a_function_takes_part_in_the_dims_of_its_caller():
    @typechecked(new_scope=False)
    def part(x: Shape["n m"]):
        return dim["m"]

    @typechecked
    def whole(x: Shape["n"], y):
        part(y)
        return dict(dim)

    assert whole((3,), (3, 4)) == {"n": 3, "m": 4}
    with pytest.raises(KTypeCheckError, match="n is 5, but n = 3"):
        whole((3,), (5, 4))
    assert part((8, 9)) == 9


def test_without_any_scope_dims_cannot_be_asked():
    for ask in (lambda: dim["n"], lambda: shape("n"), lambda: "n" in dim):
        with pytest.raises(NoActiveScopeError, match="with typechecked"):
            ask()
    with pytest.raises(NoActiveScopeError):
        kt.get_current_scope()


def test_check_type_alone_reports_normally_when_asked_to():
    assert check_type((2, 3), Shape["a b"], nested_ok=True) == (2, 3)
    with pytest.raises(KTypeCheckError) as caught:
        check_type((2, 3), Shape["a a"], nested_ok=True)
    assert caught.value.axis == 1


def test_the_scope_is_gone_after_an_exception():
    @typechecked
    def f(x: Shape["n"]):
        raise RuntimeError

    with pytest.raises(RuntimeError):
        f((3,))
    with pytest.raises(NoActiveScopeError):
        kt.get_current_scope(nested_ok=True)


def test_threads_see_their_own_dims():
    @typechecked
    def f(x: Shape["n"], barrier):
        barrier.wait()
        return dim["n"]

    barrier = threading.Barrier(4)
    found = {}

    def run(n):
        found[n] = f((n,), barrier)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: n for n in range(4)}


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ((2, 3), True),
        ([2, 3], True),
        ((True, 3), False),
        ((-1, 3), False),
        (b"ab", False),
        ("ab", False),
        (range(2), False),
        ((2.0, 3), False),
    ],
)
@pytest.mark.spec("ktyping-98")
def test_a_shape_is_a_list_or_tuple_of_sizes(value, fits):
    assert kt.isinstance(value, Shape) is fits
    assert kt.isinstance(value, Shape["a b"]) is fits


def test_a_star_import_keeps_the_builtin_isinstance():
    names = {}
    exec("from ktyping import *", names)
    assert "isinstance" not in names
    assert {"Float", "typechecked", "matches", "dim"} <= names.keys()
    assert kt.isinstance is kt.matches


def test_a_shape_has_a_long_form_for_static_checkers():
    assert Shape[tuple[int, ...], "a b"] == Shape["a b"]
    for wrong in (("a", "b"), (int, "a"), 3, ("a", "b", "c")):
        with pytest.raises((TypeError, ValueError)):
            Shape[wrong]
    with pytest.raises(TypeError, match="one shape spec"):
        Shape["a"]["b"]
