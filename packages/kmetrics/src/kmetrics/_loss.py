"""`Loss`: a metric that is minimised."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar, Literal, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._errors import ScheduleError, StateDefinitionError
from kmetrics._loss_state import LossState
from kmetrics._masks import combine_masks, fill_masked, masked_sums
from kmetrics._metric import Metric, leads_into
from kmetrics._numerics import Pair, scale_pair, to_pair, zero_pair

Weight: TypeAlias = float | Callable[[Any], Any]
NormalizeBy: TypeAlias = Literal["mask", "values", "batch", "sum"]
_NORMALIZE_BY = ("mask", "values", "batch", "sum")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Loss(Metric):
    """A loss: `weight · Σ values · mask / normaliser`.

    A subclass declares the keys of its inputs and gives `get_values`, which returns
    one value per element. What the mask drops is replaced by `masked_fill` before
    `get_values` runs, so neither the value nor the gradient sees it, NaN included.
    Half precision inputs are widened to float32.

    Attributes:
      weight: a number, or a function from the step to one, such as an optax schedule.
      mask: path of bools or non-negative numbers, lined up with the values from the
        left: `[b]` on values `[b, n]` keeps or drops rows.
      step: path of the step, read only if `weight` is a function.
      normalize_by: the normaliser. "mask": the sum of the mask over the values.
        "values": the number of values, masked or not. "batch": the number of
        examples. "sum": 1. Padding never counts.
      masked_fill: for a subclass: the number, or one per input, that stands in for
        masked entries; `get_values` must be smooth there.
      shared_inputs: for a subclass: names of inputs without an example axis.

    Raises:
      TypeError: `weight` is neither a number nor a function.
      ValueError: `normalize_by` is not known.

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

    State = LossState
    masked_fill: ClassVar[float | Mapping[str, float]] = 0.0
    shared_inputs: ClassVar[tuple[str, ...]] = ()

    weight: Weight = 1.0
    mask: kontext.Key | None = None
    step: kontext.Key = "step"
    normalize_by: NormalizeBy = "mask"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "get_state" in cls.__dict__:
            raise StateDefinitionError(
                f"{cls.__name__} defines get_state, which is the same for all losses\n"
                "give get_values, one value per element; for a state of your own "
                "derive from kmetrics.Metric"
            )

    def __post_init__(self) -> None:
        super().__post_init__()
        name = type(self).__name__
        object.__setattr__(self, "weight", _check_weight(self.weight, name))
        if self.normalize_by not in _NORMALIZE_BY:
            raise ValueError(
                f"{name}: normalize_by={self.normalize_by!r} is not known\n"
                f"use one of {', '.join(map(repr, _NORMALIZE_BY))}"
            )

    def get_values(self, *args: Any, **inputs: Any) -> Any:
        """One value per element, before mask and weight; any shape."""
        raise NotImplementedError(f"{type(self).__name__} does not define get_values")

    def get_mask(self, *args: Any, **inputs: Any) -> Any | None:
        """Which elements count, as far as the inputs tell; None for all.

        It is joined with the mask that is read, and lines up from the left.
        """
        return None

    def get_state(
        self, *, mask: Any | None = None, step: Any | None = None, **inputs: Any
    ) -> Any:
        """The state of one batch.

        Args:
          mask: bools or non-negative numbers, lined up with the values from the left.
          step: the step, needed if the weight is a schedule.
          **inputs: the inputs of `get_values`.

        Raises:
          ScheduleError: the weight is a schedule, and there is no step.
        """
        return self._state(inputs, mask=mask, step=step, examples=None)

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
        keyed = self
        if callable(self.weight):
            if not kontext.has(context, self.step):
                raise no_step(self, f"the context has no {str(self.step)!r}")
        else:
            keyed = self.replace(step=None)
        inputs = kontext.resolve_from_keyed_obj(context, keyed)
        own_mask, step = inputs.pop("mask", None), inputs.pop("step", None)
        reads_examples = self.reads_from(example_roots)
        return self._state(
            inputs,
            mask=own_mask,
            step=step,
            examples=mask if reads_examples else None,
            shared=self._shared(example_roots) if reads_examples else (),
        )

    def __kontext_func__(self) -> Callable[..., Any]:
        return _call_of(type(self))

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

    def _state(
        self,
        inputs: dict[str, Any],
        *,
        mask: Any | None,
        step: Any | None,
        examples: Any | None,
        shared: tuple[str, ...] = (),
    ) -> LossState:
        weight = self._weight_at(step)
        inputs = {name: _widen(value) for name, value in inputs.items()}
        both = combine_masks(combine_masks(mask, examples), self.get_mask(**inputs))
        if both is not None:
            untouched = {*shared, *self.shared_inputs}
            inputs = {
                name: value if name in untouched else self._fill(name, value, both)
                for name, value in inputs.items()
            }
        values = jnp.asarray(self.get_values(**inputs))
        raw, mass = masked_sums(values, both)
        state = LossState(
            weighted=zero_pair() if self.is_off else scale_pair(raw, weight),
            raw=raw,
            count=self._normaliser(values, mass, examples),
        )
        return state.with_parent(self)

    @property
    def is_off(self) -> bool:
        """Whether the weight is the constant 0, so that the loss is logged alone."""
        return not callable(self.weight) and self.weight == 0

    def _weight_at(self, step: Any | None) -> Any:
        if not callable(self.weight):
            return self.weight
        if step is None:
            raise no_step(self, "step is None")
        return self.weight(step)

    def _fill(self, name: str, value: Any, mask: Any) -> Any:
        fill = self.masked_fill
        number = fill.get(name, 0.0) if isinstance(fill, Mapping) else fill
        return jax.tree.map(lambda leaf: fill_masked(leaf, mask, number), value)

    def _normaliser(self, values: jax.Array, mass: Pair, examples: Any | None) -> Pair:
        if self.normalize_by == "mask":
            return mass
        if self.normalize_by == "sum":
            return to_pair(1.0)
        shape = values.shape
        if self.normalize_by == "batch":
            shape = shape[:1]
            if examples is not None:
                examples = jnp.asarray(examples)
                examples = examples.reshape(len(examples), -1).max(axis=1)
        return masked_sums(jnp.ones(shape, jnp.float32), examples)[1]


def no_step(loss: Loss, found: str) -> ScheduleError:
    """The error of a loss whose weight is a schedule, without a step."""
    return ScheduleError(
        f"the weight of {type(loss).__name__} is a schedule and needs the step\n"
        f"  {found}\n"
        "give step= a path that leads to the step, or the weight a number"
    )


def _check_weight(weight: Any, name: str) -> Any:
    if isinstance(weight, bool | np.bool_ | str) or weight is None:
        kind = "a bool" if isinstance(weight, bool | np.bool_) else repr(weight)
    elif callable(weight):
        return weight
    else:
        try:
            return float(weight)
        except (TypeError, ValueError):
            kind = f"of type {type(weight).__name__}"
    raise TypeError(
        f"{name}: the weight must be a number, or a function from the step to one\n"
        f"  got {kind}"
    )


def _widen(value: Any) -> Any:
    """`value` with half precision floats as float32, through trees."""

    def widen(leaf: Any) -> Any:
        dtype = getattr(leaf, "dtype", None)
        if dtype is None or not jnp.issubdtype(dtype, jnp.floating):
            return leaf
        return leaf if dtype.itemsize >= 4 else jnp.asarray(leaf, jnp.float32)

    return jax.tree.map(widen, value)


@functools.cache
def _call_of(loss: type[Loss]) -> Callable[..., Any]:
    """A function with the arguments of `get_values`, and `mask` and `step`."""
    signature = inspect.signature(loss.get_values)
    inputs = [p for p in signature.parameters.values() if p.name != "self"]
    extra = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
        for name in ("mask", "step")
    ]
    kwargs = [inputs.pop()] if inputs and inputs[-1].kind.name == "VAR_KEYWORD" else []

    def get_values(**inputs: Any) -> None:
        raise NotImplementedError

    get_values.__qualname__ = f"{loss.__name__}.get_values"
    get_values.__dict__["__signature__"] = signature.replace(
        parameters=[*inputs, *extra, *kwargs]
    )
    return get_values
