"""Containers of other config libraries, converted when they are met.

They are known by the name of their class; none of the libraries is imported here.
"""

from __future__ import annotations

import sys

from konfig import _convert
from konfig._placeholder import placeholder, required
from konfig._typing import Any

_PACKAGES = ("ml_collections.", "omegaconf.")


def _is_foreign(value: Any) -> bool:
    kind = type(value)
    return kind.__module__.startswith(_PACKAGES) and kind.__name__ in _CONVERTERS


def _ml_config(value: Any) -> Any:
    """A `ConfigDict`: fields that were declared and not set stay declared."""
    items = value.items(preserve_field_references=True)
    return _convert.convert(dict(items))


def _ml_reference(value: Any) -> Any:
    """A `FieldReference`: its value now, or a placeholder where it has none."""
    if value.get() is None:
        kind = value.get_type()
        if isinstance(kind, type) and _convert.qualname_of(kind) is not None:
            return placeholder(kind)
    return _convert.convert(value.get())


def _omega_mapping(value: Any) -> Any:
    """A `DictConfig`: interpolations are read, `???` becomes a required field."""
    omega = sys.modules["omegaconf"].OmegaConf
    found = {
        key: required() if omega.is_missing(value, key) else value[key] for key in value
    }
    return _convert.convert(found)


def _omega_list(value: Any) -> Any:
    omega = sys.modules["omegaconf"].OmegaConf
    return _convert.convert(
        [
            required() if omega.is_missing(value, index) else value[index]
            for index in range(len(value))
        ]
    )


_CONVERTERS = {
    "ConfigDict": _ml_config,
    "FrozenConfigDict": _ml_config,
    "FieldReference": _ml_reference,
    "DictConfig": _omega_mapping,
    "ListConfig": _omega_list,
}


def _converted(value: Any) -> Any:
    return _CONVERTERS[type(value).__name__](value)


_convert.register_fallback(_is_foreign, _converted, first=True)
