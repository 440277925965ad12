"""Named structures of trees: `PyTree[T, "$S"]`."""

import itertools
import pickle
import subprocess
import sys
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktyping import (
    ArraySpec,
    ElementSpec,
    KTypeCheckError,
    PyTree,
    ShapeSpecSyntaxError,
    matches,
    typechecked,
)


@typechecked
def alike(a: PyTree[int, "$S"], b: PyTree[str, "$S"]) -> PyTree[float, "$S"]:
    return MAKE[0](a)


MAKE = [lambda tree: {"x": [0.5, 1.5]}]


def test_trees_of_one_name_are_alike_in_arguments_and_result():
    assert alike({"x": [1, 2]}, {"x": ["p", "q"]}) == {"x": [0.5, 1.5]}
    with pytest.raises(KTypeCheckError) as caught:
        alike({"x": (1, 2)}, {"x": ("p", "q")})
    assert caught.value.subject == "return value['x']"


@pytest.mark.parametrize(
    ("other", "where", "reason"),
    [
        (
            {"x": ["p"]},
            "argument b['x']",
            "length 1 where a list of length 2",
        ),
        ({"y": ["p", "q"]}, "argument b", "keys 'y' where a dict with keys 'x'"),
        ({"x": "p"}, "argument b['x']", "a leaf where a list of length 2"),
        ({"x": ["p", ["q"]]}, "argument b['x'][1]", "a list of length 1 where a leaf"),
        ({"x": ["p", None]}, "argument b['x'][1]", "None where a leaf"),
    ],
)
def test_a_mismatch_names_the_first_path_that_differs(other, where, reason):
    with pytest.raises(KTypeCheckError) as caught:
        alike({"x": [1, 2]}, other)
    error = caught.value
    assert (error.code, error.subject) == ("structure", where)
    assert reason in str(error)
    assert "$S = {'x': [*, *]}  bound by a" in str(error)


def test_a_tree_may_begin_or_end_with_a_structure():
    @typechecked
    def begins(a: PyTree[int, "$S"], b: PyTree[int, "$S ..."]):
        return True

    @typechecked
    def ends(a: PyTree[int, "$S"], b: PyTree[int, "... $S"]):
        return True

    assert begins({"x": 1, "y": 2}, {"x": [1, 2], "y": {"z": 3}})
    assert ends((1, 2), {"x": (1, 2), "y": [(3, 4), None]})
    with pytest.raises(KTypeCheckError, match=r"b\['y'\].*a leaf where"):
        begins({"x": 1, "y": [2]}, {"x": [1, 2], "y": 3})
    with pytest.raises(KTypeCheckError, match=r"b\['y'\]\[0\].*a leaf where"):
        ends((1, 2), {"x": (1, 2), "y": [3]})


trees = st.recursive(
    st.just(0) | st.none(),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.tuples(inner, inner)
        | st.dictionaries(st.sampled_from("pq"), inner, max_size=2)
    ),
    max_leaves=5,
)
relations = st.sampled_from(["$S", "$S ...", "... $S", "$T"])


@given(st.lists(st.tuples(trees, relations), min_size=2, max_size=3))
def test_acceptance_does_not_depend_on_the_order_of_arguments(given_trees):
    verdicts = set()
    for order in itertools.permutations(given_trees):
        kinds = [PyTree[int, name] for _, name in order]
        namespace = dict(zip("abc", kinds, strict=False))
        names = list("abc")[: len(kinds)]

        def f(a, b, c=0):
            return None

        f.__annotations__ = {name: namespace[name] for name in names}
        try:
            typechecked(f)(*[tree for tree, _ in order])
            verdicts.add(True)
        except KTypeCheckError:
            verdicts.add(False)
    assert len(verdicts) == 1


@given(trees, trees)
def test_every_tree_begins_and_ends_with_itself_and_with_a_leaf(tree, other):
    @typechecked
    def f(
        a: PyTree[int, "$S"],
        b: PyTree[int, "$S ..."],
        c: PyTree[int, "... $S"],
        leaf: PyTree[int, "$L"],
        d: PyTree[int, "$L ..."],
        e: PyTree[int, "... $L"],
    ):
        return True

    assert f(tree, tree, tree, 0, other, other)


def test_a_check_that_fails_leaves_no_structure_behind():
    @typechecked
    def f(a: tuple[PyTree[int, "$S"], str] | tuple[PyTree[int, "$T"], int], b: object):
        return matches(b, PyTree[int, "$S"]), matches(b, PyTree[int, "$T"])

    assert f(([1], 2), (1, 2)) == (True, False)


def test_the_name_may_stand_in_annotated_for_static_checkers():
    @typechecked
    def f(a: Annotated[PyTree[int], "$S"], b: Annotated[PyTree[int], "$S"]):
        return True

    assert f([1], [2])
    with pytest.raises(KTypeCheckError):
        f([1], (2,))


def test_a_type_with_a_structure_prints_compares_and_pickles():
    for text in ("$S", "$S ...", "... $S"):
        kind = PyTree[int, text]
        assert kind == PyTree[int, f" {text} "] != PyTree[int]
        assert text in repr(kind)
        assert pickle.loads(pickle.dumps(kind)) == kind
    assert ElementSpec == PyTree[ArraySpec]


@pytest.mark.parametrize("text", ["S", "$", "$1", "$S $T", "... $S ...", "", "$S..."])
def test_other_texts_are_refused_with_the_forms_that_exist(text):
    with pytest.raises(ShapeSpecSyntaxError, match=r"Write `\$S`") as caught:
        PyTree[int, text]
    assert caught.value.code == "tree"


@pytest.mark.slow
def test_without_jax_structures_are_told_alike():
    code = (
        "from ktyping import PyTree, typechecked, KTypeCheckError\n"
        "import sys\n"
        "@typechecked\n"
        "def f(a: PyTree[int, '$S'], b: PyTree[int, '$S']): return True\n"
        "assert f({'x': 1, 'y': [2]}, {'y': [3], 'x': 4})\n"
        "for other in ({'x': 1}, {'x': 1, 'y': 2}, {'x': 1, 'y': (2,)}, 3):\n"
        "    try: f({'x': 1, 'y': [2]}, other)\n"
        "    except KTypeCheckError as error: assert error.code == 'structure'\n"
        "    else: raise AssertionError(other)\n"
        "assert 'jax' not in sys.modules\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
