"""Upper bounds on what each operation costs, as multiples of plain Python.

Operation and reference run in turns in one process, in CPU time; the best round of
each counts, so that a busy machine changes both alike. The bounds leave a margin of
three and more over what is measured; the figures themselves are printed by
`benchmarks/bench_kontext.py`.
"""

import time
from functools import partial

import pytest

import kontext
from kontext import Key, PathLookupError

DEEP = {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": 1}}}}}}}}
KEYS = "abcdefgh"
PARAMS = {
    "params": {
        f"block{i}": {f"layer{j}": {"kernel": 1.0, "bias": 0.0} for j in range(10)}
        for i in range(20)
    }
}


class Row:
    """Reads its own parts, so that the test needs no array library."""

    def __kontext_get__(self, part):
        return part


ARRAY = {"t": Row()}


class Component:
    x: Key
    y: Key

    def __init__(self, x="a.b", y="a.b.c"):
        self.x, self.y = x, y

    def __call__(self, x, y):
        return x, y


def loop(keys):
    node = DEEP
    for key in keys:
        node = node[key]
    return node


def plain_flatten(node, text, leaves):
    if isinstance(node, dict):
        for key, value in node.items():
            plain_flatten(value, f"{text}.{key}" if text else key, leaves)
    else:
        leaves[text] = node
    return leaves


def parse_new(count=[0]):  # noqa: B006
    count[0] += 1
    return kontext.parse(f"batch.aux{count[0]}[3].pos")


def fail_with_message():
    with pytest.raises(PathLookupError) as caught:
        kontext.resolve_from_keyed_obj(PARAMS, Component("params.block", "kernels"))
    assert "block" in str(caught.value)


component = Component()
path = kontext.parse("a.b.c.d")
call = component.__call__
LOOP = partial(loop, KEYS[:4])
FLATTEN = partial(plain_flatten, PARAMS, "", {})
# What is measured, what it is measured against, and how many times as long it may take.
GATES = {
    "get_depth_1": (lambda: kontext.get(DEEP, "a"), lambda: loop("a"), 8),
    "get_depth_4": (lambda: kontext.get(DEEP, "a.b.c.d"), LOOP, 8),
    "get_depth_8": (
        lambda: kontext.get(DEEP, "a.b.c.d.e.f.g.h"),
        partial(loop, KEYS),
        8,
    ),
    "get_by_path_object": (lambda: kontext.get(DEEP, path), LOOP, 8),
    "get_axes": (lambda: kontext.get(ARRAY, "t[...,0]"), LOOP, 20),
    "parse_a_new_text": (parse_new, LOOP, 200),
    "text_of_a_path": (partial(str, path), LOOP, 3),
    "hash_of_a_path": (partial(hash, path), LOOP, 6),
    "resolve_two_keys": (
        lambda: kontext.resolve_from_keyed_obj(DEEP, component),
        LOOP,
        150,
    ),
    "resolve_with_function": (
        lambda: kontext.resolve_from_keyed_obj(DEEP, component, func=call),
        LOOP,
        300,
    ),
    "flatten_400_leaves": (lambda: kontext.flatten(PARAMS), FLATTEN, 5),
    "set_200_places": (
        lambda: kontext.set(PARAMS, "params.**.bias", 0.0),
        FLATTEN,
        12,
    ),
    "failing_resolve": (fail_with_message, FLATTEN, 80),
}


def best_ratio(fn, reference):
    """The best rounds of both, over about as much time for each round."""
    calls = {fn: calls_per_round(fn), reference: calls_per_round(reference)}
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(7):
        for timed, count in calls.items():
            start = time.process_time()
            for _ in range(count):
                timed()
            spent = (time.process_time() - start) / count
            best[timed] = min(best[timed], spent)
    return best[fn] / best[reference]


def calls_per_round(fn):
    start = time.process_time()
    fn()
    return max(1, min(2000, int(2e-3 / max(time.process_time() - start, 1e-6))))


@pytest.mark.slow
@pytest.mark.spec("kontext-65")
@pytest.mark.parametrize("name", GATES)
def test_operation_costs_a_bounded_multiple_of_plain_python(name):
    fn, reference, bound = GATES[name]
    fn()
    assert best_ratio(fn, reference) < bound
