"""Makes etils 1.14.0 work with jax 0.10.2 and later.

`etils.enp.ArraySpec` of that release looks for a private module of jax that jax has
moved, and fails with an AttributeError for every array. `install` replaces the one
function that looks there, `etils.enp.array_spec._is_jax_random_dtype`, by the public
test. It goes by what is found on disk and in the function, not by version numbers,
and leaves every healthy pair of etils and jax as it is. Neither is imported.
"""

import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import os
import sys
import threading
from collections.abc import Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

MODULE = "etils.enp.array_spec"
FUNCTION = "_is_jax_random_dtype"
VARIABLE = "KTYPING_ETILS_SHIM"

_ORIGINAL = "__ktyping_original__"
_lock = threading.RLock()


class Status(NamedTuple):
    """What the shim does here.

    Attributes:
      state: `absent` (no etils), `pending` (waits until etils loads the module),
        `healthy` (nothing to do), `patched` or `disabled`.
      reason: Why, one sentence.
      etils_version: Version of the installed etils, or None.
      jax_version: Version of the installed jax, or None.
    """

    state: str
    reason: str
    etils_version: str | None
    jax_version: str | None


def install() -> Status:
    """Applies the shim where it is needed, now or when etils loads the module.

    It can be called any number of times, from any thread, and never raises. A
    reload of the module undoes the patch; calling this again applies it again.
    """
    with _lock:
        if os.environ.get(VARIABLE) == "0":
            return _status("disabled", f"{VARIABLE}=0")
        module = sys.modules.get(MODULE)
        if module is not None:
            return _inspect(module)
        if not _is_there("etils"):
            return _status("absent", "etils is not installed")
        _arm()
        return _status("pending", f"{MODULE} is not loaded yet")


def uninstall() -> Status:
    """Puts the original function back and stops waiting for the module."""
    with _lock:
        _disarm()
        module = sys.modules.get(MODULE)
        original = getattr(getattr(module, FUNCTION, None), _ORIGINAL, None)
        if module is not None and original is not None:
            setattr(module, FUNCTION, original)
        return status()


def status() -> Status:
    """Tells what the shim does here, and changes nothing."""
    with _lock:
        if os.environ.get(VARIABLE) == "0":
            return _status("disabled", f"{VARIABLE}=0")
        module = sys.modules.get(MODULE)
        if module is not None:
            if hasattr(getattr(module, FUNCTION, None), _ORIGINAL):
                return _status("patched", f"{FUNCTION} asks jax's public API")
            reason = _why_healthy(module)
            if reason is None:
                return _status("pending", "the shim is needed and not installed")
            return _status("healthy", reason)
        if any(type(finder) is _Finder for finder in sys.meta_path):
            return _status("pending", f"{MODULE} is not loaded yet")
        if not _is_there("etils"):
            return _status("absent", "etils is not installed")
        return _status("pending", f"{MODULE} is not loaded, the shim not installed")


def _inspect(module: ModuleType) -> Status:
    """Patches a loaded module if it needs it."""
    function = getattr(module, FUNCTION, None)
    if hasattr(function, _ORIGINAL):
        return _status("patched", f"{FUNCTION} asks jax's public API")
    reason = _why_healthy(module)
    if reason is not None:
        return _status("healthy", reason)
    setattr(module, FUNCTION, _replacement(function))
    return _status("patched", f"{FUNCTION} asks jax's public API")


def _why_healthy(module: ModuleType) -> str | None:
    """Returns why a loaded module needs no patch, None if it needs one."""
    function = getattr(module, FUNCTION, None)
    if not isinstance(function, FunctionType):
        return f"this etils has no function {FUNCTION}"
    if not {"_src", "prng"} <= _names(function.__code__):
        return f"{FUNCTION} does not read the private module"
    try:
        jax = importlib.util.find_spec("jax")
    except (ImportError, ValueError, AttributeError):
        jax = None
    if jax is None:
        return "jax is not installed"
    places = jax.submodule_search_locations or ()
    if any(os.path.exists(os.path.join(p, "_src", "prng.py")) for p in places):
        return "this jax still has the private module"
    return None


def _names(code: CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names(constant)
    return names


def _replacement(original: Any) -> Any:
    def is_jax_random_dtype(dtype: Any) -> bool:
        jax = sys.modules.get("jax")
        if jax is None:
            return False
        try:
            return bool(jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key))
        except TypeError:
            # Not a dtype at all: the original test answered False as well.
            return False

    is_jax_random_dtype.__name__ = FUNCTION
    setattr(is_jax_random_dtype, _ORIGINAL, original)
    return is_jax_random_dtype


def _is_there(package: str) -> bool:
    if package in sys.modules:
        return True
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _status(state: str, reason: str) -> Status:
    return Status(state, reason, _version("etils"), _version("jax"))


def _arm() -> None:
    if not any(type(finder) is _Finder for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def _disarm() -> None:
    for finder in [f for f in sys.meta_path if type(f) is _Finder]:
        sys.meta_path.remove(finder)


class _Finder(importlib.abc.MetaPathFinder):
    """Lets the usual finders find the one module, and looks at it once loaded."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """Returns the usual spec of the module with a loader that inspects it."""
        if fullname != MODULE:
            return None
        for finder in sys.meta_path:
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(fullname, path, target)
                if spec is not None:
                    if spec.loader is not None:
                        spec.loader = _Loader(spec.loader)
                    return spec
        return None


class _Loader(importlib.abc.Loader):
    """Runs the module with its own loader, then patches it if needed."""

    def __init__(self, loader: Any):
        self.loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """Makes the module as its own loader does."""
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Runs the module as its own loader does, inspects it, leaves no trace."""
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        module.__loader__ = self.loader
        self.loader.exec_module(module)
        with _lock:
            _inspect(module)
            _disarm()
