"""The command `ktrain`."""

from ktrain.cli._main import main

__all__ = ["main"]
