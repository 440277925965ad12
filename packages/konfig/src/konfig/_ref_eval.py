"""Evaluation of references and expressions, each once per read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from konfig._const import Const
from konfig._errors import (
    RefCycleError,
    RefError,
    RequiredValueError,
    UnsafeTargetError,
    did_you_mean,
    joined,
    listed,
    short,
)
from konfig._paths import format_path
from konfig._placeholder import Placeholder
from konfig._ref import BINARY, COMPARE, NAMED, UNARY, Lazy, Ref, follows_field
from konfig._target import load
from konfig._tree import Node, where


class Evaluation:
    """One read, or one resolve: what was computed once is not computed again.

    Args:
      load: From a constant to the object it names; called for the functions of
        expressions.
      trusted: Whether expressions that came as data may call and look up attributes.
      build: From a node inside an expression to what a function gets for it.
    """

    def __init__(
        self,
        load: Callable[[Const], Any],
        trusted: bool = False,
        build: Callable[[Any], Any] | None = None,
    ):
        self._load = load
        self._trusted = trusted
        self._build = build
        self._memo: dict[int, Any] = {}
        self._open: dict[int, Lazy] = {}

    def value(self, stored: Any) -> Any:
        """What a stored value reads as.

        Raises:
          RefError: When a reference leads nowhere.
          RefCycleError: When a reference needs itself.
        """
        if isinstance(stored, Placeholder):
            return self.value(stored.read())
        if not isinstance(stored, Lazy):
            return stored
        mark = id(stored)
        if mark in self._memo:
            return self._memo[mark]
        if mark in self._open:
            chain = [repr(lazy) for lazy in [*self._open.values(), stored]]
            raise RefCycleError("references in a circle: " + " → ".join(chain[-8:]))
        self._open[mark] = stored
        try:
            if isinstance(stored, Ref):
                result = self._follow(stored)
            else:
                result = self._compute(stored)
        except RecursionError:
            raise RefError(
                f"references nested too deeply, from {stored!r} on"
            ) from None
        finally:
            del self._open[mark]
        self._memo[mark] = result
        return result

    def _follow(self, ref: Any) -> Any:
        at = ref.__konfig_anchor__
        path = ref.__konfig_path__
        for index, key in enumerate(path):
            try:
                if isinstance(at, Node):
                    at = self.value(at._konfig_fields[_node_key(at, key)])
                elif isinstance(at, list):
                    at = self.value(list.__getitem__(at, key))
                elif isinstance(key, str):
                    at = self._attribute(ref, at, key)
                else:
                    at = at[key]
            except (KeyError, IndexError, AttributeError, TypeError) as error:
                if isinstance(error, (RefError, RequiredValueError)):
                    raise
                raise _broken(ref, at, index, key) from None
        return at

    def _attribute(self, lazy: Any, owner: Any, name: str) -> Any:
        if not (self._trusted or lazy.__konfig_trusted__):
            raise _untrusted(lazy, f"looks up the attribute {name!r}")
        return getattr(owner, name)

    def _compute(self, expr: Any) -> Any:
        op = expr.__konfig_op__
        if op == "where":
            condition, then, otherwise = expr.__konfig_args__
            return self.value(then if self.value(condition) else otherwise)
        args = [self._operand(arg) for arg in expr.__konfig_args__]
        if op in BINARY:
            return BINARY[op][1](*args)
        if op in COMPARE:
            return COMPARE[op][1](*args)
        if op in UNARY:
            return UNARY[op][1](*args)
        if op == "format":
            return self._format(expr, args)
        if op in NAMED:
            return NAMED[op](*args)
        if op == "attr":
            return self._attribute(expr, args[0], args[1])
        if op == "call":
            if not (self._trusted or expr.__konfig_trusted__):
                raise _untrusted(expr, "calls a function")
            named = {
                key: self._operand(arg) for key, arg in expr.__konfig_kwargs__.items()
            }
            return args[0](*args[1:], **named)
        raise RefError(f"unknown operation {op!r} in a reference")

    def _format(self, expr: Any, args: list[Any]) -> str:
        template = args[0]
        # str.format would look into objects for data: '{0.__class__}'.
        if not (self._trusted or expr.__konfig_trusted__):
            if any(mark in template for mark in ".["):
                raise _untrusted(expr, "formats a text that may look into values")
        named = {key: self._operand(arg) for key, arg in expr.__konfig_kwargs__.items()}
        return template.format(*args[1:], **named)

    def _operand(self, stored: Any) -> Any:
        """An operand as the operation gets it: plain lists, mappings and objects."""
        value = self.value(stored)
        if isinstance(value, Const):
            return self._load(value)
        if isinstance(value, Node):
            if self._build is not None:
                return self._build(value)
            if "__qualname__" in value._konfig_fields:
                return value
            return {k: self._operand(v) for k, v in value._konfig_fields.items()}
        if isinstance(value, list):
            return [self._operand(item) for item in list.__iter__(value)]
        if type(value) is tuple:
            return tuple([self._operand(item) for item in value])
        return value


def read(stored: Any) -> Any:
    """What a field reads as outside `resolve`.

    An expression of targets alone (`A | None`) stays as it is: reading a config
    imports nothing.
    """
    if isinstance(stored, Lazy) and not follows_field(stored):
        return stored
    return Evaluation(_load_function).value(stored)


def _load_function(const: Const) -> Any:
    return load(const.__const__)


def _node_key(node: Node, key: Any) -> Any:
    """`cfg.ref.call[0]` means the positional argument `'0'`."""
    fields = node._konfig_fields
    if isinstance(key, int) and key not in fields and str(key) in fields:
        return str(key)
    return key


def _broken(ref: Any, at: Any, index: int, key: Any) -> RefError:
    done = format_path(ref.__konfig_path__[:index], "cfg")
    if isinstance(at, Node):
        names = [name for name in at._konfig_fields if name != "__qualname__"]
        return RefError(
            f"{ref!r} leads nowhere: {done} has no field {key!r}",
            hint=joined(did_you_mean(key, names), f"fields: {listed(names)}"),
            origin=where(at),
        )
    return RefError(f"{ref!r} leads nowhere: {done} is {short(at)}, without {key!r}")


def _untrusted(lazy: Any, does: str) -> UnsafeTargetError:
    return UnsafeTargetError(
        f"a reference that was read as data {does}: {lazy!r}",
        hint="load it with trusted=True if you trust where it comes from",
    )
