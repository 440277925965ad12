"""A config as text: Python, JSON, one field per line, with origins."""

from __future__ import annotations

from typing import Any

from konfig._encode import encode_text
from konfig._io import data_text
from konfig._paths import format_path
from konfig._tree import where
from konfig.cli._help import fields, shown, table

FORMATS = ("py", "json", "yaml", "flat")


def text_of(cfg: Any, style: str, refs: str = "keep") -> str:
    """A config in one of the formats.

    Args:
      cfg: A config value.
      style: `"py"` for the source of a config file, `"json"`, `"yaml"`, `"flat"` for
        one `path = value` per line.
      refs: `"resolve"` writes the values of references.

    Raises:
      SerializationError: When the format cannot say a value.
    """
    if style in ("json", "yaml"):
        return data_text(cfg, f".{style}", refs).rstrip("\n")
    if refs == "resolve":
        from konfig._decode import from_json

        cfg = from_json(encode_text(cfg, refs=refs), trusted=True)
    if style == "py":
        from konfig._source import to_python

        return to_python(cfg).rstrip("\n")
    return "\n".join(
        f"{format_path(parts)} = {shown(stored)}" for parts, _, _, stored in fields(cfg)
    )


def origins(cfg: Any) -> str:
    """Every field with the place where it was set, the last one counts."""
    rows = []
    for parts, owner, key, stored in fields(cfg):
        place = where(owner, key) if owner is not None else None
        rows.append((format_path(parts), shown(stored), place or ""))
    return table([("path", "value", "from"), *rows])
