"""What paths cost, beside plain Python that does the same.

Run it from anywhere: `python packages/kontext/benchmarks/bench_kontext.py`.
Every figure is the least of many rounds, in CPU time of the process; what is shown
beside plain Python was measured in turns with it.
"""

import itertools
import subprocess
import sys
import time
from functools import partial

import kontext
from kontext import Key

# Makes texts that were never parsed before.
COUNT = itertools.count()


def least(functions, calls, rounds=31):
    """Seconds of CPU per call of each function, measured in turns."""
    found = [float("inf")] * len(functions)
    for _ in range(rounds):
        for index, function in enumerate(functions):
            start = time.process_time()
            for _ in range(calls):
                function()
            spent = (time.process_time() - start) / calls
            found[index] = min(found[index], spent)
    return found


def show(name, seconds, beside=None):
    unit, factor = ("us", 1e6) if seconds < 1e-3 else ("ms", 1e3)
    line = f"{name:<44}{seconds * factor:10.3f} {unit}"
    if beside is not None:
        line += f"   {seconds / beside:5.2f}x plain"
    print(line)


def alone(name, function, calls):
    show(name, *least([function], calls))


def beside(name, function, plain, calls, rounds=31):
    show(name, *least([function, plain], calls, rounds))


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


def params(blocks, leaf=0.0):
    return {
        f"block{i}": {f"layer{j}": {"kernel": leaf, "bias": leaf} for j in range(10)}
        for i in range(blocks)
    }


class Array:
    """As much of an array as paths look at."""

    shape, dtype = (2, 3), "float32"

    def __getitem__(self, axes):
        return 0.0


class Row:
    """Reads its own parts, so that no array library is needed."""

    def __kontext_get__(self, part):
        return part


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
    for depth in (1, 3, 4, 8):
        tree = nested(depth)
        keys = [f"k{level}" for level in range(1, depth + 1)]
        text = ".".join(keys)
        path = kontext.parse(text)
        plain = partial(loop, tree, keys)
        for kind, place in (("text", text), ("Path", path)):
            name = f"get, {kind}, depth {depth}"
            beside(name, partial(kontext.get, tree, place), plain, 3000)
        new = lambda text=text: kontext.parse(f"{text}.n{next(COUNT)}")  # noqa: E731
        alone(f"parse a new text, depth {depth + 1}", new, 300)
    alone("parse new axes", lambda: kontext.parse(f"t[...,{next(COUNT)}]"), 300)
    alone("get, axes", partial(kontext.get, {"t": Row()}, "t[...,0]"), 1000)
    alone("str of a Path", partial(str, path), 3000)
    alone("hash of a Path", partial(hash, path), 3000)


def bench_keys():
    tree, component = nested(4), Component()
    resolve = partial(kontext.resolve_from_keyed_obj, tree, component)
    alone("resolve 2 keys", resolve, 500)
    call = component.__call__
    alone("resolve 2 keys, with function", partial(resolve, func=call), 500)


def fail(tree):
    try:
        kontext.resolve_from_keypaths(tree, {"x": "block1.layer", "y": "kernels"})
    except KeyError as error:
        return str(error)
    raise AssertionError


def bench_trees():
    for blocks, calls, rounds in ((20, 10, 31), (50, 5, 31), (5000, 1, 9)):
        for kind, leaf in (("leaves", 0.0), ("arrays", Array())):
            tree = params(blocks, leaf)
            what = f"{blocks * 20} {kind}"
            plain = lambda tree=tree: plain_flatten(tree, "", {})  # noqa: E731
            every = partial(kontext.flatten, tree)
            beside(f"flatten {what}", every, plain, calls, rounds)
            change = partial(kontext.set, tree, "**.bias", leaf)
            beside(f"set **.bias in {what}", change, plain, calls, rounds)
    failing = partial(fail, params(20))
    alone("failing resolve of 2 keys in 400 leaves", failing, 10)


if __name__ == "__main__":
    bench_import()
    bench_reading()
    bench_keys()
    bench_trees()
