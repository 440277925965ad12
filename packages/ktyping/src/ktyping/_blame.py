"""Matches the values of one call together, and finds the one to blame."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ktyping._array_type import ArrayType
from ktyping._checker import Checker, Trial
from ktyping._errors import AmbiguityLimitError
from ktyping._failure import Failure, summary
from ktyping._hypothesis import Hypotheses, close_all

# Each try matches all other items: a call with hundreds of arrays must still fail fast.
_MAX_TRIED = 30


class Item(NamedTuple):
    """One value with its annotation.

    Attributes:
      where: Path of the value: `x`, `args[1]`.
      value: The value.
      checker: What it must match.
    """

    where: str
    value: Any
    checker: Checker


class Verdict(NamedTuple):
    """What a failed match is blamed on.

    Attributes:
      index: Which item.
      failure: Why it does not fit the rest.
      rest: The readings of all other items.
    """

    index: int
    failure: Failure
    rest: Hypotheses


def match_all(items: Sequence[Item], start: Hypotheses, trial: Trial) -> Hypotheses:
    """Returns the readings of all values together; empty if they do not fit.

    Items whose specs can be read in one way go first: they fix sizes, which keeps
    the number of readings small. The result does not depend on the order.
    """
    hypotheses = start
    for where, value, checker in sorted(items, key=_branching):
        hypotheses = checker.match(value, where, hypotheses, trial)
        if not hypotheses:
            return ()
    return close_all(hypotheses)


def _branching(item: Item) -> int:
    checker = item.checker
    if isinstance(checker, ArrayType):
        spec = checker.spec_of_shape
        return 0 if spec is None else spec.num_branching
    return 100


def blame(items: Sequence[Item], start: Hypotheses, trial: Trial) -> Verdict:
    """Finds which item does not fit.

    It is the first item, in the order of the signature, that contradicts the items
    before it, if the others agree without it; otherwise the first item without
    which the others agree.
    """
    first = _first_contradiction(items, start, trial)
    others = [n for n in range(len(items)) if n != first]
    for index in [first, *others[:_MAX_TRIED]]:
        known = _copy(trial)
        rest = _without(index, items, start, known)
        if rest:
            return Verdict(index, _explain(items[index], rest, known), rest)
    known = _copy(trial)
    rest = match_all(items[:first], start, known) or start
    return Verdict(first, _explain(items[first], rest, known), rest)


def _first_contradiction(items: Sequence[Item], start: Hypotheses, trial: Trial) -> int:
    known, hypotheses = _copy(trial), start
    try:
        for index, (where, value, checker) in enumerate(items):
            hypotheses = checker.match(value, where, hypotheses, known)
            if not close_all(hypotheses):
                return index
    except AmbiguityLimitError:
        # In this order there are too many readings: look at each beginning instead.
        for count in range(1, len(items)):
            if not match_all(items[:count], start, _copy(trial)):
                return count - 1
    return len(items) - 1


def _without(
    index: int, items: Sequence[Item], start: Hypotheses, trial: Trial
) -> Hypotheses:
    others = [item for n, item in enumerate(items) if n != index]
    try:
        return match_all(others, start, trial)
    except AmbiguityLimitError:
        return ()


def _copy(trial: Trial) -> Trial:
    return Trial(trial.values, None, dict(trial.typevars), trial.owner)


def _explain(item: Item, rest: Hypotheses, trial: Trial) -> Failure:
    explaining = trial.explaining()
    item.checker.match(item.value, item.where, rest, explaining)
    if explaining.failures:
        return max(explaining.failures, key=lambda f: f.depth)
    message = "its sizes contradict constraints that other values left open"
    return Failure("size", item.where, message, repr(item.checker), summary(item.value))
