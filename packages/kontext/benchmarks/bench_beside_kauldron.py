"""What paths cost here and in Kauldron, beside plain Python that does the same.

Run where kauldron==1.4.4 is installed (Python 3.12):
  python packages/kontext/benchmarks/bench_beside_kauldron.py

The columns of a row are measured in turns, in CPU time, so that a busy machine slows
all alike; only ratios within a row mean something.
"""

import itertools
import time

from kauldron import kontext as peer

import kontext
from kontext import Key

COUNT = itertools.count()
ROUNDS = 7


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
    return {
        f"block{i}": {f"layer{j}": {"kernel": 1.0, "bias": 0.0} for j in range(10)}
        for i in range(blocks)
    }


class Ours:
    x: Key = "k1.k2"
    y: Key = "k1.k2.k3"


class Theirs:
    x: peer.Key = "k1.k2"
    y: peer.Key = "k1.k2.k3"


def measure(functions, calls):
    best = [float("inf")] * len(functions)
    for _ in range(ROUNDS):
        for index, function in enumerate(functions):
            start = time.process_time()
            for _ in range(calls):
                function()
            spent = (time.process_time() - start) / calls * 1e6
            best[index] = min(best[index], spent)
    return best


def row(name, plain, ours, theirs, calls):
    functions = [f for f in (plain, ours, theirs) if f is not None]
    found = measure(functions, calls)
    cells = ([None] if plain is None else []) + found
    shown = "".join(" " * 14 if c is None else f"{c:>14.2f}" for c in cells)
    beside = "" if cells[0] is None else f"{cells[1] / cells[0]:.1f} x plain, "
    print(f"{name:<28}{shown}   {beside}{cells[1] / cells[2]:.4f} x kauldron")


def main():
    print(f"{'microseconds (CPU)':<28}{'plain':>14}{'kontext':>14}{'kauldron':>14}")
    for depth in (1, 3, 8):
        tree = nested(depth)
        keys = [f"k{level}" for level in range(1, depth + 1)]
        text = ".".join(keys)
        assert kontext.get(tree, text) == peer.get_by_path(tree, text) == 1
        row(
            f"get, text, depth {depth}",
            lambda t=tree, k=keys: loop(t, k),
            lambda t=tree, p=text: kontext.get(t, p),
            lambda t=tree, p=text: peer.get_by_path(t, p),
            2000,
        )
        ours, theirs = kontext.parse(text), peer.Path.from_str(text)
        row(
            f"get, Path, depth {depth}",
            lambda t=tree, k=keys: loop(t, k),
            lambda t=tree, p=ours: kontext.get(t, p),
            lambda t=tree, p=theirs: peer.get_by_path(t, p),
            5000,
        )
        row(
            f"parse a new text, depth {depth}",
            None,
            lambda p=text: kontext.parse(f"{p[:-1]}{next(COUNT)}"),
            lambda p=text: peer.Path.from_str(f"{p[:-1]}{next(COUNT)}"),
            300,
        )
    tree = nested(4)
    row(
        "resolve 2 keys",
        None,
        lambda: kontext.resolve_from_keyed_obj(tree, Ours()),
        lambda: peer.resolve_from_keyed_obj(tree, Theirs()),
        300,
    )
    for blocks, calls in ((50, 5), (1000, 1)):
        tree = params(blocks)
        row(
            f"flatten {blocks * 20} leaves",
            lambda t=tree: plain_flatten(t, "", {}),
            lambda t=tree: kontext.flatten(t),
            lambda t=tree: peer.flatten_with_path(t),
            calls,
        )
        row(
            f"set **.bias, {blocks * 20} leaves",
            lambda t=tree: plain_flatten(t, "", {}),
            lambda t=tree: kontext.set(t, "**.bias", 0.0),
            lambda t=tree: peer.set_by_path(t, "**.bias", 0.0),
            calls,
        )


if __name__ == "__main__":
    main()
