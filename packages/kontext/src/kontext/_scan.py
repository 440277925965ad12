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
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_origin


class KeyMark:
    """What the annotation of a key carries as metadata."""

    def __repr__(self) -> str:
        return "kontext.Key"


KEY_MARK = KeyMark()

_KEY_NAMES = frozenset({"Key", "KeyTree", "OptionalKey"})
_UNKNOWN = object()
_FIELDS: weakref.WeakKeyDictionary[type, tuple[str, ...]] = weakref.WeakKeyDictionary()


def key_fields(cls: type) -> tuple[str, ...]:
    """The names of the fields whose annotation contains `Key`.

    In the order of declaration, those of base classes first. Computed once per class.
    """
    try:
        return _FIELDS[cls]
    except KeyError:
        names = _FIELDS[cls] = _scan(cls)
        return names


def _scan(cls: type) -> tuple[str, ...]:
    is_key: dict[str, bool] = {}
    for base in reversed(cls.__mro__):
        annotations = _own_annotations(base)
        if not annotations:
            continue
        scope = _Scope(base)
        for name, annotation in annotations.items():
            is_key[name] = scope.has_key(annotation)
    return tuple(name for name, found in is_key.items() if found)


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

    def has_key(self, annotation: Any) -> bool:
        """Whether `Key` occurs anywhere in an annotation, but for `Callable`."""
        if isinstance(annotation, str):
            return self.text_has_key(annotation)
        forward = getattr(annotation, "__forward_arg__", None)
        if isinstance(forward, str):
            return self.text_has_key(forward)
        if any(mark is KEY_MARK for mark in getattr(annotation, "__metadata__", ())):
            return True
        origin = get_origin(annotation)
        if origin in (collections.abc.Callable, Literal):
            return False
        if _is_alias(annotation) or _is_alias(origin):
            return self.alias_has_key(origin or annotation)
        if isinstance(annotation, type) and origin is None:
            return False
        return any(map(self.has_key, getattr(annotation, "__args__", ())))

    def alias_has_key(self, alias: Any) -> bool:
        """Looks through `type K = Key`, whose value may name what is not there."""
        try:
            return self.has_key(alias.__value__)
        except NameError:
            return False

    def text_has_key(self, text: str) -> bool:
        try:
            value = eval(text, self.globals, self.locals)
        except Exception:
            # Whatever is wrong with it, the names in it still tell about keys.
            return self.names_have_key(text)
        if isinstance(value, str):
            # Quotes within quotes; another text is the value of a variable.
            return text.strip()[:1] in ("'", '"') and self.text_has_key(value)
        return self.has_key(value)

    def names_have_key(self, text: str) -> bool:
        try:
            tree = ast.parse(text.strip(), mode="eval")
        except SyntaxError:
            return False
        return any(map(self.name_is_key, _type_names(tree.body)))

    def name_is_key(self, name: str) -> bool:
        value = self.look_up(name)
        if value is _UNKNOWN:
            # An import that only type checkers see: the name is all there is.
            return name.rpartition(".")[2] in _KEY_NAMES
        return not isinstance(value, str) and self.has_key(value)

    def look_up(self, name: str) -> Any:
        try:
            return eval(name, self.globals, self.locals)
        except (NameError, AttributeError):
            return _UNKNOWN


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
