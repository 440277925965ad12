"""Options of one function: mode `trace`, `every`, `ties`."""

import asyncio
import functools
import pickle
from dataclasses import dataclass
from typing import NamedTuple

import pytest

import ktyping as kt
from ktyping import (
    Float,
    KTypeCheckError,
    KTypeCheckWarning,
    ScopeDisabledError,
    Shape,
    check_type,
    config,
    dim,
    matches,
    shape,
    typechecked,
)


def refused(function, *args):
    with pytest.raises(KTypeCheckError) as caught:
        function(*args)
    return caught.value


# -- every -------------------------------------------------------------------


def test_one_of_so_many_calls_is_checked():
    @typechecked(every=3)
    def f(x: Shape["a a"]) -> Shape["a"]:
        return x

    found = []
    for _ in range(7):
        try:
            found.append(f((1, 2)))
        except KTypeCheckError:
            found.append("refused")
    assert found == ["refused", (1, 2), (1, 2)] * 2 + ["refused"]


def test_in_a_call_that_is_left_out_nothing_is_checked_or_bound():
    seen = []

    @typechecked(every=2)
    def f(x: Shape["a"]):
        check_type((1, 2), Shape["a"])
        check_type((1, 2), Shape["a"], nested_ok=True)
        seen.append(matches((1, 2), Shape["a b"]))
        for ask in (lambda: dim["a"], lambda: shape("a"), kt.get_current_scope):
            with pytest.raises(ScopeDisabledError, match="every="):
                ask()

    refused(f, (3,))
    assert f((3,)) is None
    assert seen == [True]


def test_a_function_below_a_call_that_is_left_out_has_its_own_dims():
    @typechecked(new_scope=False)
    def inner(x: Shape["a"]):
        return dim["a"]

    @typechecked(every=2)
    def outer(x: Shape["a"]):
        return inner((5,))

    refused(outer, (3,))
    assert outer((3,)) == 5


def test_generators_and_coroutines_can_be_left_out():
    @typechecked(every=2)
    def numbers(x: Shape["a a"]) -> int:
        yield "x"

    @typechecked(every=2)
    async def wait(x: Shape["a a"]) -> int:
        return "x"

    refused(numbers, (1, 2))
    assert list(numbers((1, 2))) == ["x"]
    refused(lambda: asyncio.run(wait((1, 2))))
    assert asyncio.run(wait((1, 2))) == "x"


@pytest.mark.parametrize("every", [0, -1, True, 1.5, "2"])
def test_every_is_a_whole_number(every):
    with pytest.raises(ValueError, match="every is"):
        typechecked(every=every)


# -- trace -------------------------------------------------------------------


@dataclass
class State:
    params: dict
    step: int = 0


class Pair(NamedTuple):
    first: object
    second: object


def test_mode_trace_checks_while_jax_traces_and_then_alone():
    jax = pytest.importorskip("jax", reason="it is jax that traces")
    jnp = pytest.importorskip("jax.numpy", reason="it is jax that traces")

    @typechecked(mode="trace")
    def f(x: Float["a a"], state: object = None) -> Float["a a"]:
        return x

    x = jnp.zeros((2, 3))
    assert f(x) is x
    for transformed in (jax.jit(f), functools.partial(jax.eval_shape, f)):
        with pytest.raises(KTypeCheckError):
            transformed(x)
    assert jax.jit(f)(jnp.zeros((2, 2))).shape == (2, 2)

    def inside(y):
        for tree in ([1, y], {"a": (y,)}, State({"w": y}), Pair(3, y), y):
            with pytest.raises(KTypeCheckError):
                f(x, tree)
        f(x, [x, y])  # of a tree the first array counts
        return y

    jax.jit(inside)(x)


def test_mode_trace_leaves_the_rest_of_an_eager_call_alone():
    @typechecked(mode="trace")
    def f(x: Shape["a"]):
        with pytest.raises(ScopeDisabledError, match="trace"):
            dim["a"]
        return check_type("no shape", Shape["a"])

    assert f("no shape") == "no shape"


def test_mode_trace_of_a_block_and_of_a_class():
    jax = pytest.importorskip("jax", reason="it is jax that traces")
    jnp = pytest.importorskip("jax.numpy", reason="it is jax that traces")

    @typechecked(mode="trace")
    @dataclass
    class D:
        x: Float["a a"]

    def run(x):
        with config.override("trace"), typechecked():
            return check_type(D(x).x, Float["b b"])

    assert run(jnp.zeros((2, 3))).shape == (2, 3)
    with pytest.raises(KTypeCheckError):
        jax.jit(D)(jnp.zeros((2, 3)))
    with pytest.raises(KTypeCheckError):
        jax.jit(lambda x: check(x))(jnp.zeros((2, 3)))


def check(x):
    with config.override("trace"), typechecked():
        return check_type(x, Float["b b"])


def test_sampling_checks_every_traced_call():
    jax = pytest.importorskip("jax", reason="it is jax that traces")
    jnp = pytest.importorskip("jax.numpy", reason="it is jax that traces")

    @typechecked(every=100)
    def f(x: Float["a a"]):
        return x

    refused(f, jnp.zeros((2, 3)))
    assert f(jnp.zeros((2, 3))).shape == (2, 3)
    for n in range(3):
        refused(jax.jit(f), jnp.zeros((2, 3 + n)))


# -- ties --------------------------------------------------------------------


@typechecked(ties={"b": "global_batch"})
def step(x: Shape["b n"]):
    return dim["b"]


def test_calls_from_one_block_have_one_dim():
    with typechecked():
        assert step((8, 3)) == 8
        assert dim["global_batch"] == 8
        assert step((8, 5)) == 8
        error = refused(step, (4, 3))
        assert (error.code, error.subject) == ("size", "dim b")
        assert (error.expected, error.actual) == ("(8,)", "(4,)")
        for text in ("b = 4 from x axis 0", "global_batch = 8", "a block in", "Origin"):
            assert text in str(error)
        assert step((8, 1)) == 8
    assert step((4, 3)) == 4
    assert step((5, 3)) == 5


def test_a_dim_of_the_caller_is_one_with_a_dim_of_the_call():
    @typechecked
    def outer(x: Shape["global_batch"]):
        return step((3, 1))

    assert outer((3,)) == 3
    error = refused(outer, (4,))
    assert "global_batch = 4 from x axis 0 in" in str(error)


def test_a_dim_that_the_arguments_leave_open_comes_from_around():
    @typechecked(ties={"*b": "*lead", "m": "m"})
    def f(x: Shape["*b *c"], y: object = None) -> Shape["m"]:
        return (sum(dim["*b"]),) if y is None else y

    with typechecked():
        check_type((2, 3), Shape["*lead"])
        assert f((2, 3, 4)) == (5,)
        assert "m" not in dim
        check_type((5,), Shape["m"])
        assert f((2, 3)) == (5,)
        assert refused(f, (2, 3), (6,)).subject == "return value"
        refused(f, (3, 2))


def test_a_refused_call_ties_nothing():
    @typechecked(ties={"a": "p", "b": "q"})
    def f(x: Shape["a b"]): ...

    with typechecked():
        check_type((9,), Shape["q"])
        refused(f, (1, 2))
        assert dict(dim) == {"q": 9}


def test_the_scope_of_a_call_that_is_left_out_is_passed_by():
    @typechecked(every=2)
    def outer(x: Shape["global_batch"]):
        return step((3, 1))

    refused(outer, (4,))
    with typechecked():
        assert outer((4,)) == 3
        assert dim["global_batch"] == 3


def test_ties_follow_the_mode():
    with typechecked():
        step((8, 3))
        with config.override("warn"), pytest.warns(KTypeCheckWarning, match="tied"):
            step((4, 3))
        with config.override("dims"):
            assert step((4, 3)) == 4
        with config.override("off"), pytest.raises(ScopeDisabledError):
            step((4, 3))


def test_options_that_do_not_go_together_are_refused():
    with pytest.raises(ValueError, match="new_scope=False"):
        typechecked(ties={"b": "c"}, new_scope=False)
    with pytest.raises(ValueError, match="names of dims"):
        typechecked(ties={"b": 3})
    with pytest.raises(ValueError, match="names of dims"):
        typechecked(ties={"b c": "d"})
    with pytest.raises(ValueError, match="maps names"):
        typechecked(ties=["b"])
    for options in ({"every": 2}, {"ties": {"b": "c"}}):
        with pytest.raises(TypeError, match="Pair2 is a class of fields"):

            @typechecked(**options)
            class Pair2(NamedTuple):
                x: int


def test_a_function_with_options_can_be_pickled():
    again = pickle.loads(pickle.dumps(step.__ktyping_plan__.options))
    assert again == step.__ktyping_plan__.options


def test_an_error_in_shared_dims_names_both_functions():
    @typechecked(new_scope=False)
    def inner(x: Shape["n"]):
        return x

    @typechecked
    def outer(x: Shape["n"]):
        return inner((4,))

    error = refused(outer, (3,))
    assert "inner (" in error.origin and "outer (" in error.origin
    assert "shares the dims of" in str(error)
