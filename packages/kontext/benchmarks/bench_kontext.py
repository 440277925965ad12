"""What paths cost, beside plain Python that does the same.

Run it from anywhere: `python packages/kontext/benchmarks/bench_kontext.py`.
Every figure is the best of seven rounds, in CPU time of the process.
"""

import itertools
import subprocess
import sys
import time

import kontext
from kontext import Key

# Makes texts that were never parsed before.
COUNT = itertools.count()


def best(fn, calls):
    rounds = []
    for _ in range(7):
        start = time.process_time()
        for _ in range(calls):
            fn()
        rounds.append((time.process_time() - start) / calls)
    return min(rounds)


def show(name, seconds, beside=None):
    unit, factor = ("us", 1e6) if seconds < 1e-3 else ("ms", 1e3)
    line = f"{name:<44}{seconds * factor:10.3f} {unit}"
    if beside is not None:
        line += f"   {seconds / beside:5.1f}x plain"
    print(line)


def loop(root, keys):
    for key in keys:
        root = root[key]
    return root


def plain_flatten(node, text, out):
    if isinstance(node, dict):
        for key, value in node.items():
            plain_flatten(value, f"{text}.{key}" if text else key, out)
    else:
        out[text] = node
    return out


def nested(depth):
    tree = 1
    for level in range(depth, 0, -1):
        tree = {f"k{level}": tree}
    return tree


def params(blocks):
    layer = {"kernel": 1.0, "bias": 0.0}
    return {f"block{i}": {f"layer{j}": layer for j in range(10)} for i in range(blocks)}


class Component:
    x: Key = "k1.k2"
    y: Key = "k1.k2.k3"

    def __call__(self, x, y):
        return x, y


def bench_import():
    code = (
        "import time; s = time.process_time(); import kontext; {more}"
        "print(time.process_time() - s)"
    )
    every = "[getattr(kontext, n) for n in kontext.__all__]; "
    for name, more in (("import kontext", ""), ("import, every name", every)):
        command = [sys.executable, "-c", code.format(more=more)]
        show(name, min(float(subprocess.check_output(command)) for _ in range(5)))


def bench_reading():
    for depth in (1, 3, 8):
        tree = nested(depth)
        keys = [f"k{level}" for level in range(1, depth + 1)]
        text = ".".join(keys)
        path = kontext.parse(text)
        plain = best(lambda t=tree, k=keys: loop(t, k), 20000)
        seconds = best(lambda t=tree, p=text: kontext.get(t, p), 20000)
        show(f"get, text, depth {depth}", seconds, plain)
        seconds = best(lambda t=tree, p=path: kontext.get(t, p), 20000)
        show(f"get, Path, depth {depth}", seconds, plain)
        seconds = best(lambda p=text: kontext.parse(f"{p}.n{next(COUNT)}"), 1000)
        show(f"parse a new text, depth {depth + 1}", seconds)
    show("parse new axes", best(lambda: kontext.parse(f"t[...,{next(COUNT)}]"), 1000))


def bench_keys():
    tree, component = nested(4), Component()
    resolve = kontext.resolve_from_keyed_obj
    show("resolve 2 keys", best(lambda: resolve(tree, component), 2000))
    call = component.__call__
    show(
        "resolve 2 keys, with function",
        best(lambda: resolve(tree, component, func=call), 2000),
    )


def bench_trees():
    for blocks, calls in ((50, 10), (5000, 1)):
        tree = params(blocks)
        size = blocks * 20
        plain = best(lambda t=tree: plain_flatten(t, "", {}), calls)
        seconds = best(lambda t=tree: kontext.flatten(t), calls)
        show(f"flatten {size} leaves", seconds, plain)
        seconds = best(lambda t=tree: kontext.set(t, "**.bias", 0.0), calls)
        show(f"set **.bias in {size} leaves", seconds, plain)


if __name__ == "__main__":
    bench_import()
    bench_reading()
    bench_keys()
    bench_trees()
