"""Nested data to flat dicts and back."""

from collections import OrderedDict, UserDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kontext import PathError, PathTypeError, flatten, get, get_all, unflatten

NT = namedtuple("NT", "x y")


@dataclass(frozen=True)
class Point:
    x: Any
    y: Any = 0


def test_leaves_come_by_path_in_their_own_order():
    tree = {"b": [1, {"c": 2}], "a": NT((3,), Point(4)), "n": SimpleNamespace(k=5)}
    assert list(flatten(tree).items()) == [
        ("b[0]", 1),
        ("b[1].c", 2),
        ("a.x[0]", 3),
        ("a.y.x", 4),
        ("a.y.y", 0),
        ("n.k", 5),
    ]


def test_leaf_has_the_empty_path():
    assert flatten(3) == {"": 3}
    assert flatten(3, prefix="a") == {"a": 3}
    assert unflatten({"": 3}) == 3


def test_text_bytes_and_other_objects_are_leaves():
    thing = object()
    tree = {"s": "text", "b": b"xy", "r": range(3), "o": thing, "t": int}
    assert flatten(tree) == tree


@pytest.mark.spec("kontext-39")
def test_separator_joins_bare_parts():
    tree = {"a": {"b": [1]}}
    assert flatten(tree, prefix="p", separator="/") == {"p/a/b/0": 1}


@pytest.mark.spec("kontext-40")
def test_names_that_collide_are_refused_with_both_origins():
    with pytest.raises(PathError) as caught:
        flatten({"a": {"b": 1}, "a/b": 2}, separator="/")
    assert "  a.b\n  ['a/b']\n" in str(caught.value)
    assert flatten({"a": {"b": 1}, "a.b": 2}) == {"a.b": 1, "['a.b']": 2}


@pytest.mark.spec("kontext-41")
def test_keys_of_mixed_types_stay_apart():
    assert flatten({"a": 1, 2: 3, "2": 4}) == {"a": 1, "[2]": 3, "['2']": 4}


@pytest.mark.spec("kontext-42")
def test_empty_nodes_are_kept_on_request():
    tree = {"n": None, "e": {}, "l": [], "x": 1}
    assert flatten(tree, keep_empty=True) == tree
    assert flatten(tree) == {"x": 1}
    assert flatten({}, keep_empty=True) == {"": {}}


@pytest.mark.spec("kontext-44")
def test_prefix_is_a_path():
    assert flatten({"a": 1}, prefix="pre.fix") == {"pre.fix.a": 1}
    assert flatten([1], prefix="a['x y']") == {"a['x y'][0]": 1}


def test_nodes_are_kept_whole_on_request():
    tree = {"a": (1, 2), "b": {"c": (3,)}}
    kept = flatten(tree, is_leaf=lambda node: isinstance(node, tuple))
    assert kept == {"a": (1, 2), "b.c": (3,)}


def test_data_that_holds_itself_is_refused():
    tree = {"x": 1}
    tree["self"] = tree
    with pytest.raises(PathError, match="holds itself"):
        flatten(tree)
    for walk in (
        lambda: get_all(tree, "**.x"),
        lambda: flatten(tree, separator="/"),
        lambda: unflatten({"x": 1}, like=tree),
        lambda: unflatten({".".join("a" * 3000): 1}),
    ):
        with pytest.raises(PathError, match="too deeply"):
            walk()
    assert get(tree, "self.self.x") == 1


def test_key_that_is_no_part_is_refused_with_its_place():
    with pytest.raises(PathTypeError, match="bytes") as caught:
        flatten({"a": {b"k": 1}})
    assert any("'a'" in note for note in caught.value.__notes__)
    with pytest.raises(PathTypeError) as caught:
        flatten({b"k": 1})
    assert caught.value.__notes__[0].startswith("a key at the top;")


# Back.


def test_parts_from_zero_make_a_list():
    flat = {"a[1]": "y", "a[0]": "x", "b.c": 1, "d['x.y']": 2}
    assert unflatten(flat) == {"a": ["x", "y"], "b": {"c": 1}, "d": {"x.y": 2}}
    assert unflatten({"a/1": 2, "a/0": 1}, separator="/") == {"a": [1, 2]}
    assert unflatten({}) == {}


@pytest.mark.parametrize(
    ("flat", "reason"),
    [
        ({"a[0]": 1, "a[2]": 2}, r"below 'a' have gaps: \[0, 2\]"),
        ({"a": 1, "a.b": 2}, "'a' is a leaf, but 'a.b'"),
        ({"a.b": 1, "a": 2}, "'a' is a leaf, but 'a.b'"),
        ({"a.b": 1, "a['b']": 2}, "'a.b' is a leaf"),
        ({"a[1:2]": 1}, r"'a\[1:2\]' has a slice"),
        ({"a[0,:2].b": 1}, "has a slice"),
    ],
)
def test_paths_that_make_no_tree_are_refused(flat, reason):
    with pytest.raises(PathError, match=reason):
        unflatten(flat)


def test_containers_are_rebuilt_like_others():
    tree = {
        "od": OrderedDict(a=1, b=2),
        "dd": defaultdict(list, a=[1]),
        "ud": UserDict(a=1),
        "ro": MappingProxyType({"a": 1}),
        "nt": NT(1, (2, 3)),
        "p": Point([1], {}),
        "q": deque([1, 2]),
        "ns": SimpleNamespace(a=1),
        2: None,
    }
    flat = {path: leaf for path, leaf in flatten(tree).items()}
    again = unflatten({path: leaf for path, leaf in flat.items()}, like=tree)
    assert again == tree
    assert {k: type(v) for k, v in again.items()} == {
        k: type(v) for k, v in tree.items()
    }
    doubled = unflatten({path: leaf * 2 for path, leaf in flat.items()}, like=tree)
    assert doubled["nt"] == NT(2, (4, 6))
    assert tree["od"] == OrderedDict(a=1, b=2)
    assert again["dd"].default_factory is list


def test_fields_outside_of_init_are_rebuilt():
    @dataclass
    class Derived:
        x: int
        y: int = field(init=False, default=0)

    tree = Derived(1)
    tree.y = 5
    assert unflatten({"x": 2, "y": 7}, like=tree).y == 7


def test_paths_must_be_those_of_like():
    with pytest.raises(PathError) as caught:
        unflatten({"a": 1, "z": 2}, like={"a": 0, "b": 0})
    assert "missing: 'b'" in str(caught.value)
    assert "unknown: 'z'" in str(caught.value)


def test_separator_works_back_with_like():
    tree = {"a": {"0": [1, 2]}, "b": 3}
    flat = flatten(tree, separator="/")
    assert flat == {"a/0/0": 1, "a/0/1": 2, "b": 3}
    assert unflatten(flat, separator="/", like=tree) == tree


keys = st.text(max_size=3) | st.integers(-3, 3) | st.booleans() | st.none()
trees = st.recursive(
    st.integers() | st.none() | st.text(max_size=2),
    lambda below: (
        st.lists(below, max_size=3)
        | st.lists(below, max_size=3).map(tuple)
        | st.dictionaries(keys, below, max_size=3)
        | st.dictionaries(keys, below, max_size=3).map(OrderedDict)
        | st.builds(NT, below, below)
        | st.builds(Point, below, below)
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(trees)
def test_flat_data_becomes_the_tree_again(tree):
    flat = flatten(tree, keep_empty=True)
    assert unflatten(flat, like=tree) == tree
    assert unflatten(flatten(tree), like=tree) == tree


@settings(deadline=None)
@given(trees)
def test_every_flat_path_reads_its_leaf(tree):
    for path, leaf in flatten(tree, keep_empty=True).items():
        assert get(tree, path) is leaf or get(tree, path) == leaf


@settings(deadline=None)
@given(
    st.recursive(
        st.integers(),
        lambda below: (
            st.lists(below, min_size=1, max_size=3)
            | st.dictionaries(st.text(max_size=3), below, min_size=1, max_size=3)
        ),
    )
)
def test_dicts_of_text_and_lists_need_no_like(tree):
    assert unflatten(flatten(tree)) == tree


@pytest.mark.parametrize(
    "tree",
    [{"": None}, {"": {"": 1}}, {"a/": 1, "a": {"": {"b": 2}}}, {"": [], "b": 1}],
)
def test_empty_names_joined_by_a_separator_are_told_apart(tree):
    flat = flatten(tree, separator="/", keep_empty=True)
    assert unflatten(flat, separator="/", like=tree) == tree
