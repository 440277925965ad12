"""`@konfig.cli.main()`: a function of a config as a program."""

from __future__ import annotations

import functools
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
    raises passes through.

    Args:
      name: The word behind the two dashes.
    """

    def decorate(function: Callable[[Any], Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def program(argv: Sequence[str] | None = None) -> Any:
            return function(_config(argv, name))

        return program

    return decorate


def _config(argv: Sequence[str] | None, name: str) -> Any:
    try:
        source, rest = parse(argv, name=name)
        if not rest:
            return source.build()
    except KonfigError as error:
        print(error_text(error), file=sys.stderr)
        raise SystemExit(CONFIG) from None
    print(f"unknown argument {rest[0]!r}; see --{name}.help", file=sys.stderr)
    raise SystemExit(USAGE)
