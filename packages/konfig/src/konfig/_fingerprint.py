"""Fingerprints: the same for configs that say the same, on every machine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from konfig._const import Const, dotted
from konfig._convert import convert, is_path
from konfig._errors import ConfigValueError, short
from konfig._paths import Parts, covers, format_path, parse
from konfig._placeholder import UNSET, Placeholder
from konfig._ref import Lazy, LocalFunction, Ref
from konfig._ref_eval import reader
from konfig._tree import TARGET, Node, node_paths, unending


def fingerprint(
    cfg: Any,
    *,
    exclude: str | Iterable[str] = (),
    refs: str = "keep",
    length: int = 12,
) -> str:
    """The first hexadecimal digits of a SHA-256 over what a config says.

    The order of fields, the origins and the way of importing do not count; `1`, `1.0`
    and `True` differ, and so do a list and a tuple. A value used in several places
    counts as such.

    Args:
      cfg: A config value.
      exclude: Paths that do not count, with `*` and `**`: `"workdir"`, `"**.seed"`.
      refs: `"keep"` takes references as they are written, `"resolve"` their values.
      length: How many digits, 1 to 64.

    Raises:
      ConfigTypeError: When the value cannot stand in a config.
    """
    import hashlib

    if not 1 <= length <= 64:
        raise ConfigValueError(f"a fingerprint has 1 to 64 digits, not {length}")
    text = canonical(cfg, exclude=exclude, refs=refs)
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def same(a: Any, b: Any) -> bool:
    """Whether two configs say exactly the same, types of numbers included."""
    return canonical(a) == canonical(b)


def canonical(cfg: Any, *, exclude: Any = (), refs: str = "keep") -> str:
    """What a config says as one text: type-tagged, fields by name."""
    if refs not in ("keep", "resolve"):
        raise ConfigValueError(f"refs is 'keep' or 'resolve', not {refs!r}")
    cfg = convert(cfg)
    patterns = (exclude,) if isinstance(exclude, str) else tuple(exclude)
    writer = _Writer(cfg, [parse(p, glob=True) for p in patterns], refs == "resolve")
    try:
        writer.write(cfg, ())
    except RecursionError:
        raise unending(cfg) from None
    return "".join(writer.out)


# Python writes longer ints in hexadecimal digits alone.
_LONG = 2_000


class _Writer:
    def __init__(self, root: Any, exclude: list[Parts], resolve_refs: bool):
        self.out: list[str] = []
        self._root = root
        self._exclude = exclude
        self._resolve_refs = resolve_refs
        self._read = reader(root)
        self._first: dict[int, Parts] = {}
        self._paths: dict[int, Parts] | None = None

    def write(self, value: Any, parts: Parts) -> None:
        if isinstance(value, Placeholder) and value.value is not UNSET:
            value = value.value
        if isinstance(value, (Lazy, Placeholder)) and self._resolve_refs:
            value = self._read(value)
        if isinstance(value, Node):
            self._node(value, parts)
        elif isinstance(value, (list, tuple)):
            kind: Any = list if isinstance(value, list) else tuple
            self.out.append("l[" if isinstance(value, list) else "t[")
            for index, item in enumerate(kind.__iter__(value)):
                if not (self._exclude and covers(self._exclude, (*parts, index))):
                    self.write(item, (*parts, index))
                    self.out.append(",")
            self.out.append("]")
        elif isinstance(value, Lazy):
            self._lazy(value, parts)
        else:
            self.out.append(_scalar(value))

    def _node(self, node: Node, parts: Parts) -> None:
        first = self._first.get(id(node))
        if first is not None:
            self.out.append(f"shared({format_path(first)})")
            return
        self._first[id(node)] = parts
        target = node._konfig_fields.get(TARGET)
        self.out.append(f"c({dotted(target)}){{" if target is not None else "m{")
        fields = [(_scalar(k), k, v) for k, v in node._konfig_fields.items()]
        for text, key, item in sorted(fields, key=lambda field: field[0]):
            if key == TARGET and target is not None:
                continue
            below = (*parts, key)
            if self._exclude and covers(self._exclude, below):
                continue
            self.out.append(f"{text}:")
            self.write(item, below)
            self.out.append(",")
        self.out.append("}")

    def _lazy(self, lazy: Any, parts: Parts) -> None:
        if isinstance(lazy, Ref):
            if self._paths is None:
                self._paths = node_paths(self._root)
            above = self._paths.get(id(lazy.__konfig_anchor__))
            path = (above or ()) + lazy.__konfig_path__
            where = "outer" if above is None else "ref"
            self.out.append(f"{where}({format_path(path)})")
            return
        first = self._first.get(id(lazy))
        if first is not None:
            self.out.append(f"shared({format_path(first)})")
            return
        self._first[id(lazy)] = parts
        self.out.append(f"x({lazy.__konfig_op__}")
        named = sorted(lazy.__konfig_kwargs__.items())
        for index, arg in enumerate([*lazy.__konfig_args__, *named]):
            self.out.append(";")
            self.write(arg, (*parts, index))
        self.out.append(")")


def _scalar(value: Any) -> str:
    """A scalar with its type; `repr` of floats is the shortest exact text."""
    if isinstance(value, Const):
        return f"k({dotted(value.__const__)})"
    if isinstance(value, (set, frozenset)):
        return f"{type(value).__name__}({','.join(sorted(map(_scalar, value)))})"
    if isinstance(value, tuple):
        return f"t[{','.join(map(_scalar, value))}]"
    if is_path(value):
        return f"path({value.as_posix()!r})"
    if isinstance(value, Placeholder):
        kind = "required" if value.required else "placeholder"
        return f"{kind}({'|'.join(value.type_names)},{_scalar(value.default)})"
    if isinstance(value, LocalFunction):
        return f"local({short(value)})"
    if isinstance(value, int) and value.bit_length() > _LONG:
        return f"int({value:#x})"
    return f"{type(value).__name__}({value!r})"
