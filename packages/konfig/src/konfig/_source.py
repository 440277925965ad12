"""A config as the source of a config file that builds it."""

from __future__ import annotations

import re
from typing import Any

from konfig._const import Const
from konfig._convert import is_path
from konfig._errors import SerializationError
from konfig._keys import is_position
from konfig._node import ConfigDict
from konfig._placeholder import UNSET, Placeholder
from konfig._ref import BINARY, COMPARE, UNARY, Expr, Lazy, LocalFunction, Ref
from konfig._repr import atom, is_plain_name, laid_out
from konfig._target import split
from konfig._tree import (
    TARGET,
    Node,
    is_container,
    node_paths,
    stored_items,
    target_of,
)
from konfig._unwritable import path_of


def to_python(cfg: Any, *, lazy: bool = False) -> str:
    """The source of a config file whose `get_config()` gives an equal config.

    Targets are imported in a block of `konfig.imports()`, what is used in several
    places is written once, references stay references. A placeholder that was set is
    written as its value.

    Args:
      cfg: A `ConfigDict`.
      lazy: Whether the block is lazy, for targets that are not installed here.

    Raises:
      SerializationError: With the path of what no source can say: a lambda in a
        reference, a reference to another config.
      ConfigCycleError: When the config contains itself.
    """
    if not isinstance(cfg, ConfigDict):
        raise SerializationError(
            f"a config file gives a ConfigDict, not a {type(cfg).__qualname__}"
        )
    writer = _Writer(cfg)
    body = writer.body()
    lines = [*sorted(writer.real_imports), "import konfig", ""]
    if writer.modules:
        lines += [f"with konfig.imports({'lazy=True' if lazy else ''}):"]
        lines += [f"    import {module}" for module in sorted(writer.modules)]
        lines += [""]
    lines += ["", "def get_config():"]
    lines += [f"    {line}" for text in body for line in text.split("\n")]
    return "\n".join(lines) + "\n"


_LEVELS = 40
_OWN_NAME = re.compile(r"cfg|get_config|(shared|part)_\d+")
"""What names in the source mean already."""


class _Writer:
    def __init__(self, root: Any):
        self.modules: set[str] = set()
        self.real_imports: set[str] = set()
        self._root = root
        self._paths = node_paths(root)  # raises for a config inside itself
        self._names: dict[int, str] = {}

    def body(self) -> list[str]:
        """The statements of the function."""
        fields = self._root._konfig_fields
        target = fields.get(TARGET)
        if target is None:
            lines = ["cfg = konfig.ConfigDict()"]
        else:
            lines = [f"cfg = {self._call(target, [])}"]
        for index, (value, kind) in enumerate(_named(self._root)):
            name = f"{kind}_{index}"
            text = self.write(value)
            if kind == "shared" and isinstance(value, Node) and not target_of(value):
                # A plain dict would become another node at each place.
                text = f"konfig.ConfigDict({text})"
            lines.append(f"{name} = {text}")
            self._names[id(value)] = name
        # A key with a dot is refused once the field before its dot is there.
        keys = sorted(fields, key=lambda key: not (isinstance(key, str) and "." in key))
        for key in keys:
            if key == TARGET:
                continue
            position = target is not None and is_position(key)
            place = f"cfg[{key}]" if position else _place(key)
            lines.append(f"{place} = {self.write(fields[key])}")
        return [*lines, "return cfg"]

    def write(self, value: Any, indent: int = 0) -> str:
        """The expression for a stored value."""
        name = self._names.get(id(value))
        if name is not None:
            return name
        if isinstance(value, Placeholder):
            if value.value is not UNSET:
                return self.write(value.value, indent)
            return self._placeholder(value)
        if isinstance(value, Node):
            return self._node(value, indent)
        if isinstance(value, (list, tuple)):
            iterate: Any = list.__iter__ if isinstance(value, list) else tuple.__iter__
            words = [self.write(item, indent + 2) for item in iterate(value)]
            if isinstance(value, list):
                return laid_out("[", words, "]", indent)
            return laid_out("(", words, ",)" if len(words) == 1 else ")", indent)
        if isinstance(value, Lazy):
            return self._lazy(value)
        return self._scalar(value)

    def _scalar(self, value: Any) -> str:
        if isinstance(value, Const):
            return self._name(value.__const__)
        if isinstance(value, (set, frozenset)):
            words = sorted(self.write(item) for item in value)
            text = f"{{{', '.join(words)}}}" if words else "set()"
            return text if isinstance(value, set) else f"frozenset({text})"
        if is_path(value):
            kind = "Path" if hasattr(value, "exists") else "PurePath"
            self.real_imports.add(f"from pathlib import {kind}")
            return f"{kind}({value.as_posix()!r})"
        if isinstance(value, LocalFunction):
            raise SerializationError(
                f"a reference calls {value!r}, which has no importable name",
                path=path_of(value, self._root),
                hint="define it at the top level of a module",
            )
        return atom(value)

    def _node(self, node: Node, indent: int) -> str:
        fields = node._konfig_fields
        target = fields.get(TARGET)
        if target is None:
            words = [
                f"{self.write(key)}: {self.write(item, indent + 2)}"
                for key, item in fields.items()
            ]
            return laid_out("{", words, "}", indent)
        positions, named, rest = [], [], []
        for key, item in fields.items():
            text = self.write(item, indent + 2) if key != TARGET else ""
            if key == TARGET:
                continue
            if is_position(key):
                positions.append((int(key), text))
            elif is_plain_name(key):
                named.append(f"{key}={text}")
            else:
                rest.append(f"{key!r}: {text}")
        words = [text for _, text in sorted(positions)] + named
        if rest:
            words.append(f"**{{{', '.join(rest)}}}")
        return self._call(target, words, indent)

    def _call(self, target: str, words: list[str], indent: int = 0) -> str:
        if split(target)[0].partition(".")[0] == "konfig":
            # imports() leaves konfig itself alone.
            words = [self._name(target), *words]
            return laid_out("konfig.call(", words, ")", indent)
        return laid_out(self._name(target) + "(", words, ")", indent)

    def _name(self, qualname: str) -> str:
        module, attributes = split(qualname)
        name, package = module, module.partition(".")[0]
        if _OWN_NAME.fullmatch(package):
            name = f"{module.replace('.', '_')}_module"
            self.modules.add(f"{module} as {name}")
        elif package != "konfig":
            self.modules.add(module)
        elif module != "konfig":
            self.real_imports.add(f"import {module}")
        return ".".join((name, *attributes))

    def _placeholder(self, declared: Placeholder) -> str:
        kinds = []
        for name in declared.type_names:
            module, _, attribute = name.partition(":")
            if module == "builtins":
                kinds.append("None" if attribute == "NoneType" else attribute)
            else:
                owner = attribute.partition(".")[0]
                self.real_imports.add(f"from {module} import {owner}")
                kinds.append(attribute)
        words = [" | ".join(kinds)]
        if declared.required:
            words += [f"doc={declared.doc!r}"] if declared.doc else []
            return f"konfig.required({', '.join(words)})"
        if declared.default is not None:
            words.append(f"default={self.write(declared.default)}")
        words += [f"doc={declared.doc!r}"] if declared.doc else []
        return f"konfig.placeholder({', '.join(words)})"

    # References

    def _lazy(self, lazy: Any) -> str:
        if isinstance(lazy, Ref):
            anchor = lazy.__konfig_anchor__
            above = () if anchor is self._root else self._paths.get(id(anchor))
            if above is None:
                raise SerializationError(
                    f"{lazy!r} reads a config outside the one that is written",
                    path=path_of(lazy, self._root),
                )
            parts = (*above, *lazy.__konfig_path__)
            return "cfg.ref" + "".join([_step(part) for part in parts])
        op, args = lazy.__konfig_op__, lazy.__konfig_args__
        symbol = (BINARY.get(op) or COMPARE.get(op) or UNARY.get(op) or ("",))[0]
        if op in UNARY:
            return symbol + self._operand(args[0])
        if symbol:
            left, right = [self._operand(arg, beside=True) for arg in args]
            return f"{left} {symbol} {right}"
        if op == "attr":
            return f"{self._operand(args[0])}.{args[1]}"
        if op == "getitem":
            return f"{self._operand(args[0])}[{self.write(args[1])}]"
        words = [self.write(arg) for arg in args]
        for key, arg in lazy.__konfig_kwargs__.items():
            words.append(f"{key}={self.write(arg)}")
        if op == "call" and isinstance(args[0], Lazy):
            return f"{self._operand(args[0])}({', '.join(words[1:])})"
        if op == "call" and len(words) == 1:
            return f"konfig.ref_fn({words[0]})()"
        return f"{self._function(op)}({', '.join(words)})"

    def _function(self, op: str) -> str:
        if op in ("floor", "ceil", "trunc"):
            self.real_imports.add(f"from math import {op}")
            return op
        if op in ("abs", "round", "divmod"):
            return op
        known = {"call": "ref_fn", "not": "not_", "format": "fstr"}
        return f"konfig.{known.get(op, op)}"

    def _operand(self, value: Any, *, beside: bool = False) -> str:
        """An operand; `beside` says whether an operator stands next to it."""
        text = self.write(value)
        bare = isinstance(value, (Ref, Const)) or id(value) in self._names
        # A number with a sign binds less tightly than some operators.
        number = type(value) in (bool, int, float, str) and text[:1] != "-"
        return text if bare or (number and beside) else f"({text})"


def _place(key: Any) -> str:
    """The target of the assignment of a field of the root."""
    if is_plain_name(key) and key[:2] != "__" and not hasattr(ConfigDict, key):
        return f"cfg.{key}"
    return f"cfg[{key!r}]"


def _step(key: Any) -> str:
    return f".{key}" if is_plain_name(key) and key[:2] != "__" else f"[{key!r}]"


def _named(root: Any) -> list[tuple[Any, str]]:
    """What gets a name of its own, the inner before the outer parts.

    Nodes and expressions in several places are `shared`; a `part` is what would else
    stand too deep inside brackets: Python reads 200 levels of them.
    """
    uses: dict[int, int] = {}
    order: list[tuple[Any, int]] = []
    left: list[tuple[Any, int, bool]] = [(root, 0, False)]
    while left:
        value, depth, leaving = left.pop()
        if leaving:
            order.append((value, depth))
            continue
        items = _inside(value)
        if items is None:
            continue
        count = uses[id(value)] = uses.get(id(value), 0) + 1
        if count == 1:
            left.append((value, depth, True))
            left.extend([(item, depth + 1, False) for item in items])
    named = []
    for value, depth in order:
        if uses[id(value)] > 1 and isinstance(value, (Node, Expr)):
            named.append((value, "shared"))
        elif depth and depth % _LEVELS == 0 and not isinstance(value, Placeholder):
            named.append((value, "part"))
    return named


def _inside(value: Any) -> list[Any] | None:
    if isinstance(value, Expr):
        return [*value.__konfig_args__, *value.__konfig_kwargs__.values()]
    if isinstance(value, Placeholder):
        return [value.value]
    return [item for _, item in stored_items(value)] if is_container(value) else None
