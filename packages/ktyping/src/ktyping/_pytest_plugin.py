"""`pytest --ktyping=PKG,...` turns checks on, `--ktyping-brief` shortens reports."""

import os
import sys
from typing import Any

import pytest

from ktyping._config import config
from ktyping._errors import KTypeCheckError, KTypingError
from ktyping._source import LABEL


class TooLateError(KTypingError, RuntimeError):
    """A package was imported, unchecked, before the plugin could turn it on."""


def pytest_addoption(parser: Any) -> None:
    """Adds the options."""
    group = parser.getgroup("ktyping")
    group.addoption(
        "--ktyping",
        metavar="PKG,...",
        default="",
        help="turn the checks of these packages (and all below them) on, also where "
        "KTYPING, a rule or typechecked(mode=...) turns them off",
    )
    group.addoption(
        "--ktyping-brief",
        action="store_true",
        help="of a KTypeCheckError that fails a test print where it was raised, what "
        "does not fit, and the inferred dims; no traceback",
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


# This form of a wrapper is the one that pytest 7 knows as well.
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Any:
    """Puts the brief report in place of a traceback."""
    outcome = yield
    report = outcome.get_result()
    caught = call.excinfo
    if caught is not None and isinstance(caught.value, KTypeCheckError):
        if item.config.getoption("--ktyping-brief"):
            place, brief = _place(caught.traceback), caught.value.brief
            report.longrepr = f"{place}KTypeCheckError\n{brief}"


def _place(traceback: Any) -> str:
    """Returns the line of the test run that led to the error, outside of ktyping."""
    here = os.path.dirname(__file__)
    for entry in reversed(traceback):
        path = str(entry.path)
        if not path.startswith(here) and LABEL not in path:
            return f"{path}:{entry.lineno + 1}: "
    return ""
