"""Keeping branches, or everything but them."""

from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kontext
from kontext import MISSING, PathLookupError, PathTypeError, flatten, get_all

NT = namedtuple("NT", "x y")


@dataclass(frozen=True)
class Point:
    x: object
    y: object = 0


@pytest.mark.spec("kontext-45")
def test_tuples_are_filtered():
    assert kontext.filter({"a": (1, 2)}, "a[0]") == {"a": (1,)}
    assert kontext.filter({"a": (1, 2)}, "a[1]", compact=False) == {"a": (MISSING, 2)}


@pytest.mark.spec("kontext-46")
def test_inner_matches_are_kept():
    tree = {"b": {"a": 1, "b": {"a": 2, "c": 4}, "c": 3}}
    assert kontext.filter(tree, "**.b.a") == {"b": {"a": 1, "b": {"a": 2}}}


@pytest.mark.spec("kontext-47")
def test_nothing_found_is_an_error_or_empty():
    assert kontext.filter({"a": 1}, "**.zz", missing_ok=True) == {}
    assert kontext.filter([1], "**.zz", missing_ok=True) == []
    assert kontext.filter((1,), "**.zz", missing_ok=True) == ()
    with pytest.raises(PathLookupError, match="nothing matches"):
        kontext.filter({"a": 1}, "**.zz")
    with pytest.raises(PathLookupError, match="no 'zz'"):
        kontext.filter({"a": 1}, "zz")


@pytest.mark.spec("kontext-48")
def test_only_biases_are_kept():
    layer = {"kernel": 1, "bias": 2}
    tree = {"params": {"a": layer, "b": {"c": layer}}, "step": 3}
    assert kontext.filter_by_path(tree, "params.**.bias") == {
        "params": {"a": {"bias": 2}, "b": {"c": {"bias": 2}}}
    }
    assert kontext.filter(tree, "params.**.bias", invert=True) == {
        "params": {"a": {"kernel": 1}, "b": {"c": {"kernel": 1}}},
        "step": 3,
    }


def test_slices_select_items():
    assert kontext.filter({"a": [1, 2, 3], "b": 0}, "a[1:]") == {"a": [2, 3]}
    with pytest.raises(PathLookupError, match="nothing matches"):
        kontext.filter({"a": [1, 2, 3]}, "a[1:][0]")


def test_kinds_of_mappings_stay():
    tree = {
        "od": OrderedDict(a=1, b=2),
        "dd": defaultdict(list, a=1, b=2),
        "ro": MappingProxyType({"a": 1, "b": 2}),
    }
    kept = kontext.filter(tree, "*.a")
    assert [type(value) for value in kept.values()] == [
        OrderedDict,
        defaultdict,
        MappingProxyType,
    ]
    assert kept["dd"].default_factory is list
    assert len(tree["od"]) == 2


def test_dataclass_with_a_field_gone_becomes_a_dict():
    assert kontext.filter({"p": Point(1)}, "p.x") == {"p": {"x": 1}}
    assert kontext.filter({"p": NT(1, 2)}, "p.y") == {"p": {"y": 2}}
    whole = kontext.filter({"p": Point({"a": 1, "b": 2}, {"a": 3})}, "p.*.a")
    assert whole == {"p": Point({"a": 1}, {"a": 3})}


def test_inside_of_a_leaf_nothing_is_kept():
    class Thing:
        x = 1

    with pytest.raises(PathTypeError, match="inside of a Thing"):
        kontext.filter({"a": Thing()}, "a.x")


def test_empty_path_keeps_everything():
    tree = {"a": 1}
    assert kontext.filter(tree, "") is tree
    assert kontext.filter(tree, "", invert=True) == {}


trees = st.recursive(
    st.integers(),
    lambda below: st.dictionaries(st.sampled_from("abc"), below, max_size=3),
)


@settings(deadline=None)
@given(trees)
def test_kept_and_dropped_leaves_are_all_leaves(tree):
    if not isinstance(tree, dict):
        return
    kept = flatten(kontext.filter(tree, "**.a", missing_ok=True))
    rest = flatten(kontext.filter(tree, "**.a", invert=True, missing_ok=True))
    assert kept | rest == flatten(tree)
    assert not kept.keys() & rest.keys()
    assert get_all(rest, "**.a") == {}


def test_gap_is_absent_like_anything_that_is_not_there():
    gaps = kontext.filter([10, {"x": 1}], "[1]", compact=False)
    assert gaps == [MISSING, {"x": 1}]
    for holder in (gaps, {"a": gaps[0]}):
        path = "[0]" if holder is gaps else "a"
        assert not kontext.has(holder, path)
        assert kontext.get(holder, path, default=3) == 3
        with pytest.raises(kontext.PathLookupError):
            kontext.get(holder, path)
    with pytest.raises(kontext.PathLookupError, match="the context itself is MISSING"):
        kontext.get(MISSING, "")
    assert kontext.get(MISSING, "", default=3) == 3
