"""Named metrics as one object, and named losses as one number."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import types
from collections.abc import Callable, Generator, Iterator, Mapping
from collections.abc import Collection as NameSet
from typing import Any

import jax
import jax.numpy as jnp

from kmetrics._average import mean_of
from kmetrics._distributed import gather_processes, reduce_over_axis
from kmetrics._errors import NameCollisionError
from kmetrics._fetch import fetch
from kmetrics._loss import Loss
from kmetrics._metric import Metric, as_zeros, check_roots, like_nothing
from kmetrics._names import flatten_names, result_names
from kmetrics._numerics import Pair, is_traced
from kmetrics._packed import States, joined, merge_packed, packed, unpacked, without
from kmetrics._results import named_results, plain_result
from kmetrics._state import EmptyState, ParentRef, join, join_parts


def total_loss(
    losses: Mapping[str, Any],
    context: Any,
    *,
    mask: Any | None = None,
    example_roots: NameSet[str] | None = None,
) -> tuple[jax.Array, States]:
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
    check_roots(context, example_roots)
    total, states = jnp.zeros((), jnp.float32), {}
    for name, loss in flatten_names(losses, what="loss").items():
        _check_kind(name, loss, Loss)
        with _note(f"loss {name}"):
            state = loss.get_state_from_context(
                context, mask=mask, example_roots=example_roots
            )
        if not loss.is_off:
            total = total + mean_of(state.weighted, state.divisor, empty=0.0)
        states[name] = jax.lax.stop_gradient(state)
    return total, packed(states) if is_traced(states) else unpacked(states)


@dataclasses.dataclass(frozen=True, init=False, repr=False)
class Collection:
    """Metrics by name: one call for all their states, merges and values.

    Frozen and hashable. Iterating gives the names.

    Args:
      metrics: names to metrics, or to further mappings; nested names join with "/".

    Raises:
      NameCollisionError: a metric is called "total", or two metrics or results have
        the same name.
      TypeError: an entry is not a `Metric`.
    """

    _items: tuple[tuple[str, Metric], ...]

    def __init__(self, metrics: Mapping[str, Any]):
        flat = flatten_names(metrics, what="metric")
        for name, metric in flat.items():
            _check_kind(name, metric, Metric)
        result_names(flat)
        object.__setattr__(self, "_items", tuple(flat.items()))

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """Name to metric, flat."""
        return types.MappingProxyType(dict(self._items))

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(name for name, _ in self._items)

    def metric_names(self) -> tuple[str, ...]:
        """The names of the results that `compute` gives, in order.

        A metric that does not tell them, such as one per leaf of a tree, is there under
        its own name.
        """
        return result_names(self.metrics)

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
    ) -> States:
        """The states of one batch by name; works under jit, where sums are packed.

        Args:
          context: what the key paths of the metrics are read from.
          mask: which examples count, bool or float `[b]`.
          example_roots: first parts of the paths that lead to data with an example
            axis; a metric that reads none of them does not get `mask`. None: all.
        """
        check_roots(context, example_roots)
        states = {}
        for name, metric in self._sources.items():
            with _note(f"metric {name}"):
                states[name] = metric.get_state_from_context(
                    context, mask=mask, example_roots=example_roots
                )
        return packed(states) if is_traced(states) else unpacked(states)

    def empty(self) -> States:
        """The states of no data, a start for a loop or a scan.

        Raises:
          StateDefinitionError: a metric does not say which states it makes.
        """
        return self._empty_states

    @functools.cached_property
    def _empty_states(self) -> States:
        # Every pass begins with it, and to make it costs as much as several batches.
        states = {}
        for name, metric in self._sources.items():
            with _note(f"metric {name}"):
                states[name] = metric.empty()
        return packed(states)

    @functools.cached_property
    def _homes(self) -> dict[str, str]:
        """Name to the name under which its state is kept, itself if it shares none."""
        named = {m.state_source for _, m in self._items if m.state_source is not m}
        first: dict[Metric, str] = {}
        return {
            name: first.setdefault(metric.state_source, name)
            if metric.state_source in named
            else name
            for name, metric in self._items
        }

    @functools.cached_property
    def _sources(self) -> dict[str, Metric]:
        """Name of each state to the metric that makes it."""
        metrics = dict(self._items)
        return {
            home: metrics[home].state_source
            for home in dict.fromkeys(self._homes.values())
        }

    def __getstate__(self) -> dict[str, Any]:
        return {"_items": self._items}

    def empty_like(self, states: Mapping[str, Any]) -> States:
        """The states of no data with the structure of `states`, as a carry of a scan.

        Unlike `empty` it works for every metric, also where the shapes depend on the
        data.

        Args:
          states: states of one batch, of arrays or of `jax.ShapeDtypeStruct` such as
            `jax.eval_shape` gives.
        """
        concrete = as_zeros(unpacked(states))
        return packed({name: like_nothing(concrete[name]) for name in concrete})

    def merge(self, a: Mapping[str, Any], b: Mapping[str, Any]) -> States:
        """The states of the data of both, in one compiled call.

        States that only add up lie in one vector and take one addition together; so do
        the extremes. States that collect on the host, and those of other libraries,
        merge outside of it, one by one. A name that only one side has is kept as it is.
        """
        a, b = unpacked(a), unpacked(b)
        if is_traced((a, b)):
            return _merge_states(a, b)
        on_host = {
            name
            for states in (a, b)
            for name, state in states.rest.items()
            if not getattr(state, "merges_on_device", False)
        }
        if not on_host:
            return _merge_compiled(a, b)
        on_device = _merge_compiled(without(a, on_host), without(b, on_host))
        collected = _merge_each(
            {name: a[name] for name in a if name in on_host},
            {name: b[name] for name in b if name in on_host},
        )
        return joined(on_device, collected, tuple(dict.fromkeys([*a, *b])))

    def reduce(self, states: Mapping[str, Any], axis_name: Any) -> States:
        """The states of all devices along a mapped axis; see `State.reduce`.

        Raises:
          HostOnlyError: a state collects its data on the host.
        """
        for name, state in unpacked(states).rest.items():
            if not getattr(state, "merges_on_device", False):
                with _note(f"metric {name}"):
                    state.reduce(axis_name)
        return reduce_over_axis(unpacked(states), axis_name, _merge_parts)

    def gather(self, states: Mapping[str, Any]) -> States:
        """The states of all processes, in one exchange; see `State.gather`."""
        own = jax.device_get(unpacked(states))
        return gather_processes(own, _merge_parts, local=ParentRef)

    def compute(
        self, states: Mapping[str, Any], *, log_count: bool = False
    ) -> dict[str, Any]:
        """The values, on the host, from one transfer of all states.

        Args:
          states: name to merged state.
          log_count: whether to add, as `name/count`, how much counts in each mean,
            deviation and loss.

        Returns:
          Name to Python float, numpy array, text or other result. A metric with
          several results gives `name/result` for each.

        Raises:
          NameCollisionError: two results get the same name.
        """
        values: dict[str, Any] = {}
        fetched = fetch(unpacked(states))
        for name, state in self._each(fetched):
            try:
                value = plain_result(state.compute())
            except Exception as error:
                error.add_note(f"metric {name}")
                raise
            results = dict(named_results(name, value))
            count = getattr(state, "count", None)
            if log_count and type(count) is Pair:
                results[f"{name}/count"] = plain_result(count.numpy())
            _check_new(results, values, name)
            values |= results
        return values

    def _each(self, states: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Name and state of each metric that there is a state for, in order."""
        metrics = dict(self._items)
        # jit gives dicts back in the order of the alphabet.
        for name, home in self._homes.items():
            # States made one by one are there under each name.
            kept = name if name in states else home
            if kept in states:
                with _note(f"metric {name}"):
                    state = metrics[name].state_of(states[kept])
                yield name, state
        yield from ((name, states[name]) for name in states if name not in self._homes)


def _merge_each(
    a: Mapping[str, Any],
    b: Mapping[str, Any],
    how: Callable[[Any, Any], Any] = join,
) -> dict[str, Any]:
    states = {}
    for name in dict.fromkeys([*a, *b]):
        if name not in a or name not in b:
            states[name] = a[name] if name in a else b[name]
            continue
        left, right = a[name], b[name]
        with _note(f"metric {name}"):
            if isinstance(right, EmptyState):
                # Only an empty state knows how to merge with another class.
                left, right = right, left
            states[name] = how(left, right)
    return states


def _merge_states(a: States, b: States) -> States:
    return merge_packed(a, b, _merge_each)


def _merge_parts(a: States, b: States) -> States:
    """The states of batches of which both hold parts."""
    each = functools.partial(_merge_each, how=join_parts)
    return merge_packed(unpacked(a), unpacked(b), each)


_merge_compiled: Callable[[States, States], States] = jax.jit(_merge_states)


def _check_new(
    results: Mapping[str, Any], values: Mapping[str, Any], name: str
) -> None:
    taken = [full for full in results if full in values]
    if taken:
        raise NameCollisionError(
            f"two results are both named {taken[0]!r}\nrename the metric {name!r}"
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
