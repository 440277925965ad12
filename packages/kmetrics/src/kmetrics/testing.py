"""Checks for the metrics of users."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np

from kmetrics._errors import LawError, StateDefinitionError
from kmetrics._metric import Metric
from kmetrics._results import plain_result

__all__ = ["check_laws"]


def check_laws(
    metric: Metric,
    batches: Sequence[Mapping[str, Any]],
    *,
    splits: bool = True,
    in_order: bool = True,
    rtol: float = 1e-6,
) -> None:
    """Checks that the states of `metric` merge as they must.

    Each law is checked on the computed value: an empty state changes nothing, brackets
    do not matter, a finalized state computes the same and still merges, jit changes
    nothing, a state survives flattening; and if asked for, order does not matter and
    the merged states equal the state of all data at once.

    Args:
      metric: the metric.
      batches: inputs of `get_state` by name, two batches or more.
      splits: whether merged batches must equal one batch of all; the inputs are then
        joined along their first axis. False for a metric whose value is not a
        function of the union, such as the norm of one tensor.
      in_order: whether merging in another order must give the same value.
      rtol: relative tolerance between values that are equal in exact arithmetic.

    Raises:
      LawError: a law does not hold; names it, and shows both values.
      ValueError: fewer than two batches.
    """
    if len(batches) < 2:
        raise ValueError(f"check_laws needs two batches or more, got {len(batches)}")
    check = functools.partial(_check, type(metric).__name__, rtol)
    states = [metric.get_state(**batch) for batch in batches]
    whole = functools.reduce(_merge, states)
    value = _value(whole)

    jitted = jax.jit(lambda batch: metric.get_state(**batch))
    traced = [jitted(dict(batch)) for batch in batches]
    check("a state made under jit is the same", _fold(traced), value)
    check("brackets do not matter", _value(_from_the_right(states)), value)
    _check_empty(metric, check, whole, value)
    final = whole.finalize() if hasattr(whole, "finalize") else whole
    check("finalize keeps the value", _value(final), value)
    check(
        "a finalized state merges",
        _value(_merge(final, states[0])),
        _value(_merge(whole, states[0])),
    )
    leaves, structure = jax.tree.flatten(whole)
    check("a state survives flattening", _value(structure.unflatten(leaves)), value)
    if in_order:
        check("order does not matter", _fold(states[::-1]), value)
    if splits:
        joined = jax.tree.map(lambda *x: jnp.concatenate(x), *map(dict, batches))
        at_once = metric.get_state(**joined)
        check("merged batches equal one batch", _value(at_once), value)


def _check_empty(metric: Metric, check: Any, whole: Any, value: Any) -> None:
    try:
        empty = metric.empty()
    except StateDefinitionError:
        # Nothing to check: the metric does not offer an empty state.
        return
    check("empty | s equals s", _value(_merge(empty, whole)), value)
    check("s | empty equals s", _value(_merge(whole, empty)), value)
    once = _value(empty)
    check("empty | empty is empty", _value(_merge(empty, metric.empty())), once)


def _merge(a: Any, b: Any) -> Any:
    return a.merge(b)


def _from_the_right(states: Sequence[Any]) -> Any:
    return functools.reduce(lambda done, state: _merge(state, done), states[::-1])


def _fold(states: Sequence[Any]) -> Any:
    return _value(functools.reduce(_merge, states))


def _value(state: Any) -> Any:
    return plain_result(state.compute())


def _check(name: str, rtol: float, law: str, got: Any, expected: Any) -> None:
    if jax.tree.structure(got) != jax.tree.structure(expected):
        _fail(name, law, got, expected)
    pairs = zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True)
    for a, b in pairs:
        same = np.shape(a) == np.shape(b) and (
            np.allclose(a, b, rtol=rtol, atol=0, equal_nan=True)
            if np.asarray(b).dtype.kind in "fc"
            else np.array_equal(a, b)
        )
        if not same:
            _fail(name, law, got, expected)


def _fail(name: str, law: str, got: Any, expected: Any) -> NoReturn:
    raise LawError(
        f"{name} breaks a law of metrics: {law}\n"
        f"  got {str(got)[:200]}\n  expected {str(expected)[:200]}"
    )
