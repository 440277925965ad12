"""What single calls cost; for whole passes see bench_evaluation.py.

Run: python bench_kmetrics.py.
"""

import time

import jax
import jax.numpy as jnp

import kmetrics

BATCH, CLASSES = 256, 10


def best_of(function, repeats=7):
    """The least CPU time of one call, in seconds, after one call to warm up."""
    function()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def show(name, seconds, beside=None):
    ratio = "" if beside is None else f"  {seconds / beside:6.2f} x"
    print(f"{name:44s} {seconds * 1e6:10.1f} µs{ratio}")


def bench_states():
    state = kmetrics.AverageState.from_values(jnp.ones(BATCH))
    collection = kmetrics.Collection(
        {f"m{i}": kmetrics.Mean(values="x") for i in range(50)}
    )
    states = jax.jit(collection.get_states)({"x": jnp.ones(BATCH)})
    by_hand = best_of(lambda: float(state.total.hi) / float(state.count.hi))
    show("float(a) / float(b)", by_hand)
    show("AverageState.compute", best_of(state.compute), by_hand)
    show("Collection.compute, 50", best_of(lambda: collection.compute(states)))
    show("AverageState.merge, eager", best_of(lambda: state.merge(state)))

    def merge():
        jax.block_until_ready(collection.merge(states, states))

    show("Collection.merge, 50", best_of(merge))


def bench_get_state():
    logits = jnp.ones((BATCH, CLASSES))
    labels = jnp.zeros(BATCH, jnp.int32)
    metric = kmetrics.Accuracy(logits="batch.z", labels="batch.y")
    compiled = jax.jit(lambda **batch: metric.get_state(**batch))
    eager = best_of(lambda: metric.get_state(logits=logits, labels=labels))
    show("Accuracy.get_state [256, 10], eager", eager)
    show(
        "Accuracy.get_state [256, 10], jit",
        best_of(lambda: compiled(logits=logits, labels=labels)),
    )


if __name__ == "__main__":
    bench_states()
    bench_get_state()
