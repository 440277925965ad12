"""Configs on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from konfig.cli._parse import parse

if TYPE_CHECKING:
    from konfig.cli._command import command
    from konfig.cli._main import main

__all__ = ["parse", "main", "command"]

_LAZY = {"main": "_main", "command": "_command"}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _LAZY:
        raise AttributeError(f"module 'konfig.cli' has no attribute {name!r}")
    return getattr(import_module(f"konfig.cli.{_LAZY[name]}"), name)
