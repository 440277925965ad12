"""Whole calls: the order of arguments and the memory of verdicts change nothing."""

import dataclasses
import itertools
import types
from typing import Annotated, NamedTuple, TypedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ktyping import (
    AmbiguityLimitError,
    Float,
    Int,
    KTypeCheckError,
    PyTree,
    Shape,
    config,
    dim,
    share,
    typechecked,
)

np = pytest.importorskip("numpy", reason="these tests check arrays of numpy")


@typechecked
@dataclasses.dataclass
class Record:
    """A field that may be shared with the function."""

    x: Float["a b"]


class Pair(NamedTuple):
    """Two arrays."""

    p: Float["a"]
    q: Float["*r"]


class Keys(TypedDict):
    """One key."""

    k: Float["a"]


def unchecked(x):
    with config.override("off"):
        return Record(x)


WORDS = ["a", "b", "*r", "_", "#a", "*#r", "a+1", "2", "a?", "2|b", "...", "a*b"]
specs = st.lists(st.sampled_from([*WORDS, "prod(*r)"]), max_size=3).map(" ".join)
annotations = st.one_of(
    specs.map(lambda s: Float[s]),
    specs.map(lambda s: Float[s] | None),
    st.builds(lambda s, t: Float[s] | Int[t], specs, specs),
    st.builds(lambda s, t: Float[s] | Float[t], specs, specs),
    specs.map(lambda s: list[Float[s]]),
    specs.map(lambda s: dict[str, Float[s]]),
    st.builds(lambda s, t: tuple[Float[s], Float[t]], specs, specs),
    specs.map(lambda s: PyTree[Float[s]]),
    specs.map(lambda s: Shape[s]),
    st.sampled_from([Pair, Annotated[Record, share], Record, Keys]),
)
shapes = st.lists(st.integers(1, 3), max_size=3).map(tuple)
arrays = shapes.map(lambda shape: np.zeros(shape, np.float32))
values = st.one_of(
    arrays,
    arrays,
    shapes,
    shapes.map(lambda shape: np.zeros(shape, int)),
    st.none(),
    st.lists(arrays, max_size=2),
    st.dictionaries(st.sampled_from("ab"), arrays, max_size=2),
    st.tuples(arrays, arrays),
    st.builds(Pair, arrays, arrays),
    arrays.map(unchecked),
    arrays.map(lambda x: {"k": x}),
)


def body(x, y, w):
    return dict(dim)


def function(given_annotations):
    made = types.FunctionType(body.__code__, body.__globals__)
    made.__annotations__ = dict(zip("xyw", given_annotations, strict=True))
    return typechecked(made)


def outcome(checked, args):
    """Returns the dims that a call binds, or how it is refused."""
    try:
        return checked(*args)
    except KTypeCheckError as error:
        return error.code, error.axis, error.subject
    except AmbiguityLimitError:
        return "ambiguous"


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(annotations, values), min_size=3, max_size=3))
def test_a_call_binds_the_same_dims_in_every_order_of_its_arguments(pairs):
    found = []
    for order in itertools.permutations(pairs):
        kinds, args = zip(*order, strict=True)
        found.append(outcome(function(kinds), args))
    if "ambiguous" in found:
        return
    # Who is to blame may differ; whether a call fits, and what it binds, may not.
    fitting = [result for result in found if isinstance(result, dict)]
    assert len(fitting) in (0, len(found))
    assert all(result == fitting[0] for result in fitting)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.lists(annotations, min_size=3, max_size=3),
    st.lists(st.tuples(values, values, values), min_size=2, max_size=4),
)
def test_a_function_that_has_seen_calls_answers_as_a_new_one(kinds, calls):
    seen = function(kinds)
    for args in [*calls, *calls]:
        assert outcome(seen, args) == outcome(function(kinds), args)
