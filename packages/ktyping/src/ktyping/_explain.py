"""`explain`: what a call would bind. `spec_of`: a signature as data."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ktyping import _dims as d
from ktyping._array_type import ArrayType
from ktyping._check import checker_for
from ktyping._checker import Trial
from ktyping._errors import KTypeCheckError
from ktyping._failure import known_sizes
from ktyping._function import MARK
from ktyping._hints import Unresolved, function_names
from ktyping._options import Options
from ktyping._plan import Plan
from ktyping._report import describe_dims
from ktyping._signature import innermost
from ktyping._special import ShapeType


class Explanation:
    """What a call would bind.

    Attributes:
      fits: Whether the arguments fit the annotations.
      dims: Name -> sizes, as far as all readings agree.
      readings: Name -> sizes, once per reading that is possible.
      error: What the call would raise, or None.
    """

    __slots__ = ("dims", "error", "fits", "readings", "text")

    def __init__(
        self,
        readings: tuple[Mapping[str, tuple[Any, ...]], ...],
        error: KTypeCheckError | None,
        text: str,
    ):
        self.fits = error is None
        self.error = error
        self.readings = readings
        self.dims = {
            name: sizes
            for name, sizes in (readings[0] if readings else {}).items()
            if all(other.get(name) == sizes for other in readings)
        }
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Explanation: {'fits' if self.fits else 'does not fit'}>"


def explain(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Explanation:
    """Returns what a call would bind, without calling.

    Args:
      function: A function, with or without `typechecked`.
      *args: Arguments of the call; descriptions such as `jax.ShapeDtypeStruct` fit
        where the annotations take them.
      **kwargs: Its keyword arguments.

    Returns:
      The dims with what bound them; its text is the table of an error report.

    Raises:
      TypeError: When the arguments do not fit the parameters.
    """
    plan = _plan_of(function)
    plan.prepare_once(None)
    if hasattr(function, "__self__"):
        args = (function.__self__, *args)
    bound = inspect.signature(plan.function).bind(*args, **kwargs)
    bound.apply_defaults()
    values = tuple(bound.arguments[name] for name in plan.names)
    trial = Trial(plan.named(values), owner=plan.owner(values))
    try:
        hypotheses = plan.match(values, trial)
    except KTypeCheckError as error:
        return Explanation(error.hypotheses, error, str(error))
    readings = tuple(known_sizes(h) for h in hypotheses)
    text = "\n".join([f"{plan}: fits", *describe_dims(hypotheses)])
    return Explanation(readings, None, text)


def spec_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Returns the signature of a function as data that JSON can hold.

    Returns:
      `name` and `module` of the function; `parameters` and `returns`, where each
      has its `annotation` as text, the `dims` that it names, and for an array type
      its `dtypes` (names of families) and `shape` (the spec); and all `dims`.

    Raises:
      TypeError: When it is no function.
    """
    plan = _plan_of(function)
    found = plan.resolved(None)
    parameters = [
        {"name": p.name, **_described(found.get(p.name, Any))} for p in plan.parameters
    ]
    returns = _described(found.get("return", Any))
    dims = [name for part in (*parameters, returns) for name in part["dims"]]
    return {
        "name": plan.function.__qualname__,
        "module": plan.function.__module__,
        "parameters": parameters,
        "returns": returns,
        "dims": list(dict.fromkeys(dims)),
    }


def _plan_of(function: Callable[..., Any]) -> Plan:
    function = getattr(function, "__func__", function)
    known = getattr(function, MARK, None)
    if known is None:
        if not inspect.isfunction(function):
            raise TypeError(f"Expected a function, got {function!r}.")
        inner = innermost(function)
        known = Plan(function, Options(), function_names(inner, None))
    return known


def _described(annotation: Any) -> dict[str, Any]:
    if isinstance(annotation, Unresolved):
        return {"annotation": str(annotation.annotation), "dims": []}
    checker = checker_for(annotation)
    text = repr(checker)
    part: dict[str, Any] = {"annotation": text, "dims": _names(annotation)}
    if isinstance(annotation, ArrayType):
        spec = annotation.spec_of_shape
        part["dtypes"] = [family.name for family in annotation.families]
        part["shape"] = None if spec is None else spec.text
    return part


def _names(annotation: Any) -> list[str]:
    """Returns the names of dims in an annotation, runs with a star, in order."""
    if isinstance(annotation, ArrayType | ShapeType):
        is_array = isinstance(annotation, ArrayType)
        spec = annotation.spec_of_shape if is_array else annotation.spec
        terms = spec.terms if spec is not None else ()
        return list(dict.fromkeys(name for term in terms for name in _of_term(term)))
    inner = getattr(annotation, "leaf", None)
    args = getattr(annotation, "__args__", ()) if inner is None else (inner,)
    return list(dict.fromkeys(name for arg in args for name in _names(arg)))


def _of_term(term: d.Term) -> list[str]:
    match term:
        case d.Named() | d.Bounded() | d.Broadcast():
            return [term.name]
        case d.Variadic():
            return [f"*{term.name}"] if term.name is not None else []
        case d.Expression():
            return sorted(term.names)
        case d.Optional():
            return _of_term(term.term)
        case d.Choice():
            return [name for one in term.terms for name in _of_term(one)]
        case _:
            return []
