"""The message of a failed lookup: where it stopped, and what is there instead."""

from __future__ import annotations

from typing import Any

from kontext._errors import Explanation, excerpt
from kontext._format import describe_part, format_child, format_parts
from kontext._match import matches
from kontext._nodes import Kind, children, field_names, is_delegated, kind_of
from kontext._parts import DOUBLE_STAR, Parts, is_axes
from kontext._read_part import axes_fit, is_method
from kontext._shapes import is_shape_struct
from kontext._suggest import suggest_paths

_MAX_NAMES = 20


def explain_lookup(parts: Parts, nodes: list[Any]) -> Explanation:
    """Why the lookup of `parts` stopped at the last of `nodes`.

    Args:
      parts: The whole path.
      nodes: The nodes on the way, from the root to the last one that exists.
    """
    depth = len(nodes) - 1
    part = parts[depth]
    reached = format_parts(parts[:depth])
    upto = format_child(reached, part)
    caret = len(reached) + (1 if upto[len(reached) :].startswith(".") else 0)
    names = available_names(nodes[-1])
    suggestions = tuple(suggest_paths(nodes[0], nodes, parts))
    path, caret = excerpt(format_parts(parts), caret)
    lines = [
        f"no {excerpt(describe_part(part))[0]} at path {path!r}",
        f"  {path}",
        f"  {' ' * caret}^",
        f"  {_situation(reached, nodes[-1], part, names)}",
    ]
    if is_method(nodes[-1], part):
        lines.append(f"  {part!r} is a method: it is called, not read as a value")
    if suggestions:
        shown = [excerpt(path, len(path))[0] for path in suggestions]
        lines.append(f"  did you mean: {' or '.join(shown)} ?")
    return Explanation(
        "\n".join(lines), tuple(map(str, names[:_MAX_NAMES])), suggestions
    )


def available_names(node: Any) -> list[Any]:
    """The keys or fields of a node, in the order in which messages list them."""
    kind = kind_of(type(node))
    if kind is Kind.MAPPING:
        # By type first: keys of mixed types do not compare.
        keys = sorted(node, key=lambda key: (type(key).__name__, str(key)))
        return keys
    if kind not in (Kind.FIELDS, Kind.NAMEDTUPLE, Kind.REGISTERED, Kind.OBJECT):
        return []
    names = _public_names(node) if kind is Kind.OBJECT else []
    if kind in (Kind.FIELDS, Kind.NAMEDTUPLE):
        names = list(field_names(node))
    # What was registered with JAX may have other names there.
    return list(dict.fromkeys([*names, *(part for part, _ in children(node) or ())]))


def _public_names(node: Any) -> list[str]:
    """Fields and properties of an object, read without running any of its code."""
    names = dict.fromkeys(getattr(node, "__dict__", ()))
    for base in type(node).__mro__:
        for name, value in base.__dict__.items():
            if isinstance(value, property):
                names[name] = None
    return [name for name in names if not name.startswith("_")]


def outline(root: Any) -> str:
    """The leaves of a context with their types, as many as a screen takes."""
    leaves = [m for m in matches(root, (DOUBLE_STAR,)) if children(m.value) is None]
    lines = [
        f"  {excerpt(format_parts(m.parts))[0]}: {_kind_of_leaf(m.value)}"
        for m in leaves
    ]
    more = len(lines) - _MAX_NAMES
    if more > 0:
        lines[_MAX_NAMES:] = [f"  … (+{more} more)"]
    return "\n".join(["the context holds", *lines])


def _kind_of_leaf(leaf: Any) -> str:
    if kind_of(type(leaf)) is Kind.ARRAY:
        return f"{leaf.dtype}{list(leaf.shape)}"
    return type(leaf).__name__


def _situation(reached: str, node: Any, part: Any, names: list[Any]) -> str:
    """The last place that exists, and what it is or holds."""
    place = repr(excerpt(reached, len(reached))[0]) if reached else "the context"
    cls = type(node).__name__
    if kind_of(type(node)) is Kind.LEAF:
        return f"{place} is a leaf of type {cls}"
    at = f"reached {place}" if reached else place
    return f"{at} ({cls}) {_contents(node, part, names)}"


def _contents(node: Any, part: Any, names: list[Any]) -> str:
    """What a node holds, in the words of its kind."""
    kind = kind_of(type(node))
    if kind is Kind.SEQUENCE:
        return _contents_of_sequence(len(node))
    if kind is Kind.ARRAY or is_shape_struct(node):
        axes = part if is_axes(part) else (part,)
        inside = is_axes(axes) and not axes_fit(node.shape, axes)
        reason = ": the index lies outside" if inside else ""
        dtype = getattr(node, "dtype", None)
        return f"with shape {tuple(node.shape)} and dtype {dtype}{reason}"
    word = "keys" if kind is Kind.MAPPING else "fields"
    if not names and is_delegated(node):
        return "which reads its parts itself"
    if not names:
        return f"with no {word}"
    shown = ", ".join(excerpt(repr(name), size=32)[0] for name in names[:_MAX_NAMES])
    more = len(names) - _MAX_NAMES
    return f"with {word}: {shown}" + (f", … (+{more} more)" if more > 0 else "")


def _contents_of_sequence(length: int) -> str:
    if not length:
        return "with length 0"
    return f"with length {length}: indices 0 to {length - 1}, or -{length} to -1"
