"""What `resolve` refuses before the first target is imported."""

from __future__ import annotations

from typing import Any

from konfig._const import Const, check_qualname, is_trusted
from konfig._errors import ConfigValueError, RequiredValueError, UnsafeTargetError
from konfig._paths import format_path
from konfig._placeholder import Placeholder
from konfig._ref import Expr
from konfig._security import Guard, not_asked, untrusted_names
from konfig._tree import TARGET, TRUSTED, Node, walk, where

PLAIN = frozenset((type(None), bool, int, float, complex, str, bytes))
"""Types whose values hold nothing that would have to be built."""


def prepare(cfg: Any, allow: Any, trusted: bool) -> Guard | None:
    """Every refusal that needs no target, before the first one is imported."""
    missing, untrusted = _scan(cfg)
    if missing:
        _check_required(cfg)
    if trusted or not untrusted:
        return None
    _check_structure(cfg)
    names = untrusted_names(cfg)
    guard = Guard(allow)
    if names and not guard.open:
        raise not_asked(names)
    for name, (path, origin) in names.items():
        try:
            guard.check_name(name)
        except UnsafeTargetError as error:
            error.path, error.origin = path, origin
            raise
    return guard


def _scan(root: Any) -> tuple[bool, bool]:
    """Whether something required is missing, and whether data named a target.

    Without paths: they are worked out for the few configs that fail.
    """
    missing = untrusted = False
    seen: set[int] = set()
    stack = [root]
    while stack:
        value = stack.pop()
        mark = id(value)
        if mark in seen:
            continue
        if isinstance(value, Node):
            seen.add(mark)
            fields = value._konfig_fields
            if TARGET in fields and not value._konfig_flags & TRUSTED:
                untrusted = True
            for item in fields.values():
                if type(item) not in PLAIN:
                    stack.append(item)
        elif isinstance(value, list):
            if value:
                seen.add(mark)
                stack.extend(list.__iter__(value))
        elif isinstance(value, (tuple, set, frozenset)):
            stack.extend(value)
        elif isinstance(value, Const):
            untrusted = untrusted or not is_trusted(value)
        elif isinstance(value, Placeholder):
            missing = missing or value.is_missing
            stack += (value.value, value.default)
        elif isinstance(value, Expr):
            seen.add(mark)
            stack.extend(value.__konfig_args__)
            stack.extend(value.__konfig_kwargs__.values())
    return missing, untrusted


def _check_structure(cfg: Any) -> None:
    """Refuses malformed calls before anybody is asked to trust them."""
    for parts, value in walk(cfg):
        if isinstance(value, Node) and TARGET in value._konfig_fields:
            try:
                check_node(value)
            except ConfigValueError as error:
                error.path = format_path(parts, "cfg")
                error.origin = error.origin or where(value)
                raise


def check_node(node: Node) -> None:
    """Refuses a call whose target or positions cannot be meant.

    Raises:
      ConfigValueError: Saying which.
    """
    fields = node._konfig_fields
    check_qualname(fields[TARGET], callable_needed=True)
    positions = 0
    for key in fields:
        if type(key) is not str:
            raise ConfigValueError(f"{key!r} is no name of an argument")
        positions += key.isdecimal()
    for index in range(positions):
        if str(index) not in fields:
            raise ConfigValueError(
                f"positional {index} is missing in the call of {fields[TARGET]}"
            )


def _check_required(cfg: Any) -> None:
    missing = []
    for parts, value in walk(cfg):
        if isinstance(value, Placeholder) and value.is_missing:
            doc = f": {value.doc}" if value.doc else ""
            path = format_path(parts, "cfg")
            missing.append((path, f"{path} ({value.type_text}){doc}"))
    if missing:
        lines = "\n  ".join(text for _, text in missing)
        raise RequiredValueError(
            f"required fields are not set:\n  {lines}",
            hint=f"set them in the config, or give --{missing[0][0]}=…",
        )
