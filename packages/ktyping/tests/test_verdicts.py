"""Verdicts from memory are the verdicts that a fresh check gives."""

import threading
import types

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ktyping import Float, Int, KTypeCheckError, Num, dim, typechecked

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
