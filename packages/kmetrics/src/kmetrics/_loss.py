"""`Loss`: a metric that is minimised."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

import kontext
from kmetrics._calls import reading
from kmetrics._errors import StateDefinitionError
from kmetrics._explicit import on_automatic_axes
from kmetrics._loss_inputs import (
    ComputeDtype,
    Weight,
    call_of,
    check_compute_dtype,
    check_weight,
    check_wide_floats,
    convert_floats,
    no_step,
    scheduled,
    to_floats,
    wants_mask,
)
from kmetrics._loss_state import LossState
from kmetrics._masks import align_left, combine_masks, fill_masked, masked_sums
from kmetrics._metric import Metric, leads_into
from kmetrics._numerics import Pair, scale_pair, zero_pair
from kmetrics._options import Flag

NormalizeBy: TypeAlias = Literal["mask", "values", "batch", "sum"]
_NORMALIZE_BY = ("mask", "values", "batch", "sum")


class Terms(NamedTuple):
    """The values of a loss on one batch, and how they are summed up.

    Attributes:
      values: one per element, times the sample weight.
      mask: what counts, lined up with the values from the left; None for all.
      mass: how much each element counts in the normaliser "mask", shaped to line up
        with the values; None for 1 each.
      examples: the mask of the padding alone.
      weight: the weight at this step.
    """

    values: jax.Array
    mask: Any | None
    mass: Any | None
    examples: Any | None
    weight: Any


@dataclasses.dataclass(frozen=True, kw_only=True)
class Loss(Metric):
    """A loss: `weight · Σ values · mask / normaliser`.

    A subclass declares the keys of its inputs and gives `get_values`, which returns
    one value per element. What the mask drops is replaced by `masked_fill` before
    `get_values` runs, so neither the value nor the gradient sees it, NaN included.
    Half precision inputs are widened to float32 unless `compute_dtype` says otherwise.

    Attributes:
      weight: a number, or a function from the step to one, such as an optax schedule.
      mask: path of bools or non-negative numbers, lined up with the values from the
        left: `[b]` on values `[b, n]` keeps or drops rows.
      sample_weight: path of numbers that multiply the values, lined up with them from
        the left. Unlike the numbers of a mask they are not in the normaliser: an
        example of weight 2 counts as twice its loss, not as two examples.
      step: path of the step, read only if `weight` is a function.
      normalize_by: the normaliser. "mask": the sum of the mask over the values.
        "values": the number of values, masked or not. "batch": the number of
        examples. "sum": 1, over all batches that are merged. Padding never counts.
      compute_dtype: the dtype that floats are converted to before the formula:
        "bfloat16", which halves the memory of large logits, "float32" or "float64".
        None: float32, or float64 where an input is. Sums over the values are exact in
        each case.
      keep_zero_weight: whether a loss of the constant weight 0 stays in the total, so
        that its NaN is seen there.
      masked_fill: for a subclass: the number, or one per input, that stands in for
        masked entries; `get_values` must be smooth there.
      shared_inputs: for a subclass: names of inputs without an example axis.

    Raises:
      TypeError: `weight` is neither a number nor a function.
      ValueError: `normalize_by` or `compute_dtype` is not known.

    Example:
      ```
      @dataclasses.dataclass(frozen=True, kw_only=True)
      class Squared(kmetrics.Loss):
          preds: kontext.Key = kontext.REQUIRED
          targets: kontext.Key = kontext.REQUIRED

          def get_values(self, preds, targets):
              return (preds - targets) ** 2
      ```
    """

    higher_is_better = False

    State = LossState
    masked_fill: ClassVar[float | Mapping[str, float]] = 0.0
    shared_inputs: ClassVar[tuple[str, ...]] = ()

    weight: Weight = 1.0
    mask: kontext.Key | None = None
    sample_weight: kontext.Key | None = None
    step: kontext.Key = "step"
    normalize_by: NormalizeBy = "mask"
    compute_dtype: ComputeDtype | None = None
    keep_zero_weight: Flag = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "get_state" in cls.__dict__:
            raise StateDefinitionError(
                f"{cls.__name__} defines get_state, which is the same for all losses\n"
                "give get_values, one value per element; for a state of your own "
                "derive from kmetrics.Metric"
            )

    def __post_init__(self) -> None:
        name = type(self).__name__
        object.__setattr__(self, "weight", check_weight(self.weight, name))
        super().__post_init__()
        dtype = check_compute_dtype(self.compute_dtype, name)
        object.__setattr__(self, "compute_dtype", dtype)
        if self.normalize_by not in _NORMALIZE_BY:
            raise ValueError(
                f"{name}: normalize_by={self.normalize_by!r} is not known\n"
                f"use one of {', '.join(map(repr, _NORMALIZE_BY))}"
            )

    def get_values(self, *args: Any, **inputs: Any) -> Any:
        """One value per element, before mask and weight; any shape.

        With an argument `mask` it is told what counts, for a loss whose elements
        depend on one another; None for all.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define get_values")

    def get_mask(self, *args: Any, **inputs: Any) -> Any | None:
        """Which elements count, as far as the inputs tell; None for all.

        It is joined with the mask that is read, and lines up from the left.
        """
        return None

    def get_mass(self, *args: Any, **inputs: Any) -> Any | None:
        """How much each element counts in the normaliser "mask"; None for 1 each.

        For weights that are already in the values, such as those of classes.
        """
        return None

    def get_state(
        self,
        *,
        mask: Any | None = None,
        sample_weight: Any | None = None,
        step: Any | None = None,
        **inputs: Any,
    ) -> Any:
        """The state of one batch.

        Args:
          mask: bools or non-negative numbers, lined up with the values from the left.
          sample_weight: numbers, lined up in the same way.
          step: the step, needed if the weight is a schedule.
          **inputs: the inputs of `get_values`.

        Raises:
          ScheduleError: the weight is a schedule, and there is no step.
          TypeError: the schedule gives no number.
        """
        given = {"mask": mask, "sample_weight": sample_weight, "step": step}
        return self._state(self._terms(given | inputs, examples=None))

    def get_state_from_context(
        self,
        context: Any,
        *,
        mask: Any | None = None,
        example_roots: Collection[str] | None = None,
    ) -> Any:
        """The state of one batch, with the inputs read from `context`.

        Args, errors: as for `Metric.get_state_from_context`.
        """
        keyed, given = self._read(context, mask, example_roots)
        with reading(keyed):
            return on_automatic_axes(lambda x: self._state(self._terms(**x)), given)

    def terms_from_context(
        self,
        context: Any,
        *,
        mask: Any | None = None,
        example_roots: Collection[str] | None = None,
    ) -> Terms:
        """The values of one batch, before they are summed up.

        Args, errors: as for `Metric.get_state_from_context`.
        """
        keyed, given = self._read(context, mask, example_roots)
        with reading(keyed):
            return self._terms(**given)

    def _read(
        self, context: Any, mask: Any | None, example_roots: Collection[str] | None
    ) -> tuple[Loss, dict[str, Any]]:
        """The loss with the keys that it reads, and the arguments of `_terms`."""
        keyed = self
        if callable(self.weight):
            if not kontext.has(context, self.step):
                name = type(self).__name__
                raise no_step(name, f"the context has no {str(self.step)!r}")
        else:
            keyed = self.replace(step=None)
        inputs = kontext.resolve_from_keyed_obj(context, keyed)
        if not self.reads_from(example_roots):
            return keyed, {"inputs": inputs, "examples": None}
        shared = self._shared(example_roots)
        return keyed, {"inputs": inputs, "examples": mask, "shared": shared}

    def __kontext_func__(self) -> Callable[..., Any]:
        return self._call

    @property
    def _call(self) -> Callable[..., Any]:
        return call_of(type(self))

    def keypaths(self) -> tuple[str, ...]:
        """The paths it reads; the step only if the weight is a schedule."""
        keyed = self if callable(self.weight) else self.replace(step=None)
        return Metric.keypaths(keyed)

    def _shared(self, example_roots: Collection[str] | None) -> tuple[str, ...]:
        """Names of the inputs that are read from outside of the per-example data."""
        return tuple(
            name
            for name, tree in kontext.get_keypaths(self).items()
            if not leads_into(tree, example_roots)
        )

    def _terms(
        self,
        inputs: dict[str, Any],
        *,
        examples: Any | None,
        shared: tuple[str, ...] = (),
    ) -> Terms:
        inputs = dict(inputs)
        mask, sample_weight, step = (
            inputs.pop(name, None) for name in ("mask", "sample_weight", "step")
        )
        weight = self._weight_at(step)
        check_wide_floats(self.compute_dtype, type(self).__name__)
        inputs = {
            name: convert_floats(value, self.compute_dtype)
            for name, value in inputs.items()
        }
        both = combine_masks(combine_masks(mask, examples), self.get_mask(**inputs))
        if both is not None or sample_weight is not None:
            untouched = {*shared, *self.shared_inputs}
            inputs = {
                name: value
                if name in untouched
                else self._fill(name, value, both, sample_weight)
                for name, value in inputs.items()
            }
        told = {"mask": both} if wants_mask(type(self)) else {}
        values = jnp.asarray(self.get_values(**inputs, **told))
        if sample_weight is not None:
            factor = align_left(sample_weight, values.shape, what="sample_weight")
            values = jnp.where(factor == 0, 0.0, values * factor)
        if both is not None:
            both = self._mask_of_values(jnp.asarray(both), values.shape)
            both = align_left(both, values.shape)
        return Terms(values, both, self.get_mass(**inputs), examples, weight)

    def _mask_of_values(self, mask: jax.Array, shape: tuple[int, ...]) -> jax.Array:
        """The mask of the inputs as one of the values, for a loss that reduces axes."""
        return mask

    def _state(self, terms: Terms) -> LossState:
        raw, mass = masked_sums(terms.values, terms.mask)
        if terms.mass is not None:
            mass = masked_sums(
                jnp.broadcast_to(
                    align_left(terms.mass, terms.values.shape), terms.values.shape
                ),
                terms.mask,
            )[0]
        state = LossState(
            weighted=zero_pair() if self.is_off else scale_pair(raw, terms.weight),
            raw=raw,
            count=self._normaliser(terms.values, mass, terms.examples),
        )
        return state.with_parent(self)

    @property
    def is_off(self) -> bool:
        """Whether the weight is the constant 0, so that the loss is logged alone."""
        constant = not callable(self.weight)
        return constant and self.weight == 0 and not self.keep_zero_weight

    def _floats(self, x: Any) -> jax.Array:
        """`x` in the dtype of the formula."""
        return to_floats(x, self.compute_dtype)

    def _weight_at(self, step: Any | None) -> Any:
        if not callable(self.weight):
            return self.weight
        if step is None:
            raise no_step(type(self).__name__, "step is None")
        return scheduled(self.weight(step), type(self).__name__)

    def _fill(self, name: str, value: Any, mask: Any, sample_weight: Any) -> Any:
        fill = self.masked_fill
        number = fill.get(name, 0.0) if isinstance(fill, Mapping) else fill

        def of(leaf: Any) -> Any:
            if mask is not None:
                leaf = fill_masked(leaf, mask, number)
            if sample_weight is None:
                return leaf
            # An example of weight 0 counts, but its NaN must not.
            filled = fill_masked(leaf, sample_weight, number)
            if wants_mask(type(self)):
                # Other elements may depend on its numbers.
                return jnp.where(jnp.isfinite(leaf), leaf, filled)
            return filled

        return jax.tree.map(of, value)

    def _normaliser(self, values: jax.Array, mass: Pair, examples: Any | None) -> Pair:
        if self.normalize_by in ("mask", "sum"):
            return mass
        shape = values.shape
        if self.normalize_by == "batch":
            shape = shape[:1]
            if examples is not None:
                examples = jnp.asarray(examples)
                examples = examples.max(axis=tuple(range(1, examples.ndim)))
        return masked_sums(jnp.ones(shape, jnp.float32), examples)[1]
