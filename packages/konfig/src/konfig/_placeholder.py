"""Fields that wait for a value, and know which."""

from __future__ import annotations

from konfig import _convert
from konfig._const import Const
from konfig._errors import ConfigTypeError, RequiredValueError, short
from konfig._types import Mismatch, describe, fit, union_members
from konfig._typing import Any


class _Unset:
    __slots__ = ()

    def __repr__(self) -> str:
        return "<unset>"

    def __reduce__(self) -> str:
        return "UNSET"


UNSET = _Unset()


class Placeholder:
    """A declared field: its type, its default, and its value once it is set.

    Immutable. Made by `konfig.placeholder` and `konfig.required`.
    """

    __slots__ = ("default", "doc", "required", "type", "value")
    type: Any
    default: Any
    required: bool
    doc: str
    value: Any

    def __init__(
        self,
        type: Any,
        default: Any = None,
        required: bool = False,
        doc: str = "",
        value: Any = UNSET,
    ):
        put = object.__setattr__
        put(self, "type", type)
        put(self, "default", default)
        put(self, "required", required)
        put(self, "doc", doc)
        put(self, "value", value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a placeholder cannot be changed; set the field")

    def __reduce__(self) -> Any:
        return Placeholder, (
            self.type,
            self.default,
            self.required,
            self.doc,
            self.value,
        )

    def __repr__(self) -> str:
        kind = "required" if self.required else "placeholder"
        held = "" if self.value is UNSET else f" = {short(self.value)}"
        return f"<{kind} {self.type_text}{held}>"

    @property
    def type_text(self) -> str:
        """The declared type as a user writes it."""
        if isinstance(self.type, Const):
            return self.type.__const__.rpartition(":")[2]
        return describe(self.type)

    @property
    def type_names(self) -> tuple[str, ...]:
        """The names of the declared classes: one, or those of a union."""
        if isinstance(self.type, Const):
            return (self.type.__const__,)
        members = union_members(self.type) or (self.type,)
        return tuple([f"{kind.__module__}:{kind.__qualname__}" for kind in members])

    @property
    def _kinds(self) -> tuple[Any, ...]:
        return union_members(self.type) or (self.type,)

    @property
    def is_missing(self) -> bool:
        """Whether the field must be set and is not."""
        return self.required and self.value is UNSET

    def read(self) -> Any:
        """The value, or else the default.

        Raises:
          RequiredValueError: When there is neither.
        """
        if self.value is not UNSET:
            return self.value
        if self.required:
            raise RequiredValueError(f"a required {self.type_text} is not set")
        return self.default

    def filled(self, value: Any) -> Any:
        """What a field holds after it was set: the declaration with a scalar in it.

        A node, list or tuple takes the place of the declaration: what it is built to
        is known to `resolve` alone.

        Raises:
          ConfigTypeError: When the value is not of the declared type.
        """
        plain = type(value) in _PLAIN or _convert.is_path(value)
        if isinstance(value, list) and all(kind in _PLAIN for kind in self._kinds):
            raise ConfigTypeError(f"expected {self.type_text}, got {short(value)}")
        if isinstance(value, list) and self.type is tuple:
            value = tuple(list.__iter__(value))
        if (plain or type(value) is tuple) and not isinstance(self.type, Const):
            try:
                value = _convert.convert(fit(value, self.type))
            except Mismatch as mismatch:
                raise ConfigTypeError(
                    f"expected {mismatch.expected}, got {short(value)}"
                ) from None
        if not plain:
            return value
        return Placeholder(self.type, self.default, self.required, self.doc, value)


_PLAIN = frozenset((type(None), bool, int, float, complex, str, bytes))


def placeholder(
    type: Any = object, *, default: Any = None, required: bool = False, doc: str = ""
) -> Any:
    """A field to be set later, on the command line or in code.

    Args:
      type: A class or a union of classes; what is assigned is checked against it.
      default: What the field reads as long as it is not set.
      required: Whether `resolve` refuses a config in which it is not set.
      doc: What the field means, for people.

    Raises:
      ConfigTypeError: When the type is no class or has no importable name, or when the
        default is not of the type, or stands beside `required=True`.
    """
    for member in union_members(type) or (type,):
        if _convert.qualname_of(member) is None and member is not _NONE:
            raise ConfigTypeError(
                f"the type of a placeholder is a class or a union of classes, "
                f"not {short(type)}"
            )
    declared = Placeholder(type, None, required, doc)
    if default is None:
        return declared
    if required:
        raise ConfigTypeError(
            "a required field has no default", hint="drop one of them"
        )
    filled = declared.filled(_convert.convert(default))
    held = filled.value if isinstance(filled, Placeholder) else filled
    return Placeholder(type, held, required, doc)


def required(type: Any = object, doc: str = "") -> Any:
    """A field without which the config cannot be resolved.

    Args:
      type: A class or a union of classes; what is assigned is checked against it.
      doc: What the field means, for people.
    """
    return placeholder(type, required=True, doc=doc)


_NONE = type(None)
_convert.register(Placeholder)
