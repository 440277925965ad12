"""A metric on every leaf of a tree, such as the parameters of a model."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from typing import Any, Self

import jax

import kontext
from kmetrics._errors import MergeError
from kmetrics._metric import Inner, Metric, leads_into, like_nothing, path_texts
from kmetrics._register import state
from kmetrics._state import State, join, join_parts

__all__ = ["TreeMap", "TreeReduce"]


@state
class TreeState(State):
    """The states of the leaves of a tree.

    Attributes:
      states: path of the leaf to state; empty before any data.
    """

    states: dict[str, Any]

    @property
    def merges_on_device(self) -> bool:
        """Whether the states of all leaves do."""
        return all(state.merges_on_device for state in self.states.values())

    @property
    def adds_up(self) -> bool:
        """Whether the states of all leaves add up, and there are any."""
        return bool(self.states) and all(s.adds_up for s in self.states.values())

    @classmethod
    def empty(cls) -> Self:
        """The state of no data."""
        return cls(states={})

    def empty_like(self) -> Self:
        """The states of no data of the same leaves."""
        empty = {name: like_nothing(state) for name, state in self.states.items()}
        return self.replace(states=empty)

    def merge(self, other: Self) -> Self:
        """The states of both, leaf by leaf.

        Raises:
          MergeError: the trees have different leaves.
        """
        return self._joined(other, join)

    def merge_parts(self, other: Self) -> Self:
        """The states of parts of the same batches, leaf by leaf."""
        return self._joined(other, join_parts)

    def _joined(self, other: Self, how: Callable[[Any, Any], Any]) -> Self:
        parent = self.merged_parent(other)
        if not self.states or not other.states:
            return self.replace(states=self.states or other.states, _parent=parent)
        if self.states.keys() != other.states.keys():
            odd = sorted(self.states.keys() ^ other.states.keys())
            raise MergeError(
                "the trees of two states have different leaves\n"
                f"  only in one of them: {', '.join(odd[:5])}"
            )
        states = {name: how(s, other.states[name]) for name, s in self.states.items()}
        return self.replace(states=states, _parent=parent)

    def compute(self) -> dict[str, Any]:
        """Path of the leaf to value."""
        return {name: state.compute() for name, state in self.states.items()}


@dataclasses.dataclass(frozen=True, kw_only=True)
class _OverLeaves(Metric):
    metric: Inner

    def __kontext_keys__(self) -> dict[str, Any]:
        source, read = self.metric.state_source, set(self.metric.keypaths())
        keys = kontext.get_keypaths(source)
        unread = {n for n, tree in keys.items() if not read & set(path_texts(tree))}
        required = set(kontext.required_keys(source))
        return {
            name: None if name in unread - required else _with_globs(tree)
            for name, tree in keys.items()
        }

    def keypaths(self) -> tuple[str, ...]:
        """The paths that the metric reads."""
        return self.metric.keypaths()

    def get_state_from_context(
        self,
        context: Any,
        *,
        mask: Any | None = None,
        example_roots: Collection[str] | None = None,
    ) -> Any:
        """The state of one batch.

        Args, errors: as for `Metric.get_state_from_context`.
        """
        inputs = kontext.resolve_from_keyed_obj(context, self)
        keys = kontext.get_keypaths(self)
        examples = {name for name in inputs if leads_into(keys[name], example_roots)}
        return self._combined(self._states(inputs, mask, examples))

    def get_state(self, **inputs: Any) -> Any:
        """The state of one batch; an input that is no tree is shared by all leaves."""
        inputs = {name: x for name, x in inputs.items() if x is not None}
        known = kontext.get_keypaths(self.metric.state_source)
        unknown = [name for name in inputs if name not in known]
        if unknown:
            raise TypeError(
                f"{type(self).__name__}: got an unexpected keyword argument "
                f"{unknown[0]!r}\n  it takes {', '.join(known)}"
            )
        return self._combined(self._states(inputs, None, set()))

    def _states(
        self, inputs: Mapping[str, Any], mask: Any | None, examples: set[str]
    ) -> dict[str, Any]:
        bound = _by_name(self.metric, inputs)
        leaves = _by_leaf(type(self).__name__, inputs)
        return {
            path: bound.get_state_from_context(
                dict(own), mask=mask, example_roots=examples
            )
            for path, own in leaves.items()
        }

    def _combined(self, states: dict[str, Any]) -> Any:
        raise NotImplementedError


@dataclasses.dataclass(frozen=True, kw_only=True)
class TreeMap(_OverLeaves):
    """`metric` on every leaf of its inputs; computes a dict of path to value.

    The inputs that are trees have the same leaves; one that is a single array or
    number, such as a mask or the step, is shared. A path of the metric may be a glob,
    such as "params.**.kernel", whose matches are the leaves.

    Attributes:
      metric: the metric, or loss, with the paths of the trees; also one around another
        metric, or a view of it.

    Raises:
      ValueError: at the first use: no input is a tree, a tree has no leaves, or the
        leaves differ.
    """

    State = TreeState

    def metric_names(self) -> None:
        """None: the paths of the leaves are known with the data."""

    def _combined(self, states: dict[str, Any]) -> Any:
        return TreeState(states=states).with_parent(self)


@dataclasses.dataclass(frozen=True, kw_only=True)
class TreeReduce(_OverLeaves):
    """`metric` over all leaves of its inputs together, as one value.

    The states of the leaves are merged; the norm of a tree (`Norm` with aggregation
    "concat") is that of all leaves as one vector. See `TreeMap` for the inputs.

    Attributes:
      metric: as for `TreeMap`; one over time, such as `Ema`, goes around instead.
    """

    def signature(self) -> Any:
        """That of the metric, whose states it makes."""
        return self.metric.signature()

    def empty(self) -> Any:
        """The state of no data."""
        return self.metric.empty()

    def _combined(self, states: dict[str, Any]) -> Any:
        return self.metric.merge_leaves(list(states.values()))


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Rebound(Metric):
    """A view of a metric, beside the source that it is computed from."""

    view: Metric
    source: Metric

    @property
    def state_source(self) -> Metric:
        return self.source

    def state_of(self, source_state: Any) -> Any:
        return self.view.state_of(source_state)

    def signature(self) -> Any:
        return self.view.signature()


def _by_name(metric: Metric, names: Collection[str]) -> Metric:
    """`metric`, where each of its keys that is in `names` is a path of that name."""
    source = metric.state_source
    if source is not metric:
        return _Rebound(view=metric, source=_by_name(source, names))
    fields = {field.name for field in dataclasses.fields(metric)}
    keys = fields & kontext.get_keypaths(metric).keys() & set(names)
    changes: dict[str, Any] = {name: name for name in keys}
    inner = getattr(metric, "metric", None)
    if isinstance(inner, Metric):
        changes["metric"] = _by_name(inner, names)
    return metric.replace(**changes)


def _with_globs(tree: Any) -> Any:
    """A path with wildcards as a glob that is meant."""
    if isinstance(tree, str) and "*" in tree:
        return kontext.GlobPath.from_str(tree)
    return tree


def _by_leaf(name: str, inputs: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Path of each leaf to the inputs of the metric there."""
    flat = {key: _leaves(value) for key, value in inputs.items()}
    bare = [key for key, leaves in flat.items() if not leaves]
    if bare:
        raise ValueError(f"{name}: the tree of {bare[0]!r} has no leaves")
    trees = {key: leaves for key, leaves in flat.items() if list(leaves) != [""]}
    if not trees:
        raise ValueError(
            f"{name}: none of the inputs is a tree\n"
            f"  got single arrays for {', '.join(inputs) or 'no inputs'}\n"
            "use the metric itself"
        )
    (first, paths), *others = trees.items()
    for other, leaves in others:
        if leaves.keys() != paths.keys():
            odd = sorted(leaves.keys() ^ paths.keys())
            raise ValueError(
                f"{name}: {first!r} and {other!r} have different leaves\n"
                f"  only in one of them: {', '.join(odd[:5])}"
            )
    return {
        path: {key: leaves.get(path, leaves.get("")) for key, leaves in flat.items()}
        for path in paths
    }


def _leaves(tree: Any) -> dict[str, Any]:
    pairs, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {
        jax.tree_util.keystr(path, simple=True, separator="."): leaf
        for path, leaf in pairs
    }
