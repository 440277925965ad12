"""Evaluation of references and expressions, each once per read."""

from __future__ import annotations

from collections.abc import Callable, Generator

from konfig._const import Const, is_trusted
from konfig._errors import (
    ConfigCycleError,
    KonfigError,
    RefCycleError,
    RefError,
    RequiredValueError,
    UnsafeTargetError,
    did_you_mean,
    joined,
    listed,
    short,
)
from konfig._faults import describe, names_of
from konfig._paths import Parts, format_below, format_path
from konfig._placeholder import Placeholder
from konfig._ref import BINARY, COMPARE, NAMED, UNARY, Lazy, Ref, follows_field
from konfig._target import load
from konfig._tree import Node, field_key, path_items, path_key, walk, where
from konfig._typing import Any

Steps = Generator[Any, Any, Any]


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

        What a lazy value needs is asked for by generators and computed on a stack of
        its own: a long chain of references is no deep recursion.

        Raises:
          RefError: When a reference leads nowhere.
          RefCycleError: When a reference needs itself.
        """
        stack: list[tuple[Any, Steps]] = []
        try:
            found, pending = self._begin(stored)
            while pending is not None or stack:
                if pending is not None:
                    stack.append(pending)
                lazy, steps = stack[-1]
                try:
                    need = steps.send(found)
                except StopIteration as done:
                    stack.pop()
                    del self._open[id(lazy)]
                    found, pending = done.value, None
                    self._memo[id(lazy)] = found
                    continue
                try:
                    found, pending = self._begin(need)
                except RequiredValueError as error:
                    what = f"{error.message}: {lazy!r} reads it"
                    raise RequiredValueError(what) from None
            return found
        finally:
            for lazy, _ in stack:  # an error left them unfinished
                self._open.pop(id(lazy), None)

    def _begin(self, stored: Any) -> tuple[Any, tuple[Any, Any] | None]:
        """The value where it is known, or else the lazy value and its steps."""
        while isinstance(stored, Placeholder):
            stored = stored.read()
        if not isinstance(stored, Lazy):
            return stored, None
        mark = id(stored)
        if mark in self._memo:
            return self._memo[mark], None
        if mark in self._open:
            chain = [repr(lazy) for lazy in [*self._open.values(), stored]]
            raise RefCycleError("references in a circle: " + " → ".join(chain[-8:]))
        self._open[mark] = stored
        steps = self._follow if isinstance(stored, Ref) else self._compute
        return None, (stored, steps(stored))

    def _follow(self, ref: Any) -> Steps:
        at = ref.__konfig_anchor__
        path = ref.__konfig_path__
        for index, key in enumerate(path):
            try:
                if isinstance(at, Node):
                    stored = at._konfig_fields[field_key(at, key)]
                elif isinstance(at, list):
                    stored = list.__getitem__(at, key)
                elif isinstance(key, str):
                    stored = self._attribute(ref, at, key)
                else:
                    stored = at[key]
            except (KeyError, IndexError, AttributeError, TypeError):
                raise _broken(ref, at, index, key) from None
            at = (yield stored) if isinstance(stored, _DEFERRED) else stored
        return at

    def _attribute(self, lazy: Any, owner: Any, name: str) -> Any:
        if not (self._trusted or lazy.__konfig_trusted__):
            raise _untrusted(lazy, f"looks up the attribute {name!r}")
        return getattr(owner, name)

    def _compute(self, expr: Any) -> Steps:
        op = expr.__konfig_op__
        if op == "where":
            condition, then, otherwise = expr.__konfig_args__
            return (yield then if (yield condition) else otherwise)
        args = []
        for arg in expr.__konfig_args__:
            args.append((yield from self._operand(arg)))
        named = {}
        for key, arg in expr.__konfig_kwargs__.items():
            named[key] = yield from self._operand(arg)
        return self._result(expr, op, args, named)

    def _result(self, expr: Any, op: str, args: list[Any], named: Any) -> Any:
        for table in (BINARY, COMPARE, UNARY):
            if op in table:
                return table[op][1](*args)
        if op in NAMED:
            return NAMED[op](*args)
        if op == "format":
            return self._format(expr, args, named)
        if op == "attr":
            return self._attribute(expr, args[0], args[1])
        if op == "call":
            if not (self._trusted or expr.__konfig_trusted__):
                raise _untrusted(expr, "calls a function")
            return args[0](*args[1:], **named)
        raise RefError(f"unknown operation {op!r} in a reference")

    def _format(self, expr: Any, args: list[Any], named: dict[str, Any]) -> str:
        template = args[0]
        # str.format would look into objects for data: '{0.__class__}'.
        if not (self._trusted or expr.__konfig_trusted__):
            if any(mark in template for mark in ".["):
                raise _untrusted(expr, "formats a text that may look into values")
        return template.format(*args[1:], **named)

    def _operand(self, stored: Any) -> Steps:
        """An operand as the operation gets it: plain lists, mappings and objects."""
        value = (yield stored) if isinstance(stored, _DEFERRED) else stored
        if isinstance(value, Const):
            return self._load(value)
        if isinstance(value, Node):
            if self._build is not None:
                return self._build(value)
            if "__qualname__" in value._konfig_fields:
                return value
            fields = {}
            for key, item in value._konfig_fields.items():
                fields[key] = yield from self._operand(item)
            return fields
        if isinstance(value, list) or type(value) is tuple:
            kind: Any = list if isinstance(value, list) else tuple
            items = []
            for item in kind.__iter__(value):
                items.append((yield from self._operand(item)))
            return kind(items)
        return value


_DEFERRED = (Lazy, Placeholder)


def read(stored: Any) -> Any:
    """What a field reads as outside `resolve`.

    An expression of targets alone (`A | None`) stays as it is: reading a config
    imports nothing.
    """
    if isinstance(stored, Lazy) and not follows_field(stored):
        return stored
    return Evaluation(_load_function).value(stored)


def reader(root: Any = None) -> Callable[[Any], Any]:
    """A `read` that computes nothing twice, while the config does not change.

    A chain of references is read in one pass, and not from its beginning at each field.

    Args:
      root: The config that is read, in which errors name the field.
    """
    evaluation = Evaluation(_load_function)

    def read_known(stored: Any) -> Any:
        if isinstance(stored, Lazy) and not follows_field(stored):
            return stored
        try:
            return evaluation.value(stored)
        except Exception as error:
            owner, parts = _place_of(stored, root)
            if parts:
                tell(error, stored, owner, parts[-1], format_path(parts, "cfg"))
            raise

    return read_known


def tell(
    error: Exception, stored: Any, owner: Any, key: Any, path: str | None = None
) -> None:
    """Adds to an error the field that was read.

    Args:
      error: What reading raised.
      stored: What the field holds.
      owner: The node or list it is in.
      key: Its key there, as stored or as a path writes it.
      path: Where it is, as far as more than the owner is known.
    """
    node = isinstance(owner, Node)
    place = where(owner, field_key(owner, key)) if node else None
    if not isinstance(error, KonfigError):
        # Of a function or operator: the same error, with the field it was read for.
        field = path or f"{_below(owner, key)} of {describe(owner)}"
        error.add_note(f"konfig: while reading {field}: {stored!r}")
        if place:
            error.add_note(f"  created: {place}")
    elif error.path is None:
        error.path = path or _below(owner, key)
        error.owner = None if path else describe(owner)
        error.origin = error.origin or place
        if isinstance(error, RequiredValueError):
            itself = path and isinstance(stored, Placeholder)
            flag = f", or give --{path}=…" if itself else " before it is read"
            error.hint = f"set it{flag}"


def _below(owner: Any, key: Any) -> str:
    return format_below([path_key(owner, key)])


def _place_of(wanted: Any, root: Any) -> tuple[Any, Parts]:
    """The container of a stored value below a root, and its path there."""
    try:
        for parts, owner in walk(root):
            for key, item in path_items(owner):
                if item is wanted:
                    return owner, (*parts, key)
    except ConfigCycleError:  # the fault of another call
        pass
    return None, ()


def _load_function(const: Const) -> Any:
    if not is_trusted(const):
        raise UnsafeTargetError(
            f"a reference that was read as data would import {const.__const__}",
            hint="load it with trusted=True if you trust where it comes from",
        )
    return load(const.__const__)


def _broken(ref: Any, at: Any, index: int, key: Any) -> RefError:
    done = format_path(ref.__konfig_path__[:index], "cfg.ref")
    if isinstance(at, Node):
        names = names_of(at)
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
