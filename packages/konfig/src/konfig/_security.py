"""Which targets `resolve` may run when their names came as data.

An allow-list is a filter, not a sandbox: what an allowed target does with its
arguments is not watched.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from konfig._const import Const, dotted, is_trusted
from konfig._errors import ConfigTypeError, UnsafeTargetError, listed, short
from konfig._paths import format_path
from konfig._placeholder import Placeholder
from konfig._ref import Expr, Lazy
from konfig._target import split
from konfig._tree import TARGET, TRUSTED, Node, walk, where

_DANGEROUS_MODULES = frozenset(
    """os posix nt posixpath ntpath subprocess _posixsubprocess sys shutil
    importlib _frozen_importlib _frozen_importlib_external imp runpy code
    codeop pty ctypes _ctypes pickle _pickle cPickle marshal shelve dill
    cloudpickle joblib multiprocessing socket _socket webbrowser io _io
    pathlib tempfile zipimport pkgutil gc inspect site threading _thread
    asyncio concurrent pdb bdb trace timeit platform pydoc atexit signal
    codecs fileinput linecache mmap fcntl resource gzip bz2 lzma zipfile
    tarfile ssl http urllib ftplib smtplib poplib imaplib xmlrpc sqlite3 dbm
    venv ensurepip distutils setuptools pip unittest doctest profile
    cProfile faulthandler antigravity turtle select selectors socketserver
    wsgiref cgi konfig""".split()
)
# Our own functions load and run what texts name; `export` describes arrays by this one.
_OWN_HARMLESS = "konfig.integrations.numpy.from_bytes"
_DANGEROUS_SUBMODULES = ("logging.config.", "logging.handlers.", "logging.FileHandler")
_DANGEROUS_BUILTINS = frozenset(
    """eval exec compile __import__ getattr setattr delattr open input breakpoint
    globals locals vars type super""".split()
)
_DISPATCHERS = frozenset(
    """functools.partial functools.partialmethod functools.reduce functools.cmp_to_key
    builtins.map builtins.filter builtins.sorted builtins.min builtins.max
    itertools.starmap itertools.accumulate itertools.filterfalse itertools.takewhile
    itertools.dropwhile itertools.groupby operator.call _operator.call
    _functools.reduce""".split()
)
_LOOKUPS = frozenset(
    """operator.attrgetter operator.methodcaller _operator.attrgetter
    _operator.methodcaller""".split()
)
_TREE_DISPATCHERS = ("jax.tree.", "jax.tree_util.", "jax.lax.", "optax.tree.")


class Guard:
    """The decision about targets that data names, before and after their import.

    Args:
      allow: `"optax.*"` for what lies in a module or below, `"flax.linen:Dense"` for
        one target. None allows nothing.
    """

    def __init__(self, allow: Iterable[str] | str | None):
        patterns = _texts(allow)
        self._prefixes = tuple(
            [pattern.removesuffix("*") for pattern in patterns if pattern.endswith("*")]
        )
        self._exact = frozenset(
            [dotted(pattern) for pattern in patterns if not pattern.endswith("*")]
        )
        self.open = bool(patterns)

    def check_name(self, qualname: str) -> None:
        """Refuses a name that no pattern covers, before anything is imported.

        Raises:
          UnsafeTargetError: Naming the rule.
        """
        name = dotted(qualname)
        if name in self._exact:
            return
        if not any(_under(name, prefix) for prefix in self._prefixes):
            raise _refused(qualname, "no pattern of allow covers it")
        rule = _danger(name) or _dunder(qualname)
        if rule:
            raise _refused(qualname, rule)

    def check_object(self, qualname: str, found: Any) -> None:
        """Refuses a target that lies elsewhere than its name says.

        Raises:
          UnsafeTargetError: Naming where it lies.
        """
        if dotted(qualname) in self._exact:
            return
        self._check_hops(qualname)
        real = _real_name(found)
        if real is None:
            return
        rule = _danger(real)
        if rule:
            raise _refused(qualname, f"it is {real}, and {rule}")
        # A package may define `optax.adam` in `optax._src.alias`, not in another one.
        home = real.partition(".")[0]
        known = [prefix.partition(".")[0] for prefix in (*self._prefixes, *self._exact)]
        if "" not in known and home not in known:
            raise _refused(qualname, f"it is {real}, and allow names nothing of {home}")

    def _check_hops(self, qualname: str) -> None:
        """Every module on the way must be allowed: `logging:os.system` leaves it."""
        module, attributes = split(qualname)
        found: Any = sys.modules.get(module)
        for attribute in attributes[:-1]:
            found = getattr(found, attribute, None)
            if isinstance(found, ModuleType):
                name = found.__name__
                allowed = any(_under(name + ".", prefix) for prefix in self._prefixes)
                if not allowed or _danger(name):
                    raise _refused(qualname, f"it passes through the module {name}")

    def check_arguments(self, qualname: str, values: Iterable[Any]) -> None:
        """Lets what calls its arguments have nothing but named functions.

        Raises:
          UnsafeTargetError: When a function could come from somewhere else.
        """
        name = dotted(qualname)
        if name in self._exact:
            return
        if name in _LOOKUPS:
            raise _refused(qualname, "it looks up attributes by text")
        if name in _DISPATCHERS or name.startswith(_TREE_DISPATCHERS):
            if any(
                isinstance(value, Node) and TARGET in value._konfig_fields
                for value in values
            ):
                raise _refused(
                    qualname, "it calls its arguments, and one of them is no constant"
                )


def _texts(allow: Any) -> tuple[str, ...]:
    patterns = (allow,) if isinstance(allow, str) else allow or ()
    if isinstance(patterns, Iterable):
        patterns = tuple(patterns)
        if all(isinstance(pattern, str) for pattern in patterns):
            return patterns
    raise ConfigTypeError(
        f"allow holds names of targets, not {short(allow)}",
        hint="write them as texts: allow=['optax.*', 'flax.linen:Dense']",
    )


def untrusted_names(root: Any) -> dict[str, tuple[str, str | None]]:
    """The targets that data named, with the first path and origin of each."""
    found: dict[str, tuple[str, str | None]] = {}
    for parts, value in walk(root):
        for name in _names(value):
            origin = where(value) if isinstance(value, Node) else None
            found.setdefault(name, (format_path(parts, "cfg"), origin))
    return found


def came_as_data(root: Any) -> bool:
    """Whether data named a target or a reference somewhere in a value."""
    for _, value in walk(root):
        if _names(value):
            return True
        if isinstance(value, Lazy) and not value.__konfig_trusted__:
            return True
        if isinstance(value, Expr):
            operands = (*value.__konfig_args__, *value.__konfig_kwargs__.values())
            if came_as_data(operands):
                return True
    return False


def _names(value: Any) -> list[str]:
    return [name for name, trusted in named(value) if not trusted]


def named(value: Any) -> Iterator[tuple[str, bool]]:
    """What one stored value names, and whether the program named it, not data."""
    if isinstance(value, Node):
        target = value._konfig_fields.get(TARGET)
        if target is not None:
            yield target, bool(value._konfig_flags & TRUSTED)
    elif isinstance(value, Const):
        yield value.__const__, is_trusted(value)
    elif isinstance(value, (set, frozenset)):
        for item in value:
            yield from named(item)
    elif isinstance(value, (Expr, Placeholder)):
        held: tuple[Any, ...] = ()
        if isinstance(value, Expr):
            held = (*value.__konfig_args__, *value.__konfig_kwargs__.values())
        else:
            held = (value.value, value.default)
        for _, part in walk(held):
            yield from named(part)


def not_asked(names: dict[str, tuple[str, str | None]]) -> UnsafeTargetError:
    """The error for data that names targets, where nobody said that it may."""
    first = next(iter(names))
    path, origin = names[first]
    return UnsafeTargetError(
        f"the config was read as data, and would run: {listed(names, 8)}",
        path=path,
        origin=origin,
        hint=f"name what may run, resolve(cfg, allow=[{first!r}]), or trust where it "
        "comes from, from_json(…, trusted=True)",
    )


def _under(name: str, prefix: str) -> bool:
    return name.startswith(prefix.replace(":", "."))


def _danger(name: str) -> str | None:
    """Why a wildcard never covers this name, or None."""
    module, _, rest = name.partition(".")
    if module in _DANGEROUS_MODULES and name != _OWN_HARMLESS:
        return f"a pattern with * never covers {module}; name the target itself"
    if name.startswith(_DANGEROUS_SUBMODULES):
        return f"a pattern with * never covers {name}; name the target itself"
    if module == "builtins" and rest in _DANGEROUS_BUILTINS:
        return f"a pattern with * never covers {name}; name the target itself"
    return None


def _dunder(qualname: str) -> str | None:
    """Why a name that walks through Python's own attributes is refused, or None."""
    for attribute in split(qualname)[1]:
        if attribute.startswith("__"):
            return f"it looks up {attribute}, which a pattern with * never covers"
    return None


def _real_name(found: Any) -> str | None:
    if isinstance(found, ModuleType):
        return found.__name__
    module = getattr(found, "__module__", None)
    name = getattr(found, "__qualname__", None)
    if isinstance(module, str) and isinstance(name, str):
        return f"{module}.{name}"
    # A method of a class written in C tells its class alone.
    owner = getattr(found, "__self__", None)
    return _real_name(owner) if isinstance(owner, (type, ModuleType)) else None


def _refused(qualname: str, rule: str) -> UnsafeTargetError:
    return UnsafeTargetError(f"{qualname} may not run: {rule}")
