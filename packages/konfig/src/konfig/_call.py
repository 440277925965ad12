"""Call nodes, constants and proxies from real objects, without an imports() block."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from konfig import _convert
from konfig._const import Const
from konfig._errors import ConfigTypeError, short
from konfig._node import ConfigDict
from konfig._proxy import Proxy


def proxy(target: Any, /) -> Any:
    """The proxy of a real module, class or function.

    Raises:
      ConfigTypeError: When no name leads to it.
    """
    if isinstance(target, Proxy):
        return target
    if isinstance(target, ModuleType):
        name = target.__name__
        if sys.modules.get(name) is not target:
            raise ConfigTypeError(f"the module {name!r} is not the imported one")
        return Proxy(name, True, target)
    return Proxy(const(target).__const__, False, target)


def call(target: Any, /, *args: Any, **kwargs: Any) -> ConfigDict:
    """Describes the call of a real class or function, checked against its signature.

    Args:
      target: An importable callable; in a notebook, anything defined in a cell.
      *args: Positional arguments of the call.
      **kwargs: Keyword arguments of the call.

    Raises:
      ConfigTypeError: When the target has no importable name, or does not take the
        arguments.
    """
    return proxy(target)(*args, **kwargs)


def partial(target: Any, /, *args: Any, **kwargs: Any) -> ConfigDict:
    """Describes a `functools.partial` of a real class or function.

    Raises:
      ConfigTypeError: When the target has no importable name.
    """
    import functools

    return proxy(functools.partial)(const(target), *args, **kwargs)


def const(target: Any, /) -> Const:
    """The constant that names a real class, function or module.

    Raises:
      ConfigTypeError: When no name leads to it.
    """
    if isinstance(target, (Proxy, ModuleType)):
        return _convert.convert(proxy(target))
    found = _convert.convert(target)
    if not isinstance(found, Const):
        raise ConfigTypeError(f"not importable by name: {short(target)}")
    return found
