"""Copies of containers of all classes: right, or refused, but never wrong."""

from array import array
from collections import deque, namedtuple
from collections.abc import Mapping, MutableSequence

import pytest

import kontext
from kontext import PathTypeError, update


class Reader(Mapping):
    """Is made from something else than its items."""

    def __init__(self, source):
        self.source = source

    def __getitem__(self, key):
        return {"a": 1, "b": 2}[key]

    def __iter__(self):
        return iter("ab")

    def __len__(self):
        return 2


class Opened(Reader):
    def __init__(self, source, mode):
        super().__init__(source)
        self.mode = mode


class Sealed(dict):
    def __setitem__(self, key, value):
        raise TypeError("sealed")

    def update(self, *items):
        raise TypeError("sealed")


class Pair(tuple):
    def __new__(cls, *items):
        return super().__new__(cls, items)


class Column(MutableSequence):
    """A shallow copy of it shares its values with the original."""

    def __init__(self, values):
        self.values = list(values)

    def __getitem__(self, index):
        return self.values[index]

    def __setitem__(self, index, value):
        self.values[index] = value

    def __delitem__(self, index):
        del self.values[index]

    def __len__(self):
        return len(self.values)

    def insert(self, index, value):
        self.values.insert(index, value)


class Tagged(list):
    tag = None


@pytest.mark.parametrize(
    ("node", "path"), [(Reader("file"), "a"), (Pair(1, 2), "[0]"), (range(3), "[0]")]
)
def test_class_that_is_not_made_from_its_items_is_not_copied_wrongly(node, path):
    name = type(node).__name__
    with pytest.raises(PathTypeError, match=f"a {name} cannot be copied") as caught:
        update({"x": node}, f"x.{path}" if path == "a" else f"x{path}", 5)
    assert any("while updating 'x" in note for note in caught.value.__notes__)


def test_error_of_a_class_that_refuses_a_copy_goes_through_with_advice():
    with pytest.raises(TypeError, match="'mode'") as caught:
        update({"x": Opened("file", "r")}, "x.a", 5)
    advice, place = caught.value.__notes__
    assert "raised by Opened" in advice and "kontext.register_node" in advice
    assert place == "while updating 'x.a'"
    with pytest.raises(TypeError, match="sealed"):
        update(Sealed(a=1), "a", 5)


def test_what_cannot_be_made_anew_is_kept_as_a_plain_container():
    tree = {"m": Reader("file"), "s": Sealed(a=1, b=2), "t": Pair(1, 2)}
    kept = kontext.filter({**tree, "o": Opened("f", "r")}, "*.a")
    assert kept == {"m": {"a": 1}, "s": {"a": 1}, "o": {"a": 1}}
    assert {type(value) for value in kept.values()} == {dict}
    kept = kontext.filter({**tree, "n": array("i", [3, 4])}, "*[1]", compact=False)
    assert kept == {"t": (kontext.MISSING, 2), "n": [kontext.MISSING, 4]}
    assert type(kept["t"]) is tuple


def test_fields_of_a_named_tuple_are_changed_by_name_index_and_slice():
    class Point(namedtuple("Point", "x y z")):
        @property
        def norm(self):
            return 1

    point = Point(1, 2, 3)
    assert update(point, "y", 5) == update(point, "[-2]", 5) == Point(1, 5, 3)
    assert update(point, "[1:]", [5, 6]) == Point(1, 5, 6)
    with pytest.raises(PathTypeError, match="takes 2 items"):
        update(point, "[1:]", [5])
    for path in ("norm", "_fields"):
        with pytest.raises(PathTypeError, match="computed, not stored"):
            update(point, path, 5)


def test_copy_of_a_sequence_leaves_the_original():
    column = Column([1, 2])
    new = update(column, "[0]", 5)
    assert (new.values, column.values) == ([5, 2], [1, 2])
    assert update(array("i", [1, 2]), "[-1]", 5) == array("i", [1, 5])


def test_sequences_keep_what_they_have_beside_their_items():
    tagged = Tagged([1, 2, 3])
    tagged.tag = "t"
    tree = {"l": tagged, "d": deque([1, 2, 3], maxlen=4)}
    for new in (update(tree, "*[0]", 5), kontext.filter(tree, "*[0:2]")):
        assert type(new["l"]) is Tagged and new["l"].tag == "t"
        assert new["d"].maxlen == 4
    assert kontext.filter(tree, "*[0:2]") == {"l": [1, 2], "d": deque([1, 2])}
    assert tree["l"] == [1, 2, 3]


def test_error_inside_of_a_copy_tells_the_place():
    class Positive:
        def __init__(self, value):
            self.value = value

    kontext.register_node(
        Positive,
        children=lambda node: [("value", node.value)],
        rebuild=lambda node, new: 1 / 0,
    )
    tree = {"a": Positive(1), "b": Positive(2)}
    with pytest.raises(ZeroDivisionError) as caught:
        update(tree, "*.value", -1)
    assert caught.value.__notes__ == ["while updating 'a.value' and 1 more place"]
