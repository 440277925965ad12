"""How classes that paths do not know by themselves are walked: what was registered."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from kontext._parts import Part


class Adapter(NamedTuple):
    """What `kontext.register_node` was given for one class."""

    children: Callable[[Any], Iterable[tuple[Part, Any]]]
    rebuild: Callable[[Any, dict[Part, Any]], Any] | None
    write: Callable[[Any, Part, Any], None] | None


ADAPTERS: weakref.WeakKeyDictionary[type, Adapter] = weakref.WeakKeyDictionary()


def adapter_of(cls: type) -> Adapter | None:
    """The adapter of a class, or of the nearest class that it inherits from."""
    if not ADAPTERS:
        return None
    for base in cls.__mro__:
        found = ADAPTERS.get(base)
        if found is not None:
            return found
    return None
