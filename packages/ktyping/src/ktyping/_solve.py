"""Matches a shape against a spec: every reading that the hypotheses allow."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

from ktyping import _dims as d
from ktyping._arithmetic import Sizes, is_one, same_size
from ktyping._errors import AmbiguityLimitError
from ktyping._hypothesis import Hypotheses, Hypothesis, Lower, distinct

MAX_HYPOTHESES = 256
_MAX_STEPS = 20_000

Step = Iterator[tuple[int, Hypothesis | None]]


class Stop(NamedTuple):
    """Where a reading ended: the term that did not fit the axis."""

    axis: int
    term: int
    hypothesis: Hypothesis


def match_shape(
    spec: d.Spec,
    shape: Sizes,
    hypotheses: Hypotheses,
    where: str,
    stops: list[Stop] | None = None,
    names: Sequence[Any] | None = None,
) -> Hypotheses:
    """Extends hypotheses by what a shape says under a spec.

    Args:
      spec: A spec without `{...}` (see `_interpolate.fill`).
      shape: The sizes of the axes.
      hypotheses: The readings so far; they are not changed.
      where: Name of the value, for the record of what bound a size.
      stops: When given, collects where the readings ended.
      names: What the axes are called, where named terms must be called the same.

    Returns:
      All readings that remain; empty when the shape does not fit.

    Raises:
      AmbiguityLimitError: When more readings remain than can be kept.
    """
    rank = len(shape)
    if rank < spec.least or (spec.most is not None and rank > spec.most):
        return ()
    plain = spec.simple and stops is None and names is None
    if plain and not any(h.is_open for h in hypotheses):
        found = [_match_simple(spec, shape, h, where) for h in hypotheses]
        return distinct([h for h in found if h is not None])
    search = _Search(spec, shape, where, stops, names)
    if spec.num_runs > 2 and names is None:
        _refuse_too_many(search, hypotheses)
    for hypothesis in hypotheses:
        search.walk(0, 0, hypothesis)
    return distinct(search.found)


def _match_simple(
    spec: d.Spec, shape: Sizes, hypothesis: Hypothesis, where: str
) -> Hypothesis | None:
    """Matches axis by axis: a spec without branches has one reading."""
    bound, fresh = hypothesis.bound, {}
    for term, size in zip(spec.terms, shape, strict=True):
        if isinstance(term, d.Fixed):
            if not same_size(size, term.size):
                return None
        elif isinstance(term, d.Named) and size is not None:
            known = bound.get(term.name) or fresh.get(term.name)
            if known is None and term.name not in bound:
                fresh[term.name] = (size,)
            elif not known or len(known) != 1 or not same_size(known[0], size):
                return None
    if not fresh:
        return hypothesis
    sources = {name: f"{where} axis {spec.words.index(name)}" for name in fresh}
    sources = {**hypothesis.sources, **sources}
    bound = {**bound, **fresh}
    return Hypothesis(bound, hypothesis.lower, (), sources, hypothesis.trees)


def _refuse_too_many(search: "_Search", hypotheses: Hypotheses) -> None:
    """Refuses at once what can be read in too many ways, where they can be counted.

    When nothing is known of the names, each way to share the axes among k runs is a
    reading: there are C(free + k - 1, k - 1) for the axes that no run must have.
    """
    spec = search.spec
    free, others = len(search.shape) - spec.least, spec.num_runs - 1
    if spec.all_new and math.comb(free + others, others) > MAX_HYPOTHESES:
        known = d.spec_names(spec)
        if any(known.isdisjoint(h.mentioned) for h in hypotheses):
            search.refuse(f"can be read in more than {MAX_HYPOTHESES} ways")


class _Search:
    """Depth-first search over (term, axis); equal states are walked once."""

    __slots__ = (
        "found",
        "names",
        "repeats",
        "seen",
        "shape",
        "spec",
        "steps",
        "stops",
        "tails",
        "where",
    )

    def __init__(
        self,
        spec: d.Spec,
        shape: Sizes,
        where: str,
        stops: list[Stop] | None,
        names: Sequence[Any] | None,
    ):
        self.spec = spec
        self.shape = shape
        self.where = where
        self.stops = stops
        self.names = names
        self.found: list[Hypothesis] = []
        self.seen: set[Any] = set()
        self.steps = 0
        self.repeats = any(map(_repeats, spec.terms))
        self.tails = spec.tails

    def walk(self, term: int, axis: int, hypothesis: Hypothesis) -> None:
        self.steps += 1
        if self.steps > _MAX_STEPS:
            self.refuse(f"takes more than {_MAX_STEPS} steps to read")
        if self.repeats and self.is_known(term, axis, hypothesis):
            return
        if term == len(self.spec.terms):
            if axis == len(self.shape):
                self.found.append(hypothesis)
                if len(self.found) > MAX_HYPOTHESES:
                    self.refuse(f"can be read in more than {MAX_HYPOTHESES} ways")
            return
        kind = self.spec.terms[term]
        fits = False
        for after, extended in _STEPS[type(kind)](self, kind, axis, hypothesis):
            if extended is not None and self.leaves_enough(term + 1, after):
                fits = True
                self.walk(term + 1, after, extended)
        if not fits and self.stops is not None:
            self.stops.append(Stop(axis, term, hypothesis))

    def is_known(self, term: int, axis: int, hypothesis: Hypothesis) -> bool:
        state = (term, axis, hypothesis.key)
        known = state in self.seen
        self.seen.add(state)
        return known

    def leaves_enough(self, term: int, axis: int) -> bool:
        least, most = self.tails[term]
        left = len(self.shape) - axis
        return left >= least and (most is None or left <= most)

    def may_be(self, name: str, axis: int) -> bool:
        one = axis < len(self.shape)
        return one and (self.names is None or self.names[axis] == name)

    def source(self, axis: int) -> str:
        return f"{self.where} axis {axis}"

    def refuse(self, why: str) -> NoReturn:
        raise AmbiguityLimitError(
            f"The shape {self.shape} of {self.where} {why} as {self.spec.text!r}.\n"
            "Name fewer runs of axes, or check first an argument that fixes them."
        )


def _repeats(term: d.Term) -> bool:
    """Whether different ways to read a term can end in the same state."""
    if isinstance(term, d.Variadic):
        return term.name is None or term.broadcast
    return isinstance(term, d.Optional | d.Choice)


def _axes_of(search: _Search, axis: int, stop: int) -> str:
    # The plural marks a run, also a run of one: `*b` must not be shown as `b`.
    if stop == axis:
        return f"{search.where} (no axes)"
    last = "" if stop - axis == 1 else f"-{stop - 1}"
    return f"{search.where} axes {axis}{last}"


def _one(search: _Search, axis: int) -> bool:
    return axis < len(search.shape)


def _fixed(s: _Search, term: d.Fixed, axis: int, h: Hypothesis) -> Step:
    if _one(s, axis) and same_size(s.shape[axis], term.size):
        yield axis + 1, h


def _named(s: _Search, term: d.Named, axis: int, h: Hypothesis) -> Step:
    if s.may_be(term.name, axis):
        size = s.shape[axis]
        source = s.source(axis)
        yield axis + 1, h if size is None else h.bind(term.name, (size,), source)


def _anonymous(s: _Search, term: d.Anonymous, axis: int, h: Hypothesis) -> Step:
    if _one(s, axis):
        yield axis + 1, h


def _bounded(s: _Search, term: d.Bounded, axis: int, h: Hypothesis) -> Step:
    if _one(s, axis) and allows(term, s.shape[axis]):
        yield from _named(s, d.Named(term.name), axis, h)


def allows(term: d.Bounded, size: Any) -> bool:
    """Whether a size is within the limit of a term such as `n<=3`."""
    if not isinstance(size, int):
        return True
    if term.op == "=":
        return size == term.size
    return size <= term.size if term.op == "<=" else size >= term.size


def _broadcast(s: _Search, term: d.Broadcast, axis: int, h: Hypothesis) -> Step:
    if s.may_be(term.name, axis):
        size = s.shape[axis]
        sizes = () if size is None or is_one(size) else (size,)
        yield axis + 1, h.bind_lower(term.name, Lower(sizes, True), s.source(axis))


def _fixed_broadcast(
    s: _Search, term: d.FixedBroadcast, axis: int, h: Hypothesis
) -> Step:
    if _one(s, axis):
        size = s.shape[axis]
        if same_size(size, 1) or same_size(size, term.size):
            yield axis + 1, h


def _variadic(s: _Search, term: d.Variadic, axis: int, h: Hypothesis) -> Step:
    known = None if term.name is None or term.broadcast else h.bound.get(term.name)
    stops = range(axis + term.least, len(s.shape) + 1)
    if known is not None:
        stops = [n for n in (axis + len(known),) if n in stops]
    for stop in stops:
        sizes = s.shape[axis:stop]
        source = _axes_of(s, axis, stop)
        if term.name is None or None in sizes:
            yield stop, h
        elif term.broadcast:
            yield stop, h.bind_lower(term.name, Lower(sizes, False), source)
        else:
            yield stop, h.bind(term.name, sizes, source)


def _expression(s: _Search, term: d.Expression, axis: int, h: Hypothesis) -> Step:
    if _one(s, axis):
        size = s.shape[axis]
        required = h if size is None else h.require(term, size, s.source(axis))
        yield axis + 1, required


def _optional(s: _Search, term: d.Optional, axis: int, h: Hypothesis) -> Step:
    yield axis, h
    yield from _STEPS[type(term.term)](s, term.term, axis, h)


def _choice(s: _Search, term: d.Choice, axis: int, h: Hypothesis) -> Step:
    for one in term.terms:
        yield from _STEPS[type(one)](s, one, axis, h)


_STEPS: dict[type, Any] = {
    d.Fixed: _fixed,
    d.Named: _named,
    d.Anonymous: _anonymous,
    d.Bounded: _bounded,
    d.Broadcast: _broadcast,
    d.FixedBroadcast: _fixed_broadcast,
    d.Variadic: _variadic,
    d.Expression: _expression,
    d.Optional: _optional,
    d.Choice: _choice,
}
