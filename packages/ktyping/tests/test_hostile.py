"""Use that is rare or rude: nothing is accepted silently, nothing internal leaks."""

import asyncio
import dataclasses
import gc
import sys
import threading
import traceback
import types
from collections.abc import AsyncIterator, Iterator
from typing import Any, ClassVar

import pytest

import ktyping as kt
from ktyping import (
    Float,
    KTypeCheckError,
    NoActiveScopeError,
    Shape,
    ShapeSpecSyntaxError,
    backend,
    check_type,
    dim,
    matches,
    typechecked,
)


def in_no_scope():
    with pytest.raises(NoActiveScopeError):
        kt.get_current_scope(nested_ok=True)
    return True


@pytest.fixture
def ended():
    return []


def test_a_generator_that_is_left_sees_its_dims_at_its_end(ended):
    @typechecked
    def f(x: Shape["n"]) -> Iterator[int]:
        try:
            yield 1
            yield 2
        finally:
            ended.append(dim["n"])

    for n, leave in enumerate(("close", "throw", "delete")):
        generator = f((n,))
        next(generator)
        if leave == "close":
            generator.close()
        elif leave == "throw":
            with pytest.raises(KeyError):
                generator.throw(KeyError())
        del generator
        gc.collect()
    assert ended == [0, 1, 2] and in_no_scope()


def test_coroutines_that_are_left_see_their_dims_at_their_end(ended):
    @typechecked
    async def wait(x: Shape["n"]):
        try:
            while True:
                await asyncio.sleep(0)
        finally:
            ended.append(dim["n"])

    @typechecked
    async def numbers(x: Shape["n"]) -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            ended.append(dim["n"])

    async def run():
        task = asyncio.create_task(wait((1,)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        given = numbers((2,))
        await anext(given)
        await given.aclose()
        with pytest.raises(KeyError):
            given = numbers((3,))
            await anext(given)
            await given.athrow(KeyError())

    asyncio.run(run())
    step = wait((4,)).__await__()
    next(step)
    step.close()
    assert ended == [1, 2, 3, 4] and in_no_scope()


def test_a_check_in_a_destructor_leaves_no_scope_behind(monkeypatch):
    class Holder:
        def __init__(self, x):
            self.x = x

        @typechecked
        def __del__(self) -> None:
            check_type(self.x, Shape["n n"])

    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda u: seen.append(u.exc_type))
    holder = Holder((2, 3))
    del holder
    gc.collect()
    assert seen == [KTypeCheckError] and in_no_scope()


def test_a_recursion_without_end_is_a_recursion_error():
    @typechecked
    def f(x: Shape["n"]):
        return f(x)

    with pytest.raises(RecursionError):
        f((3,))
    assert in_no_scope()


def test_functions_defined_inside_may_run_in_threads_and_tasks():
    @typechecked
    async def outer(x: Shape["n"]):
        def inner():
            return dim["n"]

        async def task(y):
            await asyncio.sleep(0)
            check_type(y, Shape["n m"])
            return dim["m"]

        in_thread = await asyncio.to_thread(inner)
        return in_thread, *await asyncio.gather(task((3, 4)), task((3, 4)))

    assert asyncio.run(outer((3,))) == (3, 4, 4)


def test_threads_that_share_a_scope_bind_one_size():
    @typechecked
    def outer(rounds):
        refused = []

        def run(size):
            try:
                check_type((size,), Shape["m"])
            except KTypeCheckError:
                refused.append(size)

        threads = [
            threading.Thread(target=kt_context(run), args=(n,)) for n in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted([dim["m"], *refused]) == list(range(8))

    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(20):
            outer(1)
    finally:
        sys.setswitchinterval(usual)


def kt_context(function):
    """Returns the function as it runs in a copy of the context of the caller."""
    import contextvars

    context = contextvars.copy_context()
    return lambda *args: context.copy().run(function, *args)


def test_an_error_shows_no_error_before_it():
    @typechecked
    def f(x: Shape["n"], y: Shape["n"], z: Float["k"] = 3.0):
        return x

    for args in [((3,), (4,)), ((3,), 4), ((3,), (3,))]:
        with pytest.raises(KTypeCheckError) as caught:
            f(*args)
        assert caught.value.__context__ is None
        text = "".join(traceback.format_exception(caught.value))
        assert "KeyError" not in text and "During handling" not in text


def test_methods_that_are_bound_can_be_checked():
    class C:
        def f(self, x: Shape["n"]):
            return self, dim["n"]

    value = C()
    assert typechecked(value.f)((3,)) == (value, 3)
    with pytest.raises(KTypeCheckError):
        typechecked(value.f)(3)


def test_a_function_under_a_cache_says_where_the_check_belongs():
    import functools

    with pytest.raises(TypeError, match="next to the function"):
        typechecked(functools.lru_cache(lambda x: x))


@pytest.mark.parametrize("options", [{}, {"frozen": True}, {"slots": True}])
def test_class_variables_are_no_fields(options):
    @typechecked
    @dataclasses.dataclass(**options)
    class D:
        a: Shape["n"]
        b: Shape["n"] = (3,)
        count: ClassVar[Shape["n"]] = "no shape"
        seed: dataclasses.InitVar[int] = "no int"

        def __post_init__(self, seed):
            pass

    assert D((3,)).a == (3,)
    with pytest.raises(KTypeCheckError, match="field b"):
        D((4,))
    with pytest.raises(KTypeCheckError, match="field b"):
        dataclasses.replace(D((3,)), a=(4,), seed=1)


def test_what_is_no_name_is_in_no_scope():
    with typechecked():
        check_type((3,), Shape["n"])
        for key in ("", "*", "a b", "a+1", "**b", "_a", b"n", None, 3, ("n",)):
            assert key not in dim
            assert dim.get(key, 7) == 7
            with pytest.raises(kt.UnboundDimensionError, match="not the name"):
                dim[key]
        assert " n " in dim and dim.get("n") == 3


@pytest.mark.parametrize("space", ["\u00a0", "\u2003", "\x0b", "\x0c", "\u200b"])
def test_only_spaces_tabs_and_line_ends_separate(space):
    with pytest.raises(ShapeSpecSyntaxError) as caught:
        Float[f"a{space}b"]
    assert caught.value.column == 2


def test_any_stands_for_every_class():
    assert Float[Any, "n"] is Float["n"]


def test_a_library_can_stand_in_front_of_the_spec():
    assert Float[backend.torch, "n"] is backend.torch.Float["n"]
    assert Float[backend.any, "n", "float16"] is backend.any.Float16["n"]
    with pytest.raises(TypeError, match="names two"):
        backend.torch.Float[backend.tf, "n"]
    with pytest.raises(TypeError, match="takes a shape spec"):
        Float[backend.torch]


def test_a_run_that_must_not_be_empty_takes_no_empty_sequence():
    @typechecked
    def f(sizes: tuple[int, ...], x: Shape["+{sizes}"]):
        return x

    assert f((2, 3), (2, 3)) == (2, 3)
    with pytest.raises(kt.SpecInterpolationError, match="empty sequence"):
        f((), ())


def test_a_property_that_fails_inside_a_spec_fails_as_it_does():
    class Config:
        @property
        def n(self):
            raise ZeroDivisionError("in the property")

    @typechecked
    def f(config: Any, x: Shape["{config.n}"]):
        return x

    with pytest.raises(ZeroDivisionError, match="in the property") as caught:
        f(Config(), (3,))
    assert caught.value.__context__ is None


def test_jaxtyping_without_jax_is_no_hindrance(monkeypatch):
    class Module(types.ModuleType):
        def __getattr__(self, name):
            if name == "PyTree":
                raise ModuleNotFoundError("No module named 'jax'")
            raise AttributeError(name)

    monkeypatch.setitem(sys.modules, "jaxtyping", Module("jaxtyping"))
    monkeypatch.delitem(sys.modules, "jax", raising=False)

    class Anything:
        pass

    assert matches(Anything(), Anything) and not matches(3, Anything)


def test_a_value_that_lies_about_its_class_is_no_array():
    np = pytest.importorskip("numpy", reason="the value claims to be one of its arrays")

    class Liar:
        __class__ = property(lambda self: np.ndarray)

    assert not matches(Liar(), Float["n"])
