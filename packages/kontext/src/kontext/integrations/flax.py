"""What a Flax model remembers of its inner layers, read and written by path.

For `flax.linen` and `flax.nnx` alike. kontext itself never imports Flax: whoever has
a module has.
"""

from __future__ import annotations

import abc
import sys
from typing import Any

from kontext._access import get_by_path
from kontext._errors import Explanation, PathError, PathLookupError, PathTypeError
from kontext._path import Path, PathLike, as_path

__all__ = ["Interms", "interms_property"]

_COLLECTION = "intermediates"


def interms_property() -> Any:
    """A property for a Flax module: its intermediate values, as an `Interms`.

    Example:
      class Encoder(nn.Module):
        interms = interms_property()

        def __call__(self, x):
          self.interms["hidden"] = x  # sows it
          return x + self.interms["hidden"]  # the value that was sown last
    """
    return property(_interms_of, doc="The intermediate values of this module.")


def _interms_of(module: Any) -> Interms:
    linen, nnx = sys.modules.get("flax.linen"), sys.modules.get("flax.nnx")
    if linen is not None and isinstance(module, linen.Module):
        return _LinenInterms(module)
    if nnx is not None and isinstance(module, nnx.Module):
        return _NnxInterms(module)
    raise PathTypeError(
        f"interms_property() is for Flax modules, got a {type(module).__name__}"
    )


class Interms(abc.ABC):
    """The intermediate values of one module, by name or by path.

    Values are kept as `sow` keeps them: a tuple with one item for each time that the
    name was sown.
    """

    def __init__(self, module: Any) -> None:
        self._module = module

    @abc.abstractmethod
    def __setitem__(self, name: str, value: Any) -> None:
        """Sows a value; where Flax captures nothing, Flax keeps to its own rules."""

    @abc.abstractmethod
    def __getitem__(self, name: str) -> Any:
        """The value that was sown last under a name of this module.

        Raises:
          PathLookupError: If there is none, or if nothing is captured.
        """

    @abc.abstractmethod
    def get_by_path(self, path: PathLike) -> Any:
        """The value at a path: `.h[-1]` is what this module sowed last as `h`.

        Args:
          path: One dot leads from this module on, each further one a level up; a path
            without leading dot begins at the outermost module. A module of nnx does
            not know what holds it, so there it is one dot always.

        Raises:
          PathLookupError: If there is no such value, or if nothing is captured.
          PathError: If the path leads above the outermost module.
          PathTypeError: If it is no path.
        """


class _LinenInterms(Interms):
    """Reads the scope of the module, which exists inside of `init` and `apply`."""

    def __setitem__(self, name: str, value: Any) -> None:
        self._scope()
        self._module.sow(_COLLECTION, _checked_name(name), value)

    def __getitem__(self, name: str) -> Any:
        return get_by_path(_captured(self._scope(), name), (name, -1))

    def get_by_path(self, path: PathLike) -> Any:
        dots, below = _split(path)
        scope = self._scope()
        if not dots:
            return get_by_path(_captured(scope.root, path), below)
        for _ in range(dots - 1):
            if scope.parent is None:
                own = "/".join(self._scope().path) or "the outermost module"
                raise PathError(
                    f"{path!r} leads above the outermost module\n"
                    f"  read in: {own}\n"
                    f"  at most {len(self._scope().path) + 1} leading dots; "
                    "without any, a path begins at the outermost module"
                )
            scope = scope.parent
        return get_by_path(_captured(scope, path), below)

    def _scope(self) -> Any:
        scope = self._module.scope
        if scope is None:
            raise PathError(
                f"{type(self._module).__name__} has no intermediate values here\n"
                "  a linen module has them only inside of init and apply"
            )
        return scope


def _captured(scope: Any, path: PathLike) -> Any:
    """The intermediate values below a scope of linen."""
    found = scope.variables().get(_COLLECTION)
    if found is None and not scope.is_mutable_collection(_COLLECTION):
        raise _not_captured(str(path), f"apply(..., mutable=[{_COLLECTION!r}])")
    return found or {}


class _NnxInterms(Interms):
    """Asks `sow` itself, the one public way to what a capture holds so far."""

    def __setitem__(self, name: str, value: Any) -> None:
        self._module.sow(_intermediate(), _checked_name(name), value)

    def __getitem__(self, name: str) -> Any:
        return get_by_path({name: _sown(self._module, name)}, (name, -1))

    def get_by_path(self, path: PathLike) -> Any:
        dots, below = _split(path)
        if dots != 1:
            raise PathError(
                f"{path!r} does not begin at this module\n"
                "  a module of nnx does not know what holds it: begin with one dot"
            )
        node, parts = self._module, below.parts
        while len(parts) > 1 and _is_nnx_module(getattr(node, str(parts[0]), None)):
            node, parts = getattr(node, str(parts[0])), parts[1:]
        name = str(parts[0]) if parts else ""
        return get_by_path({name: _sown(node, name)}, parts)


class _NotSownError(Exception):
    pass


def _sown(module: Any, name: str) -> tuple[Any, ...]:
    """What a module of nnx sowed under a name.

    `sow` hands the old value to the function that is to join it with a new one; here
    that is kept as it is.
    """
    seen: list[Any] = []

    def keep(old: Any, new: Any) -> Any:
        seen.append(old)
        return old

    def refuse() -> Any:
        raise _NotSownError

    kept = getattr(module, name, None)
    if kept is None or isinstance(kept, _intermediate()):
        try:
            module.sow(_intermediate(), name, None, reduce_fn=keep, init_fn=refuse)
        except _NotSownError:
            pass
    if not seen:
        raise _not_captured(name, "nnx.capture(model, nnx.Intermediate)")
    return seen[0]


def _is_nnx_module(value: Any) -> bool:
    return isinstance(value, sys.modules["flax.nnx"].Module)


def _intermediate() -> Any:
    return sys.modules["flax.nnx"].Intermediate


def _checked_name(name: Any) -> str:
    if not isinstance(name, str):
        raise PathTypeError(
            "an intermediate value is sown under a text\n"
            f"  got {type(name).__name__} {name!r:.60}"
        )
    return name


def _split(path: Any) -> tuple[int, Path]:
    """The number of leading dots, and the path behind them."""
    if not isinstance(path, str):
        return 0, Path(*as_path(path))
    dots = len(path) - len(path.lstrip("."))
    return dots, Path.parse(path[dots:])


def _not_captured(path: str, how: str) -> PathLookupError:
    message = (
        f"no intermediate value {path!r}: it was not sown so far, or is not captured\n"
        f"  {how} captures intermediate values"
    )
    return PathLookupError(lambda: Explanation(message), path=path)
