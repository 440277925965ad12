"""Checks of the config files of a project, for its own tests.

import pytest
from konfig import testing

@pytest.mark.parametrize("path", testing.config_files("configs"))
def test_config(path):
testing.assert_resolves(path)
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from konfig._decode import from_json
from konfig._encode import encode_text
from konfig._fingerprint import fingerprint as digest_of
from konfig._fingerprint import same
from konfig._loader import load_config
from konfig._resolve import resolve
from konfig._validate import validate

__all__ = ["assert_resolves", "config_files"]


def config_files(folder: str | os.PathLike[str]) -> list[str]:
    """The files below a folder that define `get_config`, sorted."""
    return sorted(
        str(path)
        for path in Path(folder).rglob("*.py")
        if "def get_config" in path.read_text(encoding="utf-8")
    )


def assert_resolves(
    path: str | os.PathLike[str],
    *,
    args: Mapping[str, Any] | None = None,
    overrides: Iterable[str] = (),
    types: str = "warn",
    fingerprint: str | None = None,
    build: bool = True,
) -> Any:
    """Shows that a config file works: built, valid, written and read back, resolved.

    Args:
      path: See `konfig.load_config`.
      args: Arguments of the config function by name.
      overrides: Changes in order.
      types: As for `konfig.validate`.
      fingerprint: What the fingerprint has to begin with, where the config must not
        change by accident.
      build: Whether the config is resolved too.

    Returns:
      The config.

    Raises:
      AssertionError: When a check fails, with what is wrong.
    """
    cfg = load_config(path, args=args, overrides=overrides)
    report = validate(cfg, types=types)
    if not report.ok:
        raise AssertionError(f"{path} is not valid:\n{report}")
    if not same(from_json(encode_text(cfg), trusted=True), cfg):
        raise AssertionError(f"{path} is not the same after it was written and read")
    if fingerprint is not None:
        found = digest_of(cfg, length=max(len(fingerprint), 1))
        if found != fingerprint:
            raise AssertionError(
                f"the fingerprint of {path} is {found}, not {fingerprint}: when the "
                "change is meant, write the new one"
            )
    if build:
        resolve(cfg)
    return cfg
