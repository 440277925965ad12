"""Puts values of the call in place of `{...}` in a spec."""

import operator
from collections.abc import Mapping, Sequence
from typing import Any

from ktyping import _dims as d
from ktyping._errors import SpecInterpolationError


def roots(spec: d.Spec) -> frozenset[str]:
    """Returns the first names of all `{...}` of a spec: what the call must have."""
    return frozenset(i.path[0] for i in _interps(spec.terms))


def _interps(terms: tuple[d.Term, ...]) -> list[d.Interp]:
    found: list[d.Interp] = []
    for term in terms:
        match term:
            case d.Splice():
                found.append(term.interp)
            case d.Expression():
                found += [n for n in d.nodes(term.node) if isinstance(n, d.Interp)]
            case d.Optional():
                found += _interps((term.term,))
            case d.Choice():
                found += _interps(term.terms)
    return found


def fill(spec: d.Spec, values: Mapping[str, Any]) -> d.Spec:
    """Returns the spec with every `{...}` replaced by its sizes.

    Args:
      spec: A parsed spec.
      values: Argument name -> value.

    Raises:
      SpecInterpolationError: When a path leads nowhere, or to something that is
        neither a whole number >= 0 nor a sequence of them.
    """
    if not spec.interpolated:
        return spec
    terms: list[d.Term] = []
    words: list[str] = []
    for term, word in zip(spec.terms, spec.words, strict=True):
        filled = _fill_term(term, values, spec)
        terms += filled
        words += [word] if len(filled) == 1 else [str(_size(t)) for t in filled]
    made = d.make_spec(tuple(terms), tuple(words))
    return made._replace(text=spec.text, interpolated=False)


def _size(term: d.Term) -> int:
    return term.size if isinstance(term, d.Fixed | d.FixedBroadcast) else 0


def _fill_term(term: d.Term, values: Mapping[str, Any], spec: d.Spec) -> list[d.Term]:
    match term:
        case d.Splice():
            sizes = _sizes(term.interp, values, spec)
            if len(sizes) < term.least:
                raise SpecInterpolationError(
                    f"`+{_text(term.interp)}` in the shape spec {spec.text!r} is an "
                    "empty sequence, but `+` wants at least one size."
                )
            kind = d.FixedBroadcast if term.broadcast else d.Fixed
            return [kind(size) for size in sizes]
        case d.Expression():
            return [term._replace(node=_fill_node(term.node, values, spec))]
        case d.Optional():
            return [d.Optional(_single(term.term, values, spec))]
        case d.Choice():
            return [d.Choice(tuple(_single(t, values, spec) for t in term.terms))]
        case _:
            return [term]


def _single(term: d.Term, values: Mapping[str, Any], spec: d.Spec) -> d.Term:
    filled = _fill_term(term, values, spec)
    if len(filled) != 1:
        raise SpecInterpolationError(
            f"The shape spec {spec.text!r} has a sequence of {len(filled)} sizes where "
            "only one axis can stand.\nGive one size, or move `{...}` out of the "
            "choice."
        )
    return filled[0]


def _fill_node(node: d.Node, values: Mapping[str, Any], spec: d.Spec) -> d.Node:
    match node:
        case d.Interp():
            sizes = _sizes(node, values, spec)
            if len(sizes) != 1:
                raise SpecInterpolationError(
                    f"`{_text(node)}` in the shape spec {spec.text!r} is a sequence of "
                    f"{len(sizes)} sizes, but an expression needs one size."
                )
            return d.Number(sizes[0])
        case d.Unary():
            return d.Unary(_fill_node(node.operand, values, spec))
        case d.Binary():
            left = _fill_node(node.left, values, spec)
            return node._replace(left=left, right=_fill_node(node.right, values, spec))
        case d.Call():
            args = tuple(_fill_node(arg, values, spec) for arg in node.args)
            return node._replace(args=args)
        case _:
            return node


def _text(interp: d.Interp) -> str:
    index = "" if interp.index is None else f"[{interp.index}]"
    return "{" + ".".join(interp.path) + index + "}"


def _sizes(interp: d.Interp, values: Mapping[str, Any], spec: d.Spec) -> list[int]:
    value = _lookup(interp, values, spec)
    many = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    try:
        if any(isinstance(v, bool) for v in (value if many else (value,))):
            raise TypeError
        sizes = [operator.index(v) for v in (value if many else (value,))]
    except TypeError:
        sizes = [-1]
    if any(size < 0 for size in sizes):
        raise SpecInterpolationError(
            f"`{_text(interp)}` in the shape spec {spec.text!r} is "
            f"{type(value).__name__} {_short(value)}.\n"
            "Expected a whole number >= 0, or a list or tuple of them."
        )
    return sizes


def _short(value: Any) -> str:
    shown = repr(value) if isinstance(value, str | int | float | tuple | list) else ""
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _lookup(interp: d.Interp, values: Mapping[str, Any], spec: d.Spec) -> Any:
    first, *rest = interp.path
    if first not in values:
        names = ", ".join(values) or "none"
        raise SpecInterpolationError(
            f"`{_text(interp)}` in the shape spec {spec.text!r} names no value of the "
            f"call.\nAvailable names: {names}."
        )
    value = values[first]
    reached = first
    for attribute in rest:
        if not hasattr(value, attribute):
            raise SpecInterpolationError(
                f"`{_text(interp)}` in the shape spec {spec.text!r}: "
                f"{reached} ({type(value).__name__}) has no attribute {attribute!r}."
            )
        value = getattr(value, attribute)
        reached = f"{reached}.{attribute}"
    if interp.index is None:
        return value
    try:
        return value[interp.index]
    except (IndexError, TypeError, KeyError):
        raise SpecInterpolationError(
            f"`{_text(interp)}` in the shape spec {spec.text!r}: {reached} "
            f"({type(value).__name__}) has no item {interp.index}."
        ) from None
