"""Random trees of every container: what changes is what was named, and nothing else.

The reference walks the trees by itself and knows nothing of how kontext does.
"""

import collections
import dataclasses
import types
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kontext
from kontext import DOUBLE_STAR, STAR, GlobPath, Path, PathError


class Point(NamedTuple):
    """A named tuple."""

    x: Any
    y: Any


@dataclasses.dataclass
class Open:
    """A dataclass."""

    a: Any
    b: Any


@dataclasses.dataclass(frozen=True)
class Frozen:
    """One that cannot be written."""

    a: Any
    b: Any


NAMES = st.sampled_from(["a", "b", "x", "0", "a.b", "*", "items", ""])
KEYS = NAMES | st.integers(-1, 2) | st.sampled_from([True, None, 1.5, (0, 1), ()])
LEAVES = st.integers(0, 9) | st.none() | st.text(max_size=2)
SEQUENCES = [list, tuple, collections.deque, collections.UserList]
MAPPINGS = [
    dict,
    collections.OrderedDict,
    collections.UserDict,
    types.MappingProxyType,
    lambda items: collections.defaultdict(list, items),
]


def containers(below):
    lists = st.lists(below, max_size=3)
    dicts = st.dictionaries(KEYS, below, max_size=3)
    fields = st.dictionaries(NAMES, below, max_size=2)
    return st.one_of(
        st.builds(lambda make, items: make(items), st.sampled_from(SEQUENCES), lists),
        st.builds(lambda make, items: make(items), st.sampled_from(MAPPINGS), dicts),
        st.builds(lambda cls, a, b: cls(a, b), st.sampled_from([Point, Open, Frozen]),
                  below, below),
        fields.map(lambda items: types.SimpleNamespace(**items)),
    )  # fmt: skip


TREES = st.recursive(LEAVES, containers, max_leaves=8)


def children(node):
    if isinstance(node, collections.abc.Mapping):
        return [(key, node[key]) for key in node]
    if isinstance(node, Point):
        return [("x", node.x), ("y", node.y)]
    if isinstance(node, list | tuple | collections.deque | collections.UserList):
        return list(enumerate(node))
    if isinstance(node, Open | Frozen):
        return [("a", node.a), ("b", node.b)]
    if isinstance(node, types.SimpleNamespace):
        return list(vars(node).items())
    return None


def nodes(node, parts=()):
    yield parts, node
    for key, value in children(node) or ():
        yield from nodes(value, (*parts, key))


def frozen(node):
    """A node with all that is below it, as a value that can be compared."""
    below = children(node)
    if below is None:
        return type(node).__name__, node
    return type(node).__name__, [(repr(key), frozen(value)) for key, value in below]


def copied(node):
    below = children(node)
    if below is None:
        return node
    pairs = [(key, copied(value)) for key, value in below]
    if isinstance(node, collections.defaultdict):
        return collections.defaultdict(node.default_factory, pairs)
    if isinstance(node, collections.abc.Mapping):
        return type(node)(dict(pairs))
    if isinstance(node, Point | Open | Frozen):
        return type(node)(*(value for _, value in pairs))
    if isinstance(node, types.SimpleNamespace):
        return types.SimpleNamespace(**dict(pairs))
    return type(node)([value for _, value in pairs])


def matches(pattern, parts):
    if not pattern:
        return not parts
    if pattern[0] is DOUBLE_STAR:
        rests = (parts[n:] for n in range(len(parts) + 1))
        return any(matches(pattern[1:], rest) for rest in rests)
    fits = parts and (pattern[0] is STAR or same(pattern[0], parts[0]))
    return bool(fits) and matches(pattern[1:], parts[1:])


def same(left, right):
    return type(left) is type(right) and left == right


def is_inside(parts, place):
    return len(place) <= len(parts) and all(map(same, place, parts))


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(TREES, st.data())
def test_a_change_changes_the_place_that_is_named_alone(tree, data):
    places = list(nodes(tree))
    place, _ = data.draw(st.sampled_from(places))
    before, path = frozen(tree), Path(*place)
    new = kontext.update(tree, path, "new")
    assert frozen(tree) == before and kontext.get(new, path) == "new"
    for parts, value in places:
        if not is_inside(parts, place) and not is_inside(place, parts):
            assert frozen(kontext.get(new, Path(*parts))) == frozen(value)
    try:
        written = copied(tree)
        assert kontext.set(written, path, "new") == [str(path)]
    except PathError:
        assert frozen(written) == before
    else:
        assert frozen(written) == frozen(new)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(TREES, st.data())
def test_what_is_deleted_is_one_child_less(tree, data):
    place, _ = data.draw(st.sampled_from(list(nodes(tree))))
    written = copied(tree)
    try:
        assert kontext.delete(written, Path(*place)) == [str(Path(*place))]
    except PathError:
        assert frozen(written) == frozen(tree)
    else:
        old, new = (kontext.get(t, Path(*place[:-1])) for t in (tree, written))
        assert len(children(new)) == len(children(old)) - 1


PATTERNS = st.lists(st.sampled_from([STAR, DOUBLE_STAR]) | NAMES, max_size=4)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(TREES, PATTERNS)
def test_a_pattern_names_what_the_reference_says_and_changes_no_more(tree, pattern):
    glob, before = GlobPath(*pattern), frozen(tree)
    found = kontext.get_all(tree, glob)
    expected = {str(Path(*p)) for p, _ in nodes(tree) if matches(tuple(pattern), p)}
    # `0` and `'0'` stand for one another, so that more than the very parts may match.
    assert expected <= found.keys()
    if "0" not in pattern:
        assert expected == found.keys()
    for change in (
        lambda t: kontext.filter(t, glob),
        lambda t: kontext.filter(t, glob, invert=True, compact=False),
        lambda t: kontext.update(t, glob, "new"),
    ):
        try:
            change(tree)
        except PathError:
            pass
        assert frozen(tree) == before
    written = copied(tree)
    try:
        for path in kontext.set(written, glob, "new"):
            assert kontext.get(written, path) == "new"
    except PathError:
        assert frozen(written) == before


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(TREES, st.sampled_from([None, "/"]))
def test_what_is_flat_can_be_rebuilt(tree, separator):
    try:
        flat = kontext.flatten(tree, separator=separator, keep_empty=True)
    except PathError:
        assert separator is not None
        return
    again = kontext.unflatten(flat, separator=separator, like=tree)
    assert frozen(again) == frozen(tree)
