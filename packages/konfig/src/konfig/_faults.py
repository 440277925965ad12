"""What a node says about a field that is not there, or may not be set."""

from __future__ import annotations

from collections.abc import Callable

from konfig._errors import (
    ConfigAttributeError,
    ConfigIndexError,
    ConfigKeyError,
    ConfigTypeError,
    KonfigError,
    LockedError,
    did_you_mean,
    joined,
    listed,
)
from konfig._ref import BINARY, COMPARE, UNARY, Lazy
from konfig._repr import name_of
from konfig._signature import parameters_of
from konfig._tree import TARGET, Node, target_of, where
from konfig._typing import Any


def describe(owner: Any) -> str:
    """`"the call of optax:adam"`, `"the mapping"` or `"the list"`."""
    if not isinstance(owner, Node):
        return "the list"
    target = target_of(owner)
    return f"the call of {target}" if target else "the mapping"


def names_of(node: Node) -> list[Any]:
    """The fields of a node, without its target; positions by their parameter's name."""
    names = [key for key in node._konfig_fields if key != TARGET]
    target = target_of(node)
    parameters = parameters_of(target) if target and "0" in names else None
    if parameters is None:
        return names
    known = dict(zip(map(str, range(len(names))), parameters.positional, strict=False))
    return [known.get(name, name) for name in names]


def missing(node: Node, key: Any, kind: type[KonfigError]) -> KonfigError:
    """The error for reading a field that a node does not have."""
    names = names_of(node)
    dotted = ""
    if kind is ConfigKeyError and _crosses_child(node, key):
        dotted = f"a path is read by konfig.get_path(cfg, {key!r})"
    node_attribute = ""
    if kind is ConfigAttributeError and target_of(node):
        node_attribute = (
            f"{name_of(target_of(node))}(…) is not built before konfig.resolve, so "
            "only its arguments can be read"
        )
    near = did_you_mean(key, names)
    return kind(
        f"{describe(node)} has no field {key!r}",
        hint=joined(near, dotted, f"fields: {listed(names)}", node_attribute),
        origin=where(node),
    )


def not_built(node: Node, symbol: str | None = None) -> ConfigTypeError:
    """The error for using what a config describes as if it were there.

    Args:
      node: What is used.
      symbol: The operator, or None for a call.
    """
    target = target_of(node)
    use = "called" if symbol is None else f"used with {symbol}"
    if target is None:
        return ConfigTypeError(f"a mapping of a config cannot be {use}")
    instead = (
        "put both calls into a function and describe the call of that, or call "
        "the object that konfig.resolve gives"
        if symbol is None
        else "put the operation into a function and describe the call of that; the "
        "values of fields are combined by references, cfg.ref.a * 2"
    )
    return ConfigTypeError(
        f"{name_of(target)}(…) is described, not built, so it cannot be {use}",
        hint=instead,
        origin=where(node),
    )


def crossing(node: Node, key: Any) -> KonfigError | None:
    """The error for writing a flat key that looks like a path, or None."""
    if not _crosses_child(node, key):
        return None
    return ConfigKeyError(
        f"{key!r} looks like a path: the field {key.partition('.')[0]!r} exists",
        hint=f"use konfig.set_path(cfg, {key!r}, value)",
    )


def _crosses_child(node: Node, key: Any) -> bool:
    if not isinstance(key, str) or "." not in key:
        return False
    child = node._konfig_fields.get(key.partition(".")[0])
    return isinstance(child, (Node, list))


def no_position(
    node: Node, index: int, count: int, *, gap: bool = False
) -> KonfigError:
    """The error for a positional argument that is not there."""
    some = "1 positional argument" if count == 1 else f"{count} positional arguments"
    why = f"; the next free position is {count}" if gap else ""
    return ConfigIndexError(
        f"{target_of(node)} has {some}, so there is no position {index}{why}",
        origin=where(node),
    )


def locked(node: Node, key: Any, mode: str) -> LockedError:
    """The error for a change that the lock forbids."""
    what = f"field {key!r} cannot be changed" if mode == "all" else f"no field {key!r}"
    return LockedError(
        f"{describe(node)} is locked: {what}",
        hint=joined(
            did_you_mean(key, names_of(node)) if mode == "keys" else "",
            "change it inside 'with cfg.unlocked():'",
        ),
        origin=where(node),
    )


class NoOperators:
    """A base that says what to write in place of arithmetic with a described call."""

    __slots__ = ()


def _install_refusals() -> None:
    """One method per operator; `|`, `==` and `!=` have a meaning for mappings."""

    def refusing(symbol: str) -> Callable[..., Any]:
        def method(self: Any, *others: Any) -> Any:
            if others and isinstance(others[0], Lazy):
                return NotImplemented  # the reference makes an expression of both
            raise not_built(self, symbol)

        return method

    for op, (symbol, _) in BINARY.items():
        if op != "or":
            setattr(NoOperators, f"__{op}__", refusing(symbol))
            setattr(NoOperators, f"__r{op}__", refusing(symbol))
    for op in ("lt", "le", "gt", "ge"):
        setattr(NoOperators, f"__{op}__", refusing(COMPARE[op][0]))
    for op, (symbol, _) in UNARY.items():
        setattr(NoOperators, f"__{op}__", refusing(symbol))


_install_refusals()
