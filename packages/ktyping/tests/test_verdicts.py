"""Verdicts from memory are the verdicts that a fresh check gives."""

import threading
import types
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ktyping import (
    Float,
    Int,
    KTypeCheckError,
    Num,
    check_type,
    dim,
    matches,
    typechecked,
)

np = pytest.importorskip("numpy", reason="these tests check arrays of numpy")

TERMS = ["a", "b", "*r", "_", "#a", "*#r", "a+1", "2", "a?", "2|b", "..."]
specs = st.lists(st.sampled_from(TERMS), max_size=3).map(" ".join)
shapes = st.lists(st.integers(1, 3), max_size=3).map(tuple)
arrays = st.builds(np.zeros, shapes, st.sampled_from(["float32", "int32"]))


seen = []


def body(x, y):
    seen.append(dict(dim))
    return x


def function(x, y, returned):
    copy = types.FunctionType(body.__code__, body.__globals__)
    copy.__annotations__ = {"x": x, "y": y, "return": returned}
    return copy


def outcome(checked, x, y):
    """Returns the dims in the body, and how a call that does not fit fails."""
    seen.clear()
    try:
        checked(x, y)
    except KTypeCheckError as error:
        return list(seen), error.code, error.axis, error.subject
    return list(seen)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(
    specs,
    specs,
    specs,
    st.integers(0, 2),
    st.lists(st.tuples(arrays, arrays | st.none()), min_size=2, max_size=6),
)
def test_a_verdict_from_memory_agrees_with_a_fresh_one(s1, s2, s3, kind, calls):
    second = [Float[s2], Float[s2] | None, (Float | Int)[s2]][kind]
    warm = typechecked(function(Float[s1], second, Num[s3]))
    for x, y in [*calls, *calls]:
        fresh = typechecked(function(Float[s1], second, Num[s3]))
        assert outcome(warm, x, y) == outcome(fresh, x, y)


def test_a_verdict_on_the_value_itself_is_never_remembered():
    @typechecked
    def f(x: Literal["a"], out: object) -> Literal["a"] | Float["n"]:
        return out

    for _ in range(2):
        assert matches("a", Literal["a"]) and not matches("b", Literal["a"])
        assert matches([1], list[int]) and not matches(["x"], list[int])
        assert f("a", "a") == "a"
        with pytest.raises(KTypeCheckError):
            f("a", "b")
        with pytest.raises(KTypeCheckError):
            f("b", "a")


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(specs, st.lists(arrays | st.sampled_from([None, 1.5, "x", [1]]), max_size=8))
def test_asking_twice_gives_the_same_answer(spec, values):
    kinds = [Float[spec], Float[spec] | None, (Float | Int)[spec], Num, list[Num]]
    for kind in kinds:
        for value in [*values, *values]:
            try:
                check_type(value, kind, nested_ok=True)
                fits = True
            except KTypeCheckError:
                fits = False
            assert matches(value, kind) is fits


def test_many_threads_may_make_the_first_call():
    @typechecked
    def f(x: Float["n"], y: Float["n"] | None = None) -> Float["n"]:
        assert dim["n"] == len(x)
        return x

    failures = []

    def run(n):
        try:
            for size in range(1, 50):
                f(np.zeros(size + n), np.zeros(size + n))
                with pytest.raises(KTypeCheckError):
                    f(np.zeros(size), np.zeros(size + 1))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
