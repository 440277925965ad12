import json
import os
import subprocess
import sys

import pytest

SCRIPT = """
import json
import jax, jax.numpy as jnp, numpy as np
import kmetrics
from jax.sharding import NamedSharding, PartitionSpec
from kmetrics import losses

collection = kmetrics.Collection({
    "mean": kmetrics.Mean(values="x"),
    "l2": losses.L2(preds="x", targets="zero"),
})
get_states = jax.jit(
    lambda x, mask: collection.get_states({"x": x, "zero": 0 * x}, mask=mask)
)

def evaluate(size, put):
    data = np.arange(size, dtype=np.float32) / 7
    padded = np.append(data, np.full(-size % 4, np.nan, np.float32))
    states = None
    for i in range(0, len(padded), 4):
        batch = get_states(put(padded[i : i + 4]), put(np.arange(i, i + 4) < size))
        states = batch if states is None else collection.merge(states, batch)
    return collection.compute(states)

mesh = jax.make_mesh((2,), ("data",))
split = NamedSharding(mesh, PartitionSpec("data"))
sizes = 1, 3, 4, 5, 9, 17
one = {n: evaluate(n, jnp.asarray) for n in sizes}
two = {n: evaluate(n, lambda x: jax.device_put(x, split)) for n in sizes}
print(json.dumps([jax.device_count(), one, two]))
"""


@pytest.mark.slow
@pytest.mark.case("071")
def test_a_batch_over_two_devices_gives_the_value_of_one_device():
    flags = "--xla_force_host_platform_device_count=2"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
    )
    count, one, two = json.loads(done.stdout)
    assert count == 2
    for size in one:
        expected = [i / 7 for i in range(int(size))]
        mean = sum(expected) / len(expected)
        assert one[size]["mean"] == pytest.approx(mean, rel=1e-6)
        # The order of the additions differs, and both keep 48 bits.
        assert two[size] == pytest.approx(one[size], rel=1e-12)
