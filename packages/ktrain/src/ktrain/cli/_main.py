"""The commands and their words; what they do is loaded when they run."""

from __future__ import annotations

import sys
from typing import Any

import click

_CONFIG_WORDS = """\
CONFIG is a Python file with get_config() (or a JSON file), also as --cfg=CONFIG.
Overrides are PATH=VALUE or --cfg.PATH=VALUE, in any order:

\b
  model.hidden=128      set a field
  model.new:=1          add one that nothing declares
  model.old:del         delete
  callbacks+=5          append
"""

_PASS_ON: dict[str, Any] = {"ignore_unknown_options": True}


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="kd-ktrain", prog_name="ktrain")
def main() -> None:
    """Trains JAX models from configs that are plain data.

    Exit codes: 0 done, 1 the run failed, 2 usage, 3 config, 4 data, 5 checkpoint,
    75 stopped by a signal after a good save, 130 Ctrl-C.
    """


_traceback = click.option(
    "--traceback", is_flag=True, help="Show the whole traceback of an error."
)
_words = click.argument(
    "words", nargs=-1, type=click.UNPROCESSED, metavar="CONFIG [OVERRIDES]..."
)


@main.command(
    context_settings=_PASS_ON,
    help=f"Train, or go on from the workdir's newest checkpoint.\n\n{_CONFIG_WORDS}",
)
@click.option(
    "--workdir",
    metavar="DIR",
    help="Folder of the run. Default: the config's, else runs/<config>-<fingerprint>.",
)
@_traceback
@_words
def run(words: tuple[str, ...], workdir: str | None, traceback: bool) -> None:
    """Trains."""
    from ktrain.cli import _errors_shown, _run

    with _errors_shown.one_screen(traceback=traceback):
        sys.exit(_run.run(list(words), workdir=workdir))


@main.group()
def config() -> None:
    """Look at a config without running it."""


@config.command(
    context_settings=_PASS_ON,
    help=f"Print the config with the overrides applied.\n\n{_CONFIG_WORDS}",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["py", "json"]),
    default="py",
    show_default=True,
    help="py: as Python reads; json: as config.json of a run.",
)
@_traceback
@_words
def show(words: tuple[str, ...], form: str, traceback: bool) -> None:
    """Prints the config."""
    from ktrain.cli import _errors_shown, _show

    with _errors_shown.one_screen(traceback=traceback):
        click.echo(_show.show(list(words), form=form))
