"""Upper bounds on what each operation costs, as multiples of plain Python.

The cost is counted in lines and calls, which is the same on every machine; the
bounds leave a margin of a half. What the operations take in microseconds is printed
by `benchmarks/bench_kontext.py`.
"""

import gc
import sys
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
    "get_depth_1": (lambda: kontext.get(DEEP, "a"), lambda: loop("a"), 2.5),
    "get_depth_4": (lambda: kontext.get(DEEP, "a.b.c.d"), LOOP, 2.8),
    "get_depth_8": (
        lambda: kontext.get(DEEP, "a.b.c.d.e.f.g.h"),
        partial(loop, KEYS),
        2.6,
    ),
    "get_by_path_object": (lambda: kontext.get(DEEP, path), LOOP, 2.7),
    "get_axes": (lambda: kontext.get(ARRAY, "t[...,0]"), LOOP, 5),
    "parse_a_new_text": (parse_new, LOOP, 7),
    "text_of_a_path": (partial(str, path), LOOP, 0.7),
    "hash_of_a_path": (partial(hash, path), LOOP, 0.6),
    "resolve_two_keys": (
        lambda: kontext.resolve_from_keyed_obj(DEEP, component),
        LOOP,
        25,
    ),
    "resolve_with_function": (
        lambda: kontext.resolve_from_keyed_obj(DEEP, component, func=call),
        LOOP,
        29,
    ),
    "flatten_400_leaves": (lambda: kontext.flatten(PARAMS), FLATTEN, 2.3),
    "set_200_places": (
        lambda: kontext.set(PARAMS, "params.**.bias", 0.0),
        FLATTEN,
        3.5,
    ),
    "failing_resolve": (fail_with_message, FLATTEN, 7),
}


def work(function, *args):
    """Lines of Python that run and functions that are called, those of C as well."""
    count = 0

    def tally(frame, event, arg):
        nonlocal count
        count += event in ("line", "call", "c_call")
        return tally

    before = sys.gettrace()
    # A collection of garbage calls what others, such as Hypothesis, have asked it to.
    gc.disable()
    sys.settrace(tally)
    sys.setprofile(tally)
    try:
        function(*args)
    finally:
        sys.setprofile(None)
        sys.settrace(before)
        gc.enable()
    return count


@pytest.mark.spec("kontext-65")
@pytest.mark.parametrize("name", GATES)
def test_operation_costs_a_bounded_multiple_of_plain_python(name):
    operation, reference, bound = GATES[name]
    operation()
    assert work(operation) < bound * work(reference)
