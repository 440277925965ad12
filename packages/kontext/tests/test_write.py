"""Writing into nodes of each kind."""

from types import SimpleNamespace

import pytest

import kontext
from kontext import PathLookupError


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
