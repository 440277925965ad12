"""FrozenDict as a pytree."""

from __future__ import annotations

import importlib
from typing import Any

from konfig._frozen import FrozenDict

_registered = False


def register() -> None:
    """Makes `FrozenDict` a pytree node; a second call does nothing.

    Keys are sorted, so that two mappings with the same keys have one structure
    whatever the order of their keys.

    Raises:
      ImportError: When jax is not installed.
    """
    global _registered
    if _registered:
        return
    tree_util = importlib.import_module("jax.tree_util")

    def with_keys(frozen: FrozenDict) -> tuple[Any, Any]:
        keys = _sorted_keys(frozen)
        return [(tree_util.DictKey(key), frozen[key]) for key in keys], keys

    def flatten(frozen: FrozenDict) -> tuple[Any, Any]:
        keys = _sorted_keys(frozen)
        return [frozen[key] for key in keys], keys

    def unflatten(keys: Any, values: Any) -> FrozenDict:
        return FrozenDict(zip(keys, values, strict=True))

    tree_util.register_pytree_with_keys(FrozenDict, with_keys, unflatten, flatten)
    _registered = True


def _sorted_keys(frozen: FrozenDict) -> tuple[Any, ...]:
    def order(key: Any) -> Any:
        return type(key).__name__, key if isinstance(key, (str, int)) else repr(key)

    return tuple(sorted(frozen, key=order))
