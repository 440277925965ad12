"""Generators and coroutines."""

import asyncio
from collections.abc import AsyncGenerator, Generator, Iterator

import pytest

from ktyping import (
    KTypeCheckError,
    NoActiveScopeError,
    Shape,
    dim,
    get_current_scope,
    typechecked,
)


@typechecked
def twice(x: Shape["n"]) -> Iterator[int]:
    yield dim["n"]
    yield dim["n"]


@pytest.mark.spec("ktyping-68")
def test_interleaved_generators_keep_their_dims():
    a, b = twice((3,)), twice((5,))
    assert [next(a), next(b), next(a), next(b)] == [3, 5, 3, 5]
    for generator in (a, b):
        with pytest.raises(StopIteration):
            next(generator)


@pytest.mark.spec("ktyping-69")
def test_a_suspended_generator_shows_no_scope():
    generator = twice((3,))
    next(generator)
    with pytest.raises(NoActiveScopeError):
        get_current_scope(nested_ok=True)


@pytest.mark.spec("ktyping-70")
def test_what_a_generator_yields_is_checked():
    @typechecked
    def f(x: Shape["n"]) -> Iterator[Shape["n"]]:
        yield (3,)
        yield (7,)

    generator = f((3,))
    assert next(generator) == (3,)
    with pytest.raises(KTypeCheckError) as caught:
        next(generator)
    assert (caught.value.subject, caught.value.code) == ("yield #1", "size")


@pytest.mark.spec("ktyping-71")
def test_arguments_of_a_generator_are_checked_at_the_call():
    with pytest.raises(KTypeCheckError):
        twice((3, 4))


def test_what_a_generator_receives_and_returns_is_checked():
    @typechecked
    def f(x: Shape["n"]) -> Generator[int, Shape["n"], Shape["n"]]:
        got = yield 1
        return got if dim["n"] == 3 else (9, 9)

    generator = f((3,))
    next(generator)
    with pytest.raises(StopIteration) as stopped:
        generator.send((3,))
    assert stopped.value.value == (3,)

    generator = f((3,))
    next(generator)
    with pytest.raises(KTypeCheckError, match="send #0"):
        generator.send((4,))

    generator = f((4,))
    next(generator)
    with pytest.raises(KTypeCheckError, match="return value"):
        generator.send((4,))


def test_a_generator_can_be_thrown_into_and_closed():
    events = []

    @typechecked
    def f(x: Shape["n"]):
        try:
            try:
                yield 1
            except KeyError:
                events.append(dim["n"])
                yield 2
        finally:
            events.append("closed")

    generator = f((3,))
    next(generator)
    assert generator.throw(KeyError()) == 2
    generator.close()
    assert events == [3, "closed"]


@typechecked
async def measure(x: Shape["n"], out: object = None) -> Shape["n"]:
    await asyncio.sleep(0)
    first = dim["n"]
    await asyncio.sleep(0)
    assert dim["n"] == first
    return (first,) if out is None else out


@pytest.mark.spec("ktyping-72")
def test_the_awaited_result_of_a_coroutine_is_checked():
    assert asyncio.run(measure((3,))) == (3,)
    with pytest.raises(KTypeCheckError) as caught:
        asyncio.run(measure((3,), (4,)))
    assert (caught.value.subject, caught.value.code) == ("return value", "size")
    assert asyncio.iscoroutinefunction(measure)


@pytest.mark.spec("ktyping-73")
def test_coroutines_that_take_turns_keep_their_dims():
    async def both():
        return await asyncio.gather(measure((3,)), measure((5,)))

    assert asyncio.run(both()) == [(3,), (5,)]


def test_a_cancelled_coroutine_leaves_no_scope():
    async def main():
        task = asyncio.create_task(measure((3,)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(NoActiveScopeError):
            get_current_scope(nested_ok=True)

    asyncio.run(main())


@typechecked
async def count(x: Shape["n"], last: object) -> AsyncGenerator[Shape["n"], Shape["n"]]:
    got = yield (dim["n"],)
    await asyncio.sleep(0)
    yield got or (dim["n"],)
    yield last


def test_an_async_generator_is_checked_in_its_own_scope():
    async def main():
        a, b = count((3,), (3,)), count((5,), (5,))
        pairs = [(await anext(a), await anext(b)) for _ in range(3)]
        assert pairs == [((3,), (5,))] * 3
        for generator in (a, b):
            with pytest.raises(StopAsyncIteration):
                await anext(generator)
        with pytest.raises(NoActiveScopeError):
            get_current_scope(nested_ok=True)

    asyncio.run(main())


def test_what_an_async_generator_yields_and_receives_is_checked():
    async def main():
        with pytest.raises(KTypeCheckError):
            count((3, 4), None)
        generator = count((3,), (4,))
        assert await anext(generator) == (3,)
        assert await generator.asend((3,)) == (3,)
        with pytest.raises(KTypeCheckError, match="yield #2"):
            await anext(generator)

        generator = count((3,), None)
        await anext(generator)
        with pytest.raises(KTypeCheckError, match="send #0"):
            await generator.asend((4,))

    asyncio.run(main())


def test_an_async_generator_can_be_thrown_into_and_closed():
    events = []

    @typechecked
    async def f(x: Shape["n"]):
        try:
            try:
                yield 1
            except KeyError:
                events.append(dim["n"])
                yield 2
        finally:
            events.append("closed")

    async def main():
        generator = f((3,))
        await anext(generator)
        assert await generator.athrow(KeyError()) == 2
        await generator.aclose()

    asyncio.run(main())
    assert events == [3, "closed"]


def test_a_generator_that_is_refused_ends_in_its_scope():
    seen = []

    @typechecked
    def plain(x: Shape["n"]) -> Generator[Shape["n"], Shape["n"], None]:
        try:
            yield (4,) if (yield x) == x else x
        finally:
            seen.append(dim["n"])

    @typechecked
    async def later(x: Shape["n"]) -> AsyncGenerator[Shape["n"], Shape["n"]]:
        try:
            yield (4,) if (yield x) == x else x
        finally:
            seen.append(dim["n"])

    async def main(sent):
        generator = later((3,))
        await anext(generator)
        with pytest.raises(KTypeCheckError):
            await generator.asend(sent)

    for sent in ((4,), (3,)):  # refused itself; answered by what is refused
        generator = plain((3,))
        next(generator)
        with pytest.raises(KTypeCheckError):
            generator.send(sent)
        asyncio.run(main(sent))
    assert seen == [3, 3, 3, 3]
