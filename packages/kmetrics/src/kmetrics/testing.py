"""Checks for the metrics of users."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

import jax
import numpy as np

from kmetrics._errors import LawError, StateDefinitionError
from kmetrics._metric import Metric, accepts_mask
from kmetrics._results import named_results, plain_result

__all__ = ["check_laws"]

Inputs: TypeAlias = Mapping[str, Any]
_QUICK = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
}
# XLA makes a selection of a product with bools, which would hide that NaN · 0 is NaN.
_AS_WRITTEN = {"xla_disable_hlo_passes": "algsimp"}


def check_laws(
    metric: Metric,
    batches: Sequence[Inputs],
    *,
    splits: bool = True,
    padding: bool = True,
    in_order: bool = True,
    rtol: float = 1e-6,
) -> None:
    """Checks that the states of `metric` merge as they must.

    Each law is checked on the computed value: its parts have the names that
    `metric_names` tells, an empty state changes nothing, nor does the start of a scan
    that `empty_like` gives, which has the shapes of the state; brackets do not matter,
    a finalized state computes the same, also if finalized again, and still merges, one
    that merges on the device does not grow, jit changes nothing, a state survives
    flattening; and if asked for, order does not matter, the merged states equal the
    state of all data at once, a batch without examples changes nothing, and rows that
    the mask drops are not looked at.

    Inputs that are arrays are handed over under jit, others (text, say) as they are.
    Each size of batch is compiled once, without optimisation; batches of one size are
    the quickest, and are checked in parts of unequal sizes too: with a mask, or cut.

    Args:
      metric: the metric.
      batches: inputs of `get_state` by name, two batches or more. The first axis of
        each array is that of the examples; texts come as numpy arrays.
      splits: whether merged batches must equal one batch of all; the inputs are then
        joined along their first axis. False for a metric whose value is not a
        function of the union, such as the norm of one tensor.
      padding: whether to check, if the metric takes a mask, that NaN, 99 and other
        nonsense in rows of mask 0 changes nothing; for that, too, inputs are joined.
      in_order: whether merging in another order must give the same value.
      rtol: relative tolerance between values that are equal in exact arithmetic.

    Raises:
      LawError: a law does not hold; names it, and shows both values.
      ValueError: fewer than two batches, or one mapping in the place of a list.
    """
    if isinstance(batches, Mapping):
        raise ValueError(
            "check_laws needs a list of batches, each the inputs of get_state by name\n"
            f"  got one mapping of {', '.join(map(str, batches))}"
        )
    if len(batches) < 2:
        raise ValueError(f"check_laws needs two batches or more, got {len(batches)}")
    laws = _Laws(metric, _maker(metric, batches), rtol)
    states = [laws.make(batch) for batch in batches]
    laws.check_merging(states)
    value = _fold(states)
    laws.check_names(value)
    first = metric.get_state(**batches[0])
    law = "a state made under jit is the same"
    laws.check(law, _fold([first, *states[1:]]), value)
    if in_order:
        laws.check("order does not matter", _fold(states[::-1]), value)
    padding = padding and _takes_mask(metric)
    if not (splits or padding):
        return
    joined = _joined(batches)
    if padding:
        # One program for the whole and for a part: only the mask differs.
        joined = {"mask": np.ones(_num_rows(joined), bool), **joined}
    rows = _num_rows(batches[0])
    if splits:
        laws.check_splits(joined, first, value, batches[0])
    if padding:
        laws.check_padding(joined, first, rows, splits=splits)
    else:
        laws.check_cut(joined, value, rows)


@dataclasses.dataclass(frozen=True)
class _Laws:
    """A metric, and how its states are made and compared."""

    metric: Metric
    make: Callable[[Inputs], Any]
    rtol: float

    def check_merging(self, states: Sequence[Any]) -> None:
        whole = functools.reduce(_merge, states)
        value = _value(whole)
        self.check("brackets do not matter", _value(_from_the_right(states)), value)
        self._check_empty(whole, value)
        final = whole.finalize() if hasattr(whole, "finalize") else whole
        self.check("finalize keeps the value", _value(final), value)
        if hasattr(final, "finalize"):
            twice = _value(final.finalize())
            self.check("finalize twice is finalize once", twice, value)
        self.check(
            "a finalized state merges",
            _value(_merge(final, states[0])),
            _value(_merge(whole, states[0])),
        )
        if getattr(whole, "merges_on_device", False):
            law = "a state that merges on the device does not grow"
            self.check(law, _sizes(_merge(whole, whole)), _sizes(whole))
        self._check_start(whole, value)
        leaves, structure = jax.tree.flatten(whole)
        again = structure.unflatten(leaves)
        self.check("a state survives flattening", _value(again), value)

    def check_names(self, value: Any) -> None:
        told = self.metric.metric_names()
        # A metric that was skipped, or saw nothing to show, has no results.
        if told is None or (isinstance(value, Mapping) and not value):
            return
        found = [name.removeprefix("/") for name, _ in named_results("", value)]
        if sorted(found) != sorted(told):
            self._fail("metric_names tells the names of the results", found, told)

    def _check_empty(self, whole: Any, value: Any) -> None:
        try:
            empty = self.metric.empty()
        except StateDefinitionError:
            # Nothing to check: the metric does not offer an empty state.
            return
        self.check("empty | s equals s", _value(_merge(empty, whole)), value)
        self.check("s | empty equals s", _value(_merge(whole, empty)), value)
        twice = _value(_merge(empty, self.metric.empty()))
        self.check("empty | empty is empty", twice, _value(empty))

    def _check_start(self, whole: Any, value: Any) -> None:
        if not hasattr(whole, "empty_like"):
            return
        start = self.metric.empty_like(whole)
        if getattr(whole, "merges_on_device", False):
            law = "empty_like(s) has the shapes of s"
            self.check(law, _sizes(start), _sizes(whole))
        law = "empty_like(s) | s equals s"
        self.check(law, _value(_merge(start, whole)), value)

    def check_splits(
        self, joined: Inputs, first: Any, value: Any, start: Inputs
    ) -> None:
        whole = _value(self.make(joined))
        self.check("merged batches equal one batch", whole, value)
        law = "a batch without examples changes nothing"
        try:
            nothing = self.make(_rows(start, slice(0)))
        except Exception as error:
            error.add_note(f"while check_laws made a state of 0 examples: {law}")
            raise
        self.check(law, _value(_merge(nothing, first)), _value(first))

    def check_cut(self, joined: Inputs, value: Any, rows: int) -> None:
        sizes = {len(x) for x in jax.tree.leaves(dict(joined)) if _has_rows(x)}
        count = _num_rows(joined)
        if len(sizes) > 1 or count < 3:
            return
        at = 1 if 2 * rows == count else rows
        parts = (_rows(joined, slice(at)), _rows(joined, slice(at, None)))
        law = "parts of unequal sizes merge to the whole"
        self.check(law, _value(_merge(*map(self.make, parts))), value)

    def check_padding(
        self, joined: Inputs, first: Any, rows: int, *, splits: bool
    ) -> None:
        padded = _value(self.make(_spoilt(joined, slice(rows, None))))
        law = "rows that the mask drops are not looked at"
        self.check(law, padded, _value(first))
        if splits:
            # Parts of unequal sizes, also where all batches are of one size.
            rest = self.make(_spoilt(joined, slice(rows)))
            whole = _value(self.make(joined))
            law = "a batch and the rest, padded, merge to the whole"
            self.check(law, _value(_merge(first, rest)), whole)

    def check(self, law: str, got: Any, expected: Any) -> None:
        if jax.tree.structure(got) != jax.tree.structure(expected):
            self._fail(law, got, expected)
        pairs = zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True)
        for a, b in pairs:
            same = np.shape(a) == np.shape(b) and (
                np.allclose(a, b, rtol=self.rtol, atol=0, equal_nan=True)
                if np.asarray(b).dtype.kind in "fc"
                else np.array_equal(a, b)
            )
            if not same:
                self._fail(law, got, expected)

    def _fail(self, law: str, got: Any, expected: Any) -> NoReturn:
        raise LawError(
            f"{type(self.metric).__name__} breaks a law of metrics: {law}\n"
            f"  got {str(got)[:200]}\n  expected {str(expected)[:200]}"
        )


def _maker(metric: Metric, batches: Sequence[Inputs]) -> Callable[[Inputs], Any]:
    def make(batch: Inputs) -> Any:
        return metric.get_state(**batch)

    leaves = jax.tree.leaves([dict(batch) for batch in batches])
    if any(np.asarray(leaf).dtype.kind not in "biufcV" for leaf in leaves):
        return make
    # Each program runs a few times on a few rows: to compile it is the whole cost.
    options = _QUICK | (_AS_WRITTEN if jax.default_backend() == "cpu" else {})
    compiled = jax.jit(make, compiler_options=options)
    return lambda batch: compiled(dict(batch))


def _merge(a: Any, b: Any) -> Any:
    return a.merge(b)


def _sizes(state: Any) -> list[str]:
    """Dtype and shape of each array."""
    leaves = jax.tree.leaves(state)
    return [f"{getattr(x, 'dtype', type(x))} {list(np.shape(x))}" for x in leaves]


def _from_the_right(states: Sequence[Any]) -> Any:
    return functools.reduce(lambda done, state: _merge(state, done), states[::-1])


def _fold(states: Sequence[Any]) -> Any:
    return _value(functools.reduce(_merge, states))


def _value(state: Any) -> Any:
    return plain_result(state.compute())


def _takes_mask(metric: Any) -> bool:
    """Whether it takes a mask, and so does a metric that it hands it on to."""
    inner = getattr(metric, "metric", None)
    return accepts_mask(metric.get_state) and (inner is None or _takes_mask(inner))


def _has_rows(x: Any) -> bool:
    return np.ndim(x) > 0


def _num_rows(inputs: Inputs) -> int:
    return next(len(x) for x in jax.tree.leaves(dict(inputs)) if _has_rows(x))


def _rows(inputs: Inputs, rows: slice) -> dict[str, Any]:
    return jax.tree.map(lambda x: x[rows] if _has_rows(x) else x, dict(inputs))


def _joined(batches: Sequence[Inputs]) -> dict[str, Any]:
    def join(*parts: Any) -> Any:
        # A number, such as the step, belongs to no example.
        return np.concatenate(parts) if _has_rows(parts[0]) else parts[0]

    return jax.tree.map(join, *map(dict, batches))


def _spoilt(inputs: Inputs, rows: slice) -> dict[str, Any]:
    """`inputs` with nonsense in some rows, and 0 in their mask."""

    def spoil(x: Any, nonsense: Any = None) -> Any:
        if not _has_rows(x):
            return x
        x = np.array(x)
        by_kind = {"b": True, "i": 99, "u": 99}
        x[rows] = by_kind.get(x.dtype.kind, np.nan) if nonsense is None else nonsense
        return x

    return {**jax.tree.map(spoil, dict(inputs)), "mask": spoil(inputs["mask"], 0)}
