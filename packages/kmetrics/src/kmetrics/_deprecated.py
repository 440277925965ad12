"""Old names, kept until 0.3 for states that were written for Kauldron."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

from kmetrics._auto import AutoState
from kmetrics._field_kinds import Truncate
from kmetrics._fields import Concat, static_field
from kmetrics._register import fields_of, state


class _Collects:
    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__ != __name__:
            warnings.warn(
                f"{cls.__name__} derives from a state of an old name, which kmetrics "
                "0.3 leaves out\nderive from kmetrics.AutoState, and write "
                "= kmetrics.concat_field() or truncate_field(num) behind each field",
                DeprecationWarning,
                stacklevel=2,
            )


@state
class CollectingState(_Collects, AutoState):
    """An `AutoState` whose unmarked fields are a `concat_field`. Deprecated."""

    _unmarked_fields_are_static: ClassVar[bool] = False
    _unmarked_kind: ClassVar[Any] = Concat(0)

    def compute(self) -> dict[str, Any]:
        """Name of the field to numpy array; None if no data came."""
        names = (f.name for f in fields_of(type(self)) if f.name != "_parent")
        return {name: getattr(self, name) for name in names}


@state
class CollectFirstState(_Collects, AutoState):
    """An `AutoState` whose unmarked fields keep the first rows. Deprecated.

    Attributes:
      keep_first: how many rows; None: that of the state it merges with.
    """

    _unmarked_fields_are_static: ClassVar[bool] = False
    _unmarked_kind: ClassVar[Any] = Truncate("keep_first", 0)

    keep_first: int | None = static_field(default=None, kw_only=True)

    def merge(self, other: Self) -> Self:
        """The first rows of both."""
        kept = [s.keep_first for s in (self, other) if s.keep_first is not None]
        if not kept:
            return super().merge(other)
        a, b = (
            s.replace(keep_first=kept[0]) if s.keep_first is None else s
            for s in (self, other)
        )
        return super(CollectFirstState, a).merge(b)

    def compute(self) -> dict[str, Any]:
        """Name of the field to numpy array; None if no data came."""
        names = (f.name for f in fields_of(type(self)))
        return {
            n: getattr(self, n) for n in names if n not in ("_parent", "keep_first")
        }
