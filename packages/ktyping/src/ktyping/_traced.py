"""Whether a call happens while jax traces: for mode `trace`."""

import sys
from collections.abc import Mapping
from typing import Any

from ktyping._backends import asks_instance, backend_of

_MAX_DEPTH = 20


def is_traced(values: tuple[Any, ...]) -> bool:
    """Whether a value is a tracer of jax, or begins with one.

    Of a dict, list, tuple or dataclass only the first array is looked at: where jax
    traces a tree, it traces all of its arrays.
    """
    return "jax" in sys.modules and any(_begins_traced(v, 0) for v in values)


def _begins_traced(value: Any, depth: int) -> bool | None:
    """Returns the answer of the first array in a value; None without an array."""
    if asks_instance(type(value)):
        return True
    if backend_of(value) is not None:
        return False
    for child in _children(value) if depth < _MAX_DEPTH else ():
        answer = _begins_traced(child, depth + 1)
        if answer is not None:
            return answer
    return None


def _children(value: Any) -> Any:
    if isinstance(value, Mapping):
        return value.values()
    if isinstance(value, list | tuple):
        return value
    names = getattr(type(value), "__dataclass_fields__", ())
    return [getattr(value, name, None) for name in names]
