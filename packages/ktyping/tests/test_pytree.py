"""Nested structures whose leaves are checked."""

import subprocess
import sys
from typing import NamedTuple

import pytest

import ktyping as kt
from ktyping import Float, KTypeCheckError, PyTree, Shape, dim, typechecked


class Pair(NamedTuple):
    x: int
    y: int


@pytest.mark.parametrize(
    ("tree", "fits"),
    [
        (3, True),
        (None, True),
        ({"a": [1, (2, 3)], "b": {}}, True),
        (Pair(1, 2), True),
        ({"a": [1, (2, "x")]}, False),
        (Pair(1, "x"), False),
    ],
)
def test_every_leaf_matches(tree, fits):
    assert kt.isinstance(tree, PyTree[int]) is fits
    assert kt.isinstance(tree, PyTree)


@pytest.mark.slow
def test_without_jax_the_leaves_and_their_paths_are_the_same():
    code = (
        "from ktyping import PyTree, check_type, KTypeCheckError\n"
        "import sys\n"
        "tree = {'a': [1, None, (2, 'x')]}\n"
        "try:\n"
        "    check_type(tree, PyTree[int], nested_ok=True)\n"
        "except KTypeCheckError as error:\n"
        "    print(error.subject)\n"
        "assert 'jax' not in sys.modules\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "value['a'][2][1]"


@pytest.mark.case("056")
def test_leaves_share_their_dims_and_none_is_no_leaf():
    np = pytest.importorskip("numpy", reason="this test checks arrays of numpy")

    @typechecked
    def f(tree: PyTree[Float["b"] | None]):
        return dim["b"]

    assert f({"a": np.ones(2), "b": None}) == 2
    assert f([np.ones(2), {"x": np.ones(2)}]) == 2
    with pytest.raises(KTypeCheckError) as caught:
        f({"a": np.ones(2), "b": np.ones(3)})
    assert caught.value.subject == "argument tree['b']"


def test_structures_that_jax_knows_are_looked_into():
    jax = pytest.importorskip("jax", reason="this test registers a class with jax")

    @jax.tree_util.register_pytree_node_class
    class Box:
        def __init__(self, inner):
            self.inner = inner

        def tree_flatten(self):
            return (self.inner,), None

        @classmethod
        def tree_unflatten(cls, aux, children):
            return cls(*children)

    assert kt.isinstance(Box(3), PyTree[int])
    assert not kt.isinstance(Box("x"), PyTree[int])


def test_a_tree_joins_with_other_types_and_refuses_more_arguments():
    assert kt.isinstance("x", PyTree[int] | str)
    assert kt.isinstance((2, 3), Shape | PyTree[str])
    with pytest.raises(TypeError, match="type of the leaves"):
        PyTree[int, "$S", "$T"]
    with pytest.raises(TypeError, match="type of the leaves"):
        PyTree[int, 3]
    with pytest.raises(TypeError, match="type of the leaves"):
        PyTree[int][str]
