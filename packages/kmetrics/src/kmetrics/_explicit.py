"""Arrays whose sharding is a part of their type, as on a mesh of `jax.make_mesh`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec


def on_automatic_axes(function: Callable[[Any], Any], inputs: Any) -> Any:
    """`function(inputs)`, where XLA divides the work if the inputs are sharded.

    Counting, sorting and looking up ask for the sharding of their result where axes are
    explicit. A state is a summary of all examples, so it is the same everywhere.

    Args:
      function: from a tree to a tree of arrays.
      inputs: the tree.
    """
    leaves, structure = jax.tree.flatten(inputs)
    places = [i for i, leaf in enumerate(leaves) if _is_explicit(leaf)]
    if not places:
        return function(inputs)

    def of_arrays(arrays: list[jax.Array]) -> Any:
        given = dict(enumerate(leaves)) | dict(zip(places, arrays, strict=True))
        return function(structure.unflatten(given.values()))

    arrays = [leaves[i] for i in places]
    if not any(isinstance(array, jax.core.Tracer) for array in arrays):
        return _outside_of_jit(of_arrays, arrays)
    mesh = jax.typeof(arrays[0]).sharding.mesh
    with jax.sharding.use_abstract_mesh(mesh):
        return jax.sharding.auto_axes(of_arrays, out_sharding=PartitionSpec())(arrays)


def _is_explicit(leaf: Any) -> bool:
    return (
        isinstance(leaf, jax.Array)
        and AxisType.Explicit in jax.typeof(leaf).sharding.mesh.axis_types
    )


def _outside_of_jit(function: Callable[[Any], Any], arrays: list[Any]) -> Any:
    """`function(arrays)` with values that are known, which it may look at."""
    mesh = arrays[0].sharding.mesh
    axes = Mesh(mesh.devices, mesh.axis_names)
    with jax.set_mesh(axes):
        result = function([_moved(array, axes) for array in arrays])
    return jax.tree.map(lambda leaf: _moved(leaf, mesh), result)


def _moved(leaf: Any, mesh: Mesh) -> Any:
    """An array of the same data on the same devices, on another mesh of them."""
    if not isinstance(getattr(leaf, "sharding", None), NamedSharding):
        return leaf
    return jax.device_put(leaf, NamedSharding(mesh, leaf.sharding.spec))
