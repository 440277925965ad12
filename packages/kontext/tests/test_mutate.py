"""Setting and deleting in place, and updating a copy."""

import copy
from collections import OrderedDict, namedtuple
from dataclasses import FrozenInstanceError, dataclass, field
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kontext
from kontext import (
    Path,
    PathLookupError,
    PathTypeError,
    delete,
    flatten,
    get,
    update,
)

NT = namedtuple("NT", "x y")


@dataclass(frozen=True)
class Frozen:
    x: Any
    y: Any = 0


@dataclass
class Mutable:
    x: Any = 1
    derived: int = field(init=False, default=0)


# In place.


@pytest.mark.spec("kontext-31")
def test_star_sets_every_child():
    tree = {"a": {"b": [1, 2], "c": [3, 4]}}
    assert kontext.set(tree, "a.*[0]", "n") == ["a.b[0]", "a.c[0]"]
    assert tree == {"a": {"b": ["n", 2], "c": ["n", 4]}}


@pytest.mark.spec("kontext-32")
def test_two_stars_set_at_every_depth():
    tree = {"a": {"b": 1, "c": {"b": 1}}, "b": 1}
    assert kontext.set(tree, "**.b", "n") == ["b", "a.b", "a.c.b"]
    assert tree == {"a": {"b": "n", "c": {"b": "n"}}, "b": "n"}


@pytest.mark.spec("kontext-33")
def test_negative_index_sets_and_returns_its_position():
    tree = {"a": [1, 2]}
    assert kontext.set(tree, "a[-2]", "n") == ["a[0]"]
    assert tree == {"a": ["n", 2]}


@pytest.mark.spec("kontext-34")
def test_mutable_node_below_a_tuple_is_set():
    tree = {"opt": ({"lr": 1},)}
    assert kontext.set(tree, "**.lr", 2) == ["opt[0].lr"]
    assert tree == {"opt": ({"lr": 2},)}


def test_every_kind_of_mutable_node_is_set():
    tree = {"d": {}, "l": [0, 1, 2], "m": Mutable(), "n": SimpleNamespace()}
    kontext.set_by_path(tree, "d.new", 1)
    kontext.set_by_path(tree, "l[1:]", ["x", "y"])
    kontext.set_by_path(tree, "m.x", 2)
    kontext.set_by_path(tree, "n.k", 3)
    kontext.set_by_path(tree, Path("d", "x.y"), 4)
    kontext.set_by_path(tree, ("d", 0), 5)
    assert tree["d"] == {"new": 1, "x.y": 4, 0: 5}
    assert tree["l"] == [0, "x", "y"]
    assert tree["m"].x == 2
    assert tree["n"].k == 3


def test_key_with_the_same_text_is_set():
    tree = {"0": 1}
    assert kontext.set(tree, "0", 2) == ["['0']"]
    assert tree == {"0": 2}


@pytest.mark.case("032")
def test_key_with_special_characters_is_set():
    tree = {"mm(1:3)": {"a=b": 1}}
    kontext.set(tree, Path("mm(1:3)", "a=b"), 2)
    assert tree == {"mm(1:3)": {"a=b": 2}}


def test_path_sets_its_place():
    tree = {"a": [1, 2]}
    assert kontext.parse("a[1]").set_in(tree, 3) == ["a[1]"]
    assert kontext.parse("**[0]", glob=True).set_in(tree, 4) == ["a[0]"]
    assert Path("b", "c").set_in(tree, 5, create=True) == ["b.c"]
    assert tree == {"a": [4, 3], "b": {"c": 5}}


def test_missing_dicts_are_made_on_request_only():
    tree = {"a": {}}
    with pytest.raises(PathLookupError, match=r"no 'b' at path 'a\.b\.c'") as caught:
        kontext.set(tree, "a.b.c", 1)
    assert "create=True" in caught.value.__notes__[0]
    assert tree == {"a": {}}
    assert kontext.set(tree, "a.b.c", 1, create=True) == ["a.b.c"]
    assert tree == {"a": {"b": {"c": 1}}}
    with pytest.raises(PathLookupError):
        kontext.set(tree, "z[0].c", 1, create=True)


def test_names_behind_a_star_are_new_on_request_only():
    tree = {"a": {"x": 1}, "b": {}, "c": 3}
    assert kontext.set(tree, "*.x", 2) == ["a.x"]
    assert kontext.set(tree, "*.x", 3, create=True) == ["a.x", "b.x"]
    assert kontext.set(tree, "*.y.z", 4, create=True) == ["a.y.z", "b.y.z"]
    assert tree == {
        "a": {"x": 3, "y": {"z": 4}},
        "b": {"x": 3, "y": {"z": 4}},
        "c": 3,
    }


def test_names_behind_two_stars_are_never_new():
    tree = {"a": {"x": 1}, "b": {}}
    assert kontext.set(tree, "**.x", 2, create=True) == ["a.x"]
    assert tree == {"a": {"x": 2}, "b": {}}


def test_pattern_without_a_match_is_an_error():
    with pytest.raises(PathLookupError) as caught:
        kontext.set({"opt": {"lr": 1}}, "**.LR", 2)
    assert str(caught.value) == (
        "nothing matches '**.LR'\n"
        "  not in the context: 'LR'\n"
        "  did you mean: lr ?\n"
        "  missing_ok=True allows this"
    )
    assert kontext.set({"a": 1}, "**.zz", 2, missing_ok=True) == []


def test_new_value_is_not_descended_into():
    tree = {"b": {"b": 1}}
    value = {"b": "inner"}
    assert kontext.set(tree, "**.b", value) == ["b"]
    assert tree == {"b": {"b": "inner"}}


@pytest.mark.parametrize(
    ("tree", "path"),
    [
        ({"t": (1, 2)}, "t[0]"),
        ({"t": NT(1, 2)}, "t.x"),
        ({"t": Frozen(1)}, "t.x"),
        ({"t": MappingProxyType({"a": 1})}, "t.a"),
    ],
)
def test_immutable_node_is_named_and_update_recommended(tree, path):
    with pytest.raises(
        PathTypeError, match=r"is immutable\n  kontext\.update"
    ) as caught:
        kontext.set(tree, path, 0)
    assert type(tree["t"]).__name__ in str(caught.value)


def test_nothing_is_written_if_one_target_is_immutable():
    tree = {"a": {"x": 1}, "b": Frozen(1)}
    with pytest.raises(PathTypeError):
        kontext.set(tree, "*.x", 0)
    assert tree == {"a": {"x": 1}, "b": Frozen(1)}


def test_writes_are_taken_back_if_one_fails():
    class Strict:
        __slots__ = ("_x",)

        def __init__(self):
            self._x = 1

        @property
        def x(self):
            return self._x

    tree = {"a": {"x": 1}, "new": {}, "s": Strict()}
    with pytest.raises(AttributeError) as caught:
        kontext.set(tree, "*.x", 0, create=True)
    assert caught.value.__notes__ == ["while setting 's.x'; nothing was changed"]
    assert tree["a"] == {"x": 1}
    assert tree["new"] == {}


def test_slice_takes_as_many_items_as_it_has():
    tree = {"a": [1, 2, 3]}
    for change in (kontext.set, update):
        for value in ([1], 5):
            with pytest.raises(PathTypeError, match="takes 2 items"):
                change(tree, "a[1:]", value)
        with pytest.raises(PathLookupError, match=r"no \[1:\]"):
            change(tree, "[1:]", [2])
    assert tree == {"a": [1, 2, 3]}


@pytest.mark.parametrize("change", [kontext.set, lambda t, p, v: delete(t, p)])
def test_root_cannot_be_changed_in_place(change):
    with pytest.raises(PathTypeError, match="the path is empty"):
        change({}, "", 1)


def test_whole_subtree_cannot_be_set():
    with pytest.raises(PathTypeError, match="trailing"):
        kontext.set({"a": {"b": 1}}, "a.**", 1)
    with pytest.raises(PathTypeError, match="trailing"):
        update({"a": {"b": 1}}, "a.**", 1)


def test_path_outside_of_a_list_is_not_set():
    with pytest.raises(PathLookupError, match="length 2"):
        kontext.set([1, 2], "[2]", 0)
    with pytest.raises(PathLookupError, match="no 'z'"):
        kontext.set(Mutable(), "z", 0)


def test_nothing_is_set_in_a_copy_that_would_be_lost():
    tree = {"a": [1, 2, 3]}
    for change in (
        lambda: kontext.set(tree, "a[0:2][0]", 9),
        lambda: delete(tree, "a[1:][0]"),
    ):
        with pytest.raises(PathTypeError, match="makes a new list each time"):
            change()
    assert tree == {"a": [1, 2, 3]}
    assert update(tree, "a[0:2][0]", 9) == {"a": [9, 2, 3]}


class Computing:
    def __init__(self):
        self.x = 1

    @property
    def fresh(self):
        return {"x": self.x}

    def __getitem__(self, index):
        return self.x


@dataclass
class ComputingFields:
    x: int = 1

    @property
    def double(self):
        return 2 * self.x


def test_computed_parts_are_not_changed():
    tree = {"c": Computing(), "f": ComputingFields(), "l": [1]}
    with pytest.raises(PathTypeError, match="makes a new dict each time"):
        kontext.set(tree, "c.fresh.x", 2)
    for path in ("c.fresh", "c.fresh.x", "c[0]", "f.double"):
        with pytest.raises(PathTypeError, match="computed, not stored"):
            update(tree, path, 2)
    assert update(tree, "c.x", 5)["c"].x == 5
    assert tree["c"].x == 1


# Deleting.


@pytest.mark.spec("kontext-38")
def test_places_are_deleted_and_returned():
    tree = {"a": [1, 2, 3], "tmp": 0, "b": {"tmp": 1, "c": 2}}
    assert delete(tree, "a[0]") == ["a[0]"]
    assert delete(tree, "**.tmp") == ["tmp", "b.tmp"]
    assert tree == {"a": [2, 3], "b": {"c": 2}}
    assert delete([0, 1, 2, 3], "[-1]") == ["[3]"]
    some = [0, 1, 2, 3]
    assert delete(some, "[1:3]") == ["[1:3]"]
    assert some == [0, 3]
    assert delete(tree, "a[*]") == ["a[0]", "a[1]"]
    assert delete(tree, "b.**") == ["b"]
    assert tree == {"a": []}
    assert delete(tree, "**") == ["a"]
    assert tree == {}


def test_deleting_what_is_not_there_is_an_error():
    with pytest.raises(PathLookupError, match="no 'z'"):
        delete({"a": 1}, "z")
    assert delete({"a": 1}, "z", missing_ok=True) == []


def test_attributes_are_deleted_but_not_fields():
    tree = SimpleNamespace(a=1, m=Mutable())
    delete(tree, "a")
    assert not hasattr(tree, "a")
    with pytest.raises(PathTypeError, match="fixed"):
        delete(tree, "m.x")
    with pytest.raises(PathTypeError, match="immutable"):
        delete({"a": (1,)}, "a[0]")


# A copy.


@pytest.mark.spec("kontext-36")
def test_update_below_a_tuple_leaves_the_original():
    tree = ({"lr": 1},)
    assert update(tree, "[0].lr", 2) == ({"lr": 2},)
    assert tree == ({"lr": 1},)


@pytest.mark.spec("kontext-37")
def test_update_gives_a_new_frozen_dataclass():
    tree = {"f": Frozen(Frozen(1)), "other": [1]}
    new = update(tree, "f.x.y", 5)
    assert new == {"f": Frozen(Frozen(1, 5)), "other": [1]}
    assert tree["f"].x.y == 0
    assert new["other"] is tree["other"]


def test_update_keeps_the_type_of_every_container():
    tree = {
        "od": OrderedDict(lr=1),
        "ro": MappingProxyType({"lr": 1}),
        "nt": NT(({"lr": 1},), [{"lr": 1}]),
        "m": Mutable(OrderedDict(lr=1)),
        "ns": SimpleNamespace(lr=1),
    }
    before = copy.deepcopy({**tree, "ro": dict(tree["ro"])})
    new = update(tree, "**.lr", lambda lr: lr + 1)
    assert set(kontext.get_all(new, "**.lr").values()) == {2}
    assert [type(value) for value in new.values()] == [
        type(value) for value in tree.values()
    ]
    assert {**tree, "ro": dict(tree["ro"])} == before


def test_update_computes_from_the_old_value():
    assert update({"a": 2}, "a", lambda old: old * 10) == {"a": 20}
    with pytest.raises(PathLookupError):
        update({"a": 2}, "b", lambda old: old)
    assert update({"a": 2}, "b", 3) == {"a": 2, "b": 3}
    assert update(1, "", 2) == 2


def test_update_without_a_match_is_an_error():
    tree = {"a": 1}
    with pytest.raises(PathLookupError, match="nothing matches"):
        update(tree, "**.zz", 0)
    assert update(tree, "**.zz", 0, missing_ok=True) is tree


def test_update_of_a_field_outside_of_init():
    new = update(Mutable(), "derived", 5)
    assert new.derived == 5
    with pytest.raises(FrozenInstanceError):
        update(Frozen(1), "x", 2).x = 3


trees = st.recursive(
    st.integers(),
    lambda below: (
        st.lists(below, max_size=3)
        | st.lists(below, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=2) | st.integers(), below, max_size=3)
        | st.builds(Frozen, below, below)
    ),
    max_leaves=10,
)


@settings(deadline=None)
@given(trees, st.data())
def test_update_then_get_gives_the_value_and_nothing_else_changes(tree, data):
    paths = list(flatten(tree))
    if not paths:
        return
    path = data.draw(st.sampled_from(paths))
    before = flatten(tree)
    new = update(tree, path, "new")
    assert get(new, path) == "new"
    assert flatten(new) == {**before, path: "new"}
    assert flatten(tree) == before


@settings(deadline=None)
@given(trees)
def test_update_to_the_same_values_gives_an_equal_tree(tree):
    assert update(tree, "**.x", lambda x: x, missing_ok=True) == tree
