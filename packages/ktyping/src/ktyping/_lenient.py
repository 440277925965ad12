"""Binds dims of values that need not fit: for mode `dims`."""

from collections.abc import Sequence

from ktyping import _dims as d
from ktyping._array_type import ArrayType
from ktyping._backends import array_facts
from ktyping._blame import Item
from ktyping._checker import Trial
from ktyping._hypothesis import Hypotheses, Hypothesis, close_all


def bind_what_fits(
    items: Sequence[Item], start: Hypotheses, trial: Trial
) -> Hypotheses:
    """Returns readings of the values in order, leaving out what contradicts them.

    Of an array that does not fit, those axes are bound whose names are new.
    """
    hypotheses = start
    for item in items:
        found = item.checker.match(item.value, item.where, hypotheses, trial)
        hypotheses = found or tuple(_bind_axes(item, h) for h in hypotheses)
    return close_all(hypotheses) or hypotheses


def _bind_axes(item: Item, hypothesis: Hypothesis) -> Hypothesis:
    facts = array_facts(item.value)
    checker = item.checker
    spec = checker.spec_of_shape if isinstance(checker, ArrayType) else None
    if (
        facts is None
        or facts.shape is None
        or spec is None
        or len(facts.shape) != len(spec.terms)
    ):
        return hypothesis
    for axis, (term, size) in enumerate(zip(spec.terms, facts.shape, strict=True)):
        if isinstance(term, d.Named):
            source = f"{item.where} axis {axis}"
            bound = hypothesis.bind(term.name, (size,), source)
            hypothesis = hypothesis if bound is None else bound
    return hypothesis
