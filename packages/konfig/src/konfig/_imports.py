"""`with konfig.imports():` — import statements that bind proxies.

One wrapper around `builtins.__import__` serves all blocks. It acts only for the import
statements that stand in a block themselves, and only in the context that opened it:
other threads, and functions called inside the block, import as ever.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import os
import sys
import threading
from collections.abc import Mapping
from contextvars import ContextVar
from types import FrameType
from typing import Any

from konfig._errors import (
    ConfigImportError,
    ConfigValueError,
    joined,
)
from konfig._lazy_policy import is_lazy
from konfig._proxy import UNKNOWN, Proxy, link
from konfig._target import near_module

_BLOCK: ContextVar[_Block | None] = ContextVar("konfig_imports", default=None)


def imports(*, lazy: bool = False, check: str | None = None) -> Any:
    """A block in which `import` binds proxies instead of modules.

    Calling a proxy describes the call: `optax.adam(1e-3)` gives a `ConfigDict`. The
    modules are imported for real as well, so that a misspelt name or keyword fails at
    its own line.

    Args:
      lazy: Whether nothing is imported before `resolve`; then nothing is checked.
      check: `"signature"` checks names and keywords, `"types"` the arguments against
        the annotations as well, `"off"` nothing. None asks the environment variable
        `KONFIG_CHECK`; without it, it is `"signature"`.

    Raises:
      ConfigImportError: Inside the block, for a module or name that does not exist.
      ConfigTypeError: At a call or assignment that the target does not take.
    """
    asked = "check" if check is not None else "KONFIG_CHECK"
    check = check or os.environ.get("KONFIG_CHECK") or "signature"
    if check not in ("signature", "types", "off"):
        raise ConfigValueError(
            f"{asked} is 'signature', 'types' or 'off', not {check!r}"
        )
    return _Block(lazy, check)


class _Block:
    """One `with` block: the frame it stands in, and its module proxies."""

    def __init__(self, lazy: bool, check: str):
        self.frame: FrameType | None = None
        self._lazy = lazy
        self._check = check
        self._modules: dict[str, Proxy] = {}
        self._tokens: list[Any] = []

    def __enter__(self) -> None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_globals.get("__name__") == "contextlib":
            frame = frame.f_back  # an ExitStack stands between
        self.frame = frame
        self._tokens.append(_BLOCK.set(self))
        _HOOK.acquire()

    def __exit__(self, *error: Any) -> None:
        _HOOK.release()
        _BLOCK.reset(self._tokens.pop())
        self.frame = None

    def take(
        self, name: str, fromlist: tuple[str, ...], level: int, namespace: Any
    ) -> Any:
        """What an import statement of the block binds."""
        name = _absolute(name, level, namespace)
        if "*" in fromlist:
            raise ConfigImportError(
                f"a star import is not possible in a block of imports(): {name}",
                hint="name what you need: from module import a, b",
            )
        lazy = self._lazy or is_lazy(name)
        if not lazy:
            self._import(name, fromlist)
        module = self._module(name, lazy)
        for attribute in fromlist:
            self._take_attribute(module, name, attribute, lazy)
        if fromlist:
            return module
        return self._modules[name.partition(".")[0]]

    def _import(self, name: str, fromlist: tuple[str, ...]) -> None:
        try:
            module = importlib.import_module(name)
            for attribute in fromlist:
                if not hasattr(module, attribute) and hasattr(module, "__path__"):
                    _import_submodule(f"{name}.{attribute}")
        except ImportError as error:
            missing = error.name or name
            raise ConfigImportError(
                f"cannot import {name!r}: {error}",
                hint=joined(
                    near_module(missing),
                    "to describe what is not installed here, use imports(lazy=True)",
                ),
            ) from error

    def _module(self, name: str, lazy: bool) -> Proxy:
        """The proxy of a module, linked into those of its packages."""
        known = self._modules.get(name)
        if known is not None:
            return known
        real = UNKNOWN if lazy else sys.modules[name]
        made = self._modules[name] = Proxy(name, True, real, self._check)
        parent, _, last = name.rpartition(".")
        if parent:
            link(self._module(parent, lazy), last, made)
        return made

    def _take_attribute(
        self, module: Proxy, name: str, attribute: str, lazy: bool
    ) -> None:
        if lazy:
            return
        # Python turns an AttributeError here into an ImportError of its own that
        # knows no near names.
        try:
            getattr(module, attribute)
        except AttributeError as error:
            raise ConfigImportError(
                f"cannot import {attribute!r} from {name!r}",
                hint=getattr(error, "hint", None),
            ) from None


def _absolute(name: str, level: int, namespace: Mapping[str, Any]) -> str:
    if level == 0:
        return name
    package = namespace.get("__package__")
    if not package:
        raise ConfigImportError(
            f"relative import of {'.' * level}{name} in a file without a package",
            hint="write the whole module name",
        )
    return importlib.util.resolve_name("." * level + name, package)


def _import_submodule(name: str) -> None:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise


class _Hook:
    """The wrapper around `builtins.__import__`, there as long as a block is open."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._original = builtins.__import__

    def acquire(self) -> None:
        with self._lock:
            if self._count == 0:
                self._original = builtins.__import__
                builtins.__import__ = self
            self._count += 1

    def release(self) -> None:
        with self._lock:
            self._count -= 1
            if self._count == 0 and builtins.__import__ is self:
                builtins.__import__ = self._original

    def __call__(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Any = (),
        level: int = 0,
    ) -> Any:
        block = _BLOCK.get()
        if (
            block is None
            or block.frame is not sys._getframe(1)
            or _is_konfig(name, level)
        ):
            return self._original(name, globals, locals, fromlist, level)
        return block.take(name, tuple(fromlist or ()), level, globals or {})


def _is_konfig(name: str, level: int) -> bool:
    return level == 0 and (name == "konfig" or name.startswith("konfig."))


_HOOK = _Hook()
