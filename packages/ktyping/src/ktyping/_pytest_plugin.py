"""`pytest --ktyping=PKG,...`: tests run with the checks of these packages on."""

import sys
from typing import Any

from ktyping._config import config
from ktyping._errors import KTypingError


class TooLateError(KTypingError, RuntimeError):
    """A package was imported, unchecked, before the plugin could turn it on."""


def pytest_addoption(parser: Any) -> None:
    """Adds the option."""
    parser.getgroup("ktyping").addoption(
        "--ktyping",
        metavar="PKG,...",
        default="",
        help="turn the checks of these packages (and all below them) on, also where "
        "KTYPING, a rule or typechecked(mode=...) turns them off",
    )


def pytest_load_initial_conftests(early_config: Any) -> None:
    """Sets the rules before a conftest can import the packages."""
    given = early_config.known_args_namespace.ktyping.split(",")
    for package in filter(None, (name.strip() for name in given)):
        if config.off_at_import and package in sys.modules:
            raise TooLateError(
                f"--ktyping={package}: the package was imported before, with "
                "KTYPING=off, so its functions are not checked.\n"
                "Unset KTYPING for this run."
            )
        config.module_rule(package, "on", force=True)
