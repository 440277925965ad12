"""`@konfig.cli.main()`: a function of a config as a program."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from konfig._errors import KonfigError
from konfig.cli._command import CONFIG, USAGE, error_text
from konfig.cli._parse import parse


def main(*, name: str = "cfg") -> Callable[[Callable[[Any], Any]], Any]:
    """Makes a program of a function that takes a config.

        @konfig.cli.main()
        def train(cfg): ...

        if __name__ == "__main__":
            train()

    Called without arguments the function reads the command line (`--cfg=FILE
    --cfg.a.b=v`); a list of words takes its place. What is wrong with the command line
    or the config is printed on one screen and ends the program: with 2 for words that
    are not about the config, with 3 for a faulty config. What the function itself
    raises passes through. `--help` says how the program is called, `--cfg.help` what
    its config holds.

    Args:
      name: The word behind the two dashes.
    """

    def decorate(function: Callable[[Any], Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def program(argv: Sequence[str] | None = None) -> Any:
            words = list(sys.argv[1:] if argv is None else argv)
            if "-h" in words or "--help" in words:
                print(_usage(function, name))
                raise SystemExit(0)
            return function(_config(words, name))

        return program

    return decorate


def _usage(function: Callable[[Any], Any], name: str) -> str:
    program = os.path.basename(sys.argv[0])
    about = inspect.getdoc(function)
    flag = f"--{name}.PATH"
    rows = [
        (f"--{name}=FILE", "the config: a Python file with get_config(), or data"),
        (f"{flag}=VALUE", "sets a field that is there or declared"),
        (f"{flag}:=VALUE", "adds a field"),
        (f"{flag}+=VALUE", "appends to a list, merges into a mapping"),
        (f"{flag}:del", "deletes a field"),
        (f"--{name}.help", "every field with its type, value, origin and meaning"),
    ]
    lines = [f"usage: {program} --{name}=FILE [{flag}=VALUE …]", ""]
    lines += [about, ""] if about else []
    width = max(len(word) for word, _ in rows) + 2
    lines += [f"  {word:{width}}{meaning}" for word, meaning in rows]
    return "\n".join(lines)


def _config(argv: Sequence[str], name: str) -> Any:
    try:
        source, rest = parse(argv, name=name, required=False)
        if source is not None and not rest:
            return source.build()
    except KonfigError as error:
        print(error_text(error), file=sys.stderr)
        raise SystemExit(CONFIG) from None
    wrong = f"unknown argument {rest[0]!r}" if rest else f"--{name}=FILE is missing"
    print(f"{wrong}; see --help", file=sys.stderr)
    raise SystemExit(USAGE)
