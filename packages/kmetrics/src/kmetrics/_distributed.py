"""States across devices and across processes.

Both ways bring all states to every place and merge them in order, with the merge of
the state itself. So a maximum stays a maximum, sums keep all their bits, and the result
does not depend on how a collective adds.
"""

from __future__ import annotations

import functools
import io
import pickle
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

S = TypeVar("S")
Merge = Callable[[Any, Any], Any]


def reduce_over_axis(state: S, axis_name: Any, merge: Callable[[S, S], S]) -> S:
    """The states of all devices along a mapped axis, merged in order; on every device.

    Args:
      state: the state of this device, whose structure does not grow in a merge.
      axis_name: the axis, or several, of shard_map, pmap or vmap.
      merge: merges two states.
    """
    every = jax.tree.map(functools.partial(_from_all, axis_name=axis_name), state)
    first = jax.tree.map(lambda x: x[0], every)
    rest = jax.tree.map(lambda x: x[1:], every)
    return jax.lax.scan(lambda s, one: (merge(s, one), None), first, rest)[0]


def _from_all(x: Any, axis_name: Any) -> jax.Array:
    """`[n, *x.shape]`: the values of all `n` devices, the same on each of them.

    A sum in which every device fills its own place is exact, and shard_map knows that
    its result is equal everywhere, which it does not know after all_gather.
    """
    x = jnp.asarray(x)
    is_bool = x.dtype == jnp.bool_
    own = x.astype(jnp.int32) if is_bool else x
    places = jnp.arange(jax.lax.axis_size(axis_name))
    here = (places == jax.lax.axis_index(axis_name)).reshape(-1, *(1,) * x.ndim)
    every = jax.lax.psum(jnp.where(here, own, jnp.zeros((), own.dtype)), axis_name)
    return every.astype(x.dtype) if is_bool else every


def gather_processes(state: S, merge: Callable[[S, S], S], *, local: type) -> S:
    """The states of all processes, merged in the order of the processes; on each.

    Args:
      state: the state of this process, or name to state, on the host; sizes may
        differ, and a name may be missing.
      merge: merges two states.
      local: a class whose objects are not sent: those of `state` take their place.
    """
    if jax.process_count() == 1:
        return state
    by_name = isinstance(state, Mapping)
    parts = dict(state) if by_name else {"": state}
    # Counted for each name on its own: a state that this process lacks must not shift
    # what belongs to the others.
    kept: dict[str, list[Any]] = {name: [] for name in parts}
    dumped = {name: _dump(part, local, kept[name]) for name, part in parts.items()}
    texts = _exchange(pickle.dumps(dumped))
    states: list[Any] = []
    for i, text in enumerate(texts):
        if i == jax.process_index():
            states.append(state)
            continue
        loaded = {
            name: _load(part, kept.get(name, []))
            for name, part in pickle.loads(text).items()
        }
        states.append(loaded if by_name else loaded[""])
    return functools.reduce(merge, states)


def _dump(value: Any, local: type, kept: list[Any]) -> bytes:
    class Pickler(pickle.Pickler):
        def persistent_id(self, part: Any) -> int | None:
            if not isinstance(part, local):
                return None
            kept.append(part)
            return len(kept) - 1

    text = io.BytesIO()
    Pickler(text).dump(value)
    return text.getvalue()


def _load(text: bytes, kept: list[Any]) -> Any:
    class Unpickler(pickle.Unpickler):
        def persistent_load(self, pid: int) -> Any:
            return kept[pid] if pid < len(kept) else None

    return Unpickler(io.BytesIO(text)).load()


def _exchange(text: bytes) -> list[bytes]:
    """The texts of all processes, in their order."""
    # Only where there are several processes: it is slow to import.
    from jax.experimental import multihost_utils

    sizes = multihost_utils.process_allgather(np.int32(len(text))).reshape(-1)
    padded = np.zeros(int(sizes.max()), np.uint8)
    padded[: len(text)] = np.frombuffer(text, np.uint8)
    rows = np.asarray(multihost_utils.process_allgather(padded))
    return [
        row[:size].tobytes()
        for row, size in zip(rows.reshape(len(sizes), -1), sizes, strict=True)
    ]
