"""Stand-ins for modules, classes and functions: calling one describes the call."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, NoReturn

from konfig import _convert
from konfig._const import Const, dotted
from konfig._defaults import fill_in
from konfig._errors import ConfigTypeError, short
from konfig._keys import check_argument
from konfig._node import new_call
from konfig._ref import Expr
from konfig._signature import check_call, parameters_of
from konfig._target import missing_attribute
from konfig._tree import CHECKED, TRUSTED, TYPED

UNKNOWN = object()
"""In place of the real thing where nothing was imported."""


class Proxy:
    """Stands for something importable; every name of it is a name of the real thing.

    Args:
      name: The module, or `"module:attr"`.
      is_module: Whether the name is a module.
      real: The real thing, or `UNKNOWN`.
      check: `"signature"` checks names and keywords against the real thing, `"types"`
        arguments as well, `"off"` nothing.
    """

    __slots__ = (
        "__dict__",
        "__konfig_check__",
        "__konfig_module__",
        "__konfig_name__",
        "__konfig_real__",
    )
    __konfig_check__: str
    __konfig_module__: bool
    __konfig_name__: str
    __konfig_real__: Any

    def __init__(
        self, name: str, is_module: bool, real: Any = UNKNOWN, check: str = "signature"
    ):
        put = object.__setattr__
        put(self, "__konfig_name__", name)
        put(self, "__konfig_module__", is_module)
        put(self, "__konfig_real__", real)
        put(self, "__konfig_check__", check)

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__" and name[-2:] == "__":
            raise AttributeError(f"a config proxy has no attribute {name!r}")
        # Kept where Python looks first, so that no name is asked for here twice.
        found = self.__dict__[name] = _child(self, name)
        return found

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        qualname, real = self.__konfig_name__, self.__konfig_real__
        if self.__konfig_module__:
            raise ConfigTypeError(
                f"{qualname!r} is a module and cannot be called",
                hint=f"call what is in it: {qualname}.Name(…)",
            )
        flags, check = TRUSTED, self.__konfig_check__
        if check != "off" and real is not UNKNOWN:
            flags = TRUSTED | CHECKED | (TYPED if check == "types" else 0)
            parameters = parameters_of(qualname, real)
            if parameters is not None:
                check_call(qualname, parameters, len(args), kwargs)
            elif not callable(real):
                raise ConfigTypeError(f"{qualname} is not callable: {short(real)}")
        node = new_call(qualname, args, kwargs, flags)
        if flags & TYPED:
            for key, value in node._konfig_fields.items():
                check_argument(node, key, value)
        return fill_in(node)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise _not_real(self, f"given an attribute {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise _not_real(self, f"robbed of its attribute {name!r}")

    def __repr__(self) -> str:
        return f"<config proxy of {qualname_of(self)}>"

    def __eq__(self, other: Any) -> bool:
        if isinstance(other, Proxy):
            return dotted(qualname_of(self)) == dotted(qualname_of(other))
        if isinstance(other, Const):
            return Const(qualname_of(self)) == other
        return NotImplemented

    def __hash__(self) -> int:
        return hash(dotted(qualname_of(self)))

    def __dir__(self) -> list[str]:
        real = self.__konfig_real__
        return [] if real is UNKNOWN else dir(real)

    @property
    def __doc__(self) -> str | None:  # pyrefly: ignore[bad-override]  the target's own
        return getattr(self.__konfig_real__, "__doc__", None)

    @property
    def __name__(self) -> str:
        name = self.__konfig_name__
        return name if self.__konfig_module__ else dotted(name).rpartition(".")[2]

    @property
    def __signature__(self) -> Any:
        if self.__konfig_real__ is UNKNOWN:
            raise AttributeError("the signature is known after an import only")
        import inspect

        return inspect.signature(self.__konfig_real__)

    def __or__(self, other: Any) -> Expr:
        return Expr("or", (self, other))

    def __ror__(self, other: Any) -> Expr:
        return Expr("or", (other, self))

    def __mro_entries__(self, bases: Any) -> NoReturn:
        raise _not_real(self, "subclassed")

    def __instancecheck__(self, instance: Any) -> NoReturn:
        raise _not_real(self, "used with isinstance")

    def __subclasscheck__(self, subclass: Any) -> NoReturn:
        raise _not_real(self, "used with issubclass")


_USES = {
    "getitem": "used with […]",
    "iter": "iterated",
    "len": "used with len",
    "bool": "used as a condition",
    "contains": "used with in",
    "enter": "entered by with",
    "exit": "entered by with",
    "await": "awaited",
    "format": "put into a text",
    "int": "used with int",
    "float": "used with float or a function of math",
    "index": "used as an index",
    "fspath": "used as a path",
}


def _install_refusals() -> None:
    def refuse(use: str) -> Any:
        def method(self: Proxy, *args: Any) -> NoReturn:
            raise _not_real(self, use)

        return method

    operators = "add sub mul matmul truediv floordiv mod pow lshift rshift and xor"
    for name in operators.split():
        setattr(Proxy, f"__{name}__", refuse("used with an operator"))
        setattr(Proxy, f"__r{name}__", refuse("used with an operator"))
    for name in ("lt", "le", "gt", "ge", "neg", "pos", "invert", "abs"):
        setattr(Proxy, f"__{name}__", refuse("used with an operator"))
    for name, use in _USES.items():
        setattr(Proxy, f"__{name}__", refuse(use))


_install_refusals()


def qualname_of(proxy: Proxy) -> str:
    """The name as a constant: a module ends with a colon."""
    name = proxy.__konfig_name__
    return f"{name}:" if proxy.__konfig_module__ else name


def link(parent: Proxy, name: str, child: Proxy) -> None:
    """Enters an imported submodule as an attribute of its package."""
    parent.__dict__[name] = child


def _child(proxy: Proxy, name: str) -> Proxy:
    owner, real = proxy.__konfig_name__, proxy.__konfig_real__
    check = proxy.__konfig_check__
    qualname = f"{owner}{':' if proxy.__konfig_module__ else '.'}{name}"
    if real is UNKNOWN:
        return Proxy(qualname, False, UNKNOWN, check)
    try:
        value = getattr(real, name)
    except AttributeError:
        if check == "off":
            return Proxy(qualname, False, UNKNOWN, check)
        raise missing_attribute(real, owner, name, qualname) from None
    module = f"{owner}.{name}"
    if isinstance(value, ModuleType) and proxy.__konfig_module__:
        if sys.modules.get(module) is value:
            return Proxy(module, True, value, check)
    return Proxy(qualname, False, value, check)


def _not_real(proxy: Proxy, use: str) -> ConfigTypeError:
    return ConfigTypeError(
        f"{proxy.__konfig_name__} is a config proxy, so it cannot be {use}",
        hint="import the real thing outside konfig.imports()",
    )


_convert.register(Proxy, lambda proxy: Const(qualname_of(proxy)))
