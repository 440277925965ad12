"""`register_node`: classes of others, which cannot say themselves what they hold."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from kontext._adapters import ADAPTERS, Adapter
from kontext._errors import PathTypeError
from kontext._parts import Part
from kontext._read_part import forget_classes

_T = TypeVar("_T")


def register_node(
    cls: type[_T],
    *,
    children: Callable[[_T], Iterable[tuple[Part, Any]]],
    rebuild: Callable[[_T, dict[Part, Any]], _T] | None = None,
    write: Callable[[_T, Part, Any], None] | None = None,
) -> None:
    """Tells what lies below the instances of a class, and of its subclasses.

    Reading, globs, `flatten` and messages then see its children; other attributes
    are still read by name. A class of your own may define `__kontext_get__` instead,
    which is asked for one part at a time. Registering a class again replaces what
    was said before.

    Args:
      cls: The class.
      children: Gives the parts directly below an instance, with their values.
      rebuild: Makes a node like the first argument with the given children, all of
        them by part. Without it, `update`, `filter` and `unflatten(like=...)` refuse
        to change what lies below.
      write: Sets one child in place. Without it, the instances are immutable for
        `set`. Children can never be deleted.

    Raises:
      PathTypeError: If `cls` is no class, or a built-in one.
    """
    # The module of a class made in an interactive session may be called anything.
    if not isinstance(cls, type) or getattr(builtins, cls.__name__, None) is cls:
        got = cls.__name__ if isinstance(cls, type) else repr(cls)
        raise PathTypeError(
            f"only classes that are not built in can be registered, got {got:.60}"
        )
    ADAPTERS[cls] = Adapter(children, rebuild, write)
    forget_classes()
