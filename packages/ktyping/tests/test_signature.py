"""Parameters and kinds of functions are what `inspect` says they are."""

import functools
import inspect

import pytest

from ktyping._signature import ABSENT, innermost, kind_of, parameters_of


def nothing(): ...
def plain(a, b=2): ...
def positional(a, b=None, /, c=3, *args, d, e=5, **kw): ...
def keywords(*, a, b=1): ...
def starred(*args, **kw): ...
def local(a, *b):
    c = a
    return c, b


@functools.wraps(positional)
def wrapped(*args, **kw):
    return positional(*args, **kw)


def signed(*args): ...


signed.__signature__ = inspect.Signature([inspect.Parameter("x", 1, default=7)])


@pytest.mark.parametrize(
    "function",
    [nothing, plain, positional, keywords, starred, local, wrapped, signed,
     lambda x, y=(): x],
)  # fmt: skip
def test_parameters_are_those_that_python_sees(function):
    expected = inspect.signature(function).parameters.values()
    found = parameters_of(function)
    assert [p.name for p in found] == [p.name for p in expected]
    assert [p.kind for p in found] == [p.kind for p in expected]
    given = [p.empty if q.default is ABSENT else q.default for p, q in
             zip(expected, found, strict=True)]  # fmt: skip
    assert given == [p.default for p in expected]


def test_kinds_are_those_that_python_sees():
    def generator():
        yield

    async def coroutine(): ...

    async def asynchronous():
        yield

    for function in (nothing, generator, coroutine, asynchronous):
        kind = kind_of(function)
        assert (kind == "coroutine") is inspect.iscoroutinefunction(function)
        is_generator = inspect.isgeneratorfunction(function)
        is_generator |= inspect.isasyncgenfunction(function)
        assert (kind == "generator") is is_generator


def test_the_innermost_function_is_found_and_circles_are_refused():
    assert innermost(wrapped) is inspect.unwrap(wrapped) is positional

    def circle(): ...

    circle.__wrapped__ = circle
    with pytest.raises(ValueError, match="wraps itself"):
        innermost(circle)
