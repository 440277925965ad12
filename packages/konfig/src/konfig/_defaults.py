"""Arguments that the calls of a target begin with."""

from __future__ import annotations

from typing import Any

from konfig import _convert, _copy, _keys
from konfig._const import Const, dotted
from konfig._errors import ConfigTypeError, ConfigValueError, short
from konfig._node import ConfigDict
from konfig._tree import TARGET

_DEFAULTS: dict[str, ConfigDict] = {}


def register_default_values(node: Any) -> None:
    """Makes new calls of a target begin with the arguments of a call node.

    A proxy or `konfig.call` fills in what is not given, each time with fresh copies.
    Configs from dicts and from JSON are left as they are: what was deleted stays away.

    Args:
      node: A call node; its target may be registered once, or again with the same.

    Raises:
      ConfigTypeError: When it is no call node.
      ConfigValueError: When the target has other defaults already.
    """
    if not isinstance(node, ConfigDict) or not _keys.is_call(node):
        raise ConfigTypeError(
            f"defaults are registered as a call, not as {short(node)}",
            hint="describe it: konfig.call(Target, field=…)",
        )
    name = dotted(node._konfig_fields[TARGET])
    known = _DEFAULTS.get(name)
    if known is not None and known != node:
        raise ConfigValueError(f"{name} has other default values: {short(known)}")
    _DEFAULTS[name] = _copy.deepcopy(node)


def defaults_of(target: Any) -> ConfigDict | None:
    """The registered defaults of a target, as a copy, or None.

    Args:
      target: A class, function, proxy or constant, a call node, or a name like
        `"module:attr"`.

    Raises:
      ConfigTypeError: When no name leads to the target.
    """
    if isinstance(target, ConfigDict) and _keys.is_call(target):
        target = target[TARGET]
    if not isinstance(target, str):
        found = _convert.convert(target)
        if not isinstance(found, Const):
            raise ConfigTypeError(f"not a target: {short(target)}")
        target = found.__const__
    known = _DEFAULTS.get(dotted(target))
    return None if known is None else _copy.deepcopy(known)


def fill_in(node: ConfigDict) -> ConfigDict:
    """Gives a new call what is registered for its target and was not given."""
    if not _DEFAULTS:
        return node
    fields = node._konfig_fields
    known = _DEFAULTS.get(dotted(fields[TARGET]))
    if known is not None:
        fresh = _copy.moved(known, known, node)
        for key, value in fresh._konfig_fields.items():
            if key not in fields and _keys.positional_slot(node, key) is None:
                fields[key] = value
    return node
