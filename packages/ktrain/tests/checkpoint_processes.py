"""One of two processes that save and restore together; `test_checkpoint_devices` reads.

Each has two devices. Prints one JSON object.
"""

import json
import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ktrain import _errors
from ktrain.checkpoint import Checkpointer, _manifest


def state(step):
    mesh = Mesh(np.array(jax.devices()), ("data",))
    split = NamedSharding(mesh, PartitionSpec("data"))
    whole = NamedSharding(mesh, PartitionSpec())
    rows = np.arange(24, dtype=np.float32).reshape(8, 3) * step
    return {
        "w": jax.make_array_from_callback(rows.shape, split, lambda i: rows[i]),
        "b": jax.make_array_from_callback((3,), whole, lambda i: rows[0][i]),
        "key": jax.jit(lambda: jax.random.key(step), out_shardings=whole)(),
        "empty": jax.jit(lambda: jax.numpy.zeros((0, 2)), out_shardings=whole)(),
        "step": np.int32(step),
    }


def abstract(tree):
    return jax.tree.map(
        lambda x: (
            jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=x.sharding)
            if isinstance(x, jax.Array)
            else x
        ),
        tree,
    )


def same(a, b):
    if not isinstance(a, jax.Array):
        return bool(a == b)
    if not a.sharding.is_equivalent_to(b.sharding, a.ndim) or a.dtype != b.dtype:
        return False
    if jax.dtypes.issubdtype(a.dtype, jax.dtypes.prng_key):
        a, b = jax.random.key_data(a), jax.random.key_data(b)
    pairs = zip(a.addressable_shards, b.addressable_shards, strict=True)
    return all(np.array_equal(x.data, y.data) for x, y in pairs)


def matches(restored, step):
    return restored.step == step and jax.tree.all(
        jax.tree.map(same, restored.state, state(step))
    )


def failing_commit(session, is_primary):
    commit = _manifest.write

    def fail(*_, **__):
        raise OSError("the primary's disk went away")

    if is_primary:
        _manifest.write = fail
    try:
        session.save(3, state(3), data=None)
    except _errors.CheckpointError as error:
        return str(error).splitlines()[0]
    finally:
        _manifest.write = commit


def main(rank, port, workdir):
    rank = int(rank)
    jax.distributed.initialize(f"localhost:{port}", 2, rank)
    checkpointer = Checkpointer(save_interval_steps=1, workdir=workdir)
    session = checkpointer.open(primary=rank == 0, processes=2)
    like = abstract(state(0))
    report = {"nothing": session.restore(like) is None}
    for step in (1, 2):
        session.save(step, state(step), data={"position": step})
    report["newest"] = matches(session.restore(like), 2)
    report["named"] = matches(session.restore(like, step=1), 1)
    report["failed save"] = failing_commit(session, rank == 0)
    multihost_utils.sync_global_devices("all have failed")
    report["after it"] = session.steps()
    multihost_utils.sync_global_devices("all have listed")
    if rank == 0:
        os.truncate(session.root / "step_000000002" / "state" / "_METADATA", 10)
    multihost_utils.sync_global_devices("damage is done")
    report["fallback"] = matches(session.restore(like), 1)
    multihost_utils.sync_global_devices("all have restored")
    report["folders"] = sorted(path.name for path in session.root.iterdir())
    session.close()
    print(json.dumps(report))


if __name__ == "__main__":
    main(*sys.argv[1:])
