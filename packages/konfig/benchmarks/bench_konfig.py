"""Time per node of what every run does with its config.

Run it as a plain script: `python packages/konfig/benchmarks/bench_konfig.py`. A node is
a call with three scalar fields; ten nodes stand below each inner node. CPU time, the
least of five rounds, in microseconds per node.
"""

import copy
import gc
import json
import time
import types

import konfig

SIZES = (10, 100, 1_000, 10_000)
ROUNDS = 5


def build(target, count):
    """A tree of `count` calls, ten below each."""
    nodes = [target(a=index, b=0.5, c="text") for index in range(count)]
    for index in range(count - 1, 0, -1):
        nodes[(index - 1) // 10][f"n{index % 10}"] = nodes[index]
    return nodes[0]


def plain(a, b, c):
    return {"a": a, "b": b, "c": c}


def least(run, count):
    best = float("inf")
    for _ in range(ROUNDS):
        gc.collect()
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best / count * 1e6


def measure(target, count):
    tree = build(target, count)
    if isinstance(tree, dict):
        return {
            "build": least(lambda: build(target, count), count),
            "deepcopy": least(lambda: copy.deepcopy(tree), count),
            "to_json": least(lambda: json.dumps(tree), count),
        }
    text = konfig.to_json(tree)
    return {
        "build": least(lambda: build(target, count), count),
        "deepcopy": least(lambda: konfig.deepcopy(tree), count),
        "to_json": least(lambda: konfig.to_json(tree), count),
        "from_json": least(lambda: konfig.from_json(text), count),
        "resolve": least(lambda: konfig.resolve(tree), count),
        "repr": least(lambda: repr(tree), count),
        "fingerprint": least(lambda: konfig.fingerprint(tree), count),
    }


def main():
    namespace = konfig.proxy(types).SimpleNamespace
    for name, target in (("konfig", namespace), ("plain dicts", plain)):
        for count in SIZES:
            found = measure(target, count)
            cells = "  ".join(f"{key} {value:6.2f}" for key, value in found.items())
            print(f"{name:12} n={count:<6} us/node: {cells}")


if __name__ == "__main__":
    main()
