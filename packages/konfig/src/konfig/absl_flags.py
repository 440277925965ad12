"""Config files as flags of absl: `from konfig import absl_flags as config_flags`.

    _CONFIG = config_flags.DEFINE_config_file("config")

    def main(_):
        cfg = _CONFIG.value

Needs the extra `absl`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Any

from konfig._errors import ConfigFileError
from konfig._loader import ConfigSource
from konfig.cli._parse import parse

__all__ = ["DEFINE_config_file"]


def DEFINE_config_file(
    name: str,
    default: str | None = None,
    help: str = "path to a config file",
    *,
    required: bool = False,
    flag_values: Any = None,
    argv: Sequence[str] | None = None,
) -> Any:
    """Defines the flag `--NAME=FILE`, with `--NAME.PATH=VALUE` for its fields.

    The config is built when its value is first asked for; every later read gives the
    same object. The order of the flags does not matter.

    Args:
      name: The flag.
      default: The file where none is named.
      help: What `--help` says.
      required: Whether a file must be named.
      flag_values: Where the flag is defined; None is `absl.flags.FLAGS`.
      argv: The words that may hold overrides; None is `sys.argv`. Flags for them are
        defined here, because absl knows no flags with a beginning in common.

    Returns:
      A holder as absl gives for other flags; `.value` is the config, or None.

    Raises:
      ConfigFileError: When absl is not installed.
      OverrideError: When an override is malformed.
    """
    flags = _absl_flags()
    values = flags.FLAGS if flag_values is None else flag_values
    words = _about(list(sys.argv[1:] if argv is None else argv), name)
    flat = [word for group in words for word in group]
    overrides = parse([f"--{name}=", *flat], name=name)[0].overrides
    flag = _config_flag(flags)(name, default, help, overrides)
    holder = flags.DEFINE_flag(flag, values, required=required)
    for group in words:
        _define_override(flags, group, values)
    return holder


def _absl_flags() -> Any:
    try:
        return importlib.import_module("absl.flags")
    except ImportError:
        raise ConfigFileError(
            "absl_flags needs the package absl-py",
            hint="install the extra 'absl' of konfig, or use konfig.cli",
        ) from None


def _about(argv: list[str], name: str) -> list[list[str]]:
    """The words that change the config: a flag, or a flag and its value."""
    found = []
    while argv:
        word = argv.pop(0)
        if word == "--":
            break
        if word == f"--{name}.help":
            continue
        if word.startswith((f"--{name}.", f"--{name}[")):
            alone = "=" in word or word.endswith(":del")
            follows = not alone and argv and not argv[0].startswith("--")
            found.append([word, argv.pop(0)] if follows else [word])
        elif word.startswith(f"--no{name}."):
            found.append([word])
    return found


def _define_override(flags: Any, words: list[str], values: Any) -> None:
    """Makes absl accept the words; what they say is in the config."""
    name = words[0].removeprefix("--").partition("=")[0]
    if name not in values:
        plain = flags.ArgumentParser(), flags.ArgumentSerializer()
        # A boolean flag stands alone or has '=value'; any other takes the next word.
        alone = len(words) == 1
        flag = flags.Flag(*plain, name, None, "changes the config", boolean=alone)
        flags.DEFINE_flag(flag, values)


def _config_flag(flags: Any) -> Any:
    """The class of the flag, made when absl is there."""

    class ConfigFlag(flags.Flag):
        """A flag whose value is built from the file that it names."""

        def __init__(self, name: str, default: Any, text: str, overrides: Any):
            self._konfig_overrides = overrides
            self._konfig_source: ConfigSource | None = None
            plain = flags.ArgumentParser(), flags.ArgumentSerializer()
            super().__init__(*plain, name, default, text)

        @property
        def value(self) -> Any:
            source = self._konfig_source
            return None if source is None else source.build()

        @value.setter
        def value(self, path: Any) -> None:
            if path is None:
                self._konfig_source = None
                return
            source = ConfigSource(path, None, self._konfig_overrides)
            if source != self._konfig_source:
                self._konfig_source = source

    return ConfigFlag
