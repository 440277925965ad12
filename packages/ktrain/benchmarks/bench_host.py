"""What a batch and a report cost on the host, and how long commands take to start.

uv run python packages/ktrain/benchmarks/bench_host.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time

import numpy as np

from ktrain import writers
from ktrain.data import InMemoryPipeline


def main() -> None:
    for examples in (1_437, 20_000, 200_000):
        batches(examples)
    reports()
    for words in (["-m", "ktrain", "--help"], ["-c", "import ktrain.data"]):
        start_up(words)


def batches(examples: int, rounds: int = 7) -> None:
    data = {"x": np.zeros((examples, 64), "f4"), "y": np.zeros(examples, "i4")}
    iterator = InMemoryPipeline(loader=data, batch_size=64, shuffle=True).open()
    rows = np.random.default_rng(0).permutation(examples)[:64]

    def gather():
        return data["x"].take(rows, 0), data["y"].take(rows, 0)

    batch = min(seconds(iterator.__next__) for _ in range(rounds))
    bare = min(seconds(gather) for _ in range(rounds))
    print(
        f"shuffled batch of 64 from {examples:7,}: {batch * 1e6:6.1f} µs,"
        f" bare take {bare * 1e6:.1f} µs"
    )


def seconds(call, times: int = 2000) -> float:
    start = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - start) / times


def reports(count: int = 1000) -> None:
    values = {"losses/total": np.float32(0.5), "metrics/accuracy": np.float32(0.9)}
    with tempfile.TemporaryDirectory() as folder:
        session = writers.open_in_background(
            writers.JsonlWriter(), workdir=folder, start_step=0
        )
        own, whole = time.thread_time(), time.process_time()
        for step in range(count):
            session.scalars("train", step, values)
        own = time.thread_time() - own
        session.flush()
        whole = time.process_time() - whole
        session.close()
    print(
        f"report: {own / count * 1e6:.1f} µs in the training thread,"
        f" {whole / count * 1e6:.1f} µs in all threads"
    )


def start_up(words: list[str], rounds: int = 5) -> None:
    script = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=-3)"
    script += "; print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime)"
    command = [sys.executable, "-c", script, sys.executable, *words]
    spent = [
        float(subprocess.run(command, capture_output=True, text=True).stdout)
        for _ in range(rounds)
    ]
    print(f"python {' '.join(words)}: {min(spent):.2f} s CPU")


if __name__ == "__main__":
    main()
