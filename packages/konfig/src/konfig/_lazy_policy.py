"""Which modules `imports()` leaves alone until `resolve`."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar

from konfig._errors import ConfigTypeError, short

Policy = tuple[tuple[str, ...], tuple[str, ...]]

_POLICIES: ContextVar[tuple[Policy, ...]] = ContextVar("konfig_lazy", default=())


@contextmanager
def lazy_modules(
    patterns: str | Iterable[str] = ("*",), *, except_: str | Iterable[str] = ()
) -> Generator[None]:
    """Inside the block, `imports()` does not import the named modules.

    Their names and calls are then not checked before `resolve`. A context manager and
    a decorator; blocks add up, and exclusions always win.

    Args:
      patterns: Module prefixes: `"foo"` covers `foo.bar`, not `foobar`; `"*"` covers
        everything.
      except_: Prefixes of modules to be imported all the same.
    """
    policy = (_as_tuple(patterns), _as_tuple(except_))
    token = _POLICIES.set((*_POLICIES.get(), policy))
    try:
        yield
    finally:
        _POLICIES.reset(token)


set_lazy_imported_modules = lazy_modules
"""The name that users of Kauldron know."""


def is_lazy(module: str) -> bool:
    """Whether the policy in force leaves a module alone."""
    policies = _POLICIES.get()
    if any(_covers(excluded, module) for _, excluded in policies):
        return False
    return any(_covers(patterns, module) for patterns, _ in policies)


def _as_tuple(patterns: str | Iterable[str]) -> tuple[str, ...]:
    found = (patterns,) if isinstance(patterns, str) else patterns
    if isinstance(found, Iterable):
        found = tuple(found)
        if all(isinstance(pattern, str) for pattern in found):
            return found
    raise ConfigTypeError(
        f"modules are named by texts, not by {short(patterns)}",
        hint="write their names: lazy_modules(['flax', 'optax'])",
    )


def _covers(patterns: Iterable[str], module: str) -> bool:
    return any(
        pattern == "*" or module == pattern or module.startswith(f"{pattern}.")
        for pattern in patterns
    )
