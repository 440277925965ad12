"""Configs in files, chosen by the suffix."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from konfig._decode import from_json
from konfig._encode import encode_text
from konfig._errors import ConfigFileError, did_you_mean, joined


def save(cfg: Any, path: str | os.PathLike[str]) -> None:
    """Writes a config to a `.json` file, whole or not at all.

    Raises:
      ConfigFileError: For another suffix.
      SerializationError: When a value has no form in JSON; nothing is written then.
    """
    target = Path(path)
    check_suffix(target)
    write_text(target, encode_text(cfg, indent=2) + "\n")


def write_text(target: Path, text: str) -> None:
    """Writes a file, whole or not at all."""
    # Beside the target, so that the last step is a rename within one file system.
    draft = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def load_json(path: str | os.PathLike[str], *, trusted: bool = False) -> Any:
    """Reads a config from a `.json` file.

    Raises:
      ConfigFileError: When the file is missing, with the names of files nearby.
      ConfigValueError: With line and column, when it is no JSON.
    """
    source = Path(path)
    check_exists(source)
    return from_json(source, trusted=trusted)


def check_suffix(path: Path) -> None:
    """Refuses a file format that is not supported."""
    if path.suffix != ".json":
        raise ConfigFileError(
            f"cannot tell the format of {str(path)!r} from its suffix",
            hint="configs are written to .json",
        )


def check_exists(path: Path) -> None:
    """Refuses a file that is not there, naming files that are near."""
    if path.is_file():
        return
    folder = path.parent
    if not folder.is_dir():
        raise ConfigFileError(f"no folder {str(folder)!r} for {str(path)!r}")
    names = sorted(
        entry.name for entry in folder.iterdir() if entry.suffix in (".py", ".json")
    )
    raise ConfigFileError(
        f"no file {str(path)!r}",
        hint=joined(
            did_you_mean(path.name, names),
            f"in {str(folder)!r}: {', '.join(names[:12]) or 'no config file'}",
        ),
    )
