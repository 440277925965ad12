"""Cost of a checked call, in microseconds, beside the same call written by hand.

Run: python packages/ktyping/benchmarks/bench_ktyping.py
"""

import os
import subprocess
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

from ktyping import AmbiguityLimitError, Float, Int, Shape, config, typechecked
from ktyping import isinstance as matches


def plain2(x, y):
    return x


@typechecked
def checked2(x: Float["*b n c"], y: Float["c d"]) -> Float["*b n c"]:
    return x


def asserts2(x, y):
    assert x.dtype == np.float32 and y.dtype == np.float32
    *b, n, c = x.shape
    c2, _ = y.shape
    assert c == c2
    out = x
    assert out.dtype == np.float32 and out.shape == (*b, n, c)
    return out


def plain8(a, b, c, d, e, f, g, h):
    return a


@typechecked
def checked8(
    a: Float["b n c"],
    b: Float["b n c"],
    c: Float["b n"],
    d: Int["b"],
    e: Float["c d"],
    f: Float["d"],
    g: Float["*r n"],
    h: Float["n c"] | None,
) -> Float["b n c"]:
    return a


def asserts8(a, b, c, d, e, f, g, h):
    f32 = np.float32
    assert a.dtype == f32 and b.dtype == f32 and c.dtype == f32
    assert d.dtype == np.int32 and e.dtype == f32 and f.dtype == f32
    assert g.dtype == f32 and h.dtype == f32
    bb, n, cc = a.shape
    assert b.shape == (bb, n, cc) and c.shape == (bb, n) and d.shape == (bb,)
    cd, dd = e.shape
    assert cd == cc and f.shape == (dd,) and g.shape[-1] == n and h.shape == (n, cc)
    out = a
    assert out.dtype == f32 and out.shape == (bb, n, cc)
    return out


def arguments(module):
    shapes = [(2, 3, 4), (2, 3, 4), (2, 3), (2,), (4, 5), (5,), (6, 7, 3), (3, 4)]
    dtypes = ["float32"] * 3 + ["int32"] + ["float32"] * 4
    made = [module.zeros(s, d) for s, d in zip(shapes, dtypes, strict=True)]
    return (made[0], made[4]), tuple(made)


def cost(function, args, calls=3000, rounds=7):
    """Best CPU time of a call in microseconds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(calls):
            function(*args)
        best = min(best, time.process_time() - start)
    return best / calls * 1e6


def refuses(function, args):
    """A checker that does not check looks fastest: it must refuse a wrong rank."""
    wrong = (args[0][0, 0], *args[1:])
    try:
        function(*wrong)
    except TypeError:
        return
    raise SystemExit(f"{function.__name__} accepts a wrong rank")


def report(label, two, eight):
    cells = [
        cost(function, args)
        for args, functions in (
            (two, (plain2, asserts2, checked2)),
            (eight, (plain8, asserts8, checked8)),
        )
        for function in functions
    ]
    print(f"{label:<18}" + "".join(f"{cell:>9.2f}" for cell in cells))


def traced():
    def inside(two, eight):
        report("jax, while traced", two, eight)
        return two[0]

    jax.jit(inside)(*arguments(jnp))


def main():
    two, eight = arguments(np)
    refuses(checked2, two)
    refuses(checked8, eight)
    print("microseconds per call (CPU), best of 7 rounds")
    heads = ["plain 2", "hand 2", "ktyping 2", "plain 8", "hand 8", "ktyping 8"]
    print(" " * 18 + "".join(f"{h:>9}" for h in heads))
    report("numpy", two, eight)
    report("jax", *arguments(jnp))
    traced()
    with config.override("off"):
        report("numpy, off", two, eight)
    kind = Float["a b"]
    print(f"isinstance(x, Float['a b']): {cost(matches, (two[1], kind)):.2f}")
    start = time.process_time()
    for _ in range(200):
        typechecked(lambda x, y, z: x)
    print(f"decorating: {(time.process_time() - start) / 200 * 1e6:.0f}")
    print(f"first call after it, 2 arguments: {first_call(two):.0f}")
    print(f"six runs of axes on rank 14, refused: {six_runs():.0f}")
    print(f"unchanged by typechecked after KTYPING=off: {is_free_when_off()}")


def first_call(args):
    """Median CPU time of the first call of a function, in microseconds."""
    spent = []
    for _ in range(100):

        @typechecked
        def f(x: Float["*b n c"], y: Float["c d"]) -> Float["*b n c"]:
            return x

        start = time.process_time()
        f(*args)
        spent.append(time.process_time() - start)
    return sorted(spent)[50] * 1e6


def six_runs():
    """Best CPU time to find that six runs have too many readings, in microseconds."""
    kind, shape = Shape["*a *b *c *d *e *f"], tuple(range(14))
    best = float("inf")
    for _ in range(20):
        start = time.process_time()
        try:
            matches(shape, kind)
        except AmbiguityLimitError:
            best = min(best, time.process_time() - start)
    return best * 1e6


def is_free_when_off():
    code = "import ktyping\nf = lambda: 0\nprint(ktyping.typechecked(f) is f)"
    command, environment = (
        [sys.executable, "-c", code],
        {**os.environ, "KTYPING": "off"},
    )
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    main()
