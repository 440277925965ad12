"""Saves and restores on eight forced host devices; `test_checkpoint_devices` reads it.

Prints one JSON object.
"""

import json
import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ktrain.checkpoint import Checkpointer


def values():
    rng = np.random.default_rng(5)
    return {"w": rng.normal(size=(16, 6)).astype(np.float32), "b": np.arange(8)}


def shardings(count):
    mesh = Mesh(np.array(jax.devices()[:count]), ("data",))
    split = NamedSharding(mesh, PartitionSpec("data"))
    return {"w": split, "b": NamedSharding(mesh, PartitionSpec()), "key": split}


def open_session(workdir):
    return Checkpointer(save_interval_steps=1, workdir=workdir).open()


def keys():
    return jax.random.split(jax.random.key(3), 8)


def abstract(name, value, sharding):
    dtype = jax.dtypes.canonicalize_dtype(value.dtype) if name != "key" else value.dtype
    return jax.ShapeDtypeStruct(value.shape, dtype, sharding=sharding)


def restored_on(workdir, count):
    expected = {**values(), "key": keys()}
    wanted = shardings(count)
    like = {name: abstract(name, v, wanted[name]) for name, v in expected.items()}
    state = open_session(workdir).restore(like).state
    data = jax.random.key_data
    shards = state["w"].addressable_shards
    return {
        "exact": np.array_equal(state["w"], expected["w"])
        and np.array_equal(state["b"], expected["b"])
        and np.array_equal(data(state["key"]), data(expected["key"])),
        "as asked": all(
            state[name].sharding.is_equivalent_to(wanted[name], state[name].ndim)
            for name in state
        ),
        "shards": [len(shards), list(shards[0].data.shape)],
    }


def main(one, *others):
    workdirs = {"1": one, "4": others[0], "8": others[1]}
    for count in (4, 8):
        state = jax.device_put({**values(), "key": keys()}, shardings(count))
        with open_session(workdirs[str(count)]) as session:
            session.save(1, state, data=None)
    report = {
        origin: {count: restored_on(workdir, count) for count in (1, 2, 4, 8)}
        for origin, workdir in workdirs.items()
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main(*sys.argv[1:])
