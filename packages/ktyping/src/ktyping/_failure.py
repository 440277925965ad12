"""Why a value does not fit, as data: made on the slow path, read by `_report`."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from ktyping import _arithmetic as arithmetic
from ktyping import _dims as d
from ktyping._arithmetic import Sizes
from ktyping._backends import array_facts
from ktyping._dtypes import short_name
from ktyping._hypothesis import Hypotheses, Hypothesis
from ktyping._solve import Stop, allows, match_shape

_MAX_BITS = 128
_MAX_KEY = 60


class Failure(NamedTuple):
    """One reason why one value does not fit one annotation.

    Attributes:
      code: `rank`, `size`, `dtype`, `backend`, `type` or `structure`.
      where: Path of the value: `x`, `xs[1]`, `a.col`.
      message: The reason, one line.
      expected: What was wanted.
      actual: What was found.
      axis: The failing axis, or None.
      spec: The spec that was tried, or None.
      shape: The shape that was tried, or None.
      term: Index of the failing term of the spec, or None.
      depth: How far the value did fit; the deepest failure is reported.
      alternatives: For a union, the failure of each member.
    """

    code: str
    where: str
    message: str
    expected: str
    actual: str
    axis: int | None = None
    spec: d.Spec | None = None
    shape: Sizes | None = None
    term: int | None = None
    depth: int = 0
    alternatives: tuple["Failure", ...] = ()


def summary(value: Any) -> str:
    """Returns a value as dtype and shape: `np.f32[9,5]`; never its content."""
    facts = array_facts(value)
    if facts is not None:
        shape = facts.shape
        sizes = "rank unknown" if shape is None else ",".join(map(str, shape))
        return f"{facts.backend}.{short_name(facts.dtype)}[{sizes}]"
    if value is None:
        return "None"
    if type(value) is int and value.bit_length() > _MAX_BITS:
        return f"int of {value.bit_length()} bits"
    if type(value) in (bool, int, float, complex):
        return f"{type(value).__name__} {value!r}"
    if type(value) is str:
        return f"str {value if len(value) <= 40 else value[:37] + '...'!r}"
    if isinstance(value, list | tuple | dict | set | frozenset):
        return f"{type(value).__name__} of length {len(value)}"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return type(value).__name__


def shown_key(key: Any) -> str:
    """Returns a key of a mapping as text of bounded length, whatever its repr does."""
    try:
        text = repr(key)
    except Exception:
        return f"<{type(key).__name__}>"
    return text if len(text) <= _MAX_KEY else text[: _MAX_KEY - 3] + "..."


def explain_shape(
    spec: d.Spec,
    shape: Sizes,
    hypotheses: Hypotheses,
    where: str,
    names: Sequence[Any] | None = None,
) -> Failure:
    """Finds the axis at which a shape that does not fit stops fitting."""
    rank = len(shape)
    if rank < spec.least or (spec.most is not None and rank > spec.most):
        return _rank_failure(spec, shape, where, _expected_rank(spec))
    stops: list[Stop] = []
    match_shape(spec, shape, hypotheses, where, stops, names)
    inside = [s for s in stops if s.axis < rank and _is_single(spec.terms[s.term])]
    if not inside:
        return _run_failure(spec, shape, where, stops)
    stop = max(inside, key=lambda s: (s.axis, s.term))
    reason = why_not(spec, stop, shape)
    if reason is None and names is not None:
        return _name_failure(spec, stop, shape, where, names)
    if reason is None:
        return _rank_failure(spec, shape, where, f"axes that fit {spec.text!r}")
    message, expected = reason
    return Failure(
        code="size",
        where=where,
        message=f"axis {stop.axis}: {message}",
        expected=expected,
        actual=str(shape[stop.axis]),
        axis=stop.axis,
        spec=spec,
        shape=shape,
        term=stop.term,
        depth=10 + stop.axis,
    )


def _name_failure(
    spec: d.Spec, stop: Stop, shape: Sizes, where: str, names: Sequence[Any]
) -> Failure:
    """Blames the name of an axis, which is not what the spec calls it."""
    word, name = spec.words[stop.term], names[stop.axis]
    message = f"axis {stop.axis} is called {name!r}, but {word} is wanted; its axes are"
    return Failure(
        code="structure",
        where=where,
        message=f"{message} {', '.join(map(repr, names))}",
        expected=word,
        actual=str(name),
        axis=stop.axis,
        spec=spec,
        shape=shape,
        term=stop.term,
        depth=10 + stop.axis,
    )


def _is_single(term: d.Term) -> bool:
    return not isinstance(term, d.Variadic | d.Optional)


def _expected_rank(spec: d.Spec) -> str:
    if spec.most == spec.least:
        return f"{spec.least} ax{'i' if spec.least == 1 else 'e'}s"
    if spec.most is None:
        return f"at least {spec.least} ax{'i' if spec.least == 1 else 'e'}s"
    return f"{spec.least} to {spec.most} axes"


def _rank_failure(spec: d.Spec, shape: Sizes, where: str, expected: str) -> Failure:
    actual = str(len(shape))
    return Failure(
        code="rank",
        where=where,
        message=f"expected {expected}, got {actual}",
        expected=expected,
        actual=actual,
        spec=spec,
        shape=shape,
        depth=5,
    )


def _run_failure(spec: d.Spec, shape: Sizes, where: str, stops: list[Stop]) -> Failure:
    """Blames a run of axes (`*b`) that differs from what is bound."""
    for stop in sorted(stops, key=lambda s: s.axis, reverse=True):
        term, word = spec.terms[stop.term], spec.words[stop.term]
        name = term.name if isinstance(term, d.Variadic) else None
        known = None if name is None else known_sizes(stop.hypothesis).get(name)
        if name is None or known is None:
            continue
        expected = f"*{name} = {known}{_by(stop.hypothesis, name)}"
        axes = shape[stop.axis : stop.axis + len(known)]
        difference = _first_difference(known, axes)
        if len(axes) < len(known) or difference is None:
            return _rank_failure(spec, shape, where, f"axes with {expected}")
        return Failure(
            code="size",
            where=where,
            message=f"axis {stop.axis + difference}: {word} is {axes}, but {expected}",
            expected=expected,
            actual=str(axes),
            axis=stop.axis + difference,
            spec=spec,
            shape=shape,
            depth=8,
        )
    return _rank_failure(spec, shape, where, f"axes that fit {spec.text!r}")


def _first_difference(known: Sizes, shape: Sizes) -> int | None:
    for axis, (want, got) in enumerate(zip(known, shape, strict=False)):
        if not arithmetic.same_size(want, got):
            return axis
    return None


def known_sizes(hypothesis: Hypothesis) -> dict[str, Sizes]:
    """Returns what a hypothesis says about each name, `#` axes included."""
    lower = {k: v.sizes for k, v in hypothesis.lower.items() if v.sizes}
    return {**lower, **hypothesis.bound}


def _by(hypothesis: Hypothesis, name: str) -> str:
    source = hypothesis.sources.get(name)
    return f" from {source}" if source else ""


def why_not(spec: d.Spec, stop: Stop, shape: Sizes) -> tuple[str, str] | None:
    """Returns (reason, what was expected) for one term that refuses one axis.

    None when the term accepts the axis and only the number of axes is wrong.
    """
    term, size = spec.terms[stop.term], shape[stop.axis]
    alone = d.make_spec((term,), (spec.words[stop.term],))
    if match_shape(alone, (size,), (stop.hypothesis,), ""):
        return None
    return _reason(term, spec.words[stop.term], size, stop.hypothesis)


def _reason(term: d.Term, word: str, size: Any, h: Hypothesis) -> tuple[str, str]:
    match term:
        case d.Fixed():
            wanted = word if word.isdigit() else f"{word} = {term.size}"
            return f"size is {size}, but {wanted} is wanted", str(term.size)
        case d.FixedBroadcast():
            expected = f"1 or {term.size}"
            return f"size is {size}, but {expected} is wanted", expected
        case d.Bounded() if not allows(term, size):
            return f"{term.name} is {size}, but {word} is wanted", word
        case d.Expression():
            return _expression_reason(term, size, h)
        case d.Choice():
            reasons = [_reason(t, w, size, h) for t, w in _alternatives(term, word)]
            return "; ".join(r for r, _ in reasons), " or ".join(e for _, e in reasons)
        case d.Named() | d.Bounded() | d.Broadcast():
            return _name_reason(term.name, word, size, h)
        case _:
            return f"size is {size}, which {word} does not allow", word


def _alternatives(term: d.Choice, word: str) -> list[tuple[d.Term, str]]:
    words = re.split(r"\|", word.rstrip("?"))
    return list(zip(term.terms, words, strict=True))


def _name_reason(name: str, word: str, size: Any, h: Hypothesis) -> tuple[str, str]:
    known = known_sizes(h).get(name)
    if known is None:
        return _conflict(name, size, h)
    if len(known) != 1:
        expected = f"*{name} = {known}{_by(h, name)}"
        return f"{name} is one axis, but {expected}", expected
    one_or = "1 or " if word.startswith("#") else ""
    expected = f"{one_or}{known[0]}"
    return f"{name} is {size}, but {name} = {known[0]}{_by(h, name)}", expected


def _conflict(name: str, size: Any, h: Hypothesis) -> tuple[str, str]:
    for pending in h.pending:
        if name in pending.expression.names:
            text = pending.expression.text
            expected = f"{text} = {pending.size} from {pending.source}"
            return f"{name} is {size}, but {expected}", expected
    return f"{name} is {size}, which nothing allows", "another size"


def _expression_reason(term: d.Expression, size: Any, h: Hypothesis) -> tuple[str, str]:
    known = ", ".join(
        f"{n} = {h.bound[n][0] if len(h.bound[n]) == 1 else h.bound[n]}{_by(h, n)}"
        for n in sorted(term.names & h.bound.keys())
    )
    given = f" ({known})" if known else ""
    try:
        value = arithmetic.evaluate(term.node, h.bound)
    except arithmetic.Undefined as undefined:
        return f"{term.text} has no value: {undefined}{given}", f"{term.text}"
    except arithmetic.Unknown:
        return _no_solution(term, size, h, given), term.text
    if isinstance(value, int) and value < 0:
        return f"{term.text} = {value} is negative{given}", term.text
    return f"size is {size}, but {term.text} = {value}{given}", str(value)


def _no_solution(term: d.Expression, size: Any, h: Hypothesis, given: str) -> str:
    anything = {name: (1,) for name in term.names}
    try:
        arithmetic.evaluate(term.node, {**anything, **h.bound})
    except arithmetic.Undefined as undefined:
        return f"{term.text} has no value: {undefined}{given}"
    names = " and ".join(sorted(term.names - h.bound.keys()))
    return f"{term.text} is {size}, which no size >= 0 of {names} gives{given}"


def no_array(value: Any, where: str, wanted: str, libraries: str) -> Failure:
    """A value that is no array of the wanted libraries."""
    actual = summary(value)
    return Failure(
        code="backend",
        where=where,
        message=f"{actual} is not {libraries}",
        expected=wanted,
        actual=actual,
    )
