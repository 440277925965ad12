"""A config printed as the Python that rebuilds it."""

from __future__ import annotations

import keyword
import math

from konfig._const import Const
from konfig._errors import ConfigTypeError, short
from konfig._ref import Lazy
from konfig._tree import TARGET, Node, stored_items
from konfig._typing import Any

_WIDTH = 80
_ALIASES: dict[str, str] = {}


def register_aliases(aliases: dict[str, str]) -> None:
    """Shortens modules where configs are printed: `{'jax.numpy': 'jnp'}`.

    Raises:
      ConfigTypeError: When it is no mapping of texts.
    """
    texts = [*aliases, *aliases.values()] if isinstance(aliases, dict) else [None]
    if not all(isinstance(text, str) for text in texts):
        raise ConfigTypeError(
            f"aliases are short names by module, not {short(aliases)}",
            hint="write {'jax.numpy': 'jnp'}",
        )
    _ALIASES.update(aliases)


def module_of_alias(alias: str) -> str | None:
    """The module that was registered under a short name, or None."""
    for module, name in _ALIASES.items():
        if name == alias:
            return module
    return None


def code_of(value: Any) -> str:
    """The text of a config value; never raises."""
    try:
        return _Writer(value).write(value, 0)
    except RecursionError:
        return f"<{type(value).__name__} nested too deeply to print>"


def name_of(qualname: Any) -> str:
    """A target as it is written in code: `optax.adam`."""
    if not isinstance(qualname, str):
        return repr(qualname)
    module, _, rest = qualname.partition(":")
    module = _ALIASES.get(module, module)
    if module == "builtins" and rest:
        return rest
    return f"{module}.{rest}" if rest else module


class _Writer:
    def __init__(self, root: Any):
        self._root = root
        self._open: set[int] = set()

    def write(self, value: Any, indent: int) -> str:
        if isinstance(value, (Node, list, tuple)):
            if id(value) in self._open:
                return "<…>"
            self._open.add(id(value))
            # Written here, so that a level costs one frame of Python.
            texts = []
            for key, item in stored_items(value):
                texts.append((key, self.write(item, indent + 2)))
            self._open.discard(id(value))
            return self._container(value, texts, indent)
        if isinstance(value, Const):
            return name_of(value.__const__)
        if isinstance(value, Lazy):
            return repr(value)
        return atom(value)

    def _container(self, value: Any, texts: Any, indent: int) -> str:
        if isinstance(value, (list, tuple)):
            words = [text for _, text in texts]
            fill = not _nested(value)
            if isinstance(value, list):
                return laid_out("[", words, "]", indent, fill)
            return laid_out("(", words, ",)" if len(words) == 1 else ")", indent, fill)
        fields = value._konfig_fields
        if TARGET in fields:
            words = self._arguments(texts)
            return laid_out(name_of(fields[TARGET]) + "(", words, ")", indent)
        words = [f"{atom(key)}: {text}" for key, text in texts]
        if value is not self._root:
            return laid_out("{", words, "}", indent)
        return laid_out(f"{type(value).__name__}({{", words, "})", indent)

    def _arguments(self, texts: Any) -> list[str]:
        words, named, rest = [], [], []
        for key, text in texts:
            if key == TARGET:
                continue
            if isinstance(key, str) and key.isdecimal():
                words.append((int(key), text))
            elif is_plain_name(key):
                named.append(f"{key}={text}")
            else:
                rest.append(f"{key!r}: {text}")
        # Positions first: Python accepts no other order.
        found = [text for _, text in sorted(words)] + named
        return found + ([f"**{{{', '.join(rest)}}}"] if rest else [])


def is_plain_name(key: Any) -> bool:
    """Whether a key can be written as a name; Python alters some beyond ASCII."""
    named = isinstance(key, str) and key.isidentifier() and key.isascii()
    return named and not keyword.iskeyword(key)


def _nested(items: Any) -> bool:
    iterate = list.__iter__ if isinstance(items, list) else tuple.__iter__
    return any(isinstance(item, (Node, list, tuple)) for item in iterate(items))


def atom(value: Any) -> str:
    """A scalar as Python text; never raises."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    if isinstance(value, complex) and not (
        math.isfinite(value.real) and math.isfinite(value.imag)
    ):
        return f"complex({atom(value.real)}, {atom(value.imag)})"
    try:
        return repr(value)
    except Exception:
        # More decimal digits than Python writes, or a class that is broken.
        return hex(value) if type(value) is int else f"<{type(value).__name__}>"


def laid_out(
    head: str, words: list[str], close: str, indent: int, fill: bool = False
) -> str:
    """On one line where it fits, else one entry per line, or lines filled."""
    flat = head + ", ".join(words) + close
    if len(flat) + indent <= _WIDTH and "\n" not in flat:
        return flat
    pad = " " * (indent + 2)
    if not fill:
        body = "".join(f"{pad}{word},\n" for word in words)
        return f"{head}\n{body}{pad[2:]}{_tail(close)}"
    lines, line = [], pad
    for word in words:
        if len(line) + len(word) + 2 > _WIDTH and line.strip():
            lines.append(line.rstrip())
            line = pad
        line += f"{word}, "
    lines.append(line.rstrip())
    return f"{head}\n" + "\n".join(lines) + f"\n{pad[2:]}{_tail(close)}"


def _tail(close: str) -> str:
    """The comma of a one-tuple stands behind the entry already."""
    return close.lstrip(",")
