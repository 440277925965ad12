"""`State`: what a metric knows after some batches, and how two of them become one."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import jax

from kmetrics._distributed import gather_processes, reduce_over_axis
from kmetrics._errors import (
    EmptyMetricError,
    HostOnlyError,
    MergeError,
    StateDefinitionError,
)
from kmetrics._numerics import Pair
from kmetrics._register import STATIC, is_registered, state


def unregistered(kind: type) -> StateDefinitionError:
    """The error of a state class without the decorator."""
    return StateDefinitionError(
        f"the state {kind.__name__} is unknown to jax\n"
        "write @kmetrics.state above the class"
    )


@runtime_checkable
class MetricLike(Protocol):
    """What a state asks of the metric it belongs to."""

    def signature(self) -> Any:
        """The class and the options, without key paths."""
        ...


class ParentRef:
    """The metric of a state, equal to another one if the options are.

    It is a static part of the state, hence of the key under which jit caches: metrics
    that read different keys but compute the same thing share one compiled program.
    """

    __slots__ = ("_hash", "metric", "signature")

    def __init__(self, metric: MetricLike):
        self.metric = metric
        self.signature = metric.signature()
        self._hash = hash(self.signature)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, ParentRef) and self.signature == other.signature

    def __repr__(self) -> str:
        return f"ParentRef({type(self.metric).__name__})"


@state
class State:
    """What a metric knows after some data. Frozen, and a pytree.

    Laws, for states of the same metric: `empty | s == s | empty == s`,
    `(a | b) | c == a | (b | c)`, and the value of `a | b` is the value on the data
    of both. `kmetrics.testing.check_laws` checks them.

    A subclass is decorated with `kmetrics.state` and gives `merge`, `compute` and
    `empty`. `AutoState` derives `merge` and `empty` from the fields.
    """

    _registered_as_state: ClassVar[type | None] = None

    _parent: ParentRef | None = dataclasses.field(
        default=None, kw_only=True, repr=False, metadata=STATIC
    )

    def __post_init__(self) -> None:
        # Runs whenever jax rebuilds a state, so the common case is one comparison.
        cls = type(self)
        if self._registered_as_state is not cls and not is_registered(cls):
            raise unregistered(cls)

    @property
    def merges_on_device(self) -> bool:
        """Whether `merge` may run under jit, rather than on concrete values only."""
        return True

    @property
    def adds_up(self) -> bool:
        """Whether it holds float32 pairs alone, and `merge` adds them elementwise.

        The sums of such states are kept in one vector by `Collection`.
        """
        return False

    @property
    def lanes(self) -> tuple[str, ...] | None:
        """How each of its pairs and arrays merges, if `Collection` may do it for it.

        One of "sum", "min", "max", "min_but_nan" and "max_but_nan" for each, in the
        order of the pytree; None if `merge` does something else.
        """
        if not self.adds_up:
            return None
        leaves = jax.tree.leaves(self, is_leaf=lambda x: type(x) is Pair)
        return ("sum",) * len(leaves)

    @property
    def parent(self) -> Any:
        """The metric that made this state, or None; its options are read here."""
        return None if self._parent is None else self._parent.metric

    def with_parent(self, metric: MetricLike) -> Self:
        """This state as a state of `metric`; unchanged if it belongs to one already."""
        if self._parent is not None:
            return self
        return dataclasses.replace(self, _parent=ParentRef(metric))

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    @classmethod
    def empty(cls) -> Self:
        """The state of no data."""
        raise NotImplementedError(f"{cls.__name__} does not define empty")

    def empty_like(self) -> Self:
        """The state of no data with the structure of this one, as a carry of a scan."""
        return dataclasses.replace(type(self).empty(), _parent=self._parent)

    def merge(self, other: Self) -> Self:
        """The state of the data of both."""
        raise NotImplementedError(f"{type(self).__name__} does not define merge")

    def merge_parts(self, other: Self) -> Self:
        """The state of batches of which both hold parts, as devices do.

        Other than `merge` only for states in which a later batch counts more.
        """
        return self.merge(other)

    def compute(self) -> Any:
        """The value, on the host: numbers, numpy arrays, text, or a dict of these."""
        raise NotImplementedError(f"{type(self).__name__} does not define compute")

    def finalize(self) -> Self:
        """This state with every array fetched to the host; still mergeable."""
        return jax.device_get(self)

    def reduce(self, axis_name: Any) -> Self:
        """The states of all devices along a mapped axis, merged in order.

        For the inside of shard_map, pmap or vmap, where every device holds the state of
        its own part of the data. Each device gets the same result, and the way in which
        the parts were split leaves no trace: a maximum is a maximum, a sum keeps its 48
        bits. Under jit with sharded arrays nothing has to be done.

        Args:
          axis_name: the axis, or a tuple of several.

        Raises:
          HostOnlyError: the state collects its data on the host.
        """
        if not self.merges_on_device:
            raise HostOnlyError(
                f"{type(self).__name__} collects its data on the host, and cannot be "
                "reduced over the devices\n"
                "return it from the mapped function, and merge it there"
            )
        return reduce_over_axis(self, axis_name, join_parts)

    def gather(self) -> Self:
        """The states of all processes of `jax.distributed`, merged in their order.

        For states of data that each process has read for itself; the amounts may
        differ. To be called by all processes; each gets the same result, on the host.
        A state of arrays that are spread over the processes counts all of them already.
        """
        own = self.finalize()
        return gather_processes(own, join_parts, local=ParentRef)

    def empty_value(self) -> float:
        """What to compute when nothing counts, from `on_empty` of the metric.

        Raises:
          EmptyMetricError: the option is "raise".
        """
        option = getattr(self.parent, "on_empty", "nan")
        if option == "raise":
            raise EmptyMetricError(
                f"{type(self.parent).__name__} saw no data\n"
                "  every value was masked out, or no batch came\n"
                'allow it with on_empty="nan" or on_empty="zero"'
            )
        return 0.0 if option == "zero" else math.nan

    def __or__(self, other: Self) -> Self:
        """The same as `merge`."""
        return self.merge(other)

    def merged_parent(self, other: State) -> ParentRef | None:
        """The metric of the merged state; for use in `merge`.

        Raises:
          MergeError: the states are of different kinds, or their metrics have
            different options.
        """
        if type(self) is not type(other):
            raise MergeError(
                "only states of the same kind can be merged\n"
                f"  got {type(self).__name__} and {type(other).__name__}"
            )
        mine, theirs = self._parent, other._parent
        if mine is None or theirs is None:
            return theirs if mine is None else mine
        if mine == theirs:
            return mine
        raise MergeError(
            "the states belong to metrics with different options\n"
            f"  {mine.metric!r}\n  {theirs.metric!r}\n"
            "merge states of one metric, or of metrics that differ in keys alone"
        )


def join(a: Any, b: Any) -> Any:
    """The state of the batches of both, also of another library."""
    return a.merge(b)


def join_parts(a: Any, b: Any) -> Any:
    """The state of batches of which both hold parts, also of another library."""
    return a.merge_parts(b) if isinstance(a, State) else a.merge(b)


@state
class EmptyState(State):
    """A state without any data: it merges with every state and computes nothing."""

    @classmethod
    def empty(cls) -> Self:
        """The state itself."""
        return cls()

    def merge(self, other: Any) -> Any:
        """The other state."""
        return other

    def compute(self) -> dict[str, Any]:
        """No values."""
        return {}
