"""Glob paths for reading."""

from collections import namedtuple
from dataclasses import dataclass
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kontext import Path, PathSyntaxError, flatten, get, get_all, iter_matches, update

NT = namedtuple("NT", "x y")


@dataclass(frozen=True)
class Point:
    x: int
    y: object = 0

    @property
    def far(self):
        raise AssertionError("globs compute nothing")


@pytest.mark.spec("kontext-30")
def test_star_stands_for_one_part():
    tree = {"a": {"x": 1}, "b": {"x": 2}, "c": 3, "d": {"y": 4}}
    assert get_all(tree, "*.x") == {"a.x": 1, "b.x": 2}
    assert get_all([[1, 2], [3]], "[*][0]") == {"[0][0]": 1, "[1][0]": 3}
    assert get_all(tree, "a.*") == {"a.x": 1}


def test_two_stars_stand_for_any_number_of_parts():
    tree = {"b": 1, "a": {"b": 2, "c": ({"b": 3},)}}
    assert get_all(tree, "**.b") == {"b": 1, "a.b": 2, "a.c[0].b": 3}
    assert get_all(tree, "a.**.b") == {"a.b": 2, "a.c[0].b": 3}
    assert list(get_all({"a": {"b": 1}}, "**")) == ["", "a", "a.b"]


def test_globs_reach_into_every_kind_of_container():
    tree = {"t": (NT({"lr": 1}, 0),), "p": Point(1, MappingProxyType({"lr": 2}))}
    assert get_all(tree, "**.lr") == {"t[0].x.lr": 1, "p.y.lr": 2}
    assert get_all(tree, "p.*") == {"p.x": 1, "p.y": tree["p"].y}


def test_slice_selects_items_of_a_list():
    assert get_all({"a": [1, 2, 3]}, "a[1:3]") == {"a[1]": 2, "a[2]": 3}
    assert list(get_all([1, 2, 3], "[::-1]")) == ["[0]", "[1]", "[2]"]


def test_negative_indices_are_counted_from_the_start():
    assert get_all([[1, 2], [3]], "*[-1]") == {"[0][1]": 2, "[1][0]": 3}


def test_fields_of_named_tuples_have_one_name():
    tree = {"p": NT(1, NT(2, 3))}
    assert get_all(tree, "p[1]") == get_all(tree, "p[-1]") == {"p.y": NT(2, 3)}
    assert get_all(tree, "p[:]") == get_all(tree, "p.*") == {"p.x": 1, "p.y": NT(2, 3)}
    assert list(get_all(tree, "**[1]")) == ["p.y", "p.y.y"]
    assert update(tree, "**[1]", 4) == {"p": NT(1, 4)}


def test_no_place_comes_twice():
    tree = {"a": {"a": {"a": 1}}}
    found = [str(path) for path, _ in iter_matches(tree, "**.a.**.a")]
    assert sorted(found) == sorted({"a.a", "a.a.a"})


def test_two_stars_compute_no_attributes():
    assert get_all({"p": Point(1)}, "**.far") == {}
    assert get_all({"n": 1.5}, "**.real") == {}


def test_nothing_found_reads_as_empty():
    assert get_all({"a": 1}, "**.zz") == {}
    assert list(iter_matches({"a": 1}, "a.b.c")) == []


def test_keys_that_no_path_can_name_are_passed_over():
    assert get_all({b"k": {"x": 1}, "a": {"x": 2}}, "*.x") == {"a.x": 2}


def test_wrong_glob_is_refused_at_once():
    with pytest.raises(PathSyntaxError):
        iter_matches({}, "a.b*")


trees = st.recursive(
    st.integers(),
    lambda below: (
        st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=2), below)
    ),
)


@settings(deadline=None)
@given(trees)
def test_two_stars_find_every_leaf_that_flatten_finds(tree):
    found = get_all(tree, "**")
    assert {k: v for k, v in found.items() if isinstance(v, int)} == flatten(tree)
    assert all(get(tree, path) is value for path, value in found.items())


@settings(deadline=None)
@given(trees)
def test_star_finds_the_children(tree):
    found = [path.parts for path, _ in iter_matches(tree, "*")]
    if isinstance(tree, dict):
        assert found == [(key,) for key in tree]
    elif isinstance(tree, list):
        assert found == [(index,) for index in range(len(tree))]
    else:
        assert found == []
    assert all(isinstance(Path(*parts), Path) for parts in found)


def test_neighbouring_double_stars_are_one():
    for tree in (0, {"a": 1}, {"a": {"b": [1]}}):
        assert get_all(tree, "**.**") == get_all(tree, "**")
    assert get_all({"a": {"b": 1}}, "**.**.b.**.**") == {"a.b": 1}
