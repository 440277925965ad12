"""Parameters and kinds of functions, told from their code.

`inspect` tells the same, and takes longer to load than all of ktyping; it is asked
where one function stands for another.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

# Flags of code objects, as the documentation of `inspect` names them.
_CO_VARARGS, _CO_VARKEYWORDS = 0x04, 0x08
_CO_GENERATOR, _CO_COROUTINE, _CO_ASYNC_GENERATOR = 0x20, 0x80, 0x200


class Parameter(NamedTuple):
    """One parameter; the kinds have the numbers that `inspect` gives them."""

    name: str
    kind: int
    default: Any

    @property
    def starred(self) -> bool:
        """Whether it takes any number of arguments."""
        return self.kind in (VAR_POSITIONAL, VAR_KEYWORD)


POSITIONAL_ONLY, POSITIONAL_OR_KEYWORD, VAR_POSITIONAL, KEYWORD_ONLY, VAR_KEYWORD = (
    range(5)
)


class _Absent:
    def __repr__(self) -> str:
        return "<no default>"


ABSENT = _Absent()


def parameters_of(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """Returns the parameters of a function, or of the one that it stands for."""
    if hasattr(function, "__wrapped__") or hasattr(function, "__signature__"):
        return _from_inspect(function)
    code: Any = function.__code__
    names = iter(code.co_varnames)
    positional = [next(names) for _ in range(code.co_argcount)]
    keywords = [next(names) for _ in range(code.co_kwonlyargcount)]
    defaults = function.__defaults__ or ()
    given = dict(
        zip(positional[len(positional) - len(defaults) :], defaults, strict=True)
    )
    found = [
        Parameter(name, int(n >= code.co_posonlyargcount), given.get(name, ABSENT))
        for n, name in enumerate(positional)
    ]
    if code.co_flags & _CO_VARARGS:
        found.append(Parameter(next(names), VAR_POSITIONAL, ABSENT))
    named = function.__kwdefaults__ or {}
    found += [Parameter(n, KEYWORD_ONLY, named.get(n, ABSENT)) for n in keywords]
    if code.co_flags & _CO_VARKEYWORDS:
        found.append(Parameter(next(names), VAR_KEYWORD, ABSENT))
    return tuple(found)


def _from_inspect(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    import inspect  # start-up: only for functions under another decorator

    return tuple(
        Parameter(p.name, int(p.kind), ABSENT if p.default is p.empty else p.default)
        for p in inspect.signature(function).parameters.values()
    )


def innermost(function: Any) -> Any:
    """Returns the function under the decorators that say what they wrap."""
    seen = {id(function)}
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
        if id(function) in seen:
            raise ValueError(f"{function!r} wraps itself.")
        seen.add(id(function))
    return function


def kind_of(function: Any) -> str:
    """Returns `plain`, `coroutine` or `generator` (also an asynchronous one)."""
    flags = function.__code__.co_flags
    if flags & _CO_COROUTINE:
        return "coroutine"
    generator = flags & (_CO_GENERATOR | _CO_ASYNC_GENERATOR)
    return "generator" if generator else "plain"
