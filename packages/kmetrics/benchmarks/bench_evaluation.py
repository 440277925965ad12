"""An evaluation pass with 1, 10 and 50 metrics, beside other libraries.

Run: python bench_evaluation.py. A library that is not installed is a line that says so.
The cases take turns, so that a busy machine slows all of them; the figures are medians
of CPU time per batch, merging and the values at the end included.
"""

import functools
import statistics
import time

import jax
import jax.numpy as jnp
import numpy as np

BATCHES, BATCH, CLASSES = 20, 256, 10
# As many as take about two seconds by hand.
ROUNDS = {1: 500, 10: 200, 50: 60}
RNG = np.random.default_rng(0)
DATA = [
    (
        jnp.asarray(RNG.normal(size=(BATCH, CLASSES)), jnp.float32),
        jnp.asarray(RNG.integers(0, CLASSES, BATCH)),
    )
    for _ in range(BATCHES)
]


def by_hand(count):
    @jax.jit
    def update(totals, logits, labels):
        correct = jnp.sum(jnp.argmax(logits, -1) == labels)
        return [(total + correct, seen + BATCH) for total, seen in totals]

    def run():
        totals = [(np.int32(0), np.int32(0))] * count
        for logits, labels in DATA:
            totals = update(totals, logits, labels)
        return [int(total) / int(seen) for total, seen in jax.device_get(totals)]

    return run


def accuracies(count):
    import kmetrics

    return kmetrics.Collection(
        {f"m{i}": kmetrics.Accuracy(logits="z", labels="y") for i in range(count)}
    )


def kmetrics(count):
    collection = accuracies(count)

    @jax.jit
    def update(states, logits, labels):
        new = collection.get_states({"z": logits, "y": labels})
        return collection.merge(states, new)

    def run():
        states = collection.empty()
        for logits, labels in DATA:
            states = update(states, logits, labels)
        return list(collection.compute(states).values())

    return run


def kmetrics_scan(count):
    """All batches in one call."""
    collection = accuracies(count)
    logits, labels = (jnp.stack(parts) for parts in zip(*DATA, strict=True))

    @jax.jit
    def update(states, batches):
        def step(states, batch):
            return collection.merge(states, collection.get_states(batch)), None

        return jax.lax.scan(step, states, batches)[0]

    def run():
        states = update(collection.empty(), {"z": logits, "y": labels})
        return list(collection.compute(states).values())

    return run


def merged_in_jit(make, empty, value, count):
    """Libraries whose states merge: all in one jitted call per batch."""

    @jax.jit
    def update(states, logits, labels):
        return [state.merge(make(logits, labels)) for state in states]

    def run():
        states = [empty()] * count
        for logits, labels in DATA:
            states = update(states, logits, labels)
        return [value(state) for state in states]

    return run


def clu(count):
    from clu import metrics

    kind = metrics.Accuracy

    def make(logits, labels):
        return kind.from_model_output(logits=logits, labels=labels)

    return merged_in_jit(make, kind.empty, lambda s: float(s.compute()), count)


def metrax(count):
    import metrax

    kind = metrax.Accuracy

    def make(logits, labels):
        return kind.from_model_output(predictions=logits.argmax(-1), labels=labels)

    return merged_in_jit(make, kind.empty, lambda s: float(s.compute()), count)


def torchmetrics(count):
    import torch
    from torchmetrics.classification import MulticlassAccuracy

    metrics = [
        MulticlassAccuracy(num_classes=CLASSES, average="micro") for _ in range(count)
    ]
    data = [
        (torch.tensor(np.asarray(z)), torch.tensor(np.asarray(y), dtype=torch.int64))
        for z, y in DATA
    ]

    def run():
        for metric in metrics:
            metric.reset()
            for logits, labels in data:
                metric.update(logits, labels)
        return [float(metric.compute()) for metric in metrics]

    return run


def kauldron(count):
    from kauldron.metrics import Accuracy

    metric = Accuracy(logits="z", labels="y")
    first = jax.jit(
        lambda z, y: [metric.get_state(logits=z, labels=y)] * count,
    )
    later = jax.jit(
        lambda states, z, y: [
            state.merge(metric.get_state(logits=z, labels=y)) for state in states
        ]
    )

    def run():
        states = None
        for logits, labels in DATA:
            batch = (logits, labels[:, None])
            states = first(*batch) if states is None else later(states, *batch)
        return [float(state.finalize().compute()) for state in states]

    return run


CASES = (by_hand, kmetrics, kmetrics_scan, clu, metrax, torchmetrics, kauldron)


def seconds(run):
    """CPU time of one pass."""
    start = time.process_time()
    run()
    return time.process_time() - start


def compare(count):
    runs, times = {}, {}
    for case in CASES:
        try:
            run = case(count)
        except ImportError as error:
            print(f"  {case.__name__:14s} not installed ({error.name})")
            continue
        values = run()
        assert np.allclose(values, by_hand(count)()), (case.__name__, values)
        runs[case.__name__], times[case.__name__] = run, []
    # The peer takes a second per pass.
    slow = {name for name, run in runs.items() if seconds(run) > 0.2}
    for round_ in range(ROUNDS[count]):
        for name, run in runs.items():
            if name in slow and round_ >= 9:
                continue
            times[name].append(seconds(run) / BATCHES)
    for name, own in times.items():
        ratio = statistics.median(
            # A slow one has fewer rounds, the first ones.
            a / b
            for a, b in zip(own, times["by_hand"], strict=False)
        )
        typical = statistics.median(own) * 1e6
        print(f"  {name:14s} {typical:10.1f} µs per batch {ratio:8.2f} x by hand")


def merges():
    """One merge of two states of a mean, outside of jit."""
    import kmetrics

    state = kmetrics.AverageState.from_values(jnp.ones(BATCH))
    cases = {"kmetrics": functools.partial(state.merge, state)}
    try:
        from clu import metrics

        other = metrics.Average.from_model_output(jnp.ones(BATCH))
        cases["clu"] = functools.partial(other.merge, other)
    except ImportError as error:
        print(f"  {'clu':14s} not installed ({error.name})")
    times = {name: [] for name in cases}
    for _ in range(500):
        for name, merge in cases.items():
            start = time.perf_counter()
            jax.block_until_ready(merge())
            times[name].append(time.perf_counter() - start)
    for name, own in times.items():
        typical, least = statistics.median(own) * 1e6, min(own) * 1e6
        print(f"  {name:14s} {typical:10.1f} µs, the least {least:.1f} µs")


if __name__ == "__main__":
    for number in (1, 10, 50):
        print(f"{number} metrics")
        compare(number)
    print("merge of two states, eager")
    merges()
