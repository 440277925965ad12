"""Lazy values: references to other fields, and expressions of them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from konfig import _convert
from konfig._const import Const
from konfig._errors import RefError
from konfig._paths import Parts, format_path
from konfig._tree import is_container, stored_items
from konfig._typing import Any, NoReturn

BINARY: dict[str, tuple[str, Callable[..., Any]]] = {
    "add": ("+", operator.add),
    "sub": ("-", operator.sub),
    "mul": ("*", operator.mul),
    "truediv": ("/", operator.truediv),
    "floordiv": ("//", operator.floordiv),
    "mod": ("%", operator.mod),
    "pow": ("**", operator.pow),
    "matmul": ("@", operator.matmul),
    "lshift": ("<<", operator.lshift),
    "rshift": (">>", operator.rshift),
    "and": ("&", operator.and_),
    "or": ("|", operator.or_),
    "xor": ("^", operator.xor),
}
COMPARE: dict[str, tuple[str, Callable[..., Any]]] = {
    "eq": ("==", operator.eq),
    "ne": ("!=", operator.ne),
    "lt": ("<", operator.lt),
    "le": ("<=", operator.le),
    "gt": (">", operator.gt),
    "ge": (">=", operator.ge),
}
UNARY: dict[str, tuple[str, Callable[..., Any]]] = {
    "neg": ("-", operator.neg),
    "pos": ("+", operator.pos),
    "invert": ("~", operator.invert),
}
NAMED: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "round": round,
    "divmod": divmod,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "getitem": operator.getitem,
    "all_of": lambda *conditions: all(conditions),
    "any_of": lambda *conditions: any(conditions),
    "not": operator.not_,
    "maximum": max,
    "minimum": min,
}


OPERATIONS = frozenset(
    (*BINARY, *COMPARE, *UNARY, *NAMED, "call", "attr", "format", "where")
)
"""Every operation that an expression can hold."""


class Lazy:
    """A value that is computed when it is read; never a value by itself."""

    __slots__ = ("__konfig_trusted__",)
    __konfig_trusted__: bool

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(f"a config reference has no attribute {name!r}")
        return _member(self, name)

    def __getitem__(self, key: Any) -> Any:
        return _item(self, key)

    def __call__(self, *args: Any, **kwargs: Any) -> Expr:
        return Expr("call", (self, *args), kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        raise _assigned(self, AttributeError)

    def __delattr__(self, name: str) -> None:
        raise _assigned(self, AttributeError)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise _assigned(self, TypeError)

    def __delitem__(self, key: Any) -> None:
        raise _assigned(self, TypeError)

    def __hash__(self) -> int:
        raise _misused(self, "a set or a key", "a list in place of it")

    def __bool__(self) -> bool:
        raise _misused(
            self,
            "if, and, or, not, max, min",
            "konfig.where(condition, a, b), all_of, any_of, not_, maximum or minimum",
        )

    def __format__(self, spec: str) -> str:
        raise _misused(self, "a format string", f'konfig.fstr("{{}}", {self!r})')

    def __repr__(self) -> str:
        return text_of(self)


class Ref(Lazy):
    """A path from a node, read when it is needed. Made by `cfg.ref`."""

    __slots__ = ("__konfig_anchor__", "__konfig_path__")
    __konfig_anchor__: Any
    __konfig_path__: Parts

    def __init__(self, anchor: Any, path: Parts = (), trusted: bool = True):
        object.__setattr__(self, "__konfig_anchor__", anchor)
        object.__setattr__(self, "__konfig_path__", path)
        object.__setattr__(self, "__konfig_trusted__", trusted)

    def __reduce__(self) -> Any:
        return Ref, (
            self.__konfig_anchor__,
            self.__konfig_path__,
            self.__konfig_trusted__,
        )


class Expr(Lazy):
    """An operation on lazy values, with its operands as config values.

    Raises:
      RefError: When operations stand in each other deeper than copies, pickles and
        JSON can follow below the recursion limit.
    """

    __slots__ = (
        "__konfig_args__",
        "__konfig_depth__",
        "__konfig_kwargs__",
        "__konfig_op__",
    )
    __konfig_depth__: int
    __konfig_op__: str
    __konfig_args__: tuple[Any, ...]
    __konfig_kwargs__: dict[str, Any]

    def __init__(
        self,
        op: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any] | None = None,
        trusted: bool = True,
    ):
        convert = _convert.convert
        values = tuple([convert(value) for value in args])
        named = {key: convert(value) for key, value in (kwargs or {}).items()}
        depth = 1 + max(map(_depth, (*values, *named.values())), default=0)
        if depth > _DEEPEST:
            raise RefError(
                f"a reference of more than {_DEEPEST} operations in each other",
                hint="give a part of it a field of its own, or use konfig.ref_fn(sum, "
                "[…]) and the like for many operands",
            )
        object.__setattr__(self, "__konfig_depth__", depth)
        object.__setattr__(self, "__konfig_op__", op)
        object.__setattr__(self, "__konfig_args__", values)
        object.__setattr__(self, "__konfig_kwargs__", named)
        object.__setattr__(self, "__konfig_trusted__", trusted)

    def __reduce__(self) -> Any:
        return Expr, (
            self.__konfig_op__,
            self.__konfig_args__,
            self.__konfig_kwargs__,
            self.__konfig_trusted__,
        )


# Each level costs copies and JSON three frames of Python's one thousand.
_DEEPEST = 200


def _depth(value: Any, left: int = _DEEPEST) -> int:
    """How many operations, lists and tuples stand in each other."""
    if isinstance(value, Expr):
        return value.__konfig_depth__
    if not left or not isinstance(value, (list, tuple)):
        return 0
    below = [_depth(item, left - 1) for _, item in stored_items(value)]
    return 1 + max(below, default=0)


class LocalFunction:
    """A function of an expression that no name leads to: it works in memory alone."""

    __slots__ = ("function", "origin")

    def __init__(self, function: Any, origin: Any):
        self.function = function
        self.origin = origin

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return getattr(self.function, "__qualname__", None) or repr(self.function)


def follows_field(lazy: Lazy) -> bool:
    """Whether the value depends on a field, not on named targets alone."""
    seen: set[int] = set()
    left: list[Any] = [lazy]
    while left:
        value = left.pop()
        if isinstance(value, Ref):
            return True
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Expr):
            left.extend(value.__konfig_args__)
            left.extend(value.__konfig_kwargs__.values())
        elif is_container(value):
            left.extend([item for _, item in stored_items(value)])
    return False


def _member(lazy: Lazy, name: str) -> Lazy:
    if isinstance(lazy, Ref):
        path = (*lazy.__konfig_path__, name)
        return Ref(lazy.__konfig_anchor__, path, lazy.__konfig_trusted__)
    return Expr("attr", (lazy, name))


def _item(lazy: Lazy, key: Any) -> Lazy:
    if isinstance(lazy, Ref) and not isinstance(key, (Lazy, slice)):
        path = (*lazy.__konfig_path__, key)
        return Ref(lazy.__konfig_anchor__, path, lazy.__konfig_trusted__)
    if isinstance(key, slice):
        bounds = (key.start, key.stop, key.step)
        if any(isinstance(bound, Lazy) for bound in bounds):
            key = Expr("call", (Const("builtins:slice"), *bounds))
    return Expr("getitem", (lazy, key))


def _assigned(lazy: Lazy, kind: type[Exception]) -> Exception:
    return kind(
        f"{lazy!r} is a reference and cannot be assigned to; set the field itself"
    )


def _misused(lazy: Lazy, use: str, instead: str) -> RefError:
    return RefError(
        f"{lazy!r} has no value yet, so it cannot stand in {use}",
        hint=f"use {instead}",
    )


_USES = {
    "int": ("int(…)", "konfig.ref_fn(int, {})"),
    "float": ("float(…) or a function of math", "konfig.ref_fn(float, {})"),
    "complex": ("complex(…)", "konfig.ref_fn(complex, {})"),
    "len": ("len(…)", "konfig.ref_fn(len, {})"),
    "contains": ("a test with in", "konfig.ref_fn(operator.contains, {}, item)"),
    "iter": ("a loop", "konfig.ref_fn(list, {}), or its items by position"),
    "index": ("range(…) or an index", "konfig.ref_fn(range, {}) and the like"),
    "fspath": ("a path", 'konfig.fstr("{{}}/file", {})'),
    "array": ("an array", "konfig.ref_fn(numpy.asarray, {})"),
}
"""Where Python asks for a value by a method: in words, and what does it later."""


def _install_operators() -> None:
    """Gives `Lazy` one method per operator of the tables."""

    def binary(op: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
        def forward(self: Lazy, other: Any) -> Expr:
            return Expr(op, (self, other))

        def reflected(self: Lazy, other: Any) -> Expr:
            return Expr(op, (other, self))

        return forward, reflected

    def single(op: str) -> Callable[..., Any]:
        return lambda self, *args: Expr(op, (self, *args))

    def refuse(use: str, instead: str) -> Callable[..., NoReturn]:
        def method(self: Lazy, *args: Any, **kwargs: Any) -> NoReturn:
            raise _misused(self, use, instead.format(repr(self)))

        return method

    for op in BINARY:
        forward, reflected = binary(op)
        setattr(Lazy, f"__{op}__", forward)
        setattr(Lazy, f"__r{op}__", reflected)
    forward, reflected = binary("divmod")
    Lazy.__divmod__, Lazy.__rdivmod__ = forward, reflected
    for op in COMPARE:
        setattr(Lazy, f"__{op}__", binary(op)[0])
    for op in (*UNARY, "abs", "round", "floor", "ceil", "trunc"):
        setattr(Lazy, f"__{op}__", single(op))
    for name, (use, instead) in _USES.items():
        setattr(Lazy, f"__{name}__", refuse(use, instead))


_install_operators()


def text_of(lazy: Lazy) -> str:
    """The expression as its source, in at most a few hundred characters."""
    text = _write(lazy, 0)
    return text if len(text) <= 400 else text[:399] + "…"


def _write(value: Any, depth: int) -> str:
    if isinstance(value, Ref):
        return format_path(value.__konfig_path__, "cfg.ref")
    if isinstance(value, Const):
        return value.__const__.replace(":", ".").rstrip(".")
    if not isinstance(value, Expr):
        return repr(value)
    # A shared operand is written each time: without a bound the text could double
    # with every level.
    if depth > 8:
        return "…"
    depth += 1
    op, args = value.__konfig_op__, value.__konfig_args__
    if op in BINARY or op in COMPARE:
        symbol = (BINARY.get(op) or COMPARE[op])[0]
        return f"{_operand(args[0], depth)} {symbol} {_operand(args[1], depth)}"
    if op in UNARY:
        return UNARY[op][0] + _operand(args[0], depth)
    if op == "attr":
        return f"{_operand(args[0], depth)}.{args[1]}"
    if op == "getitem":
        return f"{_operand(args[0], depth)}[{_write(args[1], depth)}]"
    head = _operand(args[0], depth) if op == "call" else op
    words = [_write(arg, depth) for arg in (args[1:] if op == "call" else args)]
    for key, arg in value.__konfig_kwargs__.items():
        words.append(f"{key}={_write(arg, depth)}")
    return f"{head}({', '.join(words)})"


def _operand(value: Any, depth: int) -> str:
    text = _write(value, depth)
    bare = not isinstance(value, Expr) or value.__konfig_op__ in (
        "call",
        "attr",
        "getitem",
    )
    return text if bare else f"({text})"


_convert.register(Ref)
_convert.register(Expr)
_convert.register(LocalFunction)
