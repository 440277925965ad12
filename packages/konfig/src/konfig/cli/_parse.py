"""From `argv` to a config source and what is left for the program."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from konfig._errors import ConfigValueError, OverrideError
from konfig._flag import Override, parse_override
from konfig._io import DATA
from konfig._loader import ConfigSource
from konfig._paths import parse as parse_path
from konfig._paths import scan


def parse(
    argv: Sequence[str] | None = None, *, name: str = "cfg", required: bool = True
) -> tuple[Any, list[str]]:
    """Finds the config file and the overrides among the arguments of a program.

    Both ways of writing work, in any order: `--cfg=FILE --cfg.a.b=v` and
    `FILE a.b=v`. A value may follow a flag behind a space: `--cfg.a.b v`.

    Args:
      argv: The arguments without the program; None takes those of the process.
      name: The word behind the two dashes.
      required: Whether a config file must be named.

    Returns:
      The `ConfigSource` (None when no file was named and none is required), and the
      arguments that are not about the config: other flags, further words, and
      everything after `--`. A program that knows none of them should refuse them.

    Raises:
      OverrideError: When no file is named though one is required, a second one is
        named, or an override is malformed.
      SystemExit: After printing the fields of the config for `--cfg.help`.
    """
    reader = _Reader(list(sys.argv[1:] if argv is None else argv), name)
    reader.read()
    if reader.file is None:
        if required:
            raise OverrideError(
                f"--{name} is required: no config file is named",
                hint=f"write --{name}=path/to/config.py, or the path alone",
            )
        if reader.overrides:
            raise OverrideError(
                f"{reader.overrides[0].flag} changes a config, but --{name} names none"
            )
        return None, reader.rest
    source = ConfigSource(reader.file, None, tuple(reader.overrides))
    if reader.help_asked:
        from konfig.cli._help import help_text

        print(help_text(source.build(), name))
        raise SystemExit(0)
    return source, reader.rest


class _Reader:
    def __init__(self, words: list[str], name: str):
        self._words = words
        self._flag = f"--{name}"
        self._no_flag = f"--no{name}."
        self._name = name
        self.file: str | None = None
        self.help_asked = False
        self.overrides: list[Override] = []
        self.rest: list[str] = []
        self._spaced: list[int] = []

    def read(self) -> None:
        """Sorts the words; a file behind a bare flag is the file, if none else is."""
        self._sort()
        for index in reversed(self._spaced):
            override = self.overrides[index]
            if self.file is None and _is_file(override.text):
                self.file = override.text
                word = override.flag.removesuffix(f" {override.text}")
                self.overrides[index] = Override(word, override.parts, "flag", "True")

    def _sort(self) -> None:
        while self._words:
            word = self._words.pop(0)
            if word == "--":
                self.rest += self._words
                return
            if word == self._flag:
                self._set_file(self._next(word))
            elif word == f"{self._flag}.help":
                self.help_asked = True
            elif word.startswith(f"{self._flag}="):
                self._set_file(word.partition("=")[2])
            elif word.startswith((f"{self._flag}.", f"{self._flag}[")):
                self._override(word)
            elif word.startswith(self._no_flag):
                path = parse_path(word.removeprefix(self._no_flag))
                self.overrides.append(Override(word, path, "flag", "False"))
            elif word.startswith("-"):
                self.rest.append(word)
            elif _is_override(word):
                self.overrides.append(parse_override(word, word))
            elif self.file is None:
                self.file = word
            else:
                self.rest.append(word)

    def _set_file(self, file: str) -> None:
        if self.file is not None and file != self.file:
            raise OverrideError(
                f"two config files are named: {self.file!r} and {file!r}",
                hint="name one, and change it with overrides",
            )
        self.file = file

    def _next(self, word: str) -> str:
        if not self._words:
            raise OverrideError(f"{word}: the value is missing")
        return self._words.pop(0)

    def _override(self, word: str) -> None:
        text = word.removeprefix(self._flag).removeprefix(".")
        try:
            parts, end = scan(text, glob=True)
        except ConfigValueError as error:
            raise OverrideError(f"{word}: {error.message}") from None
        if end < len(text):
            self.overrides.append(parse_override(text, word))
        elif self._words and self._is_value(self._words[0]):
            value = self._words.pop(0)
            self._spaced.append(len(self.overrides))
            self.overrides.append(Override(f"{word} {value}", parts, "=", value))
        else:
            self.overrides.append(Override(word, parts, "flag", "True"))

    def _is_value(self, word: str) -> bool:
        """Whether a word can be the value of the flag before it."""
        return not word.startswith("--") and not _is_override(word)


def _is_file(word: str) -> bool:
    return word.partition(":")[0].partition("@")[0].endswith((".py", *DATA))


def _is_override(word: str) -> bool:
    try:
        parts, end = scan(word, glob=True)
    except ConfigValueError:
        return False
    rest = word[end:]
    return bool(parts) and (rest.startswith(("=", ":=", "+=")) or rest == ":del")
