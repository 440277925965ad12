"""Bringing many small arrays to the host in one transfer."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

# Below this many scalars, packing them costs more than it saves.
_WORTH_PACKING = 16

_pack = jax.jit(jnp.stack)


def fetch(tree: Any) -> Any:
    """`tree` with numpy arrays for jax arrays.

    Float32 scalars, which are most of what metrics hold, come as one vector: a
    transfer costs the same for one number as for hundreds.
    """
    leaves, structure = jax.tree.flatten(tree)
    if all(map(_is_on_host, leaves)):
        # `device_get` starts a copy of each array, which costs 40 µs and here is one of
        # memory that numpy can read where it lies.
        return structure.unflatten([_as_numpy(leaf) for leaf in leaves])
    scalars = [i for i, leaf in enumerate(leaves) if _is_scalar(leaf)]
    together = [leaves[i] for i in scalars]
    if len(scalars) < _WORTH_PACKING or not _in_one_place(together):
        return jax.device_get(tree)
    packed, leaves = jax.device_get((_pack(together), _without(leaves, scalars)))
    for position, value in zip(scalars, packed, strict=True):
        leaves[position] = value
    return structure.unflatten(leaves)


def _is_on_host(leaf: Any) -> bool:
    if not isinstance(leaf, jax.Array):
        return True
    # Random keys have dtypes of their own, and no numpy array.
    is_plain = isinstance(leaf.dtype, np.dtype)
    return is_plain and all(
        device.platform == "cpu" for device in leaf.sharding.device_set
    )


def _as_numpy(leaf: Any) -> Any:
    return np.asarray(leaf) if hasattr(leaf, "__array__") else leaf


def _is_scalar(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and leaf.ndim == 0 and leaf.dtype == np.float32


def _in_one_place(arrays: list[jax.Array]) -> bool:
    """Whether this process alone can compute with all of them at once."""
    first = arrays[0].sharding
    return all(a.is_fully_addressable and a.sharding == first for a in arrays)


def _without(leaves: list[Any], taken: list[int]) -> list[Any]:
    rest = list(leaves)
    for position in taken:
        rest[position] = None
    return rest
