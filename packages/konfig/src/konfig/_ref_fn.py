"""Functions of references: lazily called, or replacing what `if` and `max` do."""

from __future__ import annotations

import itertools
from typing import Any

from konfig import _convert
from konfig._const import Const
from konfig._errors import ConfigTypeError, ConfigValueError, listed, short
from konfig._origin import capture
from konfig._proxy import Proxy
from konfig._ref import Expr, LocalFunction


def ref_fn(fn: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A lazy call: `fn` runs when the field that holds it is read.

    Args:
      fn: A function of values; an importable one is written to JSON, a lambda or a
        local function works in memory alone.
      *args: Values and references at any depth. Without arguments the result is a
        function that takes them: `ref_fn(math.sqrt)(cfg.ref.x)`.
      **kwargs: More of them.

    Returns:
      A lazy value, to be assigned to a field.
    """
    function = _function(fn)
    if args or kwargs:
        return Expr("call", (function, *args), kwargs)

    def call_later(*args: Any, **kwargs: Any) -> Any:
        return Expr("call", (function, *args), kwargs)

    return call_later


def fstr(template: str, /, *args: Any, **kwargs: Any) -> Any:
    """A lazy `template.format(…)`: `fstr("{}/ckpt", cfg.ref.workdir)`.

    Args:
      template: With `{}`, `{0}` or `{name}`, and format specifications. What stands
        between the braces has no attributes or items: take them from the reference.
      *args: Values and references.
      **kwargs: More of them.

    Raises:
      ConfigValueError: When the template is malformed, looks into a value, or has a
        field for which there is none.
    """
    names = {*map(str, range(len(args))), *kwargs}
    position = itertools.count()
    fields = _fields_of(template)
    if "" in fields and any(field.isdecimal() for field in fields):
        raise ConfigValueError(
            f"a template has fields {{}} or {{0}}, not both: {short(template)}",
            hint="number all of them, or none",
        )
    for field in fields:
        if "." in field or "[" in field:
            raise ConfigValueError(
                f"{{{field}}} looks into a value: {template!r}",
                hint="take the part from the reference: cfg.ref.model.name",
            )
        if (field or str(next(position))) not in names:
            raise ConfigValueError(
                f"no value is given for {{{field}}}: {template!r}",
                hint=f"given: {listed(sorted(names))}",
            )
    return Expr("format", (template, *args), kwargs)


def _fields_of(template: str) -> list[str]:
    """What stands between the braces, those of format specifications behind theirs."""
    import string  # not needed before the first template

    found = []
    try:
        for _, field, spec, how in string.Formatter().parse(template):
            if how not in (None, "r", "s", "a"):
                raise ValueError(f"no conversion !{how}, there are !r, !s and !a")
            if field is not None:
                found += [field, *_fields_of(spec or "")]
    except (TypeError, ValueError) as error:
        raise ConfigValueError(
            f"not a template: {error}: {short(template)}",
            hint="write {} where a value goes, and {{ for a brace",
        ) from None
    return found


def where(condition: Any, then: Any, otherwise: Any) -> Any:
    """Lazily `then if condition else otherwise`; only what is chosen is evaluated."""
    return Expr("where", (condition, then, otherwise))


def all_of(*conditions: Any) -> Any:
    """Lazily whether every condition holds."""
    return Expr("all_of", conditions)


def any_of(*conditions: Any) -> Any:
    """Lazily whether some condition holds."""
    return Expr("any_of", conditions)


def not_(condition: Any) -> Any:
    """Lazily `not condition`."""
    return Expr("not", (condition,))


def maximum(*values: Any) -> Any:
    """Lazily the greatest of the values."""
    return Expr("maximum", values)


def minimum(*values: Any) -> Any:
    """Lazily the least of the values."""
    return Expr("minimum", values)


def _function(fn: Any) -> Any:
    if isinstance(fn, (Const, Proxy)):
        return fn
    if not callable(fn):
        raise ConfigTypeError(f"ref_fn takes a function, not {type(fn).__qualname__}")
    try:
        found = _convert.convert(fn)
    except ConfigTypeError:
        return LocalFunction(fn, capture())
    return found if isinstance(found, Const) else LocalFunction(fn, capture())
