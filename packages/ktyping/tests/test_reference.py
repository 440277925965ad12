"""The solver against a reference that tries every assignment of sizes.

The reference knows nothing of hypotheses or constraints: it gives each name every run
of sizes that could stand for it, and asks each spec term by term. Names are drawn from
a small set and sizes from 0 to 4, so that all assignments can be tried.
"""

import itertools

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from ktyping import _dims as d
from ktyping._hypothesis import EMPTY, close_all
from ktyping._parser import parse
from ktyping._solve import match_shape

SINGLE, RUN = ("a", "b"), ("r",)
MOST, LONGEST = 4, 3


def value(node, known):
    """Returns the value of an expression; None if it has none."""
    match node:
        case d.Number():
            return node.value
        case d.Name():
            run = known[node.name]
            return run[0] if len(run) == 1 else None
        case d.Unary():
            inner = value(node.operand, known)
            return None if inner is None else -inner
        case d.Binary():
            left, right = value(node.left, known), value(node.right, known)
            return None if left is None or right is None else binary(node, left, right)
        case d.Call():
            return called(node, known)


def binary(node, left, right):
    if node.op in ("/", "//", "%") and right == 0:
        return None
    if node.op == "/":
        return left // right if left % right == 0 else None
    if node.op == "**":
        return left**right if right >= 0 else None
    table = {
        "+": left + right,
        "-": left - right,
        "*": left * right,
        "//": left // right if right else None,
        "%": left % right if right else None,
    }
    return table[node.op]


def called(node, known):
    values = []
    for arg in node.args:
        values += known[arg.name] if isinstance(arg, d.Splat) else [value(arg, known)]
    if None in values or (node.function in ("min", "max") and not values):
        return None
    if node.function == "prod":
        result = 1
        for one in values:
            result *= one
        return result
    return {"min": min, "max": max, "sum": sum}[node.function](values)


def broadcasts(run, whole):
    """Whether sizes broadcast to those of a run, aligned on the right."""
    if len(run) > len(whole):
        return False
    return all(s in (1, w) for s, w in zip(run[::-1], whole[::-1], strict=False))


def ends(term, shape, axis, known):
    """Yields where a term may end that begins at an axis."""
    left = len(shape) - axis
    match term:
        case d.Optional():
            yield axis
            yield from ends(term.term, shape, axis, known)
        case d.Choice():
            for one in term.terms:
                yield from ends(one, shape, axis, known)
        case d.Variadic():
            for count in range(term.least, left + 1):
                run = shape[axis : axis + count]
                whole = None if term.name is None else known[term.name]
                if term.broadcast:
                    fits = broadcasts(run, whole)
                else:
                    fits = whole is None or run == whole
                if fits:
                    yield axis + count
        case _ if left and fits_axis(term, shape[axis], known):
            yield axis + 1


def fits_axis(term, size, known):
    match term:
        case d.Fixed():
            return size == term.size
        case d.Anonymous():
            return True
        case d.Named():
            return known[term.name] == (size,)
        case d.Bounded():
            limit = {"=": size == term.size, "<=": size <= term.size}
            return limit.get(term.op, size >= term.size) and known[term.name] == (size,)
        case d.Broadcast():
            return len(known[term.name]) == 1 and size in (1, *known[term.name])
        case d.FixedBroadcast():
            return size in (1, term.size)
        case d.Expression():
            return value(term.node, known) == size


def fits(spec, shape, known):
    """Whether a shape fits a spec when every name has the given sizes."""
    reached = {0}
    for term in spec.terms:
        reached = {e for axis in reached for e in ends(term, shape, axis, known)}
    return len(shape) in reached


def worlds(pairs):
    """Yields every assignment of sizes to names under which all shapes fit."""
    top = max((max(shape, default=0) for _, shape in pairs), default=0)
    # A name in an expression can be larger than every size that is seen: up to the
    # largest divisor times that size, and the divisor more.
    singles = [(n,) for n in range(top * 3 + 4)]
    longest = max((len(shape) for _, shape in pairs), default=0)
    runs = [
        run
        for rank in range(longest + 1)
        for run in itertools.product(range(top + 1), repeat=rank)
    ]
    used = frozenset().union(*(d.spec_names(spec) for spec, _ in pairs))
    for spec, shape in pairs:
        if any(t in (parse("*r").terms[0], parse("+r").terms[0]) for t in spec.terms):
            cuts = itertools.combinations(range(len(shape) + 1), 2)
            runs = {(), *(shape[start:stop] for start, stop in cuts)}
    choices = [runs if name in RUN else singles for name in (*SINGLE, *RUN)]
    names = [name for name in (*SINGLE, *RUN) if name in used]
    kept = [c for n, c in zip((*SINGLE, *RUN), choices, strict=True) if n in used]
    for assigned in itertools.product(*kept):
        sizes = dict(zip(names, assigned, strict=True))
        if all(fits(spec, shape, sizes) for spec, shape in pairs):
            yield sizes


def solved(pairs):
    hypotheses = (EMPTY,)
    for number, (spec, shape) in enumerate(pairs):
        hypotheses = match_shape(spec, shape, hypotheses, f"x{number}")
    return close_all(hypotheses)


PLAIN = [
    "a", "b", "_", "2", "*r", "+r", "...", "+_", "#2", "a?", "2|a", "a|b", "a=2",
    "a<=2", "b>=2",
]  # fmt: skip
COMPUTED = [
    "a+1", "b-1", "2*a", "a*b", "a//2", "a%2", "a**2", "3-a", "a/2", "min(a,b)",
    "max(a,2)", "sum(*r)", "prod(*r)", "prod(*r)+a",
]  # fmt: skip
BROADCAST = ["#a", "*#r", "+#r", "#b"]
sizes = st.integers(0, MOST)


@st.composite
def pairs(draw, terms):
    """Specs with shapes, most of them made for one assignment of sizes to names."""
    world = {name: (draw(sizes),) for name in SINGLE}
    world["r"] = draw(st.lists(sizes, max_size=2).map(tuple))
    made = []
    for _ in range(draw(st.integers(1, 3))):
        words = draw(st.lists(st.sampled_from(terms), max_size=3))
        spec = parse(" ".join(words))
        shape = [size for term in spec.terms for size in axes(draw, term, world)]
        assume(len(shape) <= LONGEST)
        if shape and draw(st.integers(0, 2)) == 0:
            shape[draw(st.integers(0, len(shape) - 1))] = draw(sizes)
        made.append((spec, tuple(shape)))
    return made


def axes(draw, term, world):
    """Returns sizes that a term allows in a world; one at random where none is."""
    match term:
        case d.Variadic() if term.broadcast:
            run = tuple(draw(st.sampled_from([1, size])) for size in world[term.name])
            return run[draw(st.integers(0, len(run))) :]
        case d.Variadic() if term.name is not None:
            return world[term.name]
        case d.Variadic():
            return tuple(draw(st.lists(sizes, min_size=term.least, max_size=3)))
        case d.Optional():
            return axes(draw, term.term, world) if draw(st.booleans()) else ()
        case d.Choice():
            return axes(draw, draw(st.sampled_from(term.terms)), world)
        case d.Expression():
            size = value(term.node, world)
            return (size,) if size is not None and 0 <= size <= MOST else (draw(sizes),)
        case d.Broadcast():
            return (draw(st.sampled_from([1, *world[term.name]])),)
        case d.Named() | d.Bounded():
            return world[term.name]
        case d.Fixed() | d.FixedBroadcast():
            return (term.size,)
        case _:
            return (draw(sizes),)


def is_decided(hypotheses):
    return not any(h.pending for h in hypotheses)


def agrees(hypothesis, sizes):
    """Whether a reading and an assignment give the names in both the same sizes."""
    known = hypothesis.bound.items()
    return all(sizes[name] == run for name, run in known if name in sizes)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(pairs([*PLAIN, *COMPUTED]))
@example([(parse("a//2"), (1,)), (parse("a"), (3,))])
@example([(parse("a*b a b"), (4, 2, 2))])
@example([(parse("prod(*r)"), (4,)), (parse("*r a"), (2, 2, 3))])
def test_what_the_solver_accepts_is_what_some_assignment_allows(given_pairs):
    found = solved(given_pairs)
    possible = list(itertools.islice(worlds(given_pairs), 2000))
    if possible:
        # Nothing that fits is refused, and every assignment is in some reading.
        assert found
        for sizes in possible:
            assert any(agrees(h, sizes) for h in found), sizes
    elif is_decided(found):
        # Nothing is accepted that no assignment allows, unless a constraint waits.
        assert not found


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(pairs([*BROADCAST, "*r", "a", "b", "_", "a?"]))
@example([(parse("*#r"), (1, 3)), (parse("*r"), (2, 3))])
@example([(parse("*#r"), (1, 3)), (parse("*#r"), (2, 1)), (parse("*r"), (2, 3))])
def test_what_broadcasts_is_accepted_if_there_is_a_size_to_broadcast_to(given_pairs):
    # Which size that is the solver takes from the shapes: the smallest. The reference
    # allows larger ones, so that only acceptance is compared.
    assert bool(solved(given_pairs)) == any(True for _ in worlds(given_pairs))


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(pairs([*PLAIN, *COMPUTED, *BROADCAST]))
def test_every_decided_reading_is_an_assignment_that_fits(given_pairs):
    used = frozenset().union(*(d.spec_names(spec) for spec, _ in given_pairs))
    for hypothesis in solved(given_pairs):
        if hypothesis.pending or not used <= hypothesis.bound.keys():
            continue
        sizes = dict(hypothesis.bound)
        assert all(fits(spec, shape, sizes) for spec, shape in given_pairs), sizes
