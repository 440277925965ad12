"""Which shapes a spec allows, and what it says about the names in it."""

import itertools
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ktyping import AmbiguityLimitError
from ktyping._hypothesis import EMPTY, close_all
from ktyping._parser import parse
from ktyping._solve import match_shape


def solve(*pairs):
    """Returns name -> sizes for every reading of (spec, shape) pairs."""
    hypotheses = (EMPTY,)
    for number, (spec, shape) in enumerate(pairs):
        hypotheses = match_shape(parse(spec), shape, hypotheses, f"x{number}")
    return [dict(h.bound) for h in close_all(hypotheses)]


def test_names_are_bound_to_sizes():
    assert solve(("a b", (2, 3))) == [{"a": (2,), "b": (3,)}]


@pytest.mark.spec("ktyping-18")
def test_anonymous_axes_are_not_remembered():
    assert solve(("_ _", (2, 3))) == [{}]


@pytest.mark.parametrize("shape", [(2, 4), (2,), (2, 3, 4)])
def test_a_name_used_twice_has_one_size(shape):
    assert solve(("a a", shape)) == []


@pytest.mark.spec("ktyping-10")
def test_two_runs_keep_every_reading():
    assert solve(("*b *o c", (3, 7))) == [
        {"b": (), "o": (3,), "c": (7,)},
        {"b": (3,), "o": (), "c": (7,)},
    ]


@pytest.mark.spec("ktyping-12", "ktyping-13")
def test_a_run_used_twice_has_the_same_sizes():
    assert solve(("*b *b", (2, 3, 2, 3))) == [{"b": (2, 3)}]
    assert solve(("*b *b", (2, 3, 2))) == []


@pytest.mark.spec("ktyping-14")
def test_a_plus_run_is_not_empty():
    assert solve(("+b c", (3,))) == []
    assert solve(("+b c", (2, 3))) == [{"b": (2,), "c": (3,)}]


@pytest.mark.spec("ktyping-15")
def test_an_optional_axis_may_be_absent():
    assert solve(("a? b", (3,))) == [{"b": (3,)}]
    assert solve(("a? b", (2, 3))) == [{"a": (2,), "b": (3,)}]
    assert solve(("a? b?", (3,))) == [{"b": (3,)}, {"a": (3,)}]


@pytest.mark.spec("ktyping-16")
def test_a_choice_allows_each_alternative():
    assert solve(("3|4", (5,))) == []
    assert solve(("3|a", (3,))) == [{}, {"a": (3,)}]


@pytest.mark.spec("ktyping-17")
def test_an_axis_between_runs_can_be_each_axis():
    assert solve(("... a ...", (1, 2))) == [{"a": (1,)}, {"a": (2,)}]


@pytest.mark.spec("ktyping-20", "ktyping-22")
def test_a_broadcast_axis_has_size_one_or_the_size_of_its_name():
    assert solve(("#a #a", (1, 5))) == [{"a": (5,)}]
    assert solve(("#a #a", (4, 5))) == []
    assert solve(("#a", (1,))) == [{}]
    assert solve(("#3", (1,))) == [{}]
    assert solve(("#3", (2,))) == []
    assert solve(("a", (1,)), ("#a", (5,))) == []


@pytest.mark.spec("ktyping-23")
def test_a_broadcast_run_follows_the_rule_of_numpy():
    assert solve(("*#b c", (3, 4)), ("*#b c", (2, 3, 4))) == [
        {"c": (4,), "b": (2, 3)},
    ]
    assert solve(("*#b", (2, 1)), ("*#b", (1, 3))) == [{"b": (2, 3)}]
    assert solve(("*#b", (2,)), ("*#b", (3,))) == []


@pytest.mark.case("041")
def test_a_run_and_a_broadcast_run_of_one_name_are_one_name():
    assert solve(("*foo", (3, 4)), ("*#foo", (5,))) == []
    assert solve(("*#foo", (5,)), ("*foo", (3, 4))) == []
    assert solve(("*foo", (3, 4)), ("*#foo", (4,))) == [{"foo": (3, 4)}]


@pytest.mark.case("043")
def test_two_runs_are_told_apart_by_another_argument():
    assert solve(("*B *C", (2, 3)), ("*B", (2,))) == [{"B": (2,), "C": (3,)}]
    assert len(solve(("*B *C", (2, 3)))) == 3


@pytest.mark.spec("ktyping-24", "ktyping-25", "ktyping-26")
def test_an_expression_of_one_unknown_name_is_solved():
    assert solve(("n+1", (4,))) == [{"n": (3,)}]
    assert solve(("n+1", (0,))) == []
    assert solve(("n+1", ())) == []
    assert solve(("2*a", (5,))) == []
    assert solve(("2*a", (6,))) == [{"a": (3,)}]
    assert solve(("7-a", (4,))) == [{"a": (3,)}]
    assert solve(("a/2", (3,))) == [{"a": (6,)}]
    assert solve(("min(a)", (3,))) == [{"a": (3,)}]


@pytest.mark.spec("ktyping-29", "ktyping-30")
def test_a_floor_division_waits_for_its_name():
    assert solve(("n//2", (3,))) == [{}]
    assert solve(("n//2", (3,)), ("n", (7,))) == [{"n": (7,)}]
    assert solve(("n//2", (3,)), ("n", (8,))) == []


def test_constraints_that_wait_are_refused_when_no_size_is_left():
    assert solve(("n//2", (3,)), ("n//2", (4,))) == []
    assert solve(("n//2", (3,)), ("n//3", (2,))) == [{}]
    assert solve(("n//2", (3,)), ("n//7", (1,))) == [{"n": (7,)}]


@pytest.mark.spec("ktyping-31", "ktyping-32")
def test_a_power_has_a_whole_root_or_none():
    assert solve(("n**2", (9,)), ("n", (3,))) == [{"n": (3,)}]
    assert solve(("n**2", (9,))) == [{"n": (3,)}]
    assert solve(("n**2", (8,))) == []


@pytest.mark.spec("ktyping-33")
def test_a_division_by_zero_is_a_mismatch():
    assert solve(("m", (0,)), ("n//m", (2,))) == []
    assert solve(("m", (0,)), ("n", (4,)), ("n%m", (2,))) == []


@pytest.mark.spec("ktyping-28", "ktyping-34")
def test_an_expression_may_stand_before_its_names():
    for specs in itertools.permutations(["h*w", "h", "w"]):
        sizes = {"h*w": 6, "h": 2, "w": 3}
        shape = tuple(sizes[s] for s in specs)
        assert solve((" ".join(specs), shape)) == [{"h": (2,), "w": (3,)}]
    assert solve(("h*w h w", (6, 2, 4))) == []


def test_functions_of_runs_are_computed():
    assert solve(("*b", (2, 3)), ("prod(*b) sum(*b)", (6, 5))) == [{"b": (2, 3)}]
    assert solve(("prod(*b)", (6,)), ("*b", (2, 3))) == [{"b": (2, 3)}]
    assert solve(("prod(*b)", (7,)), ("*b", (2, 3))) == []


def test_a_name_and_a_run_of_one_axis_are_the_same():
    assert solve(("*b", (3,)), ("b", (3,))) == [{"b": (3,)}]
    assert solve(("*b", (3, 4)), ("b", (3,))) == []


def test_limits_bind_their_name():
    assert solve(("n<=4", (3,))) == [{"n": (3,)}]
    assert solve(("n<=4", (5,))) == []
    assert solve(("n>=4 m=2", (5, 2))) == [{"n": (5,), "m": (2,)}]


@pytest.mark.spec("ktyping-96")
def test_too_many_readings_are_refused_quickly():
    spec = parse("*a *b *c *d *e *f")
    calls = 0

    def tally(frame, event, arg):
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(tally)
    try:
        with pytest.raises(AmbiguityLimitError, match=r"\*a \*b"):
            match_shape(spec, tuple(range(14)), (EMPTY,), "x")
    finally:
        sys.setprofile(None)
    assert calls < 1_000


def test_a_long_search_without_a_result_is_given_up():
    # A search without a bound would not end in this test's lifetime.
    spec = parse("*a *b *c *d *e *f *g *h *a *b *c *d *e *f *g *h z z")
    with pytest.raises(AmbiguityLimitError):
        match_shape(spec, tuple(range(40)), (EMPTY,), "x")


TERMS = ["a", "b", "*r", "+r", "_", "...", "#a", "*#r", "a+1", "2*b", "a*b", "b//2"]
specs = st.lists(st.sampled_from([*TERMS, "a?", "2|a", "2"]), max_size=3)
shapes = st.lists(st.integers(0, 4), max_size=3).map(tuple)


def readings(pairs):
    found = solve(*pairs)
    return {tuple(sorted(reading.items())) for reading in found}


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(specs.map(" ".join), shapes), min_size=2, max_size=3))
def test_the_order_of_values_does_not_matter(pairs):
    expected = readings(pairs)
    for order in itertools.permutations(pairs):
        assert readings(order) == expected


@settings(max_examples=200, deadline=None)
@given(specs.map(" ".join), shapes)
def test_a_check_that_fails_or_not_changes_no_hypothesis(spec, shape):
    (start,) = match_shape(parse("a b"), (2, 3), (EMPTY,), "x")
    key = start.key
    match_shape(parse(spec), shape, (start,), "y")
    fresh = (dict(start.bound), dict(start.lower), start.pending)
    assert fresh == ({"a": (2,), "b": (3,)}, {}, ())
    assert start.key == key


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 3), max_size=3).map(tuple), st.data())
def test_a_shape_built_from_its_names_is_accepted(run, data):
    a, b = data.draw(st.integers(0, 4)), data.draw(st.integers(1, 4))
    sizes = {
        "a": (a,),
        "b": (b,),
        "*r": run,
        "a+1": (a + 1,),
        "a*b": (a * b,),
        "a//b": (a // b,),
        "a%b": (a % b,),
        "max(a,b)": (max(a, b),),
        "sum(*r)": (sum(run),),
        "_": (7,),
    }
    words = data.draw(st.lists(st.sampled_from(list(sizes)), max_size=5))
    shape = tuple(size for word in words for size in sizes[word])
    found = match_shape(parse(" ".join(words)), shape, (EMPTY,), "x")
    known = {"a": (a,), "b": (b,), "r": run}
    assert any(all(known[n] == s for n, s in h.bound.items()) for h in found)
