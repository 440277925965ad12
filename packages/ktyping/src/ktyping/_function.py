"""Wraps functions and methods."""

import functools
import types
import typing
from collections.abc import Callable
from types import FrameType
from typing import Any

from ktyping import _dims as d
from ktyping._array_type import ArrayType
from ktyping._errors import KTypingError, SpecInterpolationError
from ktyping._hints import Unresolved, function_names
from ktyping._interpolate import roots
from ktyping._options import Options
from ktyping._plan import Plan
from ktyping._signature import innermost, kind_of
from ktyping._source import make_wrapper
from ktyping._special import ShapeType

MARK = "__ktyping_plan__"


class DefaultError(KTypingError, TypeError):
    """A default value that its own annotation refuses."""


def wrap_function(
    function: Callable[..., Any],
    *,
    options: Options,
    frame: FrameType | None,
) -> Callable[..., Any]:
    """Returns the function with its arguments and result checked.

    Raises:
      TypeError: When a default of None does not fit its annotation.
      SpecInterpolationError: When a `{name}` names no parameter.
    """
    if hasattr(function, MARK):
        return function
    plan = Plan(function, options, function_names(innermost(function), frame))
    _check_declaration(plan)
    wrapper = make_wrapper(function, plan.parameters, kind_of(function), plan)
    functools.update_wrapper(wrapper, function)
    setattr(wrapper, MARK, plan)
    return wrapper


def _check_declaration(plan: Plan) -> None:
    annotations = plan.resolved(None)
    for parameter in plan.parameters:
        annotation = annotations.get(parameter.name)
        if parameter.default is None and _refuses_none(annotation):
            raise DefaultError(
                f"The parameter {parameter.name!r} of {plan} has the default None, "
                f"which {_shown(annotation)} refuses.\n"
                f"Write `{parameter.name}: {_shown(annotation)} | None = None`."
            )
    for annotation in annotations.values():
        for spec in _specs(annotation):
            missing = sorted(roots(spec) - set(plan.names))
            if missing:
                raise SpecInterpolationError(
                    f"`{{{missing[0]}}}` in the shape spec {spec.text!r} names no "
                    f"parameter of {plan}.\nParameters: {', '.join(plan.names)}."
                )


_REFUSE_NONE = (bool, int, float, complex, str, bytes, list, tuple, dict, set)


def _refuses_none(annotation: Any) -> bool:
    """Whether None does not fit, as far as that shows without a checker."""
    if isinstance(annotation, ArrayType | ShapeType):
        return True
    origin = typing.get_origin(annotation)
    if origin is typing.Union or origin is types.UnionType:
        return all(map(_refuses_none, typing.get_args(annotation)))
    return (origin or annotation) in _REFUSE_NONE


def _shown(annotation: Any) -> str:
    """Returns an annotation as one writes it."""
    is_class = isinstance(annotation, type) and typing.get_origin(annotation) is None
    return annotation.__qualname__ if is_class else repr(annotation)


def _specs(annotation: Any) -> list[d.Spec]:
    if isinstance(annotation, ArrayType):
        spec = annotation.spec_of_shape
        return [spec] if spec is not None and spec.interpolated else []
    if isinstance(annotation, Unresolved):
        return []
    return [s for arg in typing.get_args(annotation) for s in _specs(arg)]
