"""What users call: `typechecked`, `check_type`, `isinstance`, `shape`."""

import builtins
import functools
import os
import sys
from collections.abc import Callable, Mapping
from types import FrameType, FunctionType, MethodType
from typing import Any, TypeVar, overload

from ktyping import _dims as d
from ktyping._arithmetic import Undefined, Unknown, evaluate
from ktyping._blame import Item, blame, match_all
from ktyping._block import Block, BlockOrigin
from ktyping._check import checker_for
from ktyping._checker import Trial
from ktyping._classes import has_fields, wrap_class
from ktyping._config import config
from ktyping._errors import (
    ShapeError,
)
from ktyping._function import wrap_function
from ktyping._hypothesis import EMPTY, close_all
from ktyping._interpolate import fill
from ktyping._lenient import bind_what_fits
from ktyping._options import Options, checked_options
from ktyping._parser import parse
from ktyping._report import Context, make_error, warn_mismatch
from ktyping._scope import CURRENT, Dims, Scope, owned_scope, scope_of
from ktyping._traced import is_traced
from ktyping._verdicts import fits_alone

T = TypeVar("T")


@overload
def typechecked(
    target: T,
    /,
    *,
    new_scope: bool = True,
    mode: str | None = None,
    always: bool = ...,
    every: int = 1,
    ties: Mapping[str, str] | None = None,
) -> T: ...
@overload
def typechecked(
    *,
    new_scope: bool = True,
    mode: str | None = None,
    always: bool = False,
    every: int = 1,
    ties: Mapping[str, str] | None = None,
) -> Any: ...


def typechecked(
    target: Any = None,
    /,
    *,
    new_scope: bool = True,
    mode: str | None = None,
    always: bool = False,
    every: int = 1,
    ties: Mapping[str, str] | None = None,
) -> Any:
    """Checks arguments and results against their annotations.

    It decorates functions, methods, class and static methods, properties,
    generators and coroutines of every kind, and dataclasses, NamedTuples and classes
    of attrs. Of a callable object it gives the checked `__call__`.
    `with typechecked():` opens a scope for `check_type` and `dim` in a block.

    Args:
      target: What to decorate; left out in `@typechecked(...)` and in `with`.
      new_scope: Whether each call has dims of its own. If not, it takes part in the
        dims of the caller, and opens a scope only when there is none.
      mode: `on`, `warn`, `dims`, `trace` or `off` for this target, before any
        configuration.
      always: Wrap even if checking was off when ktyping was imported.
      every: Check the first of so many calls, and every call that jax traces; `dim`,
        `shape` and `check_type` do nothing or are refused in the calls left out.
      ties: Names of dims -> names of dims of the scope around a call, that of the
        checked function or block it is made from: the two are one dim.

    Returns:
      The checked target, or a decorator that is a context manager as well.

    Raises:
      TypeError: When the target is of a kind that cannot be checked.
      ValueError: When an option is not one of these, or does not fit the others.
    """
    frame = sys._getframe(1)
    options = checked_options(new_scope, mode, always, every, ties)
    if target is None:
        return _Typechecked(frame, options)
    return _decorate(target, frame, options)


class _Typechecked(Block):
    """What `typechecked(...)` without a target gives: decorator and context."""

    def __init__(self, frame: FrameType, options: Options):
        super().__init__(frame)
        self.options = options

    def __call__(self, target: Any) -> Any:
        return _decorate(target, sys._getframe(1), self.options)


def _decorate(target: Any, frame: FrameType, options: Options) -> Any:
    module = getattr(target, "__module__", None)
    if config.forced_in(module):
        options = options._replace(mode=None)
    elif options.mode == "off" or (
        config.off_at_import and not _wraps_anyway(options.always, module)
    ):
        return target

    def again(inner: Any) -> Any:
        return _decorate(inner, frame, options)

    if builtins.isinstance(target, classmethod | staticmethod):
        return type(target)(again(target.__func__))
    if builtins.isinstance(target, property):
        return _decorate_property(target, again)
    if builtins.isinstance(target, functools.cached_property):
        made = functools.cached_property(again(target.func))
        made.__doc__ = target.__doc__
        return made
    if builtins.isinstance(target, type) and has_fields(target):
        if options.for_functions:
            raise TypeError(
                f"every= and ties= are for calls of functions; {target.__qualname__} "
                "is a class of fields."
            )
        return wrap_class(target, mode=options.mode, frame=frame)
    if builtins.isinstance(target, FunctionType):
        return wrap_function(target, options=options, frame=frame)
    if builtins.isinstance(target, MethodType):
        return again(target.__func__).__get__(target.__self__)
    if _is_callable_object(target):
        return again(type(target).__call__).__get__(target)
    raise TypeError(_unsupported(target))


def _is_callable_object(target: Any) -> bool:
    # A jitted function has no `__call__` written in Python, or a `lower`: there the
    # check belongs under jit.
    if builtins.isinstance(target, type) or not callable(target):
        return False
    call = type(target).__call__
    return builtins.isinstance(call, FunctionType) and not hasattr(target, "lower")


def _wraps_anyway(always: bool, module: str | None) -> bool:
    rule = config.rule_of(module) or "off"
    return always or rule != "off" or os.environ.get("KTYPING_RUNTIME") == "1"


def _decorate_property(target: property, again: Callable[[Any], Any]) -> property:
    return property(
        target.fget and again(target.fget),
        target.fset and again(target.fset),
        target.fdel and again(target.fdel),
        doc=target.__doc__,
    )


def _unsupported(target: Any) -> str:
    name = getattr(target, "__qualname__", type(target).__qualname__)
    advice = "It takes functions, methods, properties, generators, coroutines, "
    advice += "dataclasses and NamedTuples."
    if hasattr(target, "lower") and hasattr(target, "__wrapped__"):
        advice = "Put typechecked under jit: `@jax.jit` above, `@typechecked` below."
    elif builtins.isinstance(target, type):
        advice = "Decorate its methods, or make it a dataclass.\n" + advice
    elif builtins.isinstance(target, functools.partial):
        advice = "Decorate the function before it goes into the partial.\n" + advice
    elif hasattr(target, "__wrapped__"):
        advice = "Put typechecked under the other decorator, next to the function.\n"
    return f"typechecked cannot check {name} ({type(target).__name__}).\n{advice}"


def check_type(value: T, annotation: Any, *, nested_ok: bool = False) -> T:
    """Checks one value and binds its dims in the scope of the calling code.

    Args:
      value: Any value.
      annotation: What it must match: `Float["*b n"]`, `list[Int["n"]]`, `int`.
      nested_ok: Also work outside of a checked function or block; without a scope
        the value is checked alone and binds nothing.

    Returns:
      The value.

    Raises:
      KTypeCheckError: When it does not match; nothing is bound then.
      NoActiveScopeError: When there is no scope and `nested_ok` is False.
    """
    frame = sys._getframe(1)
    mode = config.mode_in(frame.f_globals.get("__name__"))
    if mode == "off":
        return value
    scope = owned_scope(frame)
    if _is_left_out(mode, scope, value):
        return value
    if scope is None and nested_ok:
        origin = BlockOrigin(frame.f_code, frame.f_lineno)
        scope = CURRENT.get()
        if scope is None or not scope.hypotheses:
            scope = Scope((EMPTY,), origin, None)
    if scope is None:
        scope = scope_of(frame, False, "check_type(...)")
    item = Item("value", value, checker_for(annotation))
    trial = Trial(scope.values, None, scope.typevars)
    if scope.extend(lambda readings: match_all([item], readings, trial)):
        return value
    if mode == "dims":
        scope.hypotheses = bind_what_fits([item], scope.hypotheses, trial)
        return value
    verdict = blame([item], scope.hypotheses, Trial(scope.values))
    place = f"check_type in {scope.origin}"
    error = make_error(item, verdict, Context("value", scope.values, place))
    if mode == "warn":
        warn_mismatch(error)
        return value
    raise error


def _is_left_out(mode: str, scope: Scope | None, value: Any) -> bool:
    """Whether a value is in a call that is not checked, or not traced."""
    if scope is not None and not scope.hypotheses:
        return True
    in_call = scope is not None and not builtins.isinstance(scope.origin, BlockOrigin)
    return mode == "trace" and not in_call and not is_traced((value,))


def matches(value: Any, annotation: Any) -> bool:
    """Whether a value matches an annotation; never binds a dim.

    Inside a checked function the dims known so far count; elsewhere the annotation
    stands alone.
    """
    scope = CURRENT.get()
    if scope is not None:
        scope = owned_scope(sys._getframe(1)) or scope
    checker = checker_for(annotation)
    if scope is not None and scope.hypotheses:
        trial = Trial(scope.values)
        return bool(close_all(checker.match(value, "value", scope.hypotheses, trial)))
    return fits_alone(checker, value)


isinstance = matches


def shape(spec: str, *, nested_ok: bool = False) -> tuple[Any, ...]:
    """Computes a shape from the dims in scope.

    Args:
      spec: A shape spec of names, sizes, runs and expressions: `"*b n c*2"`.
      nested_ok: Use the innermost scope even if it is not that of the calling code.

    Returns:
      The sizes: ints, or symbolic sizes while exporting.

    Raises:
      ShapeError: When a term has no single size >= 0.
      UnboundDimensionError: When a name is not bound.
    """
    frame = sys._getframe(1)
    scope = scope_of(frame, nested_ok, f"shape({spec!r})")
    parsed = fill(parse(spec), scope.values)
    sizes: list[Any] = []
    for term, word in zip(parsed.terms, parsed.words, strict=True):
        sizes += _sizes_of(term, word, parsed, Dims(scope))
    return tuple(sizes)


def _sizes_of(term: d.Term, word: str, spec: d.Spec, dims: Dims) -> tuple[Any, ...]:
    match term:
        case d.Fixed():
            return (term.size,)
        case d.Named() | d.Bounded():
            return (dims[term.name],)
        case d.Variadic() if term.name is not None:
            return dims[f"*{term.name}"]
        case d.Broadcast():
            return (dims[term.name],)
        case d.Expression():
            return (_computed(term, spec, dims),)
        case _:
            raise ShapeError(
                f"{word!r} in {spec.text!r} says no size, so no shape can be made.\n"
                "Use names, sizes, runs (`*b`) and expressions."
            )


def _computed(term: d.Expression, spec: d.Spec, dims: Dims) -> Any:
    bound = {name: dims[f"*{name}"] for name in term.names}
    known = ", ".join(f"{n} = {s[0] if len(s) == 1 else s}" for n, s in bound.items())
    try:
        size = evaluate(term.node, bound)
    except (Undefined, Unknown) as reason:
        message = f"{term.text!r} in {spec.text!r} has no size: {reason} ({known})."
        raise ShapeError(message) from None
    if builtins.isinstance(size, int) and size < 0:
        raise ShapeError(
            f"{term.text!r} in {spec.text!r} is {size}, which is negative ({known})."
        )
    return size
