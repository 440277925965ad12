"""Configs on the command line."""

from konfig.cli._parse import parse

__all__ = ["parse"]
