"""A checked call stays within its budget, counted in lines and calls.

A count is the same on every machine; what a call takes in microseconds is printed by
`benchmarks/bench_ktyping.py`.
"""

import sys

import pytest

from ktyping import Float, Int, typechecked

np = pytest.importorskip("numpy", reason="these tests check arrays of numpy")


@typechecked
def two(x: Float["*b n c"], y: Float["c d"]) -> Float["*b n c"]:
    return x


@typechecked
def eight(
    a: Float["b n c"],
    b: Float["b n c"],
    c: Float["b n"],
    d: Int["b"],
    e: Float["c d"],
    f: Float["d"],
    g: Float["*r n"],
    h: Float["n c"] | None,
) -> Float["b n c"]:
    return a


SHAPES = [(2, 3, 4), (2, 3, 4), (2, 3), (2,), (4, 5), (5,), (6, 7, 3), (3, 4)]
DTYPES = ["float32"] * 3 + ["int32"] + ["float32"] * 4


def arrays(module):
    return [module.zeros(s, d) for s, d in zip(SHAPES, DTYPES, strict=True)]


def work(function, *args):
    """Lines of Python that run and functions that are called, those of C as well."""
    count = 0

    def tally(frame, event, arg):
        nonlocal count
        count += event in ("line", "call", "c_call")
        return tally

    before = sys.gettrace()
    sys.settrace(tally)
    sys.setprofile(tally)
    try:
        function(*args)
    finally:
        sys.setprofile(None)
        sys.settrace(before)
    return count


def costs(made):
    """What the second call with the same shapes costs, for two and eight arguments."""
    few, many = (made[0], made[4]), made
    two(*few)
    eight(*many)
    return work(two, *few), work(eight, *many)


@pytest.mark.spec("ktyping-108")
@pytest.mark.case("P12")
def test_a_checked_call_with_arrays_of_numpy_is_within_budget():
    few, many = costs(arrays(np))
    assert few < 60
    assert many < 60


@pytest.mark.spec("ktyping-108")
@pytest.mark.case("P12")
def test_a_checked_call_with_arrays_of_jax_is_within_budget():
    jnp = pytest.importorskip("jax.numpy", reason="this test checks arrays of jax")
    jax = pytest.importorskip("jax", reason="this test checks arrays of jax")
    few, many = costs(arrays(jnp))
    assert few < 85
    assert many < 130

    traced = []

    def inside(*made):
        traced.extend(costs(made))
        return 0

    jax.jit(inside)(*arrays(jnp))
    assert traced[0] < 260
    assert traced[1] < 500
