"""From the name of a target to the object, imported or as far as it is loaded."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from konfig._const import check_qualname
from konfig._errors import (
    ConfigAttributeError,
    ConfigImportError,
    did_you_mean,
    joined,
    listed,
)
from konfig._typing import Any

_SPLIT: dict[str, tuple[str, tuple[str, ...]]] = {}


def split(qualname: str) -> tuple[str, tuple[str, ...]]:
    """The module and the attributes that a name says; the last dot splits old names."""
    known = _SPLIT.get(qualname)
    if known is None:
        check_qualname(qualname)
        if ":" in qualname:
            module, _, rest = qualname.partition(":")
        elif "." in qualname:
            module, _, rest = qualname.rpartition(".")
        else:
            module, rest = qualname, ""
        known = _SPLIT[qualname] = (module, tuple(rest.split(".")) if rest else ())
    return known


def loaded(qualname: str) -> Any:
    """The object, or None when that would need an import."""
    module, attributes = split(qualname)
    found: Any = sys.modules.get(module)
    for attribute in attributes:
        if found is None:
            return None
        found = getattr(found, attribute, None)
    return found


def canonical_name(qualname: str) -> str:
    """The name with its colon behind the longest module that is loaded."""
    module, attributes = split(qualname)
    words = [*module.split("."), *attributes]
    for length in range(len(words), 0, -1):
        name = ".".join(words[:length])
        if name in sys.modules:
            return f"{name}:{'.'.join(words[length:])}"
    return qualname


def load(qualname: str) -> Any:
    """Imports what a name names.

    The longest importable module is found whatever the name says, so that
    `flax:linen.Dense` and `flax.linen:Dense` lead to the same class.

    Raises:
      ConfigValueError: When the name is malformed.
      ConfigImportError: When its module cannot be imported.
      ConfigAttributeError: When the module has no such attribute.
    """
    module, attributes = split(qualname)
    found = sys.modules.get(module)
    if found is None:
        found, attributes = _import(module, attributes)
    prefix = module
    for attribute in attributes:
        try:
            found = getattr(found, attribute)
        except AttributeError:
            found = _submodule(found, prefix, attribute, qualname)
        prefix = f"{prefix}.{attribute}"
    return found


def _import(module: str, attributes: tuple[str, ...]) -> tuple[Any, tuple[str, ...]]:
    """The longest importable part of a module name, and what is left as attributes."""
    name = module
    while True:
        try:
            return importlib.import_module(name), attributes
        except ModuleNotFoundError as error:
            parent, _, last = name.rpartition(".")
            # `a.Class` is no module; a missing dependency of `a` is another matter.
            inside = error.name == name and parent
            if not inside:
                raise _cannot_import(module, error) from error
            name, attributes = parent, (last, *attributes)
        except ImportError as error:
            raise _cannot_import(module, error) from error


def _cannot_import(module: str, error: ImportError) -> ConfigImportError:
    missing = getattr(error, "name", None) or module
    return ConfigImportError(
        f"cannot import {module!r}: {error}",
        hint=joined(near_module(missing), "install it, or correct the name"),
    )


def near_module(missing: str) -> str:
    """The importable modules that a missing one may have been meant for, as a hint."""
    import pkgutil

    parent, _, _ = missing.rpartition(".")
    if parent:
        path = getattr(sys.modules.get(parent), "__path__", ())
        names = [f"{parent}.{found.name}" for found in pkgutil.iter_modules(path)]
    else:
        installed = (found.name for found in pkgutil.iter_modules())
        names = [*sys.stdlib_module_names, *installed]
    # Among hundreds of names some are a little alike by chance.
    return did_you_mean(missing, names, cutoff=0.75)


def _submodule(owner: Any, prefix: str, attribute: str, qualname: str) -> Any:
    if isinstance(owner, ModuleType):
        try:
            return importlib.import_module(f"{prefix}.{attribute}")
        except ModuleNotFoundError as error:
            if error.name != f"{prefix}.{attribute}" and not str(error).endswith(
                "is not a package"
            ):
                raise _cannot_import(f"{prefix}.{attribute}", error) from error
    raise missing_attribute(owner, prefix, attribute, qualname) from None


def missing_attribute(
    owner: Any, owner_name: str, attribute: str, qualname: str
) -> ConfigAttributeError:
    """The error for a name that a module or class does not have."""
    names = [name for name in dir(owner) if not name.startswith("_")]
    near = did_you_mean(attribute, names)
    some = "" if near else f"it has {listed(names, 12)}"
    return ConfigAttributeError(
        f"{owner_name!r} has no attribute {attribute!r} (wanted: {qualname})",
        hint=joined(near, some),
    )
