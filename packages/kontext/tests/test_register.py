"""Classes of others as nodes: `register_node`, and methods as values."""

import dataclasses

import pytest

import kontext
from kontext import PathLookupError, PathTypeError, register_node


class Rows:
    """A table of another library: named columns behind methods of its own."""

    def __init__(self, **columns):
        self._columns = columns
        self.count = len(columns)

    @property
    def width(self):
        return self.count

    def column(self, name):
        return self._columns[name]


register_node(
    Rows,
    children=lambda rows: rows._columns.items(),
    rebuild=lambda rows, columns: type(rows)(**columns),
    write=lambda rows, part, value: rows._columns.__setitem__(part, value),
)


class MoreRows(Rows):
    pass


class Pair:
    """Knows how it is walked, but not how it is changed."""

    def __init__(self, *items):
        self.items = items


register_node(Pair, children=lambda pair: enumerate(pair.items))


def tree():
    return {"t": Rows(x=[1, 2], y={"z": 3}), "p": Pair(4, Rows(x=5))}


def test_children_are_read_and_flattened():
    assert kontext.get(tree(), "t.y.z") == 3
    assert kontext.get(tree(), "p[1].x") == 5
    assert kontext.flatten(tree()) == {
        "t.x[0]": 1,
        "t.x[1]": 2,
        "t.y.z": 3,
        "p[0]": 4,
        "p[1].x": 5,
    }


def test_other_attributes_are_read_by_name_but_are_no_places():
    assert kontext.get(tree(), "t.count") == kontext.get(tree(), "t.width") == 2
    assert kontext.get_all(tree(), "**.count") == {}
    assert kontext.get_all(tree(), "**.x") == {"t.x": [1, 2], "p[1].x": 5}
    assert kontext.get_all(tree(), "t.*.z") == {"t.y.z": 3}


def test_subclasses_are_walked_alike():
    assert kontext.flatten(MoreRows(x=1)) == {"x": 1}
    assert type(kontext.update(MoreRows(x=1), "x", 2)) is MoreRows


def test_children_change_as_a_copy():
    old = tree()
    new = kontext.update(old, "t.*.z", 0)
    assert new["t"].column("y") == {"z": 0}
    assert new["t"].column("x") is old["t"].column("x")
    assert old["t"].column("y") == {"z": 3}


def test_node_without_rebuild_refuses_a_copy():
    with pytest.raises(PathTypeError, match=r"Pair .*\n.*rebuild="):
        kontext.update(tree(), "p[0]", 1)


def test_children_are_set_in_place_where_a_node_can():
    mine = tree()
    assert kontext.set(mine, "**.x", 0) == ["t.x", "p[1].x"]
    assert mine["t"].column("x") == 0
    with pytest.raises(PathTypeError, match="Pair is immutable"):
        kontext.set(mine, "p[0]", 1)


def test_computed_attribute_is_no_child_to_change():
    with pytest.raises(PathTypeError, match="'width' of a Rows"):
        kontext.update(tree(), "t.width", 1)
    with pytest.raises(PathTypeError, match="'width' of a Rows"):
        kontext.set(tree(), "t.width", 1)


def test_children_cannot_be_deleted():
    with pytest.raises(PathTypeError, match="parts of a Rows are fixed"):
        kontext.delete(tree(), "t.x")


def test_nodes_are_filtered_and_rebuilt_like_another():
    assert kontext.filter(tree(), "t.y.z") == {"t": {"y": {"z": 3}}}
    flat = {"x[0]": 1, "y.z": 2}
    again = kontext.unflatten(flat, like=Rows(x=[0], y={"z": 0}))
    assert type(again) is Rows
    assert kontext.flatten(again) == flat


def test_message_lists_the_children():
    with pytest.raises(PathLookupError) as caught:
        kontext.get(tree(), "t.xx")
    assert "reached 't' (Rows) with fields: 'x', 'y'" in str(caught.value)
    assert caught.value.suggestions == ("t.x",)


def test_registration_counts_from_then_on_and_can_be_replaced():
    class Late:
        a = 1

    late = Late()
    assert kontext.flatten(late) == {"": late}
    register_node(Late, children=lambda node: [("a", node.a)])
    assert kontext.flatten(late) == {"a": 1}
    register_node(Late, children=lambda node: [("b", node.a)])
    assert kontext.flatten(late) == {"b": 1}


def test_array_that_was_met_as_a_leaf_can_be_registered():
    class Block:
        shape, dtype = (2,), "float32"

        def __getitem__(self, index):
            return index

    tree = {"b": Block(), "x": 1}
    assert kontext.flatten(tree) == tree
    assert kontext.get_all(tree, "**.x") == {"x": 1}
    register_node(Block, children=lambda node: [("x", 5)])
    assert kontext.flatten(tree) == {"b.x": 5, "x": 1}
    assert kontext.get_all(tree, "**.x") == {"x": 1, "b.x": 5}


@pytest.mark.parametrize("cls", [dict, int, "Rows"])
def test_built_in_classes_are_refused(cls):
    with pytest.raises(PathTypeError, match="not built in"):
        register_node(cls, children=lambda node: ())


@dataclasses.dataclass
class Model:
    size: int = 3

    def apply(self, x):
        return x * self.size

    @classmethod
    def make(cls):
        return cls()


def test_methods_are_values_on_request():
    root = {"m": Model()}
    assert kontext.get(root, "m.apply", allow_callables=True)(2) == 6
    assert kontext.get(root, "m.make", allow_callables=True)() == Model()
    assert kontext.get(root, "m.size", allow_callables=True) == 3
    assert kontext.get(root, "m.apply", None) is None


def test_methods_of_containers_and_dunder_names_are_no_values_at_all():
    root = {"m": Model(), "a": [1]}
    for path in ("keys", "a.append", "m.__class__", "m.__init__"):
        with pytest.raises(PathLookupError):
            kontext.get(root, path, allow_callables=True)


def test_message_tells_that_a_name_is_a_method():
    with pytest.raises(PathLookupError, match="'apply' is a method"):
        kontext.get({"m": Model()}, "m.apply")
    with pytest.raises(PathLookupError, match="'append' is a method"):
        kontext.get({"a": []}, "a.append")
