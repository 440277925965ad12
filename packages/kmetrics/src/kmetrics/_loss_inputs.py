"""What a loss is given: its weight, its arguments, the dtype of its inputs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from kmetrics._errors import ScheduleError

Weight: TypeAlias = float | Callable[[Any], Any]
_OF_ALL = ("mask", "sample_weight", "step")


def no_step(name: str, found: str) -> ScheduleError:
    """The error of a loss whose weight is a schedule, without a step."""
    return ScheduleError(
        f"the weight of {name} is a schedule and needs the step\n"
        f"  {found}\n"
        "give step= a path that leads to the step, or the weight a number"
    )


def check_weight(weight: Any, name: str) -> Any:
    """`weight` as a float, or as the function from the step that it is.

    Raises:
      TypeError: it is neither.
    """
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


def widen_half(value: Any) -> Any:
    """`value` with half precision floats as float32, through trees."""

    def widen(leaf: Any) -> Any:
        dtype = getattr(leaf, "dtype", None)
        if dtype is None or not jnp.issubdtype(dtype, jnp.floating):
            return leaf
        return leaf if dtype.itemsize >= 4 else jnp.asarray(leaf, jnp.float32)

    return jax.tree.map(widen, value)


@functools.cache
def call_of(loss: type[Any]) -> Callable[..., Any]:
    """A function with the arguments of `get_values` and those of every loss."""
    signature = inspect.signature(loss.get_values)
    inputs = [
        p for p in signature.parameters.values() if p.name not in ("self", *_OF_ALL)
    ]
    extra = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
        for name in _OF_ALL
    ]
    kwargs = [inputs.pop()] if inputs and inputs[-1].kind.name == "VAR_KEYWORD" else []

    def get_values(**inputs: Any) -> None:
        raise NotImplementedError

    get_values.__qualname__ = f"{loss.__name__}.get_values"
    get_values.__dict__["__signature__"] = signature.replace(
        parameters=[*inputs, *extra, *kwargs]
    )
    return get_values


@functools.cache
def wants_mask(loss: type[Any]) -> bool:
    """Whether `get_values` of a loss asks for the mask."""
    return "mask" in inspect.signature(loss.get_values).parameters
