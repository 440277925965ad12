"""Time per node of what every run does with its config, beside other libraries.

Run it as a plain script, in an environment that has the libraries to compare with:
`python packages/konfig/benchmarks/bench_konfig.py`. Times are CPU time, the least of
several interleaved rounds, in microseconds per node; behind them stands the ratio to
plain dicts, and an exponent near 1 says that time grows with the number of nodes.
"""

import argparse
import gc
import math
import resource
import subprocess
import sys
import time

from libraries import LIBRARIES, installed, tree

import konfig

OPERATIONS = (
    "build",
    "deepcopy",
    "pickle",
    "to_json",
    "from_json",
    "resolve",
    "diff",
    "repr",
    "fingerprint",
)
# Seconds. What needs longer at one size is not asked for again, nor for a larger one.
PATIENCE = 0.3


def actions(library, count):
    """What is measured of a library at one size, by operation."""
    finish = library.get("finish", lambda cfg: cfg)
    made = finish(tree(count, library["make"]))
    found = {"build": lambda: finish(tree(count, library["make"]))}
    for name in OPERATIONS:
        if name in library:
            found[name] = lambda act=library[name]: act(made)
    if "read" in library:
        text = library["written"](made)
        found["from_json"] = lambda: library["read"](text)
    return found


def seconds(act, repeats):
    gc.collect()
    start = time.process_time()
    for _ in range(repeats):
        act()
    return (time.process_time() - start) / repeats


def measure(libraries, count, rounds, slow):
    """The least seconds per node, by operation and library."""
    best = {}
    todo = {
        name: actions(library, count)
        for name, library in libraries.items()
        if name not in slow
    }
    repeats = max(1, 2_000 // count)
    for _ in range(rounds):
        for name, acts in todo.items():
            for operation, act in acts.items():
                if (name, operation) in slow:
                    continue
                spent = seconds(act, repeats)
                if spent > PATIENCE:
                    slow.add((name, operation))
                key = (operation, name)
                best[key] = min(best.get(key, math.inf), spent / count)
    return best


def show(results, names):
    sizes = list(results)
    for operation in OPERATIONS:
        print(f"\n{operation}, us/node (x plain dicts)")
        for name in names:
            cells = []
            for size in sizes:
                found = results[size].get((operation, name))
                limit = results[size].get((operation, "plain dicts"))
                if found is None:
                    cells.append(f"{'-':>17}")
                    continue
                ratio = f"({found / limit:.1f}x)" if limit else ""
                cells.append(f"{found * 1e6:>9.2f} {ratio:>7}")
            if all(cell.strip() == "-" for cell in cells):
                continue
            print(f"  {name:16}{''.join(cells)}  {exponent(results, operation, name)}")
    print("\nsizes:", *sizes)


def exponent(results, operation, name):
    """How time grows from 100 nodes on, as far as the library went."""
    key = (operation, name)
    known = [size for size in results if size >= 100 and key in results[size]]
    if len(known) < 2:
        return ""
    first, last = known[0], known[-1]
    growth = results[last][key] / results[first][key]
    return f"exponent {1 + math.log(growth) / math.log(last / first):.2f}"


def references(rounds, count=1_000):
    """1,000 references to one value, and a chain of 1,000, beside plain values."""
    call = konfig.proxy(dict)

    def fields(value_of):
        cfg = konfig.ConfigDict(value=1)
        for index in range(count):
            cfg[f"f{index}"] = call(a=value_of(cfg, index), b="x", c=0.5)
        return cfg

    kinds = {
        "plain values": lambda cfg, index: 1,
        "references to one value": lambda cfg, index: cfg.ref.value,
        "a chain": lambda cfg, index: (
            cfg.ref[f"f{index - 1}"].a if index else cfg.ref.value
        ),
    }
    print(f"\n{count} calls with references, us/call")
    for kind, value_of in kinds.items():
        cfg = fields(value_of)
        acts = {
            "build": lambda value_of=value_of: fields(value_of),
            "deepcopy": lambda cfg=cfg: konfig.deepcopy(cfg),
            "to_json": lambda cfg=cfg: konfig.to_json(cfg),
            "resolve": lambda cfg=cfg: konfig.resolve(cfg),
        }
        found = {
            name: min(seconds(act, 1) for _ in range(rounds)) / count * 1e6
            for name, act in acts.items()
        }
        cells = "  ".join(f"{name} {value:6.2f}" for name, value in found.items())
        print(f"  {kind:24} {cells}  together {sum(found.values()):6.2f}")


def import_times(names, rounds):
    """CPU milliseconds of a fresh process, above that of an empty one."""

    def spent(code):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        user = after.ru_utime - before.ru_utime
        return (user + after.ru_stime - before.ru_stime) * 1e3

    statements = {
        "konfig": "import konfig",
        "ml_collections": "import ml_collections",
        "fiddle": "import fiddle",
        "omegaconf+hydra": "import omegaconf, hydra.utils",
        "kauldron": "from kauldron import konfig; konfig.ConfigDict",
    }
    print("\nimport, ms of CPU above an empty process")
    empty = min(spent("pass") for _ in range(rounds))
    for name in names:
        if name in statements:
            least = min(spent(statements[name]) for _ in range(rounds))
            print(f"  {name:16} {least - empty:9.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="10,100,1000,10000")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    libraries, missing = installed()
    slow = set()
    results = {}
    for size in map(int, options.sizes.split(",")):
        results[size] = measure(libraries, size, options.rounds, slow)
    show(results, [name for name in LIBRARIES if name in libraries])
    for name in missing:
        print(f"{name}: not installed")
    references(options.rounds)
    import_times(libraries, options.rounds)


if __name__ == "__main__":
    main()
