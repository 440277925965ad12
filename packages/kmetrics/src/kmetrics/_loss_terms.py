"""Looking into a total loss: per example, and at the term that is not finite."""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Mapping
from typing import Any

import jax
import jax.numpy as jnp

from kmetrics._errors import NonFiniteLossError
from kmetrics._fetch import fetch
from kmetrics._loss import Loss, Terms
from kmetrics._masks import align_left
from kmetrics._metric import check_roots
from kmetrics._names import flatten_names
from kmetrics._numerics import to_float32
from kmetrics._packed import unpacked

_SHOWN = 8


def per_example_loss(
    losses: Mapping[str, Any],
    context: Any,
    *,
    mask: Any | None = None,
    example_roots: Collection[str] | None = None,
) -> tuple[jax.Array, dict[str, jax.Array]]:
    """The weighted sum of named losses for each example, to find the worst ones.

    The normaliser of a loss is taken over the example alone: with "mask" and "values"
    its value is a mean over the elements of the example, else their sum. An example
    that does not count has the loss 0. Works under jit and grad.

    Args:
      losses: names to losses, or to further mappings; nested names join with "/".
      context: what the key paths of the losses are read from.
      mask: which examples count, bool or float `[b]`.
      example_roots: first parts of the paths that lead to data with an example axis;
        a loss that reads none of them is left out. None: all have such an axis.

    Returns:
      The totals, float32 `[b]`; and name to weighted values `[b]`.

    Raises:
      TypeError: an entry is not a `Loss`.
      ValueError: no loss has an example axis, or two have different ones.
    """
    check_roots(context, example_roots)
    values: dict[str, jax.Array] = {}
    for name, loss in flatten_names(losses, what="loss").items():
        if not isinstance(loss, Loss):
            raise TypeError(f"{name!r} is not a Loss\n  got {type(loss).__name__}")
        if not loss.reads_from(example_roots):
            continue
        try:
            terms = loss.terms_from_context(
                context, mask=mask, example_roots=example_roots
            )
        except Exception as error:
            error.add_note(f"loss {name}")
            raise
        values[name] = _per_example(loss, terms)
    shapes = {name: value.shape for name, value in values.items()}
    if len(set(shapes.values())) != 1 or () in shapes.values():
        raise ValueError(
            "per_example_loss: the losses must have one value or more per example\n  "
            + ", ".join(f"{name} {list(shape)}" for name, shape in shapes.items())
        )
    return functools.reduce(jnp.add, values.values()), values


def check_finite_losses(states: Mapping[str, Any]) -> None:
    """Raises an error that names the first loss that is not finite; on the host.

    Args:
      states: name to state, as `total_loss` gives them.

    Raises:
      NonFiniteLossError: a loss that is in the total is NaN or infinite.
    """
    fetched = fetch(unpacked(states))
    values = {name: float(state.compute()) for name, state in fetched.items()}
    bad = [name for name, value in values.items() if not math.isfinite(value)]
    if not bad:
        return
    # The one to blame is among the first to be shown.
    shown = [*bad, *(name for name in values if name not in bad)][:_SHOWN]
    raise NonFiniteLossError(
        f"the loss {bad[0]!r} is {values[bad[0]]}\n  "
        + ", ".join(f"{name} {values[name]:.6g}" for name in shown)
        + (f", and {len(values) - _SHOWN} more" if len(values) > _SHOWN else "")
        + "\nlook at the inputs of this loss; per_example_loss shows which examples"
    )


def _per_example(loss: Loss, terms: Terms) -> jax.Array:
    values = to_float32(terms.values)
    if values.ndim == 0:
        return values
    rows, factor = values, jnp.ones_like(values)
    if terms.mask is not None:
        mask = jnp.broadcast_to(align_left(terms.mask, values.shape), values.shape)
        keep = mask != 0
        factor = jnp.where(keep, to_float32(mask), 0.0)
        rows = jnp.where(keep, values, 0.0) * factor
    if terms.mass is not None:
        factor = factor * align_left(terms.mass, values.shape)
    if loss.is_off:
        return jnp.zeros(len(values), jnp.float32)
    axes = tuple(range(1, values.ndim))
    total = terms.weight * jnp.sum(rows, axis=axes)
    if loss.normalize_by not in ("mask", "values"):
        return total
    own = factor if loss.normalize_by == "mask" else jnp.ones_like(values)
    count = jnp.sum(own, axis=axes)
    return jnp.where(count == 0, 0.0, total / jnp.where(count == 0, 1.0, count))
