"""From nested dicts and lists as they were written to the fields of nodes."""

from __future__ import annotations

from collections.abc import Mapping

from konfig import _convert
from konfig._errors import ConfigTypeError, short
from konfig._keys import is_position, raw_key
from konfig._list import ConfigList
from konfig._origin import capture
from konfig._paths import Parts
from konfig._tree import TARGET, new_list, new_node, too_deep
from konfig._typing import Any

# Far above what can be resolved; a dict that contains itself has no depth at all.
_DEEPEST = 5000


def pairs_of(given: Any) -> Any:
    """What `dict.update` takes, or the refusal in our words."""
    try:
        return given if isinstance(given, Mapping) else dict(given)
    except (TypeError, ValueError):
        raise ConfigTypeError(
            f"a config is made of a mapping or of pairs, not of {short(given)}"
        ) from None


def fill(kind: Any, fields: dict[Any, Any], given: Mapping[Any, Any]) -> None:
    """Converts the values of a mapping into the fields of a node.

    Nested dicts and lists wait, so that their depth is not that of the Python stack.

    Args:
      kind: The class of the nodes below.
      fields: Where the values go.
      given: The mapping as it was written.

    Raises:
      ConfigTypeError: With the path of what cannot stand in a config.
      ConfigCycleError: When the mapping contains itself.
    """
    waiting: list[tuple[Any, Any, Parts]] = [(fields, given, ())]
    origin = capture()
    while waiting:
        into, given, above = waiting.pop()
        if len(above) > _DEEPEST:
            raise too_deep()
        if isinstance(into, list):
            for index, value in enumerate(given):
                if type(value) not in _convert.STORED:
                    value = _begin(kind, value, (*above, index), waiting, origin)
                    list.__setitem__(into, index, value)
            continue
        call = TARGET in given
        for key, value in given.items():
            if call or (isinstance(key, str) and key[:2] == "__"):
                key = raw_key(key, value, call)
            if type(value) not in _convert.STORED:
                step = int(key) if call and is_position(key) else key
                value = _begin(kind, value, (*above, step), waiting, origin)
            into[key] = value


def _begin(kind: Any, value: Any, path: Parts, waiting: list[Any], origin: Any) -> Any:
    """What is stored for a value; a dict or list is filled later."""
    if type(value) is dict and "__const__" not in value:
        fields: dict[Any, Any] = {}
        waiting.append((fields, value, path))
        return new_node(kind, fields, 0, origin)
    if type(value) is list:
        made = new_list(ConfigList, value)
        waiting.append((made, value, path))
        return made
    try:
        return _convert.convert(value)
    except ConfigTypeError as error:
        for step in reversed(path):
            _convert.below(error, step)
        raise
