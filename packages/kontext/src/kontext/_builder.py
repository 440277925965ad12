"""Paths written as Python: `batch.image[..., 0]` instead of a text."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar, cast

from kontext._errors import PathTypeError
from kontext._hints import (
    UNKNOWN,
    annotation_names,
    child_hint,
    child_names,
    is_sequence,
    type_name,
)
from kontext._parts import normalize_part
from kontext._path import Path, PathLike, as_path
from kontext._suggest import nearest

_T = TypeVar("_T")


class _Built(NamedTuple):
    """What a builder has recorded, and the type that lies there."""

    path: Path
    hint: Any


class DynamicPathBuilder:
    """Records attributes and items as a path; every name is accepted.

    `str(builder)` is the canonical text, and every function of kontext takes a
    builder for a path. Builders are equal if their paths are.

    Args:
      prefix: The path to begin with.
    """

    # A name that no path is likely to need; all others are recorded.
    __slots__ = ("_kontext_built",)

    def __init__(self, prefix: PathLike = "") -> None:
        object.__setattr__(self, "_kontext_built", _Built(as_path(prefix), UNKNOWN))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(f"a path builder records no dunder name: {name!r}")
        return _step(self, name)

    def __getitem__(self, part: Any) -> Any:
        return _step(self, normalize_part(part))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a path builder cannot be changed: {name!r}")

    # With __getitem__ alone, iteration would never end.
    __iter__ = None

    def __kontext_path__(self) -> Path:
        return _built(self).path

    def __as_konfig__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return str(_built(self).path)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DynamicPathBuilder):
            return NotImplemented
        return _built(self).path == _built(other).path

    def __hash__(self) -> int:
        return hash(_built(self).path)

    def __dir__(self) -> list[str]:
        return list(child_names(_built(self).hint) or ())

    def __copy__(self) -> DynamicPathBuilder:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> DynamicPathBuilder:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _make, _built(self)


def _built(builder: DynamicPathBuilder) -> _Built:
    return object.__getattribute__(builder, "_kontext_built")


def _make(path: Path, hint: Any) -> DynamicPathBuilder:
    builder = DynamicPathBuilder(path)
    object.__setattr__(builder, "_kontext_built", _Built(path, hint))
    return builder


def _step(builder: DynamicPathBuilder, part: Any) -> DynamicPathBuilder:
    """The builder for one part below, if the type that is known there has it."""
    path, hint = _built(builder)
    try:
        below = child_hint(hint, part)
    except LookupError:
        raise AttributeError(_no_name(path, hint, part)) from None
    return _make(path / (part,), below)


def _no_name(path: Path, hint: Any, part: Any) -> str:
    """The message for a name that a type does not have."""
    first = f"no {part!r} at {str(path)!r} ({type_name(hint)})"
    if is_sequence(hint):
        return f"{first}\n  its items are read by index: {path / (0,)}"
    names = child_names(hint) or ()
    lines = [first, f"  fields: {', '.join(map(repr, names[:20]))}"]
    near = nearest(str(part), names)
    if near:
        lines.append(f"  did you mean: {path / near[0]} ?")
    return "\n".join(lines)


def path_builder_from(prefix: PathLike, cls: type[_T]) -> _T:
    """A builder of paths below `prefix` that knows the fields of a class.

    It is typed as an instance of `cls`, so that editors complete its names, and it
    checks them: fields of dataclasses, named tuples, typed dicts and annotated
    classes, through `X | None`, `list[X]`, `tuple[X, ...]` and `dict[str, X]`. Below
    a type that tells nothing, such as `Any`, every name is accepted.

    Args:
      prefix: Where the values of the class lie in the context.
      cls: The class, or an annotation.

    Raises:
      AttributeError: On a name that the class does not have, with the nearest ones.
    """
    return cast(_T, _make(as_path(prefix), cls))


class AnnotatedPathBuilder(DynamicPathBuilder):
    """Base of builders that are declared as classes: their fields are the root.

    A subclass annotates what the context holds; `Ctx().batch.image` is then the
    path `Ctx.batch.image`, below the name of the class, and other names are refused.
    """

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name in annotation_names(cls):
            if name in vars(cls):
                raise PathTypeError(
                    f"the field {name!r} of {cls.__name__} has a value\n"
                    "  a path builder names places: annotate the field, and no more"
                )

    def __init__(self) -> None:
        if type(self) is AnnotatedPathBuilder:
            raise PathTypeError("AnnotatedPathBuilder is a base: annotate a subclass")
        object.__setattr__(
            self, "_kontext_built", _Built(Path(type(self).__name__), type(self))
        )
