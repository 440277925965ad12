"""From a Python value to a config value, or the refusal.

The table knows who converts which type. Modules further up enter the types that they
own, users add theirs with `konfig.register_converter`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from types import (
    BuiltinFunctionType,
    EllipsisType,
    FunctionType,
    MethodType,
    ModuleType,
)

from konfig._const import Const
from konfig._errors import ConfigTypeError, short
from konfig._paths import format_below, format_path
from konfig._typing import Any

ATOMS: frozenset[type] = frozenset(
    (type(None), bool, int, float, complex, str, bytes, EllipsisType, Const)
)
"""Types of scalars."""

STORED: set[type] = set(ATOMS)
"""Types whose values are stored as they are; nodes and references enter theirs."""

_TABLE: dict[type, Callable[[Any], Any]] = {}
_OWN: set[type] = set()
_FALLBACKS: list[tuple[Callable[[Any], bool], Callable[[Any], Any]]] = []


def below(
    error: ConfigTypeError, key: Any, owner: str | None = None
) -> ConfigTypeError:
    """Adds the key under which a refused value was to be stored.

    Args:
      error: The refusal.
      key: The key.
      owner: What gets the value; None stands for a config that is being made.
    """
    error.steps = (key, *error.steps)
    error.owner = owner
    error.path = format_below(error.steps) if owner else format_path(error.steps, "cfg")
    return error


def register(kind: type, convert: Callable[[Any], Any] | None = None) -> None:
    """Enters a type of konfig itself; without a converter it is stored as it is."""
    _OWN.add(kind)
    if convert is None:
        STORED.add(kind)
    else:
        _TABLE[kind] = convert


def register_converter(kind: type, described: Callable[[Any], Any]) -> None:
    """Teaches configs to store the instances of a type.

    Args:
      kind: The type; subclasses need their own entry.
      described: From an instance to what is stored for it: a dict, or a call,
        `konfig.call(kind, …)`.
    """
    if not isinstance(kind, type) or not callable(described):
        raise ConfigTypeError(
            f"a converter is a class and a function, not {short(kind)} and "
            f"{short(described)}"
        )

    if kind in STORED or kind in _OWN:
        raise ConfigTypeError(
            f"{kind.__qualname__} is a type of configs themselves: no converter "
            "takes its place"
        )

    def convert_instance(value: Any) -> Any:
        made = described(value)
        if type(made) is kind:
            raise ConfigTypeError(
                f"the converter of {kind.__qualname__} gives a {kind.__qualname__} back"
            )
        return convert(made)

    _TABLE[kind] = convert_instance


@contextmanager
def converted_as(kind: type, convert: Callable[[Any], Any]) -> Generator[None]:
    """Inside the block, instances of a type are stored as a function says."""
    before = _TABLE.get(kind)
    _TABLE[kind] = convert
    try:
        yield
    finally:
        if before is None:
            del _TABLE[kind]
        else:
            _TABLE[kind] = before


def register_fallback(
    applies: Callable[[Any], bool],
    convert: Callable[[Any], Any],
    *,
    first: bool = False,
) -> None:
    """Enters a conversion that is chosen by a test instead of by the exact type."""
    _FALLBACKS.insert(0 if first else len(_FALLBACKS), (applies, convert))


def convert(value: Any) -> Any:
    """The config value for a Python value.

    Raises:
      ConfigTypeError: When the value is a live object that no text could rebuild.
    """
    kind = type(value)
    if kind in STORED:
        return value
    known = _TABLE.get(kind)
    if known is not None:
        return known(value)
    for applies, fallback in _FALLBACKS:
        if applies(value):
            return fallback(value)
    return _convert_rest(value)


def convert_in_place(stored: dict[Any, Any] | list[Any], items: Any) -> None:
    """Replaces values by what is stored for them.

    Args:
      stored: A dict or list that nobody else has.
      items: Its keys and values.

    Raises:
      ConfigTypeError: With the key of what cannot stand in a config.
    """
    as_they_are, table = STORED, _TABLE
    for key, value in items:
        kind = type(value)
        if kind not in as_they_are:
            try:
                stored[key] = table[kind](value) if kind in table else convert(value)
            except ConfigTypeError as error:
                raise below(error, key) from None


def _convert_rest(value: Any) -> Any:
    as_config = getattr(type(value), "__as_konfig__", None)
    if as_config is not None:
        return convert(as_config(value))
    if isinstance(value, slice):
        return _convert_slice(value)
    if is_path(value):
        return value
    if isinstance(value, type) or _is_function(value):
        return _const_of(value)
    raise ConfigTypeError(
        f"an object of {_kind(value)} cannot stand in a config: {short(value)}",
        hint=_remedy(value),
    )


def _convert_slice(value: slice) -> slice:
    bounds = [convert(bound) for bound in (value.start, value.stop, value.step)]
    for bound in bounds:
        if type(bound) not in ATOMS:
            raise ConfigTypeError(
                f"the bounds of a slice in a config are scalars, not {short(bound)}",
                hint="describe its call: konfig.call(slice, start, stop)",
            )
    return slice(*bounds)


def is_path(value: Any) -> bool:
    """Whether a value is a `pathlib` path; the module is not loaded for the answer."""
    pathlib = sys.modules.get("pathlib")
    return pathlib is not None and isinstance(value, pathlib.PurePath)


def _is_function(value: Any) -> bool:
    return isinstance(value, (FunctionType, BuiltinFunctionType, MethodType)) or (
        # jitted and wrapped functions carry the names of what they wrap
        callable(value)
        and hasattr(value, "__wrapped__")
        and hasattr(value, "__qualname__")
    )


def _const_of(value: Any) -> Const:
    name = qualname_of(value)
    if name is not None:
        return Const(name)
    what = getattr(value, "__qualname__", None) or short(value)
    if "<lambda>" in what:
        why = "a lambda has no importable name"
    elif "<locals>" in what:
        maker = what.partition(".<locals>")[0]
        raise ConfigTypeError(
            f"{what} is made inside a function, so it has no importable name",
            hint=f"describe the call that makes it: import {maker} (or what calls it) "
            "inside konfig.imports(); or define it at the top level of a module",
        )
    elif isinstance(value, MethodType) or getattr(value, "__self__", None) is not None:
        raise ConfigTypeError(
            f"{what} is bound to an object, so it has no importable name",
            hint="describe the object by a call, and take the method from it in a "
            "function of a module",
        )
    else:
        why = f"importing {what} by its name does not give the same object back"
    raise ConfigTypeError(why, hint="define it at the top level of a module")


def qualname_of(value: Any) -> str | None:
    """`"module:attr"` when that name leads back to the very object, else None."""
    module = getattr(value, "__module__", None)
    owner = getattr(value, "__self__", None)
    if module is None and isinstance(owner, type):
        module = owner.__module__  # dict.fromkeys tells its class alone
    name = getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return None
    found: Any = sys.modules.get(module)
    for attribute in name.split("."):
        found = getattr(found, attribute, None)
    # Class methods are bound anew each time that they are looked up.
    bound = isinstance(value, (MethodType, BuiltinFunctionType))
    same = found is value or (bound and found == value)
    return f"{module}:{name}" if same else None


def _kind(value: Any) -> str:
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


_PLAIN_FORMS: tuple[tuple[type, str], ...] = (
    (str, "a plain text: str(value)"),
    (int, "a plain number: int(value)"),
    (float, "a plain number: float(value)"),
    (bytearray, "bytes: bytes(value)"),
    (Iterator, "a list: list(value)"),
)


def _remedy(value: Any) -> str:
    name = type(value).__qualname__
    if isinstance(value, Mapping):
        return "give a plain dict"
    if isinstance(value, ModuleType):
        return f"name it: konfig.const({value.__name__})"
    for kind, instead in _PLAIN_FORMS:
        if isinstance(value, kind):
            return f"give {instead}"
    remedy = (
        f"describe it instead of building it: import {name} inside konfig.imports(), "
        f"or write konfig.call({name}, …), or give {name} a method __as_konfig__"
    )
    kind = type(value)
    if hasattr(kind, "__dataclass_fields__") or hasattr(kind, "__array__"):
        remedy += "; konfig.export(value) describes what is built already"
    return remedy
