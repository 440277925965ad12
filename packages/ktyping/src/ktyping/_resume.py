"""Generators and coroutines: the scope is active only while their code runs."""

from collections.abc import Generator
from typing import Any

from ktyping._scope import CURRENT, Scope


class Resumed:
    """An awaitable that enters a scope around each step of a coroutine.

    Between the steps other tasks run: they must not see this scope.
    """

    __slots__ = ("coroutine", "scope")

    def __init__(self, scope: Scope, coroutine: Any):
        self.scope = scope
        self.coroutine = coroutine

    def __await__(self) -> Generator[Any, Any, Any]:
        step, value = self.coroutine.send, None
        while True:
            token = CURRENT.set(self.scope)
            try:
                waiting = step(value)
            except StopIteration as stop:
                return stop.value
            finally:
                CURRENT.reset(token)
            try:
                step, value = self.coroutine.send, (yield waiting)
            except GeneratorExit:
                close_in(self.scope, self.coroutine)
                raise
            except BaseException as error:
                step, value = self.coroutine.throw, error


def close_in(scope: Scope, generator: Any) -> None:
    """Closes a generator or coroutine; what it does at its end sees its dims."""
    token = CURRENT.set(scope)
    try:
        generator.close()
    finally:
        CURRENT.reset(token)


def iterate(plan: Any, mode: str, scope: Scope, generator: Any) -> Any:
    """Runs a generator in its scope; checks what it yields, receives, returns."""
    step, value = generator.send, None
    count = 0
    try:
        while True:
            token = CURRENT.set(scope)
            try:
                given = step(value)
            except StopIteration as stop:
                result = stop.value
                break
            finally:
                CURRENT.reset(token)
            plan.match_result(mode, scope, f"yield #{count}", given, plan.yields)
            try:
                step, value = generator.send, (yield given)
            except GeneratorExit:
                raise
            except BaseException as error:
                step, value = generator.throw, error
            else:
                if value is not None:
                    plan.match_result(mode, scope, f"send #{count}", value, plan.sends)
            count += 1
    finally:
        close_in(scope, generator)  # also when what it gave or got does not fit
    plan.match_result(mode, scope, "return value", result, plan.returns)
    return result


async def iterate_async(plan: Any, mode: str, scope: Scope, generator: Any) -> Any:
    """Runs an async generator in its scope; checks what it yields and receives."""
    step = generator.asend(None)
    count = 0
    try:
        while True:
            try:
                given = await Resumed(scope, step.__await__())
            except StopAsyncIteration:
                return
            plan.match_result(mode, scope, f"yield #{count}", given, plan.yields)
            try:
                value = yield given
            except GeneratorExit:
                raise
            except BaseException as error:
                step = generator.athrow(error)
            else:
                if value is not None:
                    plan.match_result(mode, scope, f"send #{count}", value, plan.sends)
                step = generator.asend(value)
            count += 1
    finally:
        await Resumed(scope, generator.aclose().__await__())
