import json
import os
import socket
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kmetrics

FOUR_DEVICES = """
import json
import jax, jax.numpy as jnp, numpy as np
import kmetrics
from functools import partial
from jax.sharding import NamedSharding, PartitionSpec as P

@kmetrics.state
class High(kmetrics.AutoState):
    high: jax.Array = kmetrics.max_field()
    seen: jax.Array = kmetrics.sum_field()
    none: jax.Array = kmetrics.sum_field()

    def compute(self):
        return self.high

mesh = jax.sharding.Mesh(np.array(jax.devices()), ("data",))
mapped = partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P())
x = jnp.arange(8.0)
collection = kmetrics.Collection({
    "mean": kmetrics.Mean(values="x"),
    "std": kmetrics.Std(values="x"),
})

def high(x):
    state = High(high=x.max(), seen=x.sum(), none=0).replace(none=High.empty().none)
    return state.reduce("data")

def mean(x):
    return kmetrics.AverageState.from_values(x).reduce("data")

def large(x):
    return kmetrics.AverageState(total=x[0] + 2.0**24, count=2**24 + 1).reduce("data")

def many(x):
    return collection.reduce(collection.get_states({"x": x}), "data")

split = jax.device_put(x, NamedSharding(mesh, P("data")))
everywhere = jax.pmap(mean, axis_name="data")(x.reshape(4, 2))
print(json.dumps({
    "devices": jax.device_count(),
    "max": float(jax.jit(mapped(high))(x).compute()),
    "mean": jax.jit(mapped(mean))(x).compute(),
    "jit": jax.jit(kmetrics.AverageState.from_values)(split).compute(),
    "count": float(jax.jit(mapped(large))(x).count.numpy()),
    "many": collection.compute(jax.jit(mapped(many))(x)),
    "pmap": [everywhere.total.hi.tolist(), everywhere.compute().tolist()],
}))
"""


@pytest.mark.slow
@pytest.mark.spec("kmetrics-63", "kmetrics-64")
def test_states_of_four_devices_become_one():
    flags = "--xla_force_host_platform_device_count=4"
    done = subprocess.run(
        [sys.executable, "-c", FOUR_DEVICES],
        capture_output=True,
        text=True,
        env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
    )
    assert done.returncode == 0, done.stderr
    got = json.loads(done.stdout)
    assert got["devices"] == 4
    assert got["max"] == 7.0  # a sum over the devices would give 1 + 3 + 5 + 7
    assert got["mean"] == got["jit"] == got["many"]["mean"] == 3.5
    assert got["many"]["std"] == pytest.approx(np.std(np.arange(8)), rel=1e-6)
    assert got["pmap"] == [[28.0] * 4, [3.5] * 4]
    # In float32 each count would be 2**24 and so would lose its 1.
    assert got["count"] == 4 * (2**24 + 1)


TWO_PROCESSES = """
import json, sys
port, index = sys.argv[1], int(sys.argv[2])
import jax
jax.distributed.initialize(f"localhost:{port}", 2, index)
import jax.numpy as jnp, numpy as np
import kmetrics

@kmetrics.state
class Seen(kmetrics.AutoState):
    seen: jax.Array = kmetrics.concat_field()

    def compute(self):
        return {"seen": self.seen, "unit": self.parent.unit}

class Samples(kmetrics.Mean):
    State = Seen
    unit = "m"

    def get_state(self, values, mask=None):
        return Seen(seen=values)

own = np.arange(5.0) if index == 0 else np.arange(5.0, 8.0)
collection = kmetrics.Collection({
    "mean": kmetrics.Mean(values="x"),
    "ema": kmetrics.Ema(metric=kmetrics.Mean(values="x"), decay=0.5),
    "all": Samples(values="x"),
    "rare": kmetrics.SkipIfMissing(metric=kmetrics.Mean(values="only.second")),
    "shown": kmetrics.summaries.ShowImages(images="image", num_images=6),
    "counted": kmetrics.summaries.HistogramSummary(tensor="x", num_buckets=4),
    "said": kmetrics.summaries.ShowTexts(texts="text", num_texts=6),
})
image = own.reshape(-1, 1, 1, 1).astype(np.uint8)
context = {"x": own, "image": image, "text": [f"{i:g}" for i in own]}
context |= ({"only": {"second": np.ones(2)}} if index else {})
import warnings
warnings.simplefilter("ignore")
values = collection.compute(collection.gather(collection.get_states(context)))
alone = kmetrics.AverageState.from_values(own).gather()
never = (Samples().empty() if index else Samples().get_state(values=own)).gather()
print(json.dumps({
    "mean": values["mean"],
    "ema": values["ema"],
    "all": values["all/seen"].tolist(),
    "unit": values["all/unit"],
    "rare": values["rare"],
    "shown": values["shown"].pixels.ravel().tolist(),
    "counted": [values["counted"].counts.tolist(), values["counted"].edges.tolist()],
    "said": values["said"].texts,
    "count": float(alone.count.numpy()),
    "never": never.compute()["seen"].tolist(),
}), flush=True)
"""


@pytest.mark.slow
@pytest.mark.spec("kmetrics-65")
def test_states_of_two_processes_become_one_whatever_their_sizes(tmp_path):
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    script = tmp_path / "script.py"
    script.write_text(TWO_PROCESSES)
    processes = [
        subprocess.Popen(
            [sys.executable, script, str(port), str(index)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": ""},
        )
        for index in range(2)
    ]
    outputs = [process.communicate(timeout=300)[0] for process in processes]
    assert [p.returncode for p in processes] == [0, 0], "\n".join(outputs)
    first, second = (json.loads(text.strip().splitlines()[-1]) for text in outputs)
    assert (
        first
        == second
        == {
            "mean": 3.5,
            "ema": 3.5,  # parts of one batch are no series
            "all": [0, 1, 2, 3, 4, 5, 6, 7],
            "unit": "m",
            "rare": 1.0,
            "shown": [0, 1, 2, 3, 4, 5],
            "counted": [[2, 2, 2, 2], [0, 2, 4, 6, 8]],
            "said": ["0", "1", "2", "3", "4", "5"],
            "count": 8.0,
            "never": [0, 1, 2, 3, 4],
        }
    )


def test_vmap_with_an_axis_name_reduces_as_devices_do():
    rows = jnp.arange(6.0).reshape(3, 2)

    def of(row):
        return kmetrics.Std().get_state(values=row).reduce("rows")

    spread = jax.vmap(of, axis_name="rows")(rows).compute()
    np.testing.assert_allclose(spread, [np.std(np.arange(6))] * 3, rtol=1e-6)


def test_a_state_that_collects_on_the_host_does_not_reduce_over_devices():
    @kmetrics.state
    class Seen(kmetrics.AutoState):
        seen: jax.Array = kmetrics.concat_field()

    def of(row):
        return Seen(seen=row).reduce("rows")

    with pytest.raises(kmetrics.HostOnlyError, match="Seen collects its data"):
        jax.vmap(of, axis_name="rows")(jnp.ones((3, 2)))


def test_alone_a_gathered_state_is_the_finalized_one():
    state = kmetrics.AverageState.from_values(jnp.arange(3.0)).gather()
    assert state.compute() == 1.0
    assert isinstance(state.total.hi, np.ndarray | np.generic)
