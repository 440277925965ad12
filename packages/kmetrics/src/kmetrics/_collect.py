"""Named metrics as one object, and named losses as one number."""

from __future__ import annotations

import contextlib
import dataclasses
import types
from collections.abc import Callable, Generator, Iterator, Mapping
from collections.abc import Collection as NameSet
from typing import Any

import jax
import jax.numpy as jnp

from kmetrics._average import mean_of
from kmetrics._errors import NameCollisionError
from kmetrics._fetch import fetch
from kmetrics._loss import Loss
from kmetrics._metric import Metric
from kmetrics._names import flatten_names
from kmetrics._numerics import is_traced
from kmetrics._results import named_results, plain_result
from kmetrics._state import EmptyState


def total_loss(
    losses: Mapping[str, Any],
    context: Any,
    *,
    mask: Any | None = None,
    example_roots: NameSet[str] | None = None,
) -> tuple[jax.Array, dict[str, Any]]:
    """The weighted sum of named losses on one batch, and their states.

    Works under jit and grad; the states carry no gradient. A loss whose weight is the
    constant 0 is left out of the sum, so its NaN does no harm, and is still logged.

    Args:
      losses: names to losses, or to further mappings; nested names join with "/".
      context: what the key paths of the losses are read from.
      mask: which examples count, bool or float `[b]`.
      example_roots: first parts of the paths that lead to data with an example axis;
        a loss that reads none of them does not get `mask`. None: all get it.

    Returns:
      The total, a float32 scalar, 0 without losses; and name to state.

    Raises:
      NameCollisionError: a loss is called "total", or two have the same name.
      TypeError: an entry is not a `Loss`.
    """
    total, states = jnp.zeros((), jnp.float32), {}
    for name, loss in flatten_names(losses, what="loss").items():
        _check_kind(name, loss, Loss)
        with _note(f"loss {name}"):
            state = loss.get_state_from_context(
                context, mask=mask, example_roots=example_roots
            )
        if not loss.is_off:
            total = total + mean_of(state.weighted, state.count, empty=0.0)
        states[name] = jax.lax.stop_gradient(state)
    return total, states


@dataclasses.dataclass(frozen=True, init=False, repr=False)
class Collection:
    """Metrics by name: one call for all their states, merges and values.

    Frozen and hashable. Iterating gives the names.

    Args:
      metrics: names to metrics, or to further mappings; nested names join with "/".

    Raises:
      NameCollisionError: a metric is called "total", or two have the same name.
      TypeError: an entry is not a `Metric`.
    """

    _items: tuple[tuple[str, Metric], ...]

    def __init__(self, metrics: Mapping[str, Any]):
        flat = flatten_names(metrics, what="metric")
        for name, metric in flat.items():
            _check_kind(name, metric, Metric)
        object.__setattr__(self, "_items", tuple(flat.items()))

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """Name to metric, flat."""
        return types.MappingProxyType(dict(self._items))

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(name for name, _ in self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __repr__(self) -> str:
        return f"Collection({dict(self._items)!r})"

    def keypaths(self) -> dict[str, tuple[str, ...]]:
        """The paths that each metric reads, as text."""
        return {name: metric.keypaths() for name, metric in self._items}

    def get_states(
        self,
        context: Any,
        *,
        mask: Any | None = None,
        example_roots: NameSet[str] | None = None,
    ) -> dict[str, Any]:
        """The states of one batch; works under jit.

        Args:
          context: what the key paths of the metrics are read from.
          mask: which examples count, bool or float `[b]`.
          example_roots: first parts of the paths that lead to data with an example
            axis; a metric that reads none of them does not get `mask`. None: all.
        """
        states = {}
        for name, metric in self._items:
            with _note(f"metric {name}"):
                states[name] = metric.get_state_from_context(
                    context, mask=mask, example_roots=example_roots
                )
        return states

    def merge(self, a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, Any]:
        """The states of the data of both, in one compiled call.

        States that collect on the host, and those of other libraries, merge outside
        of it, one by one. A name that only one side has is kept as it is.
        """
        merged = {name: a.get(name, b.get(name)) for name in [*a, *b]}
        both = [name for name in merged if name in a and name in b]
        on_device = [name for name in both if _merges_on_device(a[name], b[name])]
        if on_device and not is_traced((a, b)):
            merged |= _merge_compiled(
                {name: a[name] for name in on_device},
                {name: b[name] for name in on_device},
            )
            both = [name for name in both if name not in on_device]
        merged |= _merge_each({n: a[n] for n in both}, {n: b[n] for n in both})
        return merged

    def compute(self, states: Mapping[str, Any]) -> dict[str, Any]:
        """The values, on the host, from one transfer of all states.

        Args:
          states: name to merged state.

        Returns:
          Name to Python float, numpy array, text or other result. A metric with
          several results gives `name/result` for each.

        Raises:
          NameCollisionError: two results get the same name.
        """
        values: dict[str, Any] = {}
        fetched = fetch(dict(states))
        # jit gives dicts back in the order of the alphabet.
        order = [name for name in self.names if name in fetched]
        for name in dict.fromkeys([*order, *fetched]):
            state = fetched[name]
            with _note(f"metric {name}"):
                value = plain_result(state.compute())
            for full, part in named_results(name, value):
                if full in values:
                    raise NameCollisionError(
                        f"two results are both named {full!r}\n"
                        f"rename the metric {name!r}"
                    )
                values[full] = part
        return values


def _merge_each(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, Any]:
    merged = {}
    for name in a:
        left, right = a[name], b[name]
        with _note(f"metric {name}"):
            if isinstance(right, EmptyState):
                # Only an empty state knows how to merge with another class.
                left, right = right, left
            merged[name] = left.merge(right)
    return merged


_merge_compiled: Callable[..., dict[str, Any]] = jax.jit(_merge_each)


def _merges_on_device(a: Any, b: Any) -> bool:
    return getattr(a, "merges_on_device", False) and getattr(
        b, "merges_on_device", False
    )


def _check_kind(name: str, entry: Any, kind: type) -> None:
    if not isinstance(entry, kind):
        raise TypeError(
            f"{name!r} is not a {kind.__name__}\n  got {type(entry).__name__}: "
            f"{str(entry)[:60]}"
        )


@contextlib.contextmanager
def _note(note: str) -> Generator[None]:
    try:
        yield
    except Exception as error:
        error.add_note(note)
        raise
