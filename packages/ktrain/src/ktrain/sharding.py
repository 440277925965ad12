"""Where arrays live: the mesh, and the sharding of batches and of the state.

Knows arrays and devices, not the trainer. One device is the trivial mesh: then
no sharding is attached to anything and jit's shortest path is used.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ktrain import _errors


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShardingStrategy:
    """Data parallel: the batch is split over all devices, the state is on each.

    Attributes:
      axis: Name of the mesh axis that the first axis of a batch is split over.
    """

    axis: str = "data"

    def layout(self) -> Layout:
        """Gives the layout over the devices of all processes."""
        return _layout(self.axis, tuple(jax.devices()))


@dataclasses.dataclass(frozen=True)
class Layout:
    """A strategy on real devices.

    Attributes:
      replicated: Sharding of the state; None on one device.
      batch: Sharding of every array of a batch; None on one device.
      num_devices: Devices that a batch is split over.
      place: Turns a host batch (this process's rows) into what the step takes.
    """

    replicated: NamedSharding | None
    batch: NamedSharding | None
    num_devices: int
    place: Callable[[Any], Any]

    def state_spec(self, tree: Any) -> Any:
        """Gives the tree of `jax.ShapeDtypeStruct` with the state's shardings."""
        return jax.tree.map(
            lambda leaf: jax.ShapeDtypeStruct(
                leaf.shape, leaf.dtype, sharding=self.replicated
            ),
            tree,
        )

    def jit(self, function: Callable[..., Any], *, args: str, **options: Any) -> Any:
        """Compiles a function of arguments that are state-like "s" or batches "b".

        Everything it returns is on every device, as the state is.
        """
        if self.replicated is None:
            return jax.jit(function, **options)
        by_letter = {"s": self.replicated, "b": self.batch}
        return jax.jit(
            function,
            in_shardings=tuple(by_letter[letter] for letter in args),
            out_shardings=self.replicated,
            **options,
        )

    def check_batch_size(self, batch_size: int, *, what: str) -> None:
        """Refuses a batch that the devices cannot share equally.

        Raises:
          DataError: Names the pipeline, both numbers and the nearest valid sizes.
        """
        rest = batch_size % self.num_devices
        if not rest:
            return
        lower = batch_size - rest
        sizes = [n for n in (lower, lower + self.num_devices) if n]
        raise _errors.DataError(
            f"{what}: a batch of {batch_size} examples cannot be split over"
            f" {self.num_devices} devices.\n"
            f"  Use batch_size={' or '.join(map(str, sizes))}, or fewer devices."
        )


@functools.lru_cache(maxsize=8)
def _layout(axis: str, devices: tuple[Any, ...]) -> Layout:
    if len(devices) == 1:
        return Layout(None, None, 1, _as_it_is)
    mesh = Mesh(np.array(devices), (axis,))
    batch = NamedSharding(mesh, PartitionSpec(axis))
    place = functools.partial(_place, batch, mesh.local_mesh.size)
    return Layout(NamedSharding(mesh, PartitionSpec()), batch, len(devices), place)


def _as_it_is(batch: Any) -> Any:
    # numpy goes into the jitted step as it is: jit's own path moves it fastest.
    return batch


def _place(sharding: NamedSharding, local_devices: int, batch: Any) -> Any:
    rows = len(jax.tree.leaves(batch)[0])
    if rows % local_devices:
        raise _errors.DataError(
            f"a batch came with {rows} examples for {local_devices} devices, which"
            " cannot share them equally.\n"
            "  Use remainder='pad', which counts every example once, or 'drop'."
        )
    if jax.process_count() == 1:
        return batch
    return jax.tree.map(
        lambda x: jax.make_array_from_process_local_data(sharding, x), batch
    )
