"""`AutoState`: a state whose fields say how they merge."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable
from typing import Any, ClassVar, Self

import jax
import numpy as np

from kmetrics._calls import note_once
from kmetrics._errors import MergeError, StateDefinitionError
from kmetrics._fields import KIND, Unset
from kmetrics._numerics import Pair, is_traced
from kmetrics._register import fields_of, is_static, state
from kmetrics._state import State

_NOT_YET_KNOWN = (
    jax.errors.TracerArrayConversionError,
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerIntegerConversionError,
)
_ARRAY_ANNOTATION = re.compile(
    r"\b(Array|ndarray|Num|Float\d*|BFloat16|S?Int\d*|UInt\d*|Bool|Complex\d*)\b"
)


@state
class AutoState(State):
    """A state that is declared by its fields; `merge` and `empty` follow.

    Each array field is made by `sum_field`, `mean_field`, `min_field`, `max_field`,
    `concat_field` or another function of such a name, and holds an array or a tree of
    arrays. A field without one is static: it must be hashable, and equal when merging.

    Inside `compute` the fields are plain numpy values. Everywhere else a sum is a
    `Pair` and a mean an `AverageState`.

    Example:
      ```
      @kmetrics.state
      class Ratio(kmetrics.AutoState):
          hits: jax.Array = kmetrics.sum_field()
          tries: jax.Array = kmetrics.sum_field()

          def compute(self):
              return self.hits / self.tries
      ```
    """

    _unmarked_fields_are_static: ClassVar[bool] = True
    _unmarked_kind: ClassVar[Any] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "compute" in cls.__dict__:
            setattr(cls, "compute", _on_plain_values(cls.__dict__["compute"]))  # noqa: B010

    @classmethod
    def _check_fields(cls) -> None:
        """Run once by `kmetrics.state`: collects the kinds, refuses stray arrays."""
        for field in fields_of(cls):
            known = KIND in field.metadata or "static" in field.metadata
            if (
                not known
                and cls._unmarked_kind is None
                and _ARRAY_ANNOTATION.search(_text(field.type))
            ):
                raise StateDefinitionError(
                    f"field {field.name!r} of {cls.__name__} does not say how it "
                    f"merges\n  annotated {_text(field.type)}\n"
                    "write = kmetrics.sum_field(), mean_field(), min_field(), "
                    "max_field(), concat_field() or another field;\n"
                    "a setting that never merges is a kmetrics.static_field()"
                )

    @property
    def merges_on_device(self) -> bool:
        """Whether `merge` may run under jit: False if a field collects on the host."""
        return all(
            kind.device and _merge_on_device(kind, getattr(self, name))
            for name, kind in _kinds_of(type(self)).items()
        )

    @property
    def adds_up(self) -> bool:
        """Whether all fields add up and hold data."""
        cls = type(self)
        return cls.merge is AutoState.merge and all(
            kind.lane == "sum" and type(getattr(self, name)) is not Unset
            for name, kind in _kinds_of(cls).items()
        )

    @property
    def lanes(self) -> tuple[str, ...] | None:
        """How each array merges, if all fields hold sums, minima or maxima."""
        cls = type(self)
        if cls.merge is not AutoState.merge:
            return None
        lanes: list[str] = []
        for name, kind in _kinds_of(cls).items():
            value = getattr(self, name)
            if type(value) is Unset or not kind.lane:
                return None
            leaves = jax.tree.leaves(value, is_leaf=lambda x: type(x) is Pair)
            if kind.lane != "sum" and any(x.dtype != np.float32 for x in leaves):
                return None
            lanes += [kind.lane] * len(leaves)
        return tuple(lanes)

    def __post_init__(self) -> None:
        super().__post_init__()
        kinds = _kinds_of(type(self))
        for name, value in self.__dict__.items():
            kind = kinds.get(name)
            if kind is None:
                _check_static(self, name, value)
            elif value is not None:
                try:
                    self.__dict__[name] = self._stored(kind, value)
                except Exception as error:
                    error.add_note(f"field {name!r} of {type(self).__name__}")
                    raise

    def _stored(self, kind: Any, value: Any) -> Any:
        if not _is_node(kind, value):
            value = _map_nodes(kind, _stored_by(kind), value)
        if hasattr(kind, "trim"):
            kind = kind.bound_to(self)
            value = _map_nodes(kind, kind.trim, value, unset=value)
        return value

    @classmethod
    def empty(cls, **static: Any) -> Self:
        """The state of no data, whose fields take the shape of what they merge with.

        As a carry of `jax.lax.scan`, whose structure may not change, use
        `empty_like`.

        Args:
          **static: values of static fields without a default.
        """
        unset: dict[str, Any] = dict.fromkeys(_kinds_of(cls), Unset())
        return cls(**unset, **static)

    def empty_like(self) -> Self:
        """The state of no data with the shapes of this one: sums 0, minima inf, ...

        A field that collects on the host becomes an array of length 0.
        """
        fresh = {
            name: _map_nodes(kind, kind.empty_like, getattr(self, name), unset=Unset())
            for name, kind in _kinds_of(type(self)).items()
        }
        return dataclasses.replace(self, **fresh)

    def merge(self, other: Self) -> Self:
        """The state of the data of both, field by field.

        Raises:
          MergeError: different kinds of state, other static fields, other shapes, or
            a field that is None on one side.
          HostOnlyError: a collecting field was merged under jit.
        """
        parent = self.merged_parent(other)
        kinds = _kinds_of(type(self))
        for name in self.__dict__.keys() - kinds.keys() - {"_parent"}:
            if getattr(self, name) != getattr(other, name):
                raise MergeError(
                    f"{type(self).__name__} states differ in the static field "
                    f"{name!r}\n  {getattr(self, name)!r} and {getattr(other, name)!r}"
                )
        merged = {name: self._merge_field(other, name) for name in kinds}
        return dataclasses.replace(self, **merged, _parent=parent)

    def finalize(self) -> Self:
        """This state on the host, with what it collected joined; still mergeable."""
        fetched = super().finalize()
        joined = {
            name: _map_nodes(kind, kind.finalize, getattr(fetched, name), unset=Unset())
            for name, kind in _kinds_of(type(self)).items()
            if hasattr(kind, "finalize")
        }
        return dataclasses.replace(fetched, **joined) if joined else fetched

    def _merge_field(self, other: Self, name: str) -> Any:
        kind = _kinds_of(type(self))[name]
        a, b = getattr(self, name), getattr(other, name)
        if type(a) is Unset or type(b) is Unset:
            return b if type(a) is Unset else a
        try:
            if (a is None) != (b is None):
                raise MergeError(
                    "it is None in one of the two states, and holds data in the other\n"
                    "a field is None in all states of a metric, or in none"
                )
            if _structure(kind, a) != _structure(kind, b):
                raise MergeError(
                    "its trees differ between the two states\n"
                    f"  {_structure(kind, a)}\n  {_structure(kind, b)}\n"
                    "a field has the same structure in all states of a metric"
                )
            return _map_nodes(kind, kind.merge, a, b)
        except Exception as error:
            error.add_note(f"field {name!r} of {type(self).__name__}")
            raise

    def plain(self) -> Self:
        """A view of this state with plain values in its fields, for `compute`.

        Sums are float64 numpy numbers, means floats, collected arrays joined. A field
        that never got data is 0, NaN, ±inf, or None if it collects.
        """
        view = object.__new__(type(self))
        fetched = self if is_traced(self) else jax.device_get(self)
        view.__dict__.update(fetched.__dict__)
        for name, kind in _kinds_of(type(self)).items():
            view.__dict__[name] = _map_nodes(
                kind, kind.show, getattr(fetched, name), unset=kind.nothing
            )
        view.__dict__["_is_plain"] = True
        return view


@functools.cache
def _kinds_of(cls: type) -> dict[str, Any]:
    unmarked = getattr(cls, "_unmarked_kind", None)
    kinds = {
        field.name: field.metadata.get(
            KIND, None if is_static(cls, field) else unmarked
        )
        for field in fields_of(cls)
    }
    return {name: kind for name, kind in kinds.items() if kind is not None}


def _is_node(kind: Any, value: Any) -> bool:
    if kind.node is State:
        return isinstance(value, State | Unset)
    return type(value) is Unset or type(value) is kind.node


def _merge_on_device(kind: Any, value: Any) -> bool:
    if kind.node is not State:
        return True
    inner = jax.tree.leaves(value, is_leaf=lambda v: _is_node(kind, v))
    return all(getattr(state, "merges_on_device", True) for state in inner)


def _stored_by(kind: Any) -> Callable[[Any], Any]:
    return lambda leaf: leaf if _is_node(kind, leaf) else kind.store(leaf)


def _map_nodes(
    kind: Any, function: Callable[..., Any], *trees: Any, unset: Any = None
) -> Any:
    """`function` on what a field stores per leaf; `unset` if it has no data."""
    if type(trees[0]) is Unset:
        return unset
    return jax.tree.map(function, *trees, is_leaf=lambda v: _is_node(kind, v))


def _structure(kind: Any, tree: Any) -> Any:
    return jax.tree.structure(tree, is_leaf=lambda v: _is_node(kind, v))


def _check_static(owner: AutoState, name: str, value: Any) -> None:
    if isinstance(value, (jax.Array, np.ndarray, State)):
        raise StateDefinitionError(
            f"field {name!r} of {type(owner).__name__} is static, but holds data "
            f"of type {type(value).__name__}\n"
            "write = kmetrics.sum_field() or one of the other fields, to say how it "
            "merges"
        )


def _text(annotation: Any) -> str:
    if isinstance(annotation, type):
        return annotation.__name__.rpartition(".")[2]
    return str(annotation)


def _on_plain_values(compute: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`compute` of a subclass, always called with plain values in the fields."""

    @functools.wraps(compute)
    def on_plain_values(self: AutoState) -> Any:
        if "_is_plain" in self.__dict__:
            return compute(self)
        # 0 / 0 of a state without data is NaN, not a warning.
        with np.errstate(divide="ignore", invalid="ignore"):
            try:
                return compute(self.plain())
            except _NOT_YET_KNOWN as error:
                name = type(self if self.parent is None else self.parent).__name__
                note_once(
                    error,
                    f"the value of {name} is computed on the host, not under jit: "
                    "return the state from the jitted function, and call compute there",
                )
                raise

    return on_plain_values
