"""Keeping a few examples on the device, and drawing them on the host.

Every summary of examples is a `Show`: its `get_state` says which arrays of an example
are kept, its `render` makes media of those that were.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Collection
from typing import Any, ClassVar, Literal, Self, TypeAlias

import jax
import jax.numpy as jnp

import kontext
from kmetrics._class_inputs import example_weights
from kmetrics._errors import MergeError
from kmetrics._fields import Unset
from kmetrics._masks import combine_masks
from kmetrics._metric import Metric, own_state
from kmetrics._options import Whole
from kmetrics._register import state
from kmetrics._selection import Examples, Kept, Reservoir, Selected, Selection, TopK
from kmetrics._state import ParentRef, State
from kmetrics.summaries._worst import Worst
from ktyping import Array, Bool, Real

# What is read on the device: of whatever shape, which has errors of its own.
Numbers: TypeAlias = Real[Array, "..."] | Bool[Array, "..."]
SelectionOption: TypeAlias = Literal["first", "random"] | Worst


@state
class KeptState(State):
    """Some examples, of a fixed number.

    Attributes:
      kept: the examples; unset before any data.
    """

    kept: Any

    @classmethod
    def empty(cls) -> Self:
        """The state of no examples."""
        return cls(kept=Unset())

    def empty_like(self) -> Self:
        """The state of no examples with arrays as large as those of this one."""
        if isinstance(self.kept, Unset):
            return self
        return self.replace(kept=self.parent.keeper.empty_like(self.kept))

    def merge(self, other: Self) -> Self:
        """The examples to keep of both.

        Raises:
          MergeError: the examples of the two have other shapes or dtypes.
        """
        parent = self.merged_parent(other)
        a, b = self.kept, other.kept
        if isinstance(a, Unset) or isinstance(b, Unset):
            return self.replace(kept=b if isinstance(a, Unset) else a, _parent=parent)
        metric = self.parent or other.parent
        looks = [jax.tree.map(_look, kept.items) for kept in (a, b)]
        if looks[0] != looks[1]:
            raise MergeError(
                f"{type(metric).__name__}: the examples of two batches differ\n"
                f"  {looks[0]} and {looks[1]}\n"
                "bring them to one size in the pipeline"
            )
        return self.replace(kept=_merge(ParentRef(metric), a, b), _parent=parent)

    def compute(self) -> Any:
        """The media, drawn by the metric."""
        kept: Kept | Unset = jax.device_get(self.kept)
        if isinstance(kept, Unset):
            return self.parent.render_nothing()
        selected = self.parent.keeper.show(kept)
        if selected.scores is not None:
            sign = self.parent.selection.sign
            selected = selected._replace(scores=sign * selected.scores)
        return self.parent.render(selected)


def _look(x: Any) -> str:
    return f"{x.dtype}{list(x.shape[1:])}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Show(Metric):
    """A summary that shows some of the examples."""

    State = KeptState
    limit: ClassVar[str] = "num_images"

    mask: kontext.Key | None = None
    ids: kontext.Key | None = None
    selection: SelectionOption = "first"
    seed: Whole = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        name = type(self).__name__
        if not isinstance(self.selection, Worst | str) or (
            isinstance(self.selection, str) and self.selection not in _SELECTIONS
        ):
            raise ValueError(
                f"{name}: selection={self.selection!r} is not known\n"
                'use "first", "random" or summaries.Worst(by=...)'
            )

    @property
    def keeper(self) -> Selection:
        """Keeps and merges the examples."""
        num = getattr(self, self.limit)
        if self.selection == "random":
            return Reservoir(num, self.seed)
        return Selection(num) if self.selection == "first" else TopK(num)

    def render(self, selected: Selected) -> Any:
        """The media of the examples that were kept, on the host."""
        raise NotImplementedError

    def render_nothing(self) -> Any:
        """The media of no data, of which not even the shape is known."""
        raise NotImplementedError

    def keypaths(self) -> tuple[str, ...]:
        """The paths it reads, those of the scores included."""
        choice = self.selection
        extra = choice.keypaths() if isinstance(choice, Worst) else ()
        return tuple(dict.fromkeys([*super().keypaths(), *extra]))

    def signature(self) -> Any:
        """The class and the options without key paths; equal if states can merge."""
        cls, options = super().signature()
        return cls, tuple(
            (name, value.signature() if isinstance(value, Worst) else value)
            for name, value in options
        )

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
        inputs = kontext.resolve_from_keyed_obj(context, self, func=self.get_state)
        if isinstance(self.selection, Worst):
            inputs["scores"] = self.selection.scores(context)
        if mask is not None and self.reads_from(example_roots):
            inputs["mask"] = combine_masks(inputs.get("mask"), mask)
        return own_state(self, self.get_state(**inputs))

    def keep(
        self, items: Any, *, batch: tuple[int, ...], chosen_by: ChosenBy
    ) -> KeptState:
        """The state of a batch.

        Args:
          items: array, or tree of arrays, `[*b, ...]`.
          batch: the sizes of the axes `*b`.
          chosen_by: what decides about the examples.
        """
        size = math.prod(batch)
        items = jax.tree.map(lambda x: x.reshape(size, *x.shape[len(batch) :]), items)
        mask, ids, scores = dataclasses.astuple(chosen_by)
        if mask is not None:
            mask = example_weights(mask, batch).ravel() != 0
        if self.selection == "random" and ids is not None:
            ids = self._each("ids", ids, batch)
            if not (ids.dtype == jnp.bool_ or jnp.issubdtype(ids.dtype, jnp.integer)):
                raise TypeError(
                    f"{type(self).__name__}: ids must be integers\n  got {ids.dtype}"
                )
        if isinstance(self.selection, Worst):
            scores = self._each("scores", scores, batch)
        return KeptState(kept=_store(ParentRef(self), items, scores, ids, mask))

    def _each(self, what: str, values: Any, batch: tuple[int, ...]) -> jax.Array:
        """One number per example, flat."""
        found = "missing"
        if values is not None:
            values = jnp.asarray(values)
            found = f"{values.dtype}{list(values.shape)}"
            is_real = not jnp.issubdtype(values.dtype, jnp.complexfloating)
            if is_real and values.shape in (batch, (*batch, 1)):
                return values.ravel()
        raise ValueError(
            f"{type(self).__name__}: {what} must be one number per example\n"
            f"  {what} {found}, examples {list(batch)}"
        )


_SELECTIONS = ("first", "random")

# One compiled call outside of jit, plain operations inside. The metric comes as the
# parent of a state does: those that differ in keys alone share a program.
_compiled = functools.partial(jax.jit, static_argnums=0, inline=True)


@_compiled
def _store(owner: ParentRef, items: Any, scores: Any, ids: Any, mask: Any) -> Kept:
    show: Any = owner.metric
    if show.selection == "random" and ids is None:
        ids = content_ids(items)
    if isinstance(show.selection, Worst):
        scores = show.selection.sign * jnp.asarray(scores, jnp.float32)
        scores = jnp.where(jnp.isnan(scores), jnp.inf, scores)
    return show.keeper.store(Examples(items, scores=scores, ids=ids, mask=mask))


@_compiled
def _merge(owner: ParentRef, a: Kept, b: Kept) -> Kept:
    show: Any = owner.metric
    return show.keeper.merge(a, b)


@dataclasses.dataclass(frozen=True)
class ChosenBy:
    """What decides whether an example is kept.

    Attributes:
      mask: what counts, `[*b]` or fewer axes.
      ids: integers `[*b]` that name the examples.
      scores: numbers `[*b]`.
    """

    mask: Any = None
    ids: Any = None
    scores: Any = None


def content_ids(items: Any) -> jax.Array:
    """A uint32 per example that depends on its content alone, `[b]`."""
    total: Any = jnp.uint32(0)
    for leaf in jax.tree.leaves(items):
        flat = leaf.reshape(len(leaf), math.prod(leaf.shape[1:]))
        if jnp.issubdtype(flat.dtype, jnp.floating):
            flat = jax.lax.bitcast_convert_type(flat.astype(jnp.float32), jnp.uint32)
        # Odd factors: each bit of each number reaches the sum.
        place = 2 * jnp.arange(flat.shape[1], dtype=jnp.uint32) + 1
        total = total * jnp.uint32(31) + jnp.sum(
            flat.astype(jnp.uint32) * (place * jnp.uint32(0x9E3779B1)), axis=1
        )
    return total
