"""The leaves of a train state: their names, their specs, and the way to disk and back.

A state is stored as a flat mapping from path to array. Structure (classes, empty
containers, `None`) is not stored: it belongs to the program that restores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ktrain import _errors, spec

_PYTHON_NUMBERS = frozenset({bool, int, float, complex})


class LeafSpec(NamedTuple):
    """Shape and dtype name of one leaf; `key_impl` is set for typed random keys."""

    shape: tuple[int, ...]
    dtype: str
    key_impl: str | None = None

    def __str__(self) -> str:
        """Gives the form `f32[64 32]`."""
        return f"{spec.short_dtype(self.dtype)}[{' '.join(map(str, self.shape))}]"

    @property
    def is_empty(self) -> bool:
        """Says that the array has no elements, hence no bytes to store."""
        return 0 in self.shape


def named_leaves(tree: Any) -> dict[str, Any]:
    """Gives the leaves by path as `opt_state[0].mu.kernel`, in flattening order."""
    import jax

    pairs, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {spec.path_text(path) or "state": leaf for path, leaf in pairs}


def leaf_spec(leaf: Any) -> LeafSpec:
    """Gives the spec of an array, an abstract array or a Python number."""
    if type(leaf) in _PYTHON_NUMBERS:
        return LeafSpec((), np.asarray(leaf).dtype.name)
    shape = tuple(int(n) for n in leaf.shape)
    impl = _key_impl(leaf) if _is_key(leaf) else None
    return LeafSpec(shape, leaf.dtype.name, impl)


def leaf_specs(leaves: Mapping[str, Any]) -> dict[str, LeafSpec]:
    """Gives the spec of every leaf.

    Raises:
      CheckpointError: A leaf is neither an array nor a number.
    """
    for name, leaf in leaves.items():
        if not (hasattr(leaf, "dtype") or type(leaf) in _PYTHON_NUMBERS):
            raise _errors.CheckpointError(
                f"{name} has no place in a checkpoint\n"
                f"  got:      {type(leaf).__name__} {leaf!r:.60}\n"
                "  expected: an array or a number"
            )
    return {name: leaf_spec(leaf) for name, leaf in leaves.items()}


def to_store(leaf: Any) -> Any:
    """Gives a leaf in a form that can be written: raw key data, arrays of numbers."""
    import jax

    if _is_key(leaf):
        return jax.random.key_data(leaf)
    return leaf if isinstance(leaf, jax.Array) else np.asarray(leaf)


def to_host(leaf: Any) -> np.ndarray:
    """Copies a leaf into host memory that nothing else uses.

    On CPU a view of a jax array would do, were it not that the next training step
    is given the buffer to overwrite.
    """
    return np.array(to_store(leaf))


def start_transfer(leaves: Mapping[str, Any]) -> None:
    """Starts all copies to the host before the first is waited for."""
    for leaf in leaves.values():
        if hasattr(leaf, "copy_to_host_async") and not _is_key(leaf):
            leaf.copy_to_host_async()


def layout(like: Any) -> Any:
    """Gives how to read a leaf: None for numpy, else an abstract array with a sharding.

    Random keys are read as their raw data, under the sharding of the keys.
    """
    import jax

    if getattr(like, "sharding", None) is None:
        return None
    if not _is_key(like):
        return like
    data = jax.eval_shape(jax.random.key_data, like)
    return jax.ShapeDtypeStruct(data.shape, data.dtype, sharding=like.sharding)


def from_store(value: Any, leaf: LeafSpec, like: Any) -> Any:
    """Gives what was read the kind, the random key type and the sharding of `like`."""
    import jax

    if type(like) in _PYTHON_NUMBERS:
        return type(like)(value.item())
    if isinstance(like, (np.ndarray, np.generic)):
        return value if isinstance(like, np.ndarray) else value[()]
    if leaf.key_impl is not None:
        value = jax.random.wrap_key_data(value, impl=leaf.key_impl)
    if isinstance(value, jax.Array) and not value.is_fully_addressable:
        return value  # it was read into its sharding
    # A copy: an array that shares memory with numpy could not be donated.
    return jax.device_put(value, getattr(like, "sharding", None), may_alias=False)


def empty_array(leaf: LeafSpec) -> np.ndarray:
    """Gives what would have been read of a spec that has no elements."""
    import jax

    if leaf.key_impl is None:
        return np.zeros(leaf.shape, np.dtype(leaf.dtype))
    keys = jax.random.split(jax.random.key(0, impl=leaf.key_impl), leaf.shape)
    return np.asarray(jax.random.key_data(keys))


def _is_key(leaf: Any) -> bool:
    import jax

    return jax.dtypes.issubdtype(getattr(leaf, "dtype", None), jax.dtypes.prng_key)


def _key_impl(leaf: Any) -> str:
    import jax

    if isinstance(leaf, jax.Array):
        return str(jax.random.key_impl(leaf))
    return leaf.dtype.name  # abstract: the name of the type is all there is
