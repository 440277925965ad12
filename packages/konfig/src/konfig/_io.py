"""Configs in files, chosen by the suffix."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from konfig._decode import decode, from_json
from konfig._encode import encode_data, encode_text
from konfig._errors import ConfigFileError, KonfigError, did_you_mean, joined
from konfig._unwritable import endless_int, large_int, lone_surrogate

DATA = (".json", ".yaml", ".yml", ".toml")
"""What the names of data files end with."""


def save(cfg: Any, path: str | os.PathLike[str]) -> None:
    """Writes a config to a `.json`, `.yaml` or `.toml` file, whole or not at all.

    YAML needs the extra `yaml`. The same tags as in JSON say what a format lacks.

    Raises:
      ConfigFileError: For another suffix or a folder that is not there, or when the
        format needs a package that is not installed.
      SerializationError: When a value has no form there; nothing is written then.
    """
    target = Path(path)
    if target.suffix not in DATA:
        raise ConfigFileError(
            f"cannot tell the format of {str(target)!r} from its suffix",
            hint=f"configs are written to {', '.join(DATA)}; the source of a config "
            "file is konfig.to_python(cfg)",
        )
    write_text(target, data_text(cfg, target.suffix))


def data_text(cfg: Any, suffix: str, refs: str = "keep") -> str:
    """A config in the format of a data file.

    Raises:
      SerializationError: When a value has no form there.
    """
    if suffix == ".json":
        return encode_text(cfg, indent=2, refs=refs) + "\n"
    from konfig._formats import text_of

    data = encode_data(cfg, refs=refs)
    try:
        text = text_of(data, suffix)
        text.encode()
    except UnicodeEncodeError:
        raise lone_surrogate(cfg, suffix[1:].upper()) from None
    except KonfigError:
        raise
    except OverflowError:
        raise large_int(cfg) from None
    except ValueError:
        raise endless_int(cfg) from None
    return text


def write_text(target: Path, text: str) -> None:
    """Writes a file, whole or not at all."""
    # Beside the target, so that the last step is a rename within one file system.
    draft = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    if not target.parent.is_dir():
        raise ConfigFileError(f"no folder {str(target.parent)!r} for {str(target)!r}")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def load_data(path: str | os.PathLike[str], *, trusted: bool = False) -> Any:
    """Reads a config from a data file; nothing that it names is imported.

    Raises:
      ConfigFileError: When the file is missing, with the names of files nearby.
      ConfigValueError: With line and column, when it does not follow its format.
    """
    source = Path(path)
    check_exists(source)
    if source.suffix not in DATA[1:]:
        return from_json(source, trusted=trusted)
    from konfig._formats import data_of

    data = data_of(source.read_bytes(), source.suffix, str(source))
    return decode(data, trusted=trusted, origin=str(source))


def check_exists(path: Path) -> None:
    """Refuses a file that is not there, naming files that are near."""
    if path.is_file():
        return
    if path.is_dir():
        raise ConfigFileError(f"{str(path)!r} is a folder, not a config file")
    folder = path.parent
    if not folder.is_dir():
        raise ConfigFileError(f"no folder {str(folder)!r} for {str(path)!r}")
    names = sorted(
        entry.name for entry in folder.iterdir() if entry.suffix in (".py", *DATA)
    )
    raise ConfigFileError(
        f"no file {str(path)!r}",
        hint=joined(
            did_you_mean(path.name, names),
            f"in {str(folder)!r}: {', '.join(names[:12]) or 'no config file'}",
        ),
    )
