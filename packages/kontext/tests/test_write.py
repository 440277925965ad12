"""Writing into nodes of each kind."""

from types import SimpleNamespace

import pytest

import kontext
from kontext import PathLookupError, PathTypeError


def test_a_namespace_takes_any_text_as_a_name_and_nothing_else():
    node = SimpleNamespace(a=1)
    assert kontext.set(node, "['0']", 2) == ["['0']"]
    assert vars(node) == {"a": 1, "0": 2}
    assert kontext.get(node, "['0']") == 2
    assert kontext.update(node, "['0']", 3) == SimpleNamespace(**{"a": 1, "0": 3})
    for path in ("[0]", "[None]", "[0:1]"):
        with pytest.raises(PathLookupError):
            kontext.set(node, path, 4)
    assert kontext.delete(node, "['0']") == ["['0']"]
    assert vars(node) == {"a": 1}


class Plain:
    shared = 1

    def __init__(self):
        self.own = 2

    @property
    def computed(self):
        return 3

    def __getitem__(self, index):
        return 4


def test_node_at_two_places_is_changed_once_and_both_places_are_told():
    node, items = {"tmp": 1, "x": 2}, [1, 2, 3]
    tree = {"a": node, "b": node}
    assert kontext.delete(tree, "**.tmp") == ["a.tmp", "b.tmp"]
    assert node == {"x": 2}
    assert kontext.delete({"a": items, "b": items}, "*[0]") == ["a[0]", "b[0]"]
    assert items == [2, 3]
    assert kontext.set(tree, "*.x", 5) == ["a.x", "b.x"]


def test_new_name_in_a_node_at_two_places_is_taken_back_once():
    node = {}
    with pytest.raises(AttributeError, match="computed"):
        kontext.set({"a": node, "b": node, "p": Plain()}, "*.computed", 5, create=True)
    assert node == {}


@pytest.mark.parametrize("path", ["*.computed", "*.shared", "*[0]"])
def test_nothing_is_deleted_if_one_place_cannot_be(path):
    tree = {"p": Plain(), "d": {"computed": 1, "shared": 2, 0: 3}}
    with pytest.raises(PathTypeError, match="parts of a Plain are fixed"):
        kontext.delete(tree, path)
    assert tree["d"] == {"computed": 1, "shared": 2, 0: 3}
    assert kontext.delete(tree, "p.own") == ["p.own"]
    assert vars(tree["p"]) == {}


def test_item_that_is_only_read_is_refused_before_anything_is_written():
    tree = {"d": {0: 1}, "p": Plain()}
    with pytest.raises(PathTypeError, match="Plain is immutable"):
        kontext.set(tree, "*[0]", 5)
    assert tree["d"] == {0: 1}


def test_what_a_node_reads_by_itself_is_not_written_elsewhere():
    class Reading:
        def __kontext_get__(self, part):
            return {"x": 1}[part]

    tree = {"r": Reading()}
    for change in (kontext.set, kontext.update, lambda *a: kontext.delete(*a[:2])):
        with pytest.raises(PathTypeError, match="computed, not stored"):
            change(tree, "r.x", 2)
    assert vars(tree["r"]) == {}


def test_create_is_advised_only_where_it_helps():
    for tree, path, helps in (
        ({}, "a.b", True),
        ({"a": {}}, "*.b.c", True),
        ({"p": Plain()}, "p.new", False),
        ({"a": 1}, "a.b", False),
        ({}, "a[0]", False),
    ):
        with pytest.raises(PathLookupError) as caught:
            kontext.set(tree, path, 1)
        assert ("create=True" in str(getattr(caught.value, "__notes__", ""))) is helps


def test_trailing_star_sets_every_child():
    tree = {"a": {"x": 1, "y": [2]}, "b": [3, 4]}
    assert kontext.update(tree, "*.*", 0) == {"a": {"x": 0, "y": 0}, "b": [0, 0]}
    assert kontext.set(tree, "a.*", 0) == ["a.x", "a.y"]
    assert kontext.set(tree, "b[*]", 0) == ["b[0]", "b[1]"]
    assert tree == {"a": {"x": 0, "y": 0}, "b": [0, 0]}


@pytest.mark.parametrize("path", ["a[::-1]", "*[::-1]", "**[::-1]"])
def test_items_are_deleted_from_the_end_however_they_are_named(path):
    tree = {"a": [1, 2, 3]}
    kontext.delete(tree, path)
    assert tree == {"a": []}
