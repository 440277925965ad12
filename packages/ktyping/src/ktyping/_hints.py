"""Finds what annotations mean: strings, closures, local classes, later names."""

import importlib
import sys
import typing
from collections.abc import Callable, Mapping
from types import CodeType, FrameType
from typing import Any

from ktyping._scope import nested_code
from ktyping._signature import innermost


class Unresolved:
    """An annotation whose names are not all known yet.

    Attributes:
      annotation: The annotation as written.
      reason: What could not be found.
    """

    __slots__ = ("annotation", "reason")

    def __init__(self, annotation: Any, reason: str):
        self.annotation = annotation
        self.reason = reason


def annotations_of(target: Any) -> dict[str, Any]:
    """Returns the own annotations of a function or class, as they are written.

    From Python 3.14 on they are computed when asked for; names that are missing then
    stay forward references, for `resolve` to look up.
    """
    if "annotationlib" not in sys.stdlib_module_names:
        if isinstance(target, type):
            return dict(vars(target).get("__annotations__", {}))
        return dict(target.__annotations__)
    lazy = importlib.import_module("annotationlib")
    return dict(lazy.get_annotations(target, format=lazy.Format.FORWARDREF))


class _Holder:
    def __init__(self, annotation: Any):
        self.__annotations__ = {"value": annotation}


def resolve(
    annotation: Any,
    names: Mapping[str, Any],
    local: Mapping[str, Any],
    *,
    in_class: bool = False,
) -> Any:
    """Returns what an annotation means, or `Unresolved`.

    Args:
      annotation: An object, or its source text.
      names: Global names.
      local: Names that go before the global ones.
      in_class: Whether it stands in a class, where `ClassVar` has its place.

    Raises:
      ShapeSpecSyntaxError: When the text holds a spec that cannot be read.
      TypeError: When the text uses a type as it cannot be used.
    """
    holder: Any = _Holder(annotation)
    if in_class:
        holder = type("_Holder", (), {"__annotations__": {"value": annotation}})
    try:
        hints = typing.get_type_hints(
            holder, dict(names), dict(local), include_extras=True
        )
    except (NameError, AttributeError) as error:
        return Unresolved(annotation, str(error))
    except SyntaxError:
        return Unresolved(annotation, "it is no expression of Python")
    return hints["value"]


def function_annotations(
    function: Callable[..., Any],
    local: Mapping[str, Any],
    owner: type | None,
    place: str,
) -> dict[str, Any]:
    """Returns parameter name, or `return` -> annotation or `Unresolved`.

    Args:
      function: The function.
      local: Names known where it is defined.
      owner: The class of the method that is called, or None.
      place: The function in words, for errors.
    """
    if getattr(function, "__no_type_check__", False):
        return {}
    known = dict(local)
    for cls in owner.__mro__ if owner else ():
        known.setdefault(cls.__name__, cls)
    names = innermost(function).__globals__
    found: dict[str, Any] = {}
    for name, annotation in annotations_of(function).items():
        try:
            found[name] = resolve(annotation, names, known)
        except Exception as error:
            error.add_note(f"In the annotation of {name!r} in {place}.")
            raise
    return found


def function_names(
    function: Callable[..., Any], frame: FrameType | None
) -> dict[str, Any]:
    """Returns the local names that the annotations of a function may use.

    Args:
      function: The function.
      frame: The frame in which it is decorated; names are taken from it and from
        the functions around it, and only those that the annotations use.
    """
    code = function.__code__
    wanted = _names_used(annotations_of(function))
    found = _from_frames(wanted, code, frame)
    cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in cells:
        if name in wanted:
            try:
                found[name] = cell.cell_contents
            except ValueError:
                continue
    return found


def class_names(cls: type, frame: FrameType | None) -> dict[str, Any]:
    """Returns the local names that the annotations of a class may use."""
    wanted = _names_used(annotations_of(cls))
    found: dict[str, Any] = {}
    while frame is not None and frame.f_code.co_name != "<module>":
        if frame.f_globals.get("__name__") == cls.__module__:
            found = {**_pick(wanted, frame.f_locals), **found}
        frame = frame.f_back
    return found


def module_names(module: str) -> Mapping[str, Any]:
    """Returns the global names of a module that is loaded."""
    return vars(sys.modules[module]) if module in sys.modules else {}


def _from_frames(
    wanted: frozenset[str], code: CodeType, frame: FrameType | None
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    while wanted and frame is not None and frame.f_code.co_name != "<module>":
        # Only the functions and classes around the definition: their names are
        # what the annotation means, those of other callers are not.
        if code in nested_code(frame.f_code):
            found = {**_pick(wanted, frame.f_locals), **found}
        frame = frame.f_back
    return found


def _pick(wanted: frozenset[str], local: Mapping[str, Any]) -> dict[str, Any]:
    return {name: local[name] for name in wanted if name in local}


def _names_used(annotations: Mapping[str, Any]) -> frozenset[str]:
    used: set[str] = set()
    for annotation in annotations.values():
        for text in _texts(annotation):
            try:
                code = compile(text, "<annotation>", "eval")
            except SyntaxError:
                continue
            for inner in nested_code(code):
                used.update(inner.co_names)
    return frozenset(used)


def _texts(annotation: Any) -> list[str]:
    if isinstance(annotation, str):
        return [annotation]
    if isinstance(annotation, typing.ForwardRef):
        return [annotation.__forward_arg__]
    if typing.get_origin(annotation) is typing.Literal:
        return []
    return [text for arg in typing.get_args(annotation) for text in _texts(arg)]
