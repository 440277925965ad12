"""Config files: run, called with their arguments, changed by overrides."""

from __future__ import annotations

import dataclasses
import importlib
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from konfig import _convert
from konfig._args import Arguments, parse_arguments
from konfig._errors import (
    ConfigFileError,
    ConfigValueError,
    OverrideError,
    did_you_mean,
    joined,
)
from konfig._flag import Override, parsed
from konfig._io import DATA, check_exists, load_data
from konfig._overrides import apply_overrides
from konfig._proxy import Proxy
from konfig._tree import Node

_ENTRY = "get_config"
_META = "__args__"


@dataclasses.dataclass(frozen=True)
class ConfigSource:
    """Where a config comes from, before it is built.

    Attributes:
      path: `configs/vit.py`, `configs/vit.py:size=L`, `configs/vit.py@other_function`,
        `package.module`, `package.module:function` or a data file.
      args: Arguments of the config function by name.
      overrides: Changes in order: `"model.hidden=128"`; those below `__args__` are
        arguments of the config function.
    """

    path: str | os.PathLike[str]
    args: Mapping[str, Any] | None = None
    overrides: tuple[str | Override, ...] = ()
    _built: list[Any] = dataclasses.field(
        default_factory=list, init=False, repr=False, compare=False
    )

    def build(self) -> Any:
        """The config; built once, the same object at every call.

        Raises:
          ConfigFileError: When the file or its function is not there.
          OverrideError: When an override or an argument does not fit.
          Exception: What the config file raises, the same object, with a note.
        """
        if not self._built:
            self._built.append(self._build())
        return self._built[0]

    def _build(self) -> Any:
        overrides = parsed(self.overrides)
        meta = [
            Override(item.flag, item.parts[1:], item.op, item.text)
            for item in overrides
            if item.parts[0] == _META
        ]
        for item in meta:
            if not item.parts:
                raise OverrideError(f"{item.flag}: name an argument, __args__.NAME=…")
        place = _Place(os.fspath(self.path))
        given = (*parse_arguments(place.arguments), *meta)
        cfg, names = place.run(self.args or {}, given)
        rest = [item for item in overrides if item.parts[0] != _META]
        apply_overrides(cfg, rest, names=names)
        return cfg


def load_config(
    path: str | os.PathLike[str],
    *,
    args: Mapping[str, Any] | None = None,
    overrides: Iterable[str] = (),
) -> Any:
    """Builds a config from a config file.

    Args:
      path: See `ConfigSource`.
      args: Arguments of the config function by name.
      overrides: Changes in order: `"model.hidden=128"`.

    Raises:
      ConfigFileError: When the file or its function is not there.
      OverrideError: When an override or an argument does not fit.
    """
    return ConfigSource(path, args, tuple(parsed(overrides))).build()


def get_config_from_module(module: str | ModuleType, cli_str_arg: str = "") -> Any:
    """What the function `get_config` of an imported module gives.

    The name that Kauldron has for it; `load_config` says more.

    Args:
      module: The module, or its name.
      cli_str_arg: Arguments of the function, as on a command line: `"size=L,depth=3"`.

    Raises:
      ConfigFileError: When the module or its function is not there.
      OverrideError: When an argument does not fit.
    """
    if isinstance(module, str):
        return load_config(f"{module}:{_ENTRY}:{cli_str_arg}")
    given = list(parse_arguments(cli_str_arg))
    return _Place(module.__name__).call(module, {}, given)


def load(
    path: str | os.PathLike[str],
    overrides: Iterable[str] = (),
    *,
    trusted: bool = False,
) -> Any:
    """Reads a config from a data file, or runs a config file.

    Args:
      path: A `.json`, `.yaml` or `.toml` file, or what `load_config` takes.
      overrides: Changes in order: `"model.hidden=128"`.
      trusted: Whether `resolve` may call what a data file names.

    Raises:
      ConfigFileError: When the file is missing, with the names of files nearby.
    """
    if not os.fspath(path).endswith(DATA):
        return load_config(path, overrides=overrides)
    cfg = load_data(path, trusted=trusted)
    apply_overrides(cfg, overrides)
    return cfg


def namespace_of(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The names that a config file or module defines.

    Raises:
      ConfigFileError: When the file is missing, or is data.
    """
    return vars(_Place(os.fspath(path)).module())


class _Place:
    """A source taken apart: file or module, function, arguments."""

    def __init__(self, text: str):
        self._text = text
        self.arguments = ""
        self._function = _ENTRY
        head, colon, rest = _parted(text)
        self._base, at, function = head.partition("@")
        if at:
            self._function = function
        if at or self._base.endswith((".py", *DATA)):
            self.arguments = rest
        elif colon:
            self._function, _, self.arguments = rest.partition(":")

    def run(
        self, given: Mapping[str, Any], overrides: Iterable[Override]
    ) -> tuple[Any, dict[str, Any]]:
        """The config, and what names mean inside of it."""
        overrides = list(overrides)
        if self._base.endswith(DATA):
            if given or overrides:
                raise ConfigFileError(f"{self._base!r} is data and takes no arguments")
            return load_data(self._base), {}
        module = self.module()
        cfg = self.call(module, given, overrides)
        names = {
            name: value
            for name, value in vars(module).items()
            if isinstance(value, Proxy)
        }
        return cfg, names

    def module(self) -> ModuleType:
        """The file as a module of its own, or the imported module."""
        if self._base.endswith(DATA):
            raise ConfigFileError(f"{self._base!r} is data and defines no functions")
        if self._base.endswith(".py"):
            return _run_file(Path(self._base))
        return self._import()

    def _import(self) -> ModuleType:
        try:
            if all(word.isidentifier() for word in self._base.split(".")):
                return importlib.import_module(self._base)
        except ModuleNotFoundError as error:
            if error.name is None or not self._base.startswith(error.name):
                raise
        base = Path(self._base)
        folder = base.parent if base.parent.is_dir() else Path()
        near = did_you_mean(base.name, [entry.name for entry in folder.iterdir()])
        raise ConfigFileError(
            f"no config file or module {self._text!r}",
            hint=joined(
                near, "a config is a path that ends in .py or .json, or a module"
            ),
        )

    def call(
        self, module: ModuleType, given: Mapping[str, Any], overrides: list[Override]
    ) -> Any:
        """What the function of a module gives."""
        function = getattr(module, self._function, None)
        if not callable(function):
            names = [
                name
                for name, value in vars(module).items()
                if callable(value) and not isinstance(value, (type, Proxy))
            ]
            raise ConfigFileError(
                f"{self._base!r} has no function {self._function!r}",
                hint=joined(
                    did_you_mean(self._function, names),
                    "a config file defines get_config(), which returns the config",
                ),
            )
        arguments = Arguments(function, given, overrides)
        try:
            cfg = self._called(arguments)
        except Exception as error:
            typed = " ".join(item.flag for item in overrides)
            line = _line_of(error, getattr(module, "__file__", None))
            error.add_note(
                f"konfig: while running {self._function} of {self._base}{line}"
                + (f" with {typed}" if typed else "")
            )
            raise
        if not isinstance(cfg, Node):
            raise ConfigValueError(
                f"{self._function} of {self._base!r} gave "
                f"{type(cfg).__qualname__}, not a config",
                hint="it ends with 'return cfg'" if cfg is None else None,
            )
        return cfg

    def _called(self, arguments: Arguments) -> Any:
        """Runs the function; inside it, `cfg.args = args` stores a mapping."""
        kind = arguments.dataclass
        if kind is None:
            return arguments.call()
        with _convert.converted_as(
            kind, lambda args: _convert.convert(dataclasses.asdict(args))
        ):
            return arguments.call()


def _parted(text: str) -> tuple[str, str, str]:
    """The file or module, the colon, and what follows; a drive letter is no file."""
    start = 2 if text[1:3] in (":\\", ":/") else 0
    head, colon, rest = text[start:].partition(":")
    return text[:start] + head, colon, rest


FILE_MODULE = "konfig_file_"
"""What the names of modules begin with that were run as config files."""


def _run_file(path: Path) -> ModuleType:
    """Runs a file as a module of its own, so that no other file's names are in it.

    The module is named after what the file says: a class that it defines has one name
    in every process, and so has one fingerprint.
    """
    import hashlib

    check_exists(path)
    source = path.read_bytes()
    digest = hashlib.sha256(source).hexdigest()[:8]
    module = ModuleType(f"{FILE_MODULE}{path.stem}_{digest}")
    module.__file__ = str(path.absolute())
    # Dataclasses look up their module to read annotations that are texts.
    before = sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module
    try:
        code = compile(source, module.__file__, "exec")
        exec(code, module.__dict__)
    except BaseException as error:
        if before is None:
            del sys.modules[module.__name__]
        else:
            sys.modules[module.__name__] = before
        line = _line_of(error, module.__file__)
        error.add_note(f"konfig: while running the config file {path}{line}")
        raise
    return module


def _line_of(error: BaseException, file: str | None) -> str:
    """`":14"` for the line of a file that an error came from, if that is known."""
    line = error.lineno if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return "" if line is None else f":{line}"
