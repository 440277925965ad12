"""Values as standard JSON, and JSON files that are whole or absent.

NaN and the infinities are not JSON: they are written as the texts "NaN",
"Infinity" and "-Infinity", so that every reader can parse the file.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import pathlib
from collections.abc import Mapping
from typing import Any

_COUNTER = itertools.count()
_NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def to_json(value: Any, where: str = "value") -> Any:
    """Gives `value` made of what JSON has: dicts, lists, texts, numbers, bools, None.

    Args:
      value: Nested mappings, sequences and sets of Python or NumPy numbers, arrays,
        texts, paths and None.
      where: What the value is called in an error.

    Raises:
      TypeError: Some part is of another type; the message says where.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return _number(float(value))
    if isinstance(value, Mapping):
        return {str(key): to_json(v, f"{where}.{key}") for key, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        items = value if isinstance(value, (list, tuple)) else sorted(value, key=str)
        return [to_json(item, f"{where}[{i}]") for i, item in enumerate(items)]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        plain = value.tolist()
        if not hasattr(plain, "dtype"):
            return to_json(plain, where)
        if hasattr(plain, "__float__"):
            return _number(float(plain))
    raise TypeError(
        f"{where} cannot be written as JSON: it is a {type(value).__qualname__}.\n"
        "  Give numbers, texts, paths, None, or dicts and lists of these."
    )


def _number(value: float) -> float | str:
    if math.isfinite(value):
        return value
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def from_json_number(value: Any) -> Any:
    """Gives the float behind the texts "NaN", "Infinity", "-Infinity"; else `value`."""
    return _NON_FINITE.get(value, value) if isinstance(value, str) else value


def dumps(value: Any, *, indent: int | None = None) -> str:
    """Gives `value` as one JSON text; see `to_json` for what may be in it."""
    return json.dumps(
        to_json(value), indent=indent, allow_nan=False, ensure_ascii=False
    )


def write_json(
    path: str | os.PathLike[str], value: Any, *, durable: bool = True
) -> None:
    """Writes a JSON file so that readers see the old or the new one, never a part.

    Args:
      path: The file; its folder is made when it is missing.
      value: See `to_json`.
      durable: Waits until the disk holds the file, so that it survives a power cut.

    Raises:
      TypeError: A part of `value` is not JSON; the file is then left as it was.
    """
    text = dumps(value, indent=2) + "\n"
    target = pathlib.Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.{next(_COUNTER)}.tmp")
    try:
        with open(temporary, "x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    if durable:
        _sync_folder(target.parent)


def _sync_folder(folder: pathlib.Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_json(path: str | os.PathLike[str]) -> Any:
    """Gives the value in a JSON file.

    Raises:
      FileNotFoundError: There is no such file.
      ValueError: The file is not JSON; the message names it.
    """
    text = pathlib.Path(path).read_text(encoding="utf-8")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        error.add_note(f"in the file {os.fspath(path)}")
        raise
