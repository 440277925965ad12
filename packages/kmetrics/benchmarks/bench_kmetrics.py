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


def bench_views():
    table = kmetrics.ConfusionMatrix(logits="z", labels="y")
    views = (
        kmetrics.Precision,
        kmetrics.Recall,
        kmetrics.FBeta,
        kmetrics.CohenKappa,
        kmetrics.MatthewsCorrelation,
    )
    context = {
        "z": jnp.ones((BATCH, 30 * CLASSES)),
        "y": jnp.zeros(BATCH, jnp.int32),
    }
    apart = kmetrics.Collection({v.__name__: v(logits="z", labels="y") for v in views})
    shared = kmetrics.Collection({v.__name__: v(source=table) for v in views})
    times = []
    for name, collection in (("apart", apart), ("of one source", shared)):
        get_states = jax.jit(collection.get_states)

        def one_pass(get_states=get_states, collection=collection):
            states = get_states(context)
            # XLA counts equal tables once; they are kept and merged as many times.
            collection.compute(collection.merge(states, states))

        times.append(best_of(one_pass))
        show(f"5 views of a table [300, 300], {name}", times[-1], times[0])


if __name__ == "__main__":
    bench_states()
    bench_get_state()
    bench_views()
