"""Options that can be hashed: lists become tuples, dicts become frozen maps."""

from __future__ import annotations

import collections.abc
from typing import Any, NoReturn


class FrozenMap(dict):
    """A dict that cannot be changed and can be hashed."""

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("the options of a metric cannot be changed; use metric.replace")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type[FrozenMap], tuple[dict[Any, Any]]]:
        return FrozenMap, (dict(self),)


def freeze(value: Any, *, where: str) -> Any:
    """`value` with every list, set and dict inside made immutable and hashable.

    Raises:
      TypeError: something inside is an array or cannot be hashed; names `where`.
    """
    if isinstance(value, collections.abc.Mapping):
        return FrozenMap({k: freeze(v, where=where) for k, v in value.items()})
    if isinstance(value, list) or type(value) is tuple:
        return tuple(freeze(v, where=where) for v in value)
    if isinstance(value, set):
        return frozenset(value)
    is_class = isinstance(value, type)
    if not is_class and hasattr(value, "dtype") and hasattr(value, "tolist"):
        if value.ndim == 0:
            return value.item()
        hint = "give it as a tuple: .tolist() of the array"
    else:
        try:
            hash(value)
            return value
        except TypeError:
            hint = "give a value that can be hashed, such as a frozen dataclass"
    raise TypeError(
        f"the options of a metric must be hashable, because jit compares them\n"
        f"  {where} is of type {type(value).__name__}\n{hint}"
    )
