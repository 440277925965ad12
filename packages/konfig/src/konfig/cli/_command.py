"""The command `konfig`: its words, its errors on one screen, its exit codes."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from konfig._errors import KonfigError
from konfig._origin import is_ours
from konfig.cli import _actions, _views

USAGE, CONFIG = 2, 3


def command(argv: Sequence[str] | None = None) -> int:
    """Runs `konfig COMMAND …`.

    Args:
      argv: The words behind `konfig`; None takes those of the process.

    Returns:
      0 when all went well, 1 when `diff` found a difference or `validate` an error, 2
      for a command that is written wrongly, 3 for a config that is wrong.
    """
    parser = _parser()
    options, words = parser.parse_known_args(argv)
    # A config file is found from where the command is called, as python -m does.
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return options.action(options, words)
    except _actions.UsageError as error:
        print(f"konfig {options.command}: {error}", file=sys.stderr)
        print(f"usage: {options.usage}", file=sys.stderr)
        return USAGE
    except BrokenPipeError:
        # Whoever read the output has seen enough of it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        print(error_text(error), file=sys.stderr)
        return CONFIG


def error_text(error: BaseException) -> str:
    """An error on one screen: what, where, and its notes; no traceback of konfig."""
    lines = [f"{type(error).__name__}: {error}"]
    if not isinstance(error, KonfigError):
        frames = traceback.extract_tb(error.__traceback__)
        theirs = [frame for frame in frames if not is_ours(frame.filename)]
        if theirs:
            lines.append(f"  at:      {theirs[-1].filename}:{theirs[-1].lineno}")
    lines += getattr(error, "__notes__", [])
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="konfig", description="Shows, checks, compares and converts configs."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(
        name: str, action: Callable[[Any, list[str]], int], words: str
    ) -> argparse.ArgumentParser:
        usage = f"konfig {name} {words}"
        about = (action.__doc__ or "").partition("\n")[0]
        made = commands.add_parser(
            name, usage=usage, help=about, description=about, allow_abbrev=False
        )
        made.set_defaults(action=action, usage=usage)
        return made

    source = "SRC [--cfg.PATH=VALUE …]"
    refs: dict[str, Any] = {"choices": ("keep", "resolve"), "default": "keep"}
    one = add(
        "show", _actions.show, f"{source} [--format py|json|yaml|flat] [--origin]"
    )
    one.add_argument("--format", choices=_views.FORMATS, default="py")
    one.add_argument("--origin", action="store_true", help="where each value was set")
    one.add_argument("--refs", **refs, help="references, or the values they have")
    one = add("json", _actions.to_json, f"{source} [--indent N] [--refs keep|resolve]")
    one.add_argument("--indent", type=int, help="spaces for each level")
    one.add_argument("--refs", **refs, help="references, or the values they have")
    one = add("diff", _actions.diff, "A B [--ignore GLOB] [--json]")
    one.add_argument("--ignore", action="append", default=[], metavar="GLOB")
    one.add_argument("--json", action="store_true", help="as a JSON array")
    one = add(
        "validate",
        _actions.validate,
        "SRC… [--cfg.PATH=VALUE …] [--no-import] [--types error|warn|off]",
    )
    one.add_argument("--no-import", action="store_true", help="load no target")
    one.add_argument("--types", choices=("error", "warn", "off"), default="warn")
    one.add_argument("--trusted", action="store_true", help="import what JSON names")
    one = add("resolve", _actions.resolve, f"{source} [--path P] [--allow TARGET]")
    one.add_argument("--path", help="build this part alone: model.encoder")
    one.add_argument(
        "--allow", action="append", default=[], help="what JSON may name: 'optax.*'"
    )
    one.add_argument("--trusted", action="store_true", help="run what JSON names")
    one = add("fingerprint", _actions.fingerprint, f"{source} [--exclude GLOB]")
    one.add_argument("--exclude", action="append", default=[], metavar="GLOB")
    add("convert", _actions.convert, "IN OUT.py|OUT.json|OUT.yaml|OUT.toml")
    one = add("sweep", _actions.sweep, "SRC [NAME…] [--json]")
    one.add_argument("--json", action="store_true", help="one JSON object a line")
    add("targets", _actions.targets, source)
    return parser
