"""Cost of a checked call beside jaxtyping with beartype, Kauldron and asserts by hand.

Run where all are installed (kauldron==1.4.4 needs Python 3.12); those that are not are
left out:
  python packages/ktyping/benchmarks/bench_beside_others.py

Every row is measured in turns, so that a busy machine slows all columns alike; only
ratios within a row mean something.
"""

import importlib.util
import sys
import time

import numpy as np

import ktyping
from ktyping import typechecked

ROWS = [(1, 2), (1, 4), (1, 8), (2, 3), (4, 3), (8, 3)]
ROUNDS, CALLS = 9, 2000


def source(args, dims, annotated):
    spec = " ".join(f"d{n}" for n in range(dims))
    names = [f"x{n}" for n in range(args)]
    kind = f'Float[np.ndarray, "{spec}"]'
    declared = ", ".join(f"{n}: {kind}" if annotated else n for n in names)
    returned = f" -> {kind}" if annotated else ""
    return f"def f({declared}){returned}:\n", names


def made(body, namespace):
    scope = {"np": np, **namespace}
    exec(body, scope)
    return scope["f"]


def by_hand(args, dims):
    head, names = source(args, dims, annotated=False)
    first = names[0]
    lines = [f"    assert {first}.dtype == np.float32 and {first}.ndim == {dims}"]
    lines += [f"    shape = {first}.shape"]
    lines += [
        f"    assert {n}.dtype == np.float32 and {n}.shape == shape" for n in names[1:]
    ]
    lines += [f"    out = {first}"]
    lines += ["    assert out.dtype == np.float32 and out.shape == shape"]
    return made(head + "\n".join([*lines, "    return out\n"]), {})


def ours(args, dims):
    head, names = source(args, dims, annotated=True)
    function = made(f"{head}    return {names[0]}\n", {"Float": ktyping.Float})
    return typechecked(function)


def theirs(args, dims):
    import beartype
    import jaxtyping

    head, names = source(args, dims, annotated=True)
    function = made(f"{head}    return {names[0]}\n", {"Float": jaxtyping.Float})
    return jaxtyping.jaxtyped(typechecker=beartype.beartype)(function)


def kauldron(args, dims):
    from kauldron import ktyping as peer

    head, names = source(args, dims, annotated=True)
    function = made(f"{head}    return {names[0]}\n", {"Float": peer.Float})
    return peer.typechecked(function)


def plain(args, dims):
    head, names = source(args, dims, annotated=False)
    return made(f"{head}    return {names[0]}\n", {})


def refuses(function, values):
    """A checker that does not check looks fastest: it must refuse a wrong rank."""
    try:
        function(*values[:-1], np.zeros((), np.float32))
    except Exception:
        return
    raise SystemExit(f"a column accepts a wrong rank: {function}")


def measure(functions, values):
    best = [float("inf")] * len(functions)
    for _ in range(ROUNDS):
        for index, function in enumerate(functions):
            start = time.process_time()
            for _ in range(CALLS):
                function(*values)
            spent = (time.process_time() - start) / CALLS * 1e6
            best[index] = min(best[index], spent)
    return best


def main():
    makers = {"plain": plain, "by hand": by_hand, "ktyping": ours}
    for name, make, needed in [
        ("jaxtyping+beartype", theirs, ("jaxtyping", "beartype")),
        ("kauldron", kauldron, ("kauldron",)),
    ]:
        if all(importlib.util.find_spec(n) for n in needed):
            makers[name] = make
        else:
            print(f"{name} is not installed: without it", file=sys.stderr)
    print("microseconds per call (CPU)")
    print("args x dims  " + "  ".join(f"{name:>8}" for name in makers) + "   ratios")
    for args, dims in ROWS:
        shape = tuple(range(2, 2 + dims))
        values = [np.zeros(shape, np.float32) for _ in range(args)]
        functions = [make(args, dims) for make in makers.values()]
        for function in functions[1:]:
            refuses(function, values)
        found = dict(zip(makers, measure(functions, values), strict=True))
        ratios = [f"{found['ktyping'] / found['by hand']:.1f} x by hand"]
        for name in ("jaxtyping+beartype", "kauldron"):
            if name in found:
                ratios.append(f"{found['ktyping'] / found[name]:.3f} x {name}")
        cells = "  ".join(f"{found[name]:>{max(8, len(name))}.2f}" for name in makers)
        print(f"{args:>4} x {dims:<6}{cells}   {', '.join(ratios)}")


if __name__ == "__main__":
    main()
