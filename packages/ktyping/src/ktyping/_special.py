"""Annotations for what describes arrays: `Shape`, `Axes`, `DType`."""

import operator
import typing
from typing import Any

from ktyping import _dims as d
from ktyping._checker import Checker, Trial, union_of
from ktyping._dtypes import canonical_dtype
from ktyping._failure import explain_shape, summary
from ktyping._hypothesis import Hypotheses
from ktyping._interpolate import fill
from ktyping._parser import parse
from ktyping._solve import match_shape


class ShapeType(Checker):
    """A list or tuple of whole numbers >= 0, with or without a shape spec.

    `Shape["*b t"]` binds dims as an array of that shape does.
    """

    __slots__ = ("spec",)
    has_arrays = True

    def __init__(self, spec: d.Spec | None = None):
        self.spec = spec

    def __getitem__(self, item: Any) -> "ShapeType":
        # The first of two items is for static checkers, as in `Float[Array, "n"]`.
        two = isinstance(item, tuple) and len(item) == 2
        sequence, text = item if two else (tuple, item)
        origin = typing.get_origin(sequence) or sequence
        if (
            not isinstance(text, str)
            or self.spec is not None
            or origin not in (tuple, list)
        ):
            raise TypeError(
                f"Shape[...] takes one shape spec, got {item!r}.\n"
                'Write `Shape["*b n"]` or `Shape[tuple[int, ...], "*b n"]`.'
            )
        return ShapeType(parse(text))

    def __or__(self, other: Any) -> Any:
        return union_of(self, other)

    def __ror__(self, other: Any) -> Any:
        return union_of(other, self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeType) and other.spec == self.spec

    def __hash__(self) -> int:
        return hash((ShapeType, self.spec and self.spec.text))

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Accepts sizes that fit the spec."""
        sizes = _sizes(value)
        if sizes is None:
            message = f"{summary(value)} is not a tuple of whole numbers >= 0"
            return trial.fail("type", where, message, repr(self), value)
        if self.spec is None:
            return hypotheses
        spec = fill(self.spec, trial.values or {})
        found = match_shape(spec, sizes, hypotheses, where)
        if not found and trial.failures is not None:
            trial.failures.append(explain_shape(spec, sizes, hypotheses, where))
        return found

    def __repr__(self) -> str:
        return "Shape" if self.spec is None else f"Shape[{self.spec.text!r}]"


def _sizes(value: Any) -> tuple[int, ...] | None:
    if not isinstance(value, list | tuple):
        return None
    sizes: list[int] = []
    for size in value:
        if isinstance(size, bool):
            return None
        try:
            sizes.append(operator.index(size))
        except TypeError:
            if not hasattr(size, "dimension_as_value"):
                return None
            sizes.append(size)
    return None if any(isinstance(s, int) and s < 0 for s in sizes) else tuple(sizes)


class _Plain(Checker):
    """A type without brackets that joins with others."""

    __slots__ = ()

    def __or__(self, other: Any) -> Any:
        return union_of(self, other)

    def __ror__(self, other: Any) -> Any:
        return union_of(other, self)

    def __reduce__(self) -> str:
        return repr(self)


class AxesType(_Plain):
    """One axis or several, counted from either end: `-1`, `(0, 2)`."""

    __slots__ = ()

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Accepts a whole number, or a list or tuple of them."""
        many = value if isinstance(value, list | tuple) else (value,)
        if all(map(_is_whole, many)):
            return hypotheses
        message = f"{summary(value)} is no axis and no list or tuple of axes"
        return trial.fail("type", where, message, "Axes", value)

    def __repr__(self) -> str:
        return "Axes"


class DTypeType(_Plain):
    """What stands for a dtype: `np.float32`, `jnp.float32`, `"float32"`, `float`."""

    __slots__ = ()

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Accepts what names a dtype."""
        if canonical_dtype(value) is not None:
            return hypotheses
        message = f"{summary(value)} stands for no dtype"
        return trial.fail("type", where, message, "DType", value)

    def __repr__(self) -> str:
        return "DType"


def _is_whole(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


Shape, Axes, DType = ShapeType(), AxesType(), DTypeType()
