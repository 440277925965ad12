"""What summaries cost: merging, memory, drawing.

python packages/kmetrics/benchmarks/bench_summaries.py
"""

from __future__ import annotations

import time

import jax
import numpy as np

from kmetrics import Collection, summaries


def best_ms(function, *args, repeats: int = 20) -> float:
    """The shortest time of a call, in milliseconds."""
    jax.block_until_ready(function(*args))
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        jax.block_until_ready(function(*args))
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def num_bytes(state) -> int:
    return sum(leaf.nbytes for leaf in jax.tree.leaves(state))


def histogram() -> None:
    metric = summaries.HistogramSummary(tensor="x")
    values = np.random.default_rng(0).normal(size=100_000).astype(np.float32)
    of = jax.jit(lambda x: metric.get_state(tensor=x))
    count = jax.jit(lambda x: jax.numpy.histogram(x, bins=30))
    merge = jax.jit(lambda a, b: a.merge(b))
    state = of(values)
    print("HistogramSummary of 1e5 values")
    print(f"  state            {num_bytes(state):8d} bytes")
    print(f"  one batch        {best_ms(of, values):8.3f} ms")
    print(f"  jnp.histogram    {best_ms(count, values):8.3f} ms")
    print(f"  merge            {best_ms(merge, state, state):8.3f} ms")


def images() -> None:
    metric = summaries.ShowImages(images="x", num_images=5)
    collection = Collection({"images": metric})
    batch = jax.device_put(np.zeros((64, 224, 224, 3), np.float32))
    of = jax.jit(collection.get_states)
    states = of({"x": batch})
    copy = jax.jit(lambda x: x + 0)
    kept = batch[:5]
    print("ShowImages, 5 of 64 of 224 × 224 × 3")
    print(f"  to the host      {num_bytes(states):8d} bytes of {batch.nbytes}")
    print(f"  one batch        {best_ms(of, {'x': batch}):8.3f} ms")
    print(f"  merge            {best_ms(collection.merge, states, states):8.3f} ms")
    print(f"  a copy of the 5  {best_ms(copy, kept):8.3f} ms")
    value = collection.compute(states)["images"]
    start = time.perf_counter()
    files = [value.to_png(i) for i in range(5)]
    spent = 1e3 * (time.perf_counter() - start)
    print(f"  5 PNG files      {spent:8.3f} ms, {sum(map(len, files))} bytes")


if __name__ == "__main__":
    histogram()
    images()
