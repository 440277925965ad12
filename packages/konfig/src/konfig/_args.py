"""Arguments of `get_config`: read from text, typed by its signature."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from konfig._errors import (
    ConfigFileError,
    KonfigError,
    OverrideError,
    did_you_mean,
    joined,
    listed,
)
from konfig._flag import Override, parse_override
from konfig._literal import adapt
from konfig._node import ConfigDict
from konfig._overrides import apply_overrides
from konfig._types import Mismatch

_REQUIRED = object()


def parse_arguments(text: str) -> tuple[Override, ...]:
    """Reads `size=L,dims=[1,2]`, what follows the colon behind a config file.

    Raises:
      OverrideError: When a part is no `name=value`.
    """
    return tuple([parse_override(part, part) for part in _split(text) if part])


def _split(text: str) -> list[str]:
    """The parts between commas that stand outside of quotes and brackets."""
    parts, start, depth, quote = [], 0, 0, ""
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and not depth:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]


class Arguments:
    """The call of a config function, from its signature and what was typed.

    Args:
      function: `get_config(args)` with a dataclass as the annotation of its parameter,
        or `get_config(size="S", n=3)`.
      given: Values by name, as objects.
      overrides: Values by path, as texts.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        given: Mapping[str, Any],
        overrides: Iterable[Override],
    ):
        self._function = function
        self.dataclass = _dataclass_of(function)
        self._fields = _fields_of(function, self.dataclass)
        self._values = {
            name: default
            for name, (_, default) in self._fields.items()
            if default is not _REQUIRED
        }
        for name, value in given.items():
            self._check_name(name, name)
            self._values[name] = value
        for override in overrides:
            self._set(override)

    def call(self) -> Any:
        """Runs the function with the arguments.

        Raises:
          ConfigFileError: When an argument without a default is not given.
        """
        missing = [name for name in self._fields if name not in self._values]
        if missing:
            raise ConfigFileError(
                f"the config needs the arguments {listed(missing)}",
                hint=f"give them behind the file: path.py:{missing[0]}=VALUE",
            )
        if self.dataclass is None:
            return self._function(**self._values)
        return self._function(self.dataclass(**self._values))

    def _check_name(self, name: Any, flag: str) -> None:
        if name in self._fields:
            return
        raise OverrideError(
            f"the config takes no argument {name!r} ({flag})",
            hint=joined(
                did_you_mean(name, self._fields), f"arguments: {listed(self._fields)}"
            ),
        )

    def _set(self, override: Override) -> None:
        name, rest = override.parts[0], override.parts[1:]
        self._check_name(name, override.flag)
        if rest:
            self._set_inside(name, override)
            return
        if override.op not in ("=", "flag"):
            raise OverrideError(f"{override.flag}: arguments are set with NAME=VALUE")
        annotation, _ = self._fields[name]
        current = self._values.get(name)
        text = override.text if override.op == "=" else override.text.lower()
        try:
            self._values[name] = adapt(text, annotation, current)
        except Mismatch as mismatch:
            raise OverrideError(
                f"expected {mismatch.expected}, got {text!r} for the argument {name!r}",
                path=override.flag,
            ) from None

    def _set_inside(self, name: str, override: Override) -> None:
        """Changes a part of a value, such as one item of a tuple."""
        try:
            holder = ConfigDict({name: self._values.get(name)})
            apply_overrides(holder, [override])
        except KonfigError as error:
            if isinstance(error, OverrideError):
                raise
            raise OverrideError(
                f"the argument {name!r} has no parts that can be set: {override.flag}"
            ) from None
        self._values[name] = holder.to_dict()[name]


def _dataclass_of(function: Callable[..., Any]) -> Any:
    """The dataclass that annotates the first parameter, or None."""
    names = list(inspect.signature(function).parameters)
    if not names:
        return None
    kind = _hints(function).get(names[0])
    is_class = isinstance(kind, type) and dataclasses.is_dataclass(kind)
    return kind if is_class else None


def _fields_of(function: Any, kind: Any) -> dict[str, tuple[Any, Any]]:
    """The annotation and the default of every argument."""
    source = function if kind is None else kind
    hints = _hints(source)
    found: dict[str, tuple[Any, Any]] = {}
    if kind is not None:
        for field in dataclasses.fields(kind):
            if field.init:
                found[field.name] = (hints.get(field.name), _default_of(field))
        return found
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        empty = parameter.default is parameter.empty
        default = _REQUIRED if empty else parameter.default
        found[parameter.name] = (hints.get(parameter.name), default)
    return found


def _default_of(field: Any) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return _REQUIRED


def _hints(source: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(source)
    except (NameError, TypeError):
        return {}
