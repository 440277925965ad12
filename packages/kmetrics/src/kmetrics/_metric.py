"""`Metric`: options and key paths that turn arrays into a mergeable state."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

import jax
import numpy as np

import kontext
from kmetrics._calls import explain, reading
from kmetrics._errors import MaskNotAcceptedError, StateDefinitionError
from kmetrics._explicit import on_automatic_axes
from kmetrics._freeze import freeze
from kmetrics._masks import combine_masks
from kmetrics._options import Option, check_options
from kmetrics._register import is_registered
from kmetrics._results import plain_result
from kmetrics._state import State, unregistered

OnEmpty: TypeAlias = Literal["nan", "zero", "raise"]
StateClass: TypeAlias = type[State]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Metric:
    """Options and key paths; no data. Frozen and hashable.

    A subclass is a frozen dataclass. Fields annotated `kontext.Key` say where the
    arguments of `get_state` are found in a context; all others are options. Lists,
    sets and dicts among the options are made immutable, so that jit can compare them.

    Attributes:
      State: the class of the states, if `empty` is to be available.
      higher_is_better: whether a higher value is a better one; None: it depends.
      range: the lowest and the highest value there can be; None: any number, or no
        number at all.
      mask_weighs: whether a number in the mask says how often an example counts; if
        not, all but 0 is once. Around another metric these three are those of that
        metric.

    Example:
      ```
      @dataclasses.dataclass(frozen=True, kw_only=True)
      class MeanGap(kmetrics.Metric):
          preds: kontext.Key = kontext.REQUIRED
          targets: kontext.Key = kontext.REQUIRED

          def get_state(self, preds, targets, mask=None):
              return kmetrics.AverageState.from_values(preds - targets, mask)
      ```
    """

    State: ClassVar[StateClass | None] = None
    higher_is_better: ClassVar[bool | None] = None
    range: ClassVar[tuple[float, float] | None] = None
    mask_weighs: ClassVar[bool] = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "compute" in cls.__dict__:
            raise StateDefinitionError(
                f"{cls.__name__} defines compute, which belongs to its state\n"
                "a metric makes states; the merged state computes the value. Move "
                "compute to the class of the state"
            )
        if cls.__dict__.get("State") is not None:
            check_state_class(cls.__name__, cls.__dict__["State"])
        if "get_state" in cls.__dict__:
            setattr(cls, "get_state", _owned(cls.__dict__["get_state"]))  # noqa: B010

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            frozen = freeze(value, where=f"{type(self).__name__}.{field.name}")
            object.__setattr__(self, field.name, frozen)
        check_options(self)
        inner = getattr(self, "metric", None)
        if isinstance(inner, Metric):
            object.__setattr__(self, "higher_is_better", inner.higher_is_better)
            object.__setattr__(self, "range", inner.range)
            object.__setattr__(self, "mask_weighs", inner.mask_weighs)
        option = getattr(self, "on_empty", "nan")
        if option not in ("nan", "zero", "raise"):
            raise ValueError(
                f"{type(self).__name__}: on_empty={option!r} is not known\n"
                'use "nan", "zero" or "raise"'
            )

    def get_state(self, *args: Any, **inputs: Any) -> Any:
        """The state of one batch; works under jit, vmap and scan.

        A subclass names its inputs. With an argument `mask` it can be used on padded
        batches: 0 or False marks what must not count.
        """
        source = self.state_source
        if source is not self:
            return self.state_of(source.get_state(*args, **inputs))
        name = type(self).__name__
        raise NotImplementedError(f"{name} does not define get_state")

    def empty(self) -> Any:
        """The state of no data.

        Raises:
          StateDefinitionError: the class does not set `State`.
        """
        source = self.state_source
        if source is not self:
            return self.state_of(source.empty())
        if self.State is None:
            raise StateDefinitionError(
                f"{type(self).__name__} does not say which states it makes\n"
                "set it in the class: State = kmetrics.AverageState"
            )
        return self.State.empty().with_parent(self)

    def empty_like(self, state: Any) -> Any:
        """The state of no data with the structure of `state`, as a carry of a scan.

        Args:
          state: a state of this metric, of arrays or of `jax.ShapeDtypeStruct` such as
            `jax.eval_shape` gives.
        """
        return like_nothing(state)

    @property
    def state_source(self) -> Metric:
        """The metric whose states it is computed from: itself, unless it names another.

        In a `Collection` all metrics that name one source share its state; two metrics
        that are merely alike do not. With `state_of` it makes a view of another metric,
        which needs no `get_state` of its own.
        """
        return self

    def state_of(self, source_state: Any) -> Any:
        """The state of this metric, from one of its `state_source`."""
        return source_state

    def merge_leaves(self, states: Sequence[Any]) -> Any:
        """The state of all leaves of a tree, from the states of each; see `TreeReduce`.

        Args:
          states: one or more states of this metric.
        """
        return functools.reduce(lambda a, b: a.merge(b), states)

    def get_state_from_context(
        self,
        context: Any,
        *,
        mask: Any | None = None,
        example_roots: Collection[str] | None = None,
    ) -> Any:
        """The state of one batch, with the inputs read from `context`.

        Args:
          context: what the key paths are read from.
          mask: which examples count, bool or float `[b]`; joined with a mask that the
            metric reads itself.
          example_roots: first parts of the paths that lead to data with an example
            axis; a metric that reads none of them does not get `mask`. None: all do.

        Raises:
          PathLookupError: a key path leads nowhere.
          MaskNotAcceptedError: `mask` is needed, but `get_state` takes none.
        """
        source = self.state_source
        if source is not self:
            state = source.get_state_from_context(
                context, mask=mask, example_roots=example_roots
            )
            return self.state_of(state)
        inputs = kontext.resolve_from_keyed_obj(context, self, func=self.get_state)
        check_roots(context, example_roots)
        if mask is not None and self.reads_from(example_roots):
            if not accepts_mask(self.get_state):
                raise MaskNotAcceptedError(
                    f"{type(self).__name__} cannot leave out the padding of a "
                    "padded batch\n  its get_state takes no argument mask\n"
                    "add mask=None to get_state and hand it on, for example to "
                    "AverageState.from_values"
                )
            inputs["mask"] = combine_masks(inputs.get("mask"), mask)
        with reading(self):
            return own_state(self, self.get_state(**inputs))

    @property
    def _call(self) -> Callable[..., Any]:
        """A function with the parameters that the inputs go to."""
        return self.get_state

    def __call__(self, context: Any = None, **inputs: Any) -> Any:
        """The value on one batch, read from `context` or given by name."""
        if context is not None and inputs:
            raise TypeError(
                f"{type(self).__name__} takes a context or inputs by name, not both\n"
                f"  got a context and {', '.join(inputs)}"
            )
        if context is None:
            state = self.get_state(**inputs)
        else:
            state = self.get_state_from_context(context)
        return plain_result(state.compute())

    def metric_names(self) -> tuple[str, ...] | None:
        """The names of its results, where `compute` gives a dict; nested ones as "a/b".

        None: it has one result, or only the data tells the names. Around another metric
        they are those of that metric, unless a subclass says otherwise.
        """
        inner = getattr(self, "metric", None)
        return inner.metric_names() if isinstance(inner, Metric) else None

    def keypaths(self) -> tuple[str, ...]:
        """The paths it reads, as text, in the order of its fields."""
        source = self.state_source
        if source is not self:
            return source.keypaths()
        return tuple(dict.fromkeys(path_texts(kontext.get_keypaths(self))))

    def reads_from(self, roots: Collection[str] | None) -> bool:
        """Whether a path it reads begins with one of `roots`; always if None."""
        return any(leads_into(text, roots) for text in self.keypaths())

    def signature(self) -> Any:
        """The class and the options without key paths; equal if states can merge."""
        keys = set(kontext.get_keypaths(self))
        options = (
            (field.name, getattr(self, field.name))
            for field in dataclasses.fields(self)
            if field.name not in keys
        )
        return type(self), tuple(
            (name, value.signature() if isinstance(value, Metric) else value)
            for name, value in options
        )

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)


# A metric that another one is around.
Inner: TypeAlias = Annotated[
    Metric, Option("a metric, or a loss", lambda value: isinstance(value, Metric))
]


def like_nothing(state: Any) -> Any:
    """The empty state with the structure of `state`; of another library as it is."""
    state = as_zeros(state)
    return state.empty_like() if isinstance(state, State) else state.empty()


def as_zeros(tree: Any) -> Any:
    """`tree` with numpy zeros for specs of arrays."""

    def concrete(leaf: Any) -> Any:
        is_spec = isinstance(leaf, jax.ShapeDtypeStruct)
        return np.zeros(leaf.shape, leaf.dtype) if is_spec else leaf

    return jax.tree.map(concrete, tree)


def check_roots(context: Any, roots: Collection[str] | None) -> None:
    """Refuses roots that are misspelt: the mask would be applied to nothing.

    Raises:
      TypeError: `roots` is a text, whose letters would be taken for names.
      ValueError: one is not the first part of a path, or is not in the context, which
        has a similar name.
    """
    if isinstance(roots, str):
        raise TypeError(
            f"example_roots are names, got the text {roots!r}\nwrite {{{roots!r}}}"
        )
    for root in roots or ():
        if isinstance(root, str) and not kontext.has(context, kontext.Path(root)):
            _check_root(context, root)


def _check_root(context: Any, root: str) -> None:
    # Only for names that are not there.
    import difflib

    is_fields = dataclasses.is_dataclass(context)
    names = dataclasses.fields(context) if is_fields else ()
    known = [*context] if isinstance(context, Mapping) else [f.name for f in names]
    first, *rest = root.replace("[", ".").split(".")
    similar = difflib.get_close_matches(root, map(str, known), n=1)
    if rest or similar:
        raise ValueError(
            f"example_roots: {root!r} is no part of the context\n"
            f"did you mean {(first if rest else similar[0])!r}? "
            "a root is the first part of a path"
        )


def leads_into(tree: Any, roots: Collection[str] | None) -> bool:
    """Whether a path in `tree` begins with one of `roots`; always if None."""
    if roots is None:
        return True
    paths = (kontext.Path.from_str(text) for text in path_texts(tree))
    return any(len(path) and path[0] in roots for path in paths)


def check_state_class(owner: str, kind: Any) -> None:
    """Raises StateDefinitionError unless `kind` is a class of states."""
    if not (isinstance(kind, type) and hasattr(kind, "merge")):
        raise StateDefinitionError(
            f"State of {owner} is not a class of states\n  got {kind!r}\n"
            "set it to a class such as kmetrics.AverageState, or to one of your own "
            "that derives from kmetrics.AutoState"
        )
    if issubclass(kind, State) and not is_registered(kind):
        raise unregistered(kind)


def own_state(metric: Metric, state: Any) -> Any:
    """`state`, as a state of `metric` if it belongs to no other.

    Raises:
      TypeError: it cannot be merged and computed.
    """
    if isinstance(state, State):
        return state.with_parent(metric)
    if not (hasattr(state, "merge") and hasattr(state, "compute")):
        raise TypeError(
            f"{type(metric).__name__}.get_state must return a state\n"
            f"  got {type(state).__name__}\n"
            "return for example kmetrics.AverageState.from_values(values, mask)"
        )
    return state


def _owned(get_state: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(get_state)
    def owned(self: Metric, *args: Any, **kwargs: Any) -> Any:
        try:
            made = on_automatic_axes(
                lambda given: get_state(self, *given[0], **given[1]), (args, kwargs)
            )
            return own_state(self, made)
        except Exception as error:
            explain(error, self, self._call, args, kwargs)
            raise

    return owned


def accepts_mask(get_state: Callable[..., Any]) -> bool:
    """Whether a `get_state` takes the argument `mask`."""
    parameters = inspect.signature(get_state).parameters
    return "mask" in parameters or any(
        p.kind is p.VAR_KEYWORD for p in parameters.values()
    )


def path_texts(tree: Any) -> Iterator[str]:
    """The paths in the value of a key, as text."""
    if isinstance(tree, Mapping):
        tree = tuple(tree.values())
    if isinstance(tree, list | tuple):
        for below in tree:
            yield from path_texts(below)
    elif tree is not None:
        yield str(tree)
