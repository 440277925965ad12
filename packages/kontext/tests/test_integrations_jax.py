"""`kontext.integrations.jax`: masks, labels and maps over trees, selected by path."""

import dataclasses
from typing import Any

import pytest

from kontext import PathError, PathLookupError
from kontext.integrations.jax import labels, map_with_path, mask

jax = pytest.importorskip("jax", reason="kontext needs no JAX, but knows its trees")


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Head:
    kernel: Any
    bias: Any


def params():
    return {
        "enc": {"kernel": 1.0, "bias": 2.0},
        "heads": (Head(3.0, 4.0), Head(5.0, None)),
    }


def test_mask_is_true_where_the_pattern_selects_a_leaf():
    assert mask(params(), "**.kernel") == {
        "enc": {"kernel": True, "bias": False},
        "heads": (Head(True, False), Head(True, None)),
    }


def test_node_selects_all_leaves_below_it():
    expected = {
        "enc": {"kernel": False, "bias": False},
        "heads": (Head(False, False), Head(True, None)),
    }
    assert mask(params(), "heads[-1]") == expected
    assert mask(params(), "heads[1:]") == expected
    assert mask(params(), "heads[1].**") == expected


def test_inverted_mask_marks_all_others():
    inverse = mask(params(), "**.bias", invert=True)
    assert inverse == jax.tree.map(lambda x: not x, mask(params(), "**.bias"))


def test_mask_has_the_structure_of_the_tree():
    tree = params()
    structure = jax.tree_util.tree_structure(tree)
    assert jax.tree_util.tree_structure(mask(tree, "")) == structure
    assert jax.tree_util.tree_leaves(mask(tree, "")) == [True] * 5


def test_first_rule_that_selects_a_leaf_labels_it():
    rules = {"enc": "frozen", "**.bias": "plain", "**": "decay"}
    assert labels(params(), rules) == {
        "enc": {"kernel": "frozen", "bias": "frozen"},
        "heads": (Head("decay", "plain"), Head("decay", None)),
    }


def test_leaf_without_label_is_an_error_unless_there_is_a_default():
    with pytest.raises(PathError) as caught:
        labels(params(), {"enc": "frozen"})
    assert str(caught.value) == (
        "no rule selects: heads[0].kernel, heads[0].bias, heads[1].kernel\n"
        "  rules: 'enc'\n"
        "  default= is the label of all other leaves"
    )
    found = labels(params(), {"enc": "frozen"}, default=None)
    assert found["heads"] == (Head(None, None), Head(None, None))


def test_pattern_that_selects_no_leaf_is_an_error():
    for use in (
        lambda: mask(params(), "**.kernl"),
        lambda: labels(params(), {"**": 0, "**.kernl": 1}),
        lambda: map_with_path(lambda path, leaf: leaf, params(), "**.kernl"),
        lambda: mask({"x": jax.numpy.arange(3)}, "x[0]"),
    ):
        with pytest.raises(PathLookupError):
            use()


def test_map_gives_path_and_leaf_and_leaves_others_alone():
    seen = map_with_path(lambda path, leaf: (str(path), leaf), params(), "heads[0]")
    assert seen == {
        "enc": {"kernel": 1.0, "bias": 2.0},
        "heads": (
            Head(("heads[0].kernel", 3.0), ("heads[0].bias", 4.0)),
            Head(5.0, None),
        ),
    }
    every = map_with_path(lambda path, leaf: len(path), params())
    assert jax.tree_util.tree_leaves(every) == [2, 2, 3, 3, 3]


def test_error_of_the_function_tells_the_leaf():
    with pytest.raises(ZeroDivisionError) as caught:
        map_with_path(lambda path, leaf: 1 / (leaf - 4.0), params())
    assert caught.value.__notes__ == ["raised by the function for 'heads[0].bias'"]


def test_mask_serves_optax():
    optax = pytest.importorskip("optax", reason="the mask is made for it")
    tree = {"kernel": jax.numpy.ones(2), "bias": jax.numpy.ones(2)}
    decay = optax.add_decayed_weights(0.5, mask=mask(tree, "kernel"))
    zeros = jax.tree.map(jax.numpy.zeros_like, tree)
    updates, _ = decay.update(zeros, decay.init(tree), tree)
    assert updates["kernel"].tolist() == [0.5, 0.5]
    assert updates["bias"].tolist() == [0, 0]
