"""Values of expressions and the sizes that give them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ktyping._arithmetic import Undefined, evaluate, solutions
from ktyping._parser import parse

EXPRESSIONS = [
    "n+3",
    "3+n",
    "n-3",
    "9-n",
    "2*n",
    "n*2",
    "n/2",
    "12/n",
    "n//2",
    "n//3+1",
    "9//n",
    "n%3",
    "n**2",
    "n**3",
    "2**n",
    "-n+8",
    "(n+1)*2",
    "(n-1)**2",
    "min(n)",
    "max(n,4)",
    "sum(n,2)",
    "n+k",
    "k*n",
    "n-k",
    "n//k",
    "n*n",
]


def node(text):
    (term,) = parse(text).terms
    return term.node


def value(text, n, k=2):
    try:
        return evaluate(node(text), {"n": (n,), "k": (k,)})
    except Undefined:
        return None


@settings(max_examples=400)
@given(st.sampled_from(EXPRESSIONS), st.integers(-3, 40), st.integers(0, 3))
def test_the_sizes_found_are_all_sizes_that_give_the_value(text, size, k):
    every = [n for n in range(200) if value(text, n, k) == size]
    found = solutions(node(text), "n", size, {"k": (k,)})
    if found is not None:
        assert list(found) == every


@pytest.mark.parametrize(
    "text", ["n+3", "2*n", "n/2", "n//2", "n**2", "9-n", "(n+1)*2"]
)
def test_common_expressions_are_always_solved(text):
    assert solutions(node(text), "n", 9, {}) is not None


@given(st.integers(0, 30), st.integers(1, 30), st.integers(0, 5))
def test_values_are_those_of_python(a, b, c):
    bound = {"a": (a,), "b": (b,), "c": (c,), "r": (a, b, c)}
    text = "(a+b)*c-a//b+a%b+min(a,b,3)*max(a,c)+sum(*r)-prod(*r)+b**c"
    expected = (
        (a + b) * c
        - a // b
        + a % b
        + min(a, b, 3) * max(a, c)
        + (a + b + c)
        - a * b * c
        + b**c
    )
    assert evaluate(node(text), bound) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("n//m", "division by zero"),
        ("n%m", "division by zero"),
        ("n/2", "3/2 is not whole"),
        ("n**(0-1)", "exponent"),
        ("n**1000", "too large"),
        ("r+1", "run of 2 axes"),
        ("min(*e)", "min of no axes"),
    ],
)
def test_an_expression_without_a_whole_value_says_why(text, reason):
    bound = {"n": (3,), "m": (0,), "r": (1, 2), "e": ()}
    with pytest.raises(Undefined, match=reason):
        evaluate(node(text), bound)


def test_a_huge_exponent_is_solved_without_a_huge_number():
    assert solutions(node("n**k"), "n", 1, {"k": (10**12,)}) == [1]
