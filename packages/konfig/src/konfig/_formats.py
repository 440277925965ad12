"""Texts of data in the formats that files have beside JSON: YAML and TOML."""

from __future__ import annotations

import importlib
import io
import json
import re
from typing import Any

from konfig._errors import ConfigFileError, ConfigValueError, SerializationError

_MOST_PARTS = 1_000_000
_NONE = {"__none__": True}


def text_of(data: Any, suffix: str) -> str:
    """The text of JSON data in a format.

    Raises:
      ConfigFileError: When the format needs a package that is not installed.
      SerializationError: When the format cannot say it.
    """
    if suffix == ".toml":
        if not isinstance(data, dict):
            raise SerializationError("a TOML file holds a mapping, nothing else")
        return "".join(_toml_table(data, ()))
    out = io.StringIO()
    _yaml().dump(data, out)
    return out.getvalue()


def data_of(text: bytes, suffix: str, origin: str) -> Any:
    """The data in a text; nothing is imported or run for what it names.

    Args:
      text: The file.
      suffix: Its format.
      origin: Its name, for messages.

    Raises:
      ConfigValueError: With line and column, when it does not follow the format.
      ConfigFileError: When the format needs a package that is not installed.
    """
    return _toml(text, origin) if suffix == ".toml" else _from_yaml(text, origin)


def _yaml() -> Any:
    try:
        module = importlib.import_module("ruamel.yaml")
    except ImportError:
        raise ConfigFileError(
            "YAML files need the package ruamel.yaml",
            hint="install the extra 'yaml' of konfig, or use .json",
        ) from None
    # The safe loader: no tag of a file ever makes a Python object.
    reader = module.YAML(typ="safe", pure=True)
    reader.default_flow_style = False
    reader.sort_base_mapping_type_on_output = False
    reader.allow_unicode = True
    return reader


def _from_yaml(text: bytes, origin: str) -> Any:
    reader = _yaml()
    errors = importlib.import_module("ruamel.yaml.error").YAMLError
    try:
        return _bounded(reader.load(text.decode("utf-8")))
    except errors as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}, column {mark.column + 1}" if mark else ""
        what = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise ConfigValueError(f"not YAML: {what}", origin=origin + place) from None
    except ValueError as error:
        raise ConfigValueError(f"not YAML: {error}", origin=origin) from None


def _bounded(data: Any) -> Any:
    """The data, unless its aliases make a small text immense, or endless."""
    sizes: dict[int, int] = {}

    def size(part: Any) -> int:
        if not isinstance(part, (dict, list)):
            return 1
        known = sizes.get(id(part))
        if known == 0:
            raise ValueError("it contains itself")
        if known is None:
            sizes[id(part)] = 0
            items = part.values() if isinstance(part, dict) else part
            known = sizes[id(part)] = 1 + sum(size(item) for item in items)
        if known > _MOST_PARTS:
            raise ValueError("its aliases stand for more parts than a config has")
        return known

    size(data)
    return data


def _toml(text: bytes, origin: str) -> Any:
    import tomllib

    try:
        return _without_none(tomllib.loads(text.decode("utf-8")))
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        at = f":{place[1]}, column {place[2]}" if place else ""
        what = str(error).partition(" (at")[0]
        raise ConfigValueError(f"not TOML: {what}", origin=origin + at) from None
    except ValueError as error:
        raise ConfigValueError(f"not TOML: {error}", origin=origin) from None


def _without_none(data: Any) -> Any:
    if isinstance(data, dict):
        if data == _NONE:
            return None
        return {key: _without_none(item) for key, item in data.items()}
    if isinstance(data, list):
        return [_without_none(item) for item in data]
    return data


def _toml_table(data: dict[str, Any], path: tuple[str, ...]) -> list[str]:
    """The lines of a table: its values first, its tables behind them."""
    tables = {k: v for k, v in data.items() if isinstance(v, dict) and v}
    lines = [f"[{'.'.join(map(_toml_key, path))}]\n"] if path else []
    for key, value in data.items():
        if key not in tables:
            lines.append(f"{_toml_key(key)} = {_toml_value(value)}\n")
    for key, value in tables.items():
        lines += ["\n", *_toml_table(value, (*path, key))]
    return lines


def _toml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml_string(key)


def _toml_string(text: str) -> str:
    # JSON escapes are TOML escapes; the one control that JSON leaves is DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml_value(value: Any) -> str:
    if value is None:
        return "{__none__ = true}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise OverflowError(value)
        return str(value)
    if isinstance(value, float):
        text = repr(value)
        return text if "." in text or "e" in text else f"{text}.0"
    if isinstance(value, str):
        return _toml_string(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_value, value))}]"
    words = [f"{_toml_key(key)} = {_toml_value(item)}" for key, item in value.items()]
    return "{" + ", ".join(words) + "}"
