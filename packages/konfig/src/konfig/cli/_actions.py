"""What the commands do: from parsed arguments to text and an exit code."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from konfig._io import DATA, load_data, save, write_text
from konfig._loader import ConfigSource
from konfig._overrides import apply_overrides
from konfig.cli import _views
from konfig.cli._parse import parse


class UsageError(Exception):
    """The command was written in a way that it does not take."""


Options = argparse.Namespace


def show(options: Options, words: list[str]) -> int:
    """Prints a config."""
    cfg = _config(words)
    if options.origin:
        print(_views.origins(cfg))
    else:
        print(_views.text_of(cfg, options.format, options.refs))
    return 0


def to_json(options: Options, words: list[str]) -> int:
    """Prints a config as JSON."""
    from konfig._encode import encode_text

    print(encode_text(_config(words), indent=options.indent, refs=options.refs))
    return 0


def diff(options: Options, words: list[str]) -> int:
    """Prints what differs; 1 when something does."""
    from konfig._diff import diff as differences

    _check_flags(words)
    if len(words) != 2:
        raise UsageError(f"diff takes two configs, got {len(words)}")
    first, second = (ConfigSource(word).build() for word in words)
    found = differences(first, second, ignore=options.ignore)
    if options.json:
        print(found.to_json())
    elif found:
        print(found)
    return 1 if found else 0


def validate(options: Options, words: list[str]) -> int:
    """Prints the problems of configs; 1 when one of them is an error."""
    from konfig._validate import validate as check

    flags = [word for word in words if word.startswith("-")]
    files = [word for word in words if not word.startswith("-")]
    if not files:
        raise UsageError("validate takes at least one config")
    failed = False
    for file in files:
        report = check(
            _config([file, *flags], trusted=options.trusted),
            import_targets=not options.no_import,
            types=options.types,
        )
        for problem in report:
            print(f"{file}: {problem}" if len(files) > 1 else problem)
        failed = failed or not report.ok
    return 1 if failed else 0


def resolve(options: Options, words: list[str]) -> int:
    """Builds a config and prints the object."""
    from konfig._access import get_path
    from konfig._resolve import resolve as build

    cfg = _config(words)
    if options.path:
        cfg = get_path(cfg, options.path)
    print(repr(build(cfg, allow=options.allow or None, trusted=options.trusted)))
    return 0


def fingerprint(options: Options, words: list[str]) -> int:
    """Prints the fingerprint."""
    from konfig._fingerprint import fingerprint as digest

    print(digest(_config(words), exclude=options.exclude))
    return 0


def convert(options: Options, words: list[str]) -> int:
    """Writes a config in the format of another suffix."""
    _check_flags(words)
    if len(words) != 2:
        raise UsageError(f"convert takes an input and an output, got {len(words)}")
    cfg, out = ConfigSource(words[0]).build(), Path(words[1])
    if out.suffix == ".py":
        write_text(out, _views.text_of(cfg, "py") + "\n")
    else:
        save(cfg, out)
    return 0


def sweep(options: Options, words: list[str]) -> int:
    """Lists the points of a sweep, after each was tried on the config."""
    import json

    from konfig import sweep as sweeps
    from konfig._encode import encode_text

    if not words:
        raise UsageError("sweep takes a config file and the names of its sweeps")
    found = sweeps.load(words[0], *words[1:])
    for point, _ in sweeps.configs(words[0], found):
        if options.json:
            values = {
                key: json.loads(encode_text(value))
                for key, value in point.overrides.items()
            }
            row = {"index": point.index, "name": point.name, "overrides": values}
            print(json.dumps(row, ensure_ascii=False))
        else:
            print(f"{point.index}  {point.name}")
    return 0


def targets(options: Options, words: list[str]) -> int:
    """Lists the targets and constants that a config names."""
    from konfig._resolve import targets as named

    for name in named(_config(words)):
        print(name)
    return 0


def _config(words: list[str], *, trusted: bool = False) -> Any:
    """The config of `SRC [--cfg.PATH=V …]`."""
    source, rest = parse(words, required=False)
    if rest:
        raise UsageError(f"unknown argument {rest[0]!r}")
    if source is None:
        raise UsageError("no config is named")
    if not (trusted and source.path.endswith(DATA)):
        return source.build()
    cfg = load_data(source.path, trusted=True)
    apply_overrides(cfg, source.overrides)
    return cfg


def _check_flags(words: list[str]) -> None:
    for word in words:
        if word.startswith("-"):
            raise UsageError(f"unknown argument {word!r}")
