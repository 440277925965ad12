"""From words on the command line to a config."""

from __future__ import annotations

import os
import pathlib
import sys
from typing import Any

import click

import konfig


def load(words: list[str]) -> tuple[Any, str]:
    """Gives (config with overrides applied, name of the config).

    Raises:
      click.UsageError: A word is neither the config nor an override.
      konfig.KonfigError: The config or an override is wrong.
    """
    # As with `python -m`: a config names the project's own modules.
    if (here := os.getcwd()) not in sys.path:
        sys.path.insert(0, here)
    source, rest = konfig.cli.parse(words, name="cfg", required=False)
    if source is None:
        raise click.UsageError(
            "Missing CONFIG: name a config file, or use --cfg=CONFIG"
        )
    if rest:
        raise click.UsageError(
            f"unexpected {rest[0]!r}: expected CONFIG, PATH=VALUE or --cfg.PATH=VALUE"
        )
    return source.build(), config_name(str(source.path))


def config_name(path: str) -> str:
    """Gives a short name: `digits` for `examples/digits/config.py`."""
    file = pathlib.Path(path)
    if not file.suffix:
        return path.rpartition(".")[2]
    return file.resolve().parent.name if file.stem == "config" else file.stem
