"""Kinds of node that the other tests do not make."""

import enum
from types import SimpleNamespace

import pytest

import kontext


class Made:
    """As attrs makes its classes; kontext goes by this very attribute."""

    __attrs_attrs__ = (SimpleNamespace(name="x"), SimpleNamespace(name="_p"))

    def __init__(self, x, p=3):
        self.x = x
        self._p = p
        self.cache = object()

    @property
    def double(self):
        return 2 * self.x


def test_classes_of_attrs_are_nodes_with_their_declared_fields():
    tree = {"m": Made([1])}
    assert kontext.flatten(tree) == {"m.x[0]": 1, "m._p": 3}
    assert kontext.get_all(tree, "m.*") == {"m.x": [1], "m._p": 3}
    assert kontext.get(tree, "m.double") == [1, 1]
    new = kontext.update(tree, "m._p", 4)["m"]
    assert (new.x, new._p) == ([1], 4) and type(new) is Made
    assert kontext.set(tree, "m.x", 2) == ["m.x"] and tree["m"].x == 2
    assert kontext.filter(tree, "m.x") == {"m": {"x": 2}}
    with pytest.raises(kontext.PathTypeError, match="fixed"):
        kontext.delete(tree, "m.x")
    with pytest.raises(kontext.PathLookupError, match="fields: 'x', '_p'"):
        kontext.get(tree, "m.y")


def test_keys_of_an_enumeration_of_texts_are_texts():
    split = enum.StrEnum("Split", ["TRAIN"])
    assert kontext.get({split.TRAIN: 1}, "train") == 1
    flat = kontext.flatten({split.TRAIN: 1})
    assert flat == {"train": 1} and [type(text) for text in flat] == [str]
