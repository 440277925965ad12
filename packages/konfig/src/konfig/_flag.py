"""Overrides as they are typed: `model.hidden=128`, taken apart and not yet applied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from konfig._errors import ConfigTypeError, ConfigValueError, OverrideError, short
from konfig._paths import Parts, scan

_OPS = (":=", "+=", "=")


class Override:
    """One change to a config, as somebody typed it.

    Attributes:
      flag: The text as typed, for messages.
      parts: The path, with wildcards.
      op: `"="`, `":="`, `"+="`, `":del"`, `"flag"` for a bare `--cfg.name`, or `"is"`
        for a value that is no text.
      text: The text of the value, or the value.
    """

    __slots__ = ("flag", "op", "parts", "text")

    def __init__(self, flag: str, parts: Parts, op: str, text: Any):
        self.flag = flag
        self.parts = parts
        self.op = op
        self.text = text

    def __repr__(self) -> str:
        return f"Override({self.flag!r})"

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, Override):
            return NotImplemented
        return (self.parts, self.op, self.text) == (other.parts, other.op, other.text)

    def __hash__(self) -> int:
        return hash((self.op, self.text))


def parse_override(text: str, flag: str | None = None) -> Override:
    """Reads `PATH=V`, `PATH:=V`, `PATH+=V` or `PATH:del`.

    Args:
      text: The override.
      flag: How it was typed, for messages.

    Raises:
      OverrideError: With the column, when it is none of these.
    """
    flag = flag or text
    try:
        parts, end = scan(text, glob=True)
    except ConfigValueError as error:
        raise OverrideError(f"{flag}: {error.message}") from None
    rest = text[end:]
    if parts and rest == ":del":
        return Override(flag, parts, ":del", "")
    for op in _OPS:
        if parts and rest.startswith(op):
            return Override(flag, parts, op, rest[len(op) :])
    if parts and not rest:
        raise OverrideError(f"{flag}: the value is missing", hint=f"write {flag}=VALUE")
    raise OverrideError(
        f"not an override: {flag}\n  {text}\n  {' ' * end}^",
        hint="PATH=VALUE sets, PATH:=VALUE adds, PATH+=VALUE appends, PATH:del deletes",
    )


def given_value(flag: str, parts: Parts, value: Any) -> Override:
    """The override that sets a field which is there or declared to a config value."""
    return Override(flag, parts, "is", value)


def parsed(overrides: Iterable[str | Override]) -> list[Override]:
    """Overrides of which some are still texts.

    Raises:
      OverrideError: When a text is no override.
      ConfigTypeError: When they are one text alone, or something else.
    """
    one = isinstance(overrides, (str, bytes, Mapping))
    given = None if one or not isinstance(overrides, Iterable) else list(overrides)
    if given is None or not all(isinstance(item, (str, Override)) for item in given):
        raise ConfigTypeError(
            f"overrides are a list of texts, not {short(overrides)}",
            hint="write ['model.hidden=128', 'steps=10']",
        )
    return [parse_override(item) if isinstance(item, str) else item for item in given]
