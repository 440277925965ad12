"""`with konfig.mock_modules():` — modules that are imported already, as proxies."""

from __future__ import annotations

import sys
from types import BuiltinFunctionType, FrameType, FunctionType, ModuleType
from typing import Any

from konfig._convert import qualname_of
from konfig._errors import ConfigTypeError, short
from konfig._proxy import Proxy

_WRITES_THROUGH = sys.version_info >= (3, 13)


def mock_modules(
    *modules: ModuleType,
    exclude: tuple[ModuleType | str, ...] | list[ModuleType | str] = (),
    include_objects: bool = False,
) -> Any:
    """A block in which the modules of the caller are proxies, for notebooks.

    The names of the module that the block stands in, and those of its function, are
    bound to proxies on entry and to what they were before on exit. Functions of the
    same module that are called inside the block see the proxies as well.

    Args:
      *modules: Which modules; none means all but konfig itself.
      exclude: Modules, or names they are bound to, that stay real.
      include_objects: Whether importable classes and functions are replaced too.

    Raises:
      ConfigTypeError: When something else than a module is given.
    """
    for module in modules:
        if not isinstance(module, ModuleType):
            raise ConfigTypeError(
                f"mock_modules takes modules, not {short(module)}",
                hint="for classes and functions use include_objects=True",
            )
    return _Mocked(modules, tuple(exclude), include_objects)


class _Mocked:
    def __init__(self, modules: Any, exclude: Any, include_objects: bool):
        self._modules = {id(module) for module in modules}
        self._names = {item for item in exclude if isinstance(item, str)}
        self._excluded = {id(item) for item in exclude}
        self._include_objects = include_objects
        self._frame: FrameType | None = None
        self._globals: dict[str, tuple[Any, Proxy]] = {}
        self._locals: dict[str, tuple[Any, Proxy]] = {}

    def __enter__(self) -> None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_globals.get("__name__") == "contextlib":
            frame = frame.f_back  # an ExitStack stands between
        assert frame is not None
        self._frame = frame
        self._globals = self._replacements(frame.f_globals)
        frame.f_globals.update({k: proxy for k, (_, proxy) in self._globals.items()})
        if frame.f_locals is not frame.f_globals:
            self._locals = self._replacements(frame.f_locals)
            _write(frame, {name: proxy for name, (_, proxy) in self._locals.items()})

    def __exit__(self, *error: Any) -> None:
        frame, self._frame = self._frame, None
        assert frame is not None
        frame.f_globals.update(_still_ours(frame.f_globals, self._globals))
        if self._locals:
            _write(frame, _still_ours(frame.f_locals, self._locals))

    def _replacements(self, namespace: Any) -> dict[str, tuple[Any, Proxy]]:
        made: dict[str, tuple[Any, Proxy]] = {}
        for name, value in list(namespace.items()):
            if name in self._names or id(value) in self._excluded or name[:2] == "__":
                continue
            if isinstance(value, ModuleType):
                if self._takes(value):
                    made[name] = (value, Proxy(value.__name__, True, value))
            elif self._include_objects and isinstance(value, _OBJECTS):
                qualname = qualname_of(value)
                if qualname is not None and not _is_konfig(qualname):
                    made[name] = (value, Proxy(qualname, False, value))
        return made

    def _takes(self, module: ModuleType) -> bool:
        if self._modules:
            return id(module) in self._modules
        imported = sys.modules.get(module.__name__) is module
        return imported and not _is_konfig(module.__name__)


_OBJECTS = (type, FunctionType, BuiltinFunctionType)


def _is_konfig(name: str) -> bool:
    return name.partition(":")[0].partition(".")[0] == "konfig"


def _still_ours(namespace: Any, made: dict[str, tuple[Any, Proxy]]) -> dict[str, Any]:
    """What the names were before, where nobody bound them anew inside the block."""
    return {
        name: before
        for name, (before, proxy) in made.items()
        if namespace.get(name) is proxy
    }


def _write(frame: FrameType, values: dict[str, Any]) -> None:
    """Binds local names of a running function.

    `f_locals` is read afresh: the function went on since it was read before.
    """
    frame.f_locals.update(values)
    if not _WRITES_THROUGH:
        import ctypes

        # Before Python 3.13 f_locals is a copy, which this call writes back.
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
