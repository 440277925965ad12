"""What a loss is given: its weight, its arguments, the dtype of its inputs."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from kmetrics._errors import ScheduleError
from kmetrics._numerics import to_float32

Weight: TypeAlias = float | Callable[[Any], Any]
ComputeDtype: TypeAlias = Literal["bfloat16", "float32", "float64"]
_COMPUTE_DTYPES = ("bfloat16", "float32", "float64")
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
      ValueError: it is infinite or NaN.
    """
    if isinstance(weight, bool | np.bool_ | str) or weight is None:
        kind = "a bool" if isinstance(weight, bool | np.bool_) else repr(weight)
    elif callable(weight):
        return weight
    elif np.ndim(weight):
        kind = f"{type(weight).__name__} {list(np.shape(weight))}"
    else:
        try:
            number = float(weight)
        except (TypeError, ValueError):
            kind = f"of type {type(weight).__name__}"
        else:
            return _finite(number, name)
    raise TypeError(
        f"{name}: the weight must be a number, or a function from the step to one\n"
        f"  got {kind}"
    )


def _finite(weight: float, name: str) -> float:
    if not math.isfinite(weight):
        raise ValueError(f"{name}: the weight must be finite\n  got {weight}")
    return weight


def scheduled(weight: Any, name: str) -> Any:
    """What a schedule gave, if it is one number.

    Raises:
      TypeError: it is something else.
    """
    is_number = isinstance(weight, int | float) or hasattr(weight, "dtype")
    if is_number and jnp.ndim(weight) == 0:
        return weight
    kind = f"{weight.dtype}{list(weight.shape)}" if is_number else repr(weight)[:60]
    raise TypeError(
        f"{name}: the weight must be one number at each step\n"
        f"  the schedule gave {kind}"
    )


def check_compute_dtype(dtype: Any, name: str) -> str | None:
    """The name of the dtype of a formula; None stays.

    Raises:
      ValueError: it is not one of those that a loss is computed in.
    """
    if dtype is None:
        return None
    try:
        given = np.dtype(dtype).name
    except TypeError:
        given = repr(dtype)
    if given not in _COMPUTE_DTYPES:
        raise ValueError(
            f"{name}: compute_dtype={given} is no dtype to compute a loss in\n"
            f"use None or one of {', '.join(map(repr, _COMPUTE_DTYPES))}"
        )
    return given


def to_floats(x: Any, dtype: str | None) -> jax.Array:
    """`x` as an array of `dtype`; None: as floats of at least 32 bits."""
    return to_float32(x) if dtype is None else jnp.asarray(x, dtype)


def convert_floats(value: Any, dtype: str | None) -> Any:
    """`value` with its floats as `to_floats` makes them, through trees."""

    def convert(leaf: Any) -> Any:
        kind = getattr(leaf, "dtype", None)
        is_float = kind is not None and jnp.issubdtype(kind, jnp.floating)
        return to_floats(leaf, dtype) if is_float else leaf

    return jax.tree.map(convert, value)


def check_wide_floats(dtype: str | None, name: str) -> None:
    """Refuses float64 where jax would make float32 of it.

    Raises:
      ValueError: so it is.
    """
    if dtype == "float64" and not jax.config.read("jax_enable_x64"):
        raise ValueError(
            f'{name}: compute_dtype="float64" needs arrays of 64 bits\n'
            "  jax makes float32 of them\n"
            'call jax.config.update("jax_enable_x64", True) at the start'
        )


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
