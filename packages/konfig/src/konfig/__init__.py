"""Configs as plain data: nested, referable, serialisable, resolved once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from konfig import _converters as _converters
from konfig._const import Const
from konfig._convert import register_converter
from konfig._copy import deepcopy
from konfig._encode import encode_text as to_json
from konfig._errors import (
    ConfigAttributeError,
    ConfigCycleError,
    ConfigFileError,
    ConfigImportError,
    ConfigIndexError,
    ConfigKeyError,
    ConfigTypeError,
    ConfigValueError,
    KonfigError,
    LockedError,
    OverrideError,
    RefCycleError,
    RefError,
    RequiredValueError,
    SerializationError,
    UnsafeTargetError,
)
from konfig._list import ConfigList
from konfig._node import ConfigDict
from konfig._placeholder import placeholder, required
from konfig._repr import register_aliases

if TYPE_CHECKING:
    from konfig._call import call, const, partial, proxy
    from konfig._decode import from_json
    from konfig._frozen import FrozenDict
    from konfig._imports import imports
    from konfig._io import save
    from konfig._lazy_policy import lazy_modules
    from konfig._resolve import resolve, targets

__all__ = [
    # Data
    "ConfigDict",
    "ConfigList",
    "Const",
    "FrozenDict",
    "deepcopy",
    "placeholder",
    "required",
    # Describing calls
    "imports",
    "lazy_modules",
    "proxy",
    "call",
    "partial",
    "const",
    "register_converter",
    "register_aliases",
    # Building
    "resolve",
    "targets",
    # Files and text
    "to_json",
    "from_json",
    "save",
    # Errors
    "KonfigError",
    "ConfigAttributeError",
    "ConfigCycleError",
    "ConfigFileError",
    "ConfigImportError",
    "ConfigIndexError",
    "ConfigKeyError",
    "ConfigTypeError",
    "ConfigValueError",
    "LockedError",
    "OverrideError",
    "RefCycleError",
    "RefError",
    "RequiredValueError",
    "SerializationError",
    "UnsafeTargetError",
]

_LAZY = {
    "FrozenDict": "_frozen",
    "call": "_call",
    "const": "_call",
    "from_json": "_decode",
    "imports": "_imports",
    "lazy_modules": "_lazy_policy",
    "partial": "_call",
    "proxy": "_call",
    "resolve": "_resolve",
    "save": "_io",
    "targets": "_resolve",
}


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'konfig' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"konfig.{module}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
