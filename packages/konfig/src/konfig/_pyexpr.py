"""`py::optax.adam(1e-3)` and `ref::steps * 2`: expressions read, never executed."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from typing import Any

from konfig._errors import KonfigError, OverrideError, did_you_mean, joined
from konfig._proxy import Proxy
from konfig._ref import Expr
from konfig._repr import module_of_alias

_OPERATORS: dict[type, str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.USub: "neg",
    ast.UAdd: "pos",
    ast.Invert: "invert",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}


def parse_call(text: str, names: Mapping[str, Any]) -> Any:
    """The config value that an expression describes; nothing is imported.

    Args:
      text: Literals, lists, tuples, dicts, sets, dotted names, `module:Attr` names,
        calls, `A | None`.
      names: Names with a meaning of their own: those that the config file imported in
        its `imports()` block.

    Raises:
      OverrideError: With a caret under the part that is not allowed.
    """
    plain, colons = _without_colons(text)
    return _Reader(text, names, colons).read(_parsed(plain, text))


def parse_ref(text: str, root: Any) -> Any:
    """The reference that an expression of fields describes: `steps * 2`.

    Raises:
      OverrideError: With a caret under the part that is not allowed.
    """
    return _RefReader(text, root).read(_parsed(text, text))


def _parsed(plain: str, text: str) -> ast.expr:
    import warnings

    if not plain.strip():
        raise _fault(text, 0, "it is empty")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(plain.strip(), mode="eval").body
    except SyntaxError as error:
        raise _fault(text.strip(), (error.offset or 1) - 1, error.msg) from None
    except (ValueError, MemoryError, RecursionError) as error:
        raise _fault(text.strip(), 0, str(error)) from None


def _fault(text: str, column: int, message: str) -> OverrideError:
    return OverrideError(
        f"not an expression: {message}\n  {text}\n  {' ' * max(column, 0)}^"
    )


def _without_colons(text: str) -> tuple[str, frozenset[str]]:
    """Writes `module:Attr` as a dotted name, and remembers where its colon was."""
    out, quote, braces = [], "", 0
    found: set[str] = set()
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "{[":
            braces += 1
        elif char in "}]":
            braces -= 1
        elif char == ":" and not braces:
            start = at
            while start and (text[start - 1].isalnum() or text[start - 1] in "_."):
                start -= 1
            found.add(text[start:at])
            char = "."
        out.append(char)
    return "".join(out), frozenset(found)


class _Reader:
    """From a syntax tree to a config value, by what is allowed."""

    def __init__(self, text: str, names: Mapping[str, Any], modules: frozenset[str]):
        self._text = text.strip()
        self._names = names
        self._modules = modules

    def read(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.List):
            return [self.read(item) for item in node.elts]
        if isinstance(node, ast.Tuple):
            return tuple([self.read(item) for item in node.elts])
        if isinstance(node, ast.Set):
            return {self.read(item) for item in node.elts}
        if isinstance(node, ast.Dict):
            return self._dict(node)
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self._name(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.UnaryOp):
            return self._signed(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return Expr("or", (self.read(node.left), self.read(node.right)))
        raise self.refused(node, "only names, calls and literals can stand here")

    def refused(self, node: ast.AST, message: str) -> OverrideError:
        return _fault(self._text, getattr(node, "col_offset", 0), message)

    def _dict(self, node: ast.Dict) -> dict[Any, Any]:
        found = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                raise self.refused(value, "** cannot stand here")
            found[self.read(key)] = self.read(value)
        return found

    def _signed(self, node: ast.UnaryOp) -> Any:
        value = self.read(node.operand)
        if type(value) in (int, float, complex):
            if isinstance(node.op, ast.USub):
                return -value
            if isinstance(node.op, ast.UAdd):
                return value
        raise self.refused(node, "only numbers take a sign")

    def _call(self, node: ast.Call) -> Any:
        target = self.read(node.func)
        if not isinstance(target, Proxy):
            raise self.refused(node.func, "only a name can be called")
        args = []
        for arg in node.args:
            if isinstance(arg, ast.Starred):
                raise self.refused(arg, "* cannot stand here")
            args.append(self.read(arg))
        named = {}
        for word in node.keywords:
            if word.arg is None:
                raise self.refused(word.value, "** cannot stand here")
            if word.arg in named:
                raise self.refused(word, f"the keyword {word.arg!r} stands twice")
            named[word.arg] = self.read(word.value)
        try:
            return target(*args, **named)
        except KonfigError as error:
            fault = self.refused(node, error.message)
            fault.hint = error.hint
            raise fault from None

    def _name(self, node: ast.expr) -> Any:
        words: list[str] = []
        at = node
        while isinstance(at, ast.Attribute):
            words.insert(0, at.attr)
            at = at.value
        if not isinstance(at, ast.Name):
            raise self.refused(at, "only names have attributes here")
        words.insert(0, at.id)
        found = self._names.get(words[0])
        if found is not None and not self._modules & _prefixes(words):
            try:
                for word in words[1:]:
                    found = getattr(found, word)
            except KonfigError as error:
                fault = self.refused(node, error.message)
                fault.hint = error.hint
                raise fault from None
            return found
        return Proxy(self._qualname(node, words), False)

    def _qualname(self, node: ast.expr, words: list[str]) -> str:
        for length in range(len(words), 0, -1):
            if ".".join(words[:length]) in self._modules:
                return f"{'.'.join(words[:length])}:{'.'.join(words[length:])}"
        alias = module_of_alias(words[0])
        if alias is not None and len(words) > 1:
            words = [*alias.split("."), *words[1:]]
        if len(words) > 1:
            return f"{'.'.join(words[:-1])}:{words[-1]}"
        if hasattr(builtins, words[0]):
            return f"builtins:{words[0]}"
        near = did_you_mean(words[0], [*self._names, *dir(builtins)])
        fault = self.refused(node, f"unknown name {words[0]!r}")
        fault.hint = joined(near, "write the module too: module.name")
        raise fault


def _prefixes(words: list[str]) -> set[str]:
    return {".".join(words[:length]) for length in range(1, len(words) + 1)}


class _RefReader(_Reader):
    """Names are fields of the config, operators build the expression."""

    def __init__(self, text: str, root: Any):
        super().__init__(text, {}, frozenset())
        self._root = root

    def read(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            if node.id not in self._root:
                fault = self.refused(node, f"the config has no field {node.id!r}")
                fault.hint = did_you_mean(node.id, list(self._root)) or None
                raise fault
            return self._root.ref[node.id]
        if isinstance(node, ast.Attribute):
            return getattr(self.read(node.value), node.attr)
        if isinstance(node, ast.Subscript):
            return self.read(node.value)[self.read(node.slice)]
        if isinstance(node, ast.BinOp):
            return self._operation(node.op, node.left, node.right)
        if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
            return self._operation(node.op, node.operand)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._operation(node.ops[0], node.left, node.comparators[0])
        if isinstance(node, (ast.Constant, ast.List, ast.Tuple)):
            return super().read(node)
        raise self.refused(node, "only fields, operators and literals can stand here")

    def _operation(self, operator: ast.AST, *operands: ast.expr) -> Any:
        name = _OPERATORS.get(type(operator))
        if name is None:
            raise self.refused(operands[0], "this operator cannot stand here")
        return Expr(name, tuple([self.read(operand) for operand in operands]))
