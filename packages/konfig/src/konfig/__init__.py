"""Configs as plain data: nested, referable, serialisable, resolved once."""

from __future__ import annotations

from konfig import _converters as _converters
from konfig import _foreign as _foreign
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
from konfig._typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from konfig import cli, sweep, testing
    from konfig._access import (
        arguments,
        del_path,
        flatten,
        get_path,
        glob_paths,
        origin,
        set_path,
    )
    from konfig._annotations import ConfigDictLike, WithRef
    from konfig._call import call, const, partial, proxy
    from konfig._decode import from_json
    from konfig._defaults import defaults_of, register_default_values
    from konfig._diff import Diff, apply, diff
    from konfig._export import export, export_qualname
    from konfig._fingerprint import fingerprint, same
    from konfig._frozen import FrozenDict
    from konfig._imports import imports
    from konfig._io import save
    from konfig._lazy_policy import lazy_modules, set_lazy_imported_modules
    from konfig._loader import (
        ConfigSource,
        get_config_from_module,
        load,
        load_config,
    )
    from konfig._mock import mock_modules
    from konfig._overrides import apply_overrides
    from konfig._query import canonicalize, replace, select, unflatten
    from konfig._ref_copy import ref_copy
    from konfig._ref_fn import (
        all_of,
        any_of,
        fstr,
        maximum,
        minimum,
        not_,
        ref_fn,
        where,
    )
    from konfig._report import Problem, Report
    from konfig._resolve import resolve, targets
    from konfig._source import to_python
    from konfig._validate import validate

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
    "set_lazy_imported_modules",
    "mock_modules",
    "proxy",
    "call",
    "partial",
    "const",
    "register_converter",
    "register_default_values",
    "defaults_of",
    "register_aliases",
    # References
    "ref_fn",
    "ref_copy",
    "fstr",
    "where",
    "all_of",
    "any_of",
    "not_",
    "maximum",
    "minimum",
    # Building
    "resolve",
    "targets",
    "validate",
    "Report",
    "Problem",
    # Files and text
    "to_json",
    "from_json",
    "to_python",
    "export",
    "export_qualname",
    "save",
    "load",
    "load_config",
    "get_config_from_module",
    "ConfigSource",
    "apply_overrides",
    "cli",
    "sweep",
    "testing",
    # Annotations
    "ConfigDictLike",
    "WithRef",
    # Paths and comparisons
    "get_path",
    "set_path",
    "del_path",
    "glob_paths",
    "flatten",
    "unflatten",
    "select",
    "replace",
    "canonicalize",
    "arguments",
    "origin",
    "diff",
    "apply",
    "Diff",
    "fingerprint",
    "same",
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
    name: module
    for module, names in {
        "_access": "arguments del_path flatten get_path glob_paths origin set_path",
        "_annotations": "ConfigDictLike WithRef",
        "_call": "call const partial proxy",
        "_decode": "from_json",
        "_defaults": "defaults_of register_default_values",
        "_diff": "Diff apply diff",
        "_export": "export export_qualname",
        "_fingerprint": "fingerprint same",
        "_frozen": "FrozenDict",
        "_imports": "imports",
        "_io": "save",
        "_lazy_policy": "lazy_modules set_lazy_imported_modules",
        "_loader": "ConfigSource get_config_from_module load load_config",
        "_mock": "mock_modules",
        "_overrides": "apply_overrides",
        "_query": "canonicalize replace select unflatten",
        "_ref_copy": "ref_copy",
        "_ref_fn": "all_of any_of fstr maximum minimum not_ ref_fn where",
        "_report": "Problem Report",
        "_resolve": "resolve targets",
        "_source": "to_python",
        "_validate": "validate",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in ("cli", "sweep", "testing"):
        return import_module(f"konfig.{name}")
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'konfig' has no attribute {name!r}")
    found = getattr(import_module(f"konfig.{module}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
