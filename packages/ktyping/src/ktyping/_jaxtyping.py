"""Annotations of jaxtyping, read as ours."""

import re
import sys
from typing import Any

from ktyping._array_type import make
from ktyping._dtypes import FAMILIES, DTypeFamily, family_called
from ktyping._parser import parse
from ktyping._pytree import PyTree

# Where a name means another set of dtypes; the rest have the same names.
_FAMILIES = {"Shaped": "Array", "Int": "SInt", "Integer": "Int"}
_FIXED = re.compile(r"[A-Za-z_]\w*=(\d+)")


class Unconvertible(Exception):
    """An annotation that says what ours cannot; the text says what."""


def is_jaxtyping(annotation: Any) -> bool:
    """Whether an annotation is an array type or a tree type of jaxtyping."""
    jaxtyping = sys.modules.get("jaxtyping")
    if jaxtyping is None or not isinstance(annotation, type):
        return False
    array = getattr(jaxtyping, "AbstractArray", None)
    return _is_tree(annotation) or (array is not None and array in annotation.__mro__)


def _is_tree(annotation: type) -> bool:
    # Asking jaxtyping for it imports jax; without jax there is no such annotation.
    if "jax" not in sys.modules:
        return False
    tree = getattr(sys.modules["jaxtyping"], "PyTree", None)
    return tree is not None and (annotation is tree or type(annotation) is type(tree))


def convert(annotation: Any) -> Any:
    """Returns our annotation for one of jaxtyping.

    Raises:
      Unconvertible: When the annotation says what ours cannot.
    """
    if _is_tree(annotation):
        return _tree(annotation)
    spec = parse(_spec_text(annotation.dim_str))
    return make((_family(annotation),), _classes(annotation.array_type), spec)


def _tree(annotation: Any) -> Any:
    leaf = getattr(annotation, "leaftype", Any)
    structure = getattr(annotation, "structure", None)
    if structure is None:
        return PyTree[leaf] if hasattr(annotation, "leaftype") else PyTree
    words = structure.split()
    names = [word for word in words if word != "..."]
    if len(names) != 1:
        raise Unconvertible(f"its structure is {structure!r}, of several parts")
    text = " ".join(word if word == "..." else f"${word}" for word in words)
    return PyTree[leaf].named(text)


def _family(annotation: Any) -> DTypeFamily:
    name = annotation.dtype.__name__
    name = _FAMILIES.get(name, name)
    if name in FAMILIES:
        return FAMILIES[name]
    dtypes = annotation.dtypes
    if isinstance(dtypes, tuple) and len(dtypes) == 1 and isinstance(dtypes[0], str):
        return family_called(dtypes[0])
    raise Unconvertible(f"its dtypes are those of {name}")


def _classes(array_type: Any) -> tuple[type, ...]:
    return () if array_type is Any else (array_type,)


def _spec_text(text: str) -> str:
    words = []
    for word in text.split():
        if "?" in word:
            raise Unconvertible(f"{word!r} is a size per leaf of a tree")
        # There a name before a size is a comment; here it would be bound.
        fixed = _FIXED.fullmatch(word.lstrip("#"))
        words.append("#" * word.startswith("#") + fixed[1] if fixed else word)
    return " ".join(words)
