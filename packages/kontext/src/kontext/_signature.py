"""Whether the names of keys fit the signature of a function."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from kontext._errors import PathTypeError, SignatureMismatchError


class _Accepts(NamedTuple):
    """What a function can be called with by name."""

    names: frozenset[str]
    required: tuple[str, ...]
    any_name: bool
    text: str


_KNOWN: weakref.WeakKeyDictionary[Any, dict[bool, _Accepts]] = (
    weakref.WeakKeyDictionary()
)


def check_names(
    func: Callable[..., Any], names: Iterable[str], *, owner: str, unset: set[str]
) -> None:
    """Raises if `func(**{name: ...})` cannot be called.

    Args:
      func: The function that is to take the values of the keys.
      names: The keys that have a path.
      owner: The class of the keys, for the message.
      unset: The keys that are None, for the message.

    Raises:
      SignatureMismatchError: With what is missing and what is not accepted.
    """
    accepts = _accepts(func)
    given = dict.fromkeys(names)
    missing = [name for name in accepts.required if name not in given]
    unexpected = (
        []
        if accepts.any_name
        else [name for name in given if name not in accepts.names]
    )
    if missing or unexpected:
        raise SignatureMismatchError(
            owner,
            accepts.text,
            missing=[name for name in missing if name not in unset],
            unexpected=unexpected,
            unset=[name for name in missing if name in unset],
        )


def _accepts(func: Callable[..., Any]) -> _Accepts:
    """Reads a signature once per function; methods share that of their function."""
    is_bound = getattr(func, "__self__", None) is not None
    plain = getattr(func, "__func__", func)
    try:
        known = _KNOWN.setdefault(plain, {})
    except TypeError:  # a callable without hash, or without weak references
        return _read_signature(func)
    if is_bound not in known:
        known[is_bound] = _read_signature(func)
    return known[is_bound]


def _read_signature(func: Callable[..., Any]) -> _Accepts:
    # Not free to import, and only needed when a function is given.
    import inspect

    name = getattr(func, "__qualname__", type(func).__qualname__)
    try:
        signature = inspect.signature(func)
    except TypeError:
        raise PathTypeError(
            "the function of the keys cannot be called\n"
            f"  got {type(func).__name__} {func!r:.60}\n"
            "  func= and __kontext_func__ give a function, or a method of the component"
        ) from None
    except ValueError:
        # Some functions written in C do not tell; calling them will.
        return _Accepts(frozenset(), (), any_name=True, text=f"{name}(...)")
    parameters = signature.parameters.values()
    named = [
        p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    ]
    required = [
        p
        for p in parameters
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    plain = signature.replace(
        parameters=[p.replace(annotation=p.empty) for p in parameters],
        return_annotation=signature.empty,
    )
    return _Accepts(
        names=frozenset(p.name for p in named),
        required=tuple(p.name for p in required),
        any_name=any(p.kind is p.VAR_KEYWORD for p in parameters),
        text=f"{name}{plain}",
    )
