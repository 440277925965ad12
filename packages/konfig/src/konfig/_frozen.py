"""FrozenDict: the mapping that `resolve` gives for a mapping."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

# Who is told of `FrozenDict`, with the first one that is made once it is loaded.
_INTERESTED = {
    "jax": "konfig.integrations.jax",
    "flax.serialization": "konfig.integrations.flax",
}
_not_told = tuple(_INTERESTED)


class FrozenDict(Mapping):
    """An immutable mapping with attribute access, hashable when its values are.

    Names of methods win over keys: `frozen["items"]` reads a field of that name.

    Args:
      given: A mapping or pairs of key and value.
      **fields: More fields.
    """

    __slots__ = ("__konfig_data__", "__konfig_hash__")
    __konfig_data__: dict[Any, Any]
    __konfig_hash__: int | None

    def __init__(self, given: Any = (), /, **fields: Any):
        object.__setattr__(self, "__konfig_data__", dict(given, **fields))
        object.__setattr__(self, "__konfig_hash__", None)
        for library in _not_told:
            if library in sys.modules:
                _tell(library)

    def __getitem__(self, key: Any) -> Any:
        return self.__konfig_data__[key]

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__" and name[-2:] == "__":
            raise AttributeError(name)
        try:
            return self.__konfig_data__[name]
        except KeyError:
            names = ", ".join(map(str, self.__konfig_data__))
            raise AttributeError(f"no field {name!r}; fields: {names}") from None

    def __iter__(self) -> Iterator[Any]:
        return iter(self.__konfig_data__)

    def __len__(self) -> int:
        return len(self.__konfig_data__)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(
            f"a FrozenDict cannot be changed; use frozen.replace({name}=…)"
        )

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a FrozenDict cannot be changed")

    def __or__(self, other: Any) -> FrozenDict:
        if not isinstance(other, Mapping):
            return NotImplemented
        return FrozenDict({**self.__konfig_data__, **other})

    def __ror__(self, other: Any) -> FrozenDict:
        if not isinstance(other, Mapping):
            return NotImplemented
        return FrozenDict({**other, **self.__konfig_data__})

    def __eq__(self, other: Any) -> bool:
        if isinstance(other, FrozenDict):
            return self.__konfig_data__ == other.__konfig_data__
        if isinstance(other, Mapping):
            return self.__konfig_data__ == dict(other)
        return NotImplemented

    def __hash__(self) -> int:
        known = self.__konfig_hash__
        if known is None:
            known = hash(frozenset(self.__konfig_data__.items()))
            object.__setattr__(self, "__konfig_hash__", known)
        return known

    def __repr__(self) -> str:
        return f"FrozenDict({self.__konfig_data__!r})"

    def __dir__(self) -> list[str]:
        names = [key for key in self.__konfig_data__ if isinstance(key, str)]
        return [*{*super().__dir__(), *names}]

    def __reduce__(self) -> Any:
        return FrozenDict, (self.__konfig_data__,)

    def replace(self, **fields: Any) -> FrozenDict:
        """The mapping with some fields changed or added."""
        return FrozenDict({**self.__konfig_data__, **fields})

    def to_dict(self) -> dict[Any, Any]:
        """Plain dicts, here and below, also in tuples and lists."""
        return {key: _thawed(value) for key, value in self.__konfig_data__.items()}


def _thawed(value: Any) -> Any:
    if isinstance(value, FrozenDict):
        return value.to_dict()
    if type(value) in (tuple, list):
        return type(value)(map(_thawed, value))
    return value


def _tell(library: str) -> None:
    global _not_told
    importlib.import_module(_INTERESTED[library]).register()
    _not_told = tuple([name for name in _not_told if name != library])
