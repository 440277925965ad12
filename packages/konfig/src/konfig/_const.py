"""Constants: importable things by name, and the grammar of such names."""

from __future__ import annotations

from konfig._errors import ConfigAttributeError, ConfigValueError
from konfig._typing import Any

GRAMMAR = "module.path:Attr.path (a module alone is written 'module.path:')"


def check_qualname(text: Any, *, callable_needed: bool = False) -> str:
    """Gives the name back, or says why it is none.

    Args:
      text: `"module:attr"`, `"module:"`, or the older `"module.attr"`.
      callable_needed: Whether the name must lead to something inside a module.

    Raises:
      ConfigValueError: When the text does not follow the grammar.
    """
    if not _is_qualname(text, callable_needed):
        raise ConfigValueError(f"malformed name {text!r}: expected {GRAMMAR}")
    return text


def _is_qualname(text: Any, callable_needed: bool) -> bool:
    if not isinstance(text, str):
        return False
    module, colon, rest = text.partition(":")
    words = module.split(".") + (rest.split(".") if rest else [])
    if not all(word.isidentifier() for word in words):
        return False
    return not callable_needed or (bool(rest) if colon else len(words) > 1)


def dotted(qualname: str) -> str:
    """The canonical form for comparisons: where the module ends is not told."""
    return qualname.replace(":", ".").rstrip(".")


class Const:
    """An importable thing, by name: a class, a function, a module or a constant.

    Immutable and hashable. It is imported by `konfig.resolve` alone.

    Args:
      qualname: `"jax.numpy:bfloat16"`; a module is written `"pathlib:"`.

    Raises:
      ConfigValueError: When the name is malformed.
    """

    __slots__ = ("_konfig_qualname", "_konfig_trusted")
    _konfig_qualname: str
    _konfig_trusted: bool

    def __init__(self, qualname: str):
        object.__setattr__(self, "_konfig_qualname", check_qualname(qualname))
        object.__setattr__(self, "_konfig_trusted", True)

    @property
    def __const__(self) -> str:
        return self._konfig_qualname

    def __getattr__(self, name: str) -> Any:
        if name[:1] == "_":
            raise AttributeError(f"a constant has no attribute {name!r}")
        raise ConfigAttributeError(
            f"{self._konfig_qualname} is a name until konfig.resolve imports it, so "
            f"it has no attribute {name!r}",
            hint="name the attribute itself: konfig.Const('module:Name.attribute')",
        )

    def __setattr__(self, name: str, value: Any) -> None:
        raise ConfigAttributeError(
            f"a constant cannot be changed: {self!r}",
            hint="assign a new constant: cfg.field = konfig.Const('module:name')",
        )

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, Const):
            return NotImplemented
        return dotted(self._konfig_qualname) == dotted(other._konfig_qualname)

    def __hash__(self) -> int:
        return hash(dotted(self._konfig_qualname))

    def __repr__(self) -> str:
        return f"Const({self._konfig_qualname!r})"

    def __copy__(self) -> Const:
        return self

    def __deepcopy__(self, memo: Any) -> Const:
        return self

    def __reduce__(self) -> Any:
        return make_const, (self._konfig_qualname, self._konfig_trusted)


def make_const(qualname: str, trusted: bool) -> Const:
    """A constant whose trust is not that of the program's own text."""
    const = Const(qualname)
    object.__setattr__(const, "_konfig_trusted", trusted)
    return const


def is_trusted(const: Const) -> bool:
    """Whether the program itself, not data from outside, named the constant."""
    return const._konfig_trusted
