"""What tests of checked code need: refusals expected, reports compared with files.

from ktyping.testing import assert_rejects, assert_report
"""

import difflib
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ktyping._config import config
from ktyping._errors import KTypeCheckError

VARIABLE = "KTYPING_WRITE_REPORTS"
# What differs between machines: the place of the code.
_PLACE = re.compile(r" \([^()\n]*?:\d+\)")


def assert_rejects(
    call: Callable[[], Any],
    *,
    code: str | None = None,
    subject: str | None = None,
    axis: int | None = None,
    text: str | None = None,
) -> KTypeCheckError:
    """Asserts that a call is refused, and for the reason that is meant.

    Checks are on while it runs, whatever the configuration says.

    Args:
      call: What must fail, without arguments: `lambda: f(x, y)`.
      code: Code of the error: `rank`, `size`, `dtype`, `backend`, `type` or
        `structure`.
      subject: Subject of the error, such as `argument y` or `return value`.
      axis: Index of the axis that fails.
      text: A part of the message.

    Returns:
      The error.

    Raises:
      AssertionError: When nothing is refused, or for another reason.
    """
    try:
        with config.override("on"):
            result = call()
    except KTypeCheckError as error:
        wanted = {"code": code, "subject": subject, "axis": axis}
        for name, value in wanted.items():
            if value is not None and getattr(error, name) != value:
                found = getattr(error, name)
                raise AssertionError(
                    f"Refused, but {name} is {found!r}, expected {value!r}:\n{error}"
                ) from error
        if text is not None and text not in str(error):
            raise AssertionError(f"Refused, but without {text!r}:\n{error}") from error
        return error
    raise AssertionError(
        f"Nothing was refused; the call gave {type(result).__name__}.\n"
        "Is the function under `typechecked`, and without a mode of its own?"
    )


def stable_report(error: KTypeCheckError) -> str:
    """Returns the message of an error without files and lines."""
    return _PLACE.sub("", str(error))


def assert_report(error: KTypeCheckError, path: str | os.PathLike[str]) -> None:
    """Asserts that the message of an error is what a file holds.

    Files and lines of code are left out (`stable_report`). With the environment
    variable KTYPING_WRITE_REPORTS=1 the file is written instead.

    Args:
      error: The error, from `assert_rejects`.
      path: The file.

    Raises:
      AssertionError: When the two differ, with the difference, or there is no file.
    """
    file, found = Path(path), stable_report(error) + "\n"
    if os.environ.get(VARIABLE) == "1":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(found, encoding="utf-8")
        return
    advice = f"Run once with {VARIABLE}=1 to write it."
    if not file.exists():
        raise AssertionError(f"There is no report {file}.\n{advice}")
    expected = file.read_text(encoding="utf-8")
    if found != expected:
        lines = difflib.unified_diff(
            expected.splitlines(), found.splitlines(), str(file), "now", lineterm=""
        )
        difference = "\n".join(lines)
        raise AssertionError(f"The report differs.\n{advice}\n{difference}")
