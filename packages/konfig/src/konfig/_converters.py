"""Objects of the standard library and numpy scalars, as config values."""

from __future__ import annotations

import sys

from konfig import _convert
from konfig._const import Const
from konfig._errors import ConfigTypeError, short
from konfig._node import ConfigDict, new_call
from konfig._tree import TRUSTED
from konfig._typing import Any


def _call(qualname: str, *args: Any, **kwargs: Any) -> ConfigDict:
    return new_call(qualname, args, kwargs, TRUSTED)


def _is_enum_member(value: Any) -> bool:
    enum = sys.modules.get("enum")
    return enum is not None and isinstance(value, enum.Enum)


def _enum_member(value: Any) -> Const:
    name = _convert.qualname_of(type(value))
    if name is None or type(value).__members__.get(value.name) is not value:
        raise ConfigTypeError(
            f"{short(value)} has no importable name",
            hint="define its enum at the top level of a module",
        )
    return Const(f"{name}.{value.name}")


def _is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(type(value), "_fields")


def _named_tuple(value: Any) -> ConfigDict:
    name = _convert.qualname_of(type(value))
    if name is None:
        raise ConfigTypeError(
            f"{type(value).__qualname__} has no importable name: {short(value)}",
            hint="define it at the top level of a module, or give a tuple or a dict",
        )
    fields = dict(zip(type(value)._fields, value, strict=True))
    try:
        return _call(name, **fields)
    except ConfigTypeError as error:
        # The tuple was built by a call that could have been described instead.
        kind = type(value).__qualname__
        raise ConfigTypeError(
            f"a built {kind} cannot stand in a config: {error.message}",
            hint=error.hint,
        ) from None


def _is_partial(value: Any) -> bool:
    functools = sys.modules.get("functools")
    return functools is not None and type(value) is functools.partial


def _partial(value: Any) -> ConfigDict:
    return _call("functools:partial", value.func, *value.args, **value.keywords)


def _is_array_scalar(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        return True
    jax = sys.modules.get("jax")
    array = getattr(jax, "Array", None)
    return array is not None and isinstance(value, array) and value.shape == ()


def _array_scalar(value: Any) -> Any:
    """The number, text or date that it is; a time in nanoseconds is no number."""
    try:
        plain = value.item()
    except NotImplementedError:  # an array of jax that holds no numbers
        raise ConfigTypeError(
            f"a random key cannot stand in a config: {short(value)}",
            hint="keep the seed, and make the key with jax.random.key(seed)",
        ) from None
    timed = value.dtype.kind in "mM" and (plain is None or type(plain) is int)
    if timed or type(plain) is type(value):
        raise ConfigTypeError(
            f"{short(value)} of {value.dtype} has no exact form in a config",
            hint="give a plain number, a text or a date in its place",
        )
    return _convert.convert(plain)


_STANDARD: dict[tuple[str, str], Any] = {
    ("builtins", "range"): lambda v: _call("builtins:range", v.start, v.stop, v.step),
    ("datetime", "date"): lambda v: _call("datetime:date", v.year, v.month, v.day),
    ("datetime", "datetime"): lambda v: _call(
        "datetime:datetime.fromisoformat", v.isoformat()
    ),
    ("datetime", "timedelta"): lambda v: _call(
        "datetime:timedelta", v.days, v.seconds, v.microseconds
    ),
    ("decimal", "Decimal"): lambda v: _call("decimal:Decimal", str(v)),
    ("fractions", "Fraction"): lambda v: _call(
        "fractions:Fraction", v.numerator, v.denominator
    ),
    ("uuid", "UUID"): lambda v: _call("uuid:UUID", str(v)),
}


def _name(value: Any) -> tuple[str, str]:
    return type(value).__module__, type(value).__qualname__


_convert.register_fallback(_is_enum_member, _enum_member)
_convert.register_fallback(_is_named_tuple, _named_tuple)
_convert.register_fallback(_is_partial, _partial)
_convert.register_fallback(_is_array_scalar, _array_scalar)
_convert.register_fallback(
    lambda value: _name(value) in _STANDARD,
    lambda value: _STANDARD[_name(value)](value),
)
