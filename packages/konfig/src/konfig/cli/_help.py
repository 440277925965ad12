"""The fields of a config as a table: path, type, value, origin, meaning."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from typing import Any

from konfig._conform import declared
from konfig._errors import short
from konfig._paths import Parts, format_path
from konfig._placeholder import Placeholder
from konfig._ref import Lazy
from konfig._ref_eval import read
from konfig._signature import docs_of, parameters_of
from konfig._tree import TARGET, Node, field_key, path_items, stored_items, walk, where
from konfig._types import describe


def help_text(cfg: Any, name: str = "cfg") -> str:
    """What `--cfg.help` prints: every field with its type, value, origin and meaning.

    Types and meanings come from placeholders, and from the signatures and docstrings
    of targets that are loaded.
    """
    rows = [("path", "type", "value", "from", "meaning"), *_rows(cfg, name)]
    return table(rows)


def table(rows: list[tuple[str, ...]]) -> str:
    """The rows in aligned columns; a terminal gets lines that fit into it."""
    width = max(shutil.get_terminal_size().columns, 80)
    if not sys.stdout.isatty():
        width = sys.maxsize
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]) - 1)]
    widths = [min(size, 48) for size in widths]
    lines = []
    for row in rows:
        cells = [cell.ljust(size) for cell, size in zip(row, widths, strict=False)]
        line = "  ".join([*cells, row[-1]]).rstrip()
        lines.append(line if len(line) <= width else line[: width - 1] + "…")
    return "\n".join(lines)


def fields(cfg: Any) -> Iterator[tuple[Parts, Node | None, Any, Any]]:
    """Every leaf of a config: its path, the node it stands in, its key, its value.

    Lists and tuples of scalars are leaves; what is shared comes once.
    """
    owners: dict[Parts, Node] = {}
    for parts, value in walk(cfg):
        if isinstance(value, Node):
            owners[parts] = value
            if value._konfig_fields.keys() - {TARGET} or not parts:
                continue
        elif isinstance(value, (list, tuple)):
            if not parts or any(_nested(item) for _, item in stored_items(value)):
                continue
        elif parts and parts[-1] == TARGET:
            continue
        elif parts[:-1] not in owners and not _in_mixed(cfg, parts):
            continue
        owner = owners.get(parts[:-1]) if parts else None
        key = parts[-1] if parts else None
        yield parts, owner, key if owner is None else field_key(owner, key), value


def shown(stored: Any) -> str:
    """A stored value in one cell: a reference with its source and its value."""
    if isinstance(stored, Lazy):
        try:
            return f"{short(read(stored), 32)}  ← {short(stored, 40)}"
        except Exception:  # whatever a function of a reference raises
            return short(stored, 48)
    return short(stored, 48)


def _nested(item: Any) -> bool:
    return isinstance(item, (Node, list, tuple, Lazy, Placeholder))


def _in_mixed(cfg: Any, parts: Parts) -> bool:
    """Whether a scalar stands in a list that holds more than scalars."""
    at = cfg
    for key in parts[:-1]:
        at = dict(path_items(at))[key]
    return any(_nested(item) for _, item in stored_items(at))


def _rows(cfg: Any, name: str) -> Iterator[tuple[str, ...]]:
    for parts, owner, key, stored in fields(cfg):
        kind, meaning = _declaration(owner, key, stored)
        origin = where(owner, key) if owner is not None else None
        path = f"--{format_path(parts, name)}"
        yield path, kind, shown(stored), origin or "", meaning


def _kind_of(stored: Any) -> str:
    """The type of a value, for a reference that of what it reads now."""
    if isinstance(stored, Lazy):
        try:
            return type(read(stored)).__name__
        except Exception:
            return "reference"
    return type(stored).__name__


def _declaration(owner: Node | None, key: Any, stored: Any) -> tuple[str, str]:
    """The type and the meaning of a field, as far as they are known."""
    if isinstance(stored, Placeholder):
        return stored.type_text, stored.doc
    kind_now = _kind_of(stored)
    target = None if owner is None else owner._konfig_fields.get(TARGET)
    parameters = None if target is None else parameters_of(target)
    if target is not None and parameters is not None:
        name, annotation = declared(parameters, key)
        meaning = docs_of(target).get(name or "", "")
        if annotation is not None:
            kind = describe(annotation)
            return kind if len(kind) <= 32 else f"{kind[:31]}…", meaning
        return kind_now, meaning
    return kind_now, ""
