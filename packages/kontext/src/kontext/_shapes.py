"""Shape structs in place of arrays: what indexing would give, without the values."""

from __future__ import annotations

from typing import Any

from kontext._parts import MISSING, Part, is_axes
from kontext._read_part import axes_fit, read_part


class ShapeSpec:
    """The shape and dtype that a part of a shape struct has."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape = shape
        self.dtype = dtype


def read_spec_part(node: Any, part: Part) -> Any:
    """What `part` names below a node, where shape structs stand for arrays."""
    found = read_part(node, part)
    if found is not MISSING or not is_shape_struct(node):
        return found
    axes = part if is_axes(part) else (part,)
    if not is_axes(axes) or not axes_fit(node.shape, axes):
        return MISSING
    return ShapeSpec(indexed_shape(tuple(node.shape), axes), node.dtype)


def is_shape_struct(node: Any) -> bool:
    """Whether a node stands for an array without being one."""
    cls = type(node)
    return (
        hasattr(node, "shape")
        and hasattr(node, "dtype")
        and not hasattr(cls, "__getitem__")
    )


def indexed_shape(shape: tuple[int, ...], axes: tuple[Any, ...]) -> tuple[int, ...]:
    """The shape of `x[axes]` for an `x` of that shape, as numpy defines it."""
    used = sum(axis is not None and axis is not Ellipsis for axis in axes)
    if Ellipsis not in axes:
        axes = (*axes, Ellipsis)
    result: list[int] = []
    rest = list(shape)
    for axis in axes:
        if axis is None:
            result.append(1)
        elif axis is Ellipsis:
            kept = len(shape) - used
            result += rest[:kept]
            del rest[:kept]
        else:
            size = rest.pop(0)
            if type(axis) is slice:
                result.append(len(range(*axis.indices(size))))
    return tuple(result)
