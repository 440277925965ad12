"""Which fields of a class are keys, read from its annotations.

An annotation that is a text is evaluated as a whole; if a name in it is not known at
run time (an import under `TYPE_CHECKING`, a class of a function), its names are
looked up one by one, so that they hide no key.
"""

from __future__ import annotations

import ast
import collections.abc
import sys
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, get_origin


class KeyMark:
    """What the annotation of a key carries as metadata."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"kontext.{self.name}"


KEY_MARK = KeyMark("Key")
GLOB_MARK = KeyMark("KeyGlob")

_MARK_OF_NAME = {
    "Key": KEY_MARK,
    "KeyTree": KEY_MARK,
    "OptionalKey": KEY_MARK,
    "KeyGlob": GLOB_MARK,
}
_UNKNOWN = object()
_FIELDS: weakref.WeakKeyDictionary[type, dict[str, KeyMark]] = (
    weakref.WeakKeyDictionary()
)


def key_fields(cls: type) -> dict[str, KeyMark]:
    """The fields whose annotation contains `Key` or `KeyGlob`, and which of them.

    In the order of declaration, those of base classes first. Computed once per class.
    """
    try:
        return _FIELDS[cls]
    except KeyError:
        fields = _FIELDS[cls] = _scan(cls)
        return fields


def _scan(cls: type) -> dict[str, KeyMark]:
    marks: dict[str, KeyMark | None] = {}
    for base in reversed(cls.__mro__):
        annotations = _own_annotations(base)
        if not annotations:
            continue
        scope = _Scope(base)
        for name, annotation in annotations.items():
            marks[name] = scope.mark_in(annotation)
    return {name: mark for name, mark in marks.items() if mark is not None}


def _own_annotations(cls: type) -> Mapping[str, Any]:
    """The annotations in the body of the class itself, unresolved names allowed."""
    if sys.version_info >= (3, 14):
        import annotationlib

        return annotationlib.get_annotations(
            cls, format=annotationlib.Format.FORWARDREF
        )
    # Not free to import, and needed once per class.
    import inspect

    return inspect.get_annotations(cls)


class _Scope:
    """The names that the annotations of one class can see."""

    def __init__(self, cls: type) -> None:
        module = sys.modules.get(cls.__module__)
        self.globals = {} if module is None else vars(module)
        self.locals = dict(vars(cls))

    def mark_in(self, annotation: Any) -> KeyMark | None:
        """The mark that occurs anywhere in an annotation, but for `Callable`."""
        if isinstance(annotation, str):
            return self.mark_in_text(annotation)
        forward = getattr(annotation, "__forward_arg__", None)
        if isinstance(forward, str):
            return self.mark_in_text(forward)
        for mark in getattr(annotation, "__metadata__", ()):
            if isinstance(mark, KeyMark):
                return mark
        origin = get_origin(annotation)
        if origin in (collections.abc.Callable, Literal):
            return None
        if _is_alias(annotation) or _is_alias(origin):
            return self.mark_in_alias(origin or annotation)
        if isinstance(annotation, type) and origin is None:
            return None
        return _first(map(self.mark_in, getattr(annotation, "__args__", ())))

    def mark_in_alias(self, alias: Any) -> KeyMark | None:
        """Looks through `type K = Key`, whose value may name what is not there."""
        try:
            return self.mark_in(alias.__value__)
        except NameError:
            return None

    def mark_in_text(self, text: str) -> KeyMark | None:
        try:
            value = eval(text, self.globals, self.locals)
        except Exception:
            # Whatever is wrong with it, the names in it still tell about keys.
            return self.mark_in_names(text)
        if isinstance(value, str):
            # Quotes within quotes; another text is the value of a variable.
            is_quoted = text.strip()[:1] in ("'", '"')
            return self.mark_in_text(value) if is_quoted else None
        return self.mark_in(value)

    def mark_in_names(self, text: str) -> KeyMark | None:
        try:
            tree = ast.parse(text.strip(), mode="eval")
        except SyntaxError:
            return None
        return _first(map(self.mark_of_name, _type_names(tree.body)))

    def mark_of_name(self, name: str) -> KeyMark | None:
        value = self.look_up(name)
        if value is _UNKNOWN:
            # An import that only type checkers see: the name is all there is.
            return _MARK_OF_NAME.get(name.rpartition(".")[2])
        return None if isinstance(value, str) else self.mark_in(value)

    def look_up(self, name: str) -> Any:
        try:
            return eval(name, self.globals, self.locals)
        except (NameError, AttributeError):
            return _UNKNOWN


def _first(marks: Iterable[KeyMark | None]) -> KeyMark | None:
    return next((mark for mark in marks if mark is not None), None)


def _is_alias(annotation: Any) -> bool:
    # typing_extensions has a class of its own for Python 3.11.
    return type(annotation).__name__ == "TypeAliasType"


def _type_names(node: ast.AST) -> Iterator[str]:
    """The dotted names in an annotation, but for the arguments of `Callable`."""
    if isinstance(node, ast.Name | ast.Attribute):
        yield ast.unparse(node)
    elif isinstance(node, ast.Subscript):
        name = ast.unparse(node.value).rpartition(".")[2]
        if name not in ("Callable", "Literal"):
            yield from _type_names(node.value)
            yield from _type_names(node.slice)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            yield from _type_names(ast.parse(node.value, mode="eval").body)
        except SyntaxError:
            return
    else:
        for child in ast.iter_child_nodes(node):
            yield from _type_names(child)
