"""`ktrain config show`."""

from __future__ import annotations

import konfig
from ktrain.cli import _source


def show(words: list[str], *, form: str) -> str:
    """Gives the config as text."""
    cfg, _ = _source.load(words)
    return konfig.to_json(cfg, indent=2) if form == "json" else repr(cfg)
