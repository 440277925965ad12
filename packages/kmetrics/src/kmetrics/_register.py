"""The `state` decorator: a class becomes a frozen dataclass that jax can carry."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar, dataclass_transform

import jax

from kmetrics._errors import StateDefinitionError

T = TypeVar("T")

# `pytree_node` is what flax.struct.dataclass reads: a field marked static stays
# static when a user decorates a state with that instead of `kmetrics.state`.
STATIC = {"static": True, "pytree_node": False}
DATA = {"static": False, "pytree_node": True}


@dataclass_transform(
    frozen_default=True, field_specifiers=(dataclasses.field, dataclasses.Field)
)
def state(cls: type[T], /) -> type[T]:
    """Makes `cls` a frozen dataclass and registers it as a pytree.

    Fields are arrays (children of the pytree) unless they are made with
    `kmetrics.static_field`; in a subclass of `AutoState` it is the other way round,
    because there every array field says how it merges.

    Args:
      cls: a class with annotations, or a frozen dataclass already.

    Raises:
      StateDefinitionError: `cls` is a dataclass that is not frozen, or a field is
        declared in a way that jit could not carry.
    """
    if "__dataclass_params__" not in cls.__dict__:
        cls = dataclasses.dataclass(frozen=True, eq=False)(cls)
    elif not vars(cls)["__dataclass_params__"].frozen:
        raise StateDefinitionError(
            f"the state {cls.__name__} is a dataclass that can be changed\n"
            "states are shared between steps: write "
            "@dataclasses.dataclass(frozen=True)"
        )
    check = getattr(cls, "_check_fields", None)
    if check is not None:
        check()
    static = {f.name: is_static(cls, f) for f in fields_of(cls)}
    jax.tree_util.register_dataclass(
        cls,
        data_fields=[name for name, is_meta in static.items() if not is_meta],
        meta_fields=[name for name, is_meta in static.items() if is_meta],
    )
    setattr(cls, "_registered_as_state", cls)  # noqa: B010
    return cls


def fields_of(cls: Any) -> tuple[dataclasses.Field[Any], ...]:
    """The fields of a dataclass."""
    return dataclasses.fields(cls)


def is_static(cls: type, field: dataclasses.Field[Any]) -> bool:
    """Whether `field` belongs to the structure of the pytree, not to its leaves."""
    unmarked = getattr(cls, "_unmarked_fields_are_static", False)
    # As flax.struct writes it.
    is_node = field.metadata.get("pytree_node", not unmarked)
    return bool(field.metadata.get("static", not is_node))


def is_registered(cls: type) -> bool:
    """Whether jax knows `cls` itself, not only a base class of it."""
    return (
        getattr(cls, "_registered_as_state", None) is cls
        or "_flax_dataclass" in cls.__dict__
    )
