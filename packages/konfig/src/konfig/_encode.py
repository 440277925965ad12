"""Configs as JSON, without loss: what JSON lacks is written as a tagged object."""

from __future__ import annotations

import math
from types import EllipsisType, ModuleType

from konfig._const import Const
from konfig._convert import is_path
from konfig._errors import ConfigValueError, SerializationError
from konfig._origin import describe
from konfig._paths import Parts, format_path
from konfig._placeholder import UNSET, Placeholder
from konfig._ref import Lazy, Ref
from konfig._ref_eval import reader
from konfig._tree import ORIGIN, Node, node_paths, places_of, unending
from konfig._typing import Any

VERSION = 1
"""What `"__konfig__"` says at the root of a file."""

_NATIVE = frozenset((type(None), bool, int, str))


def encode_text(
    value: Any,
    *,
    indent: int | None = None,
    sort_keys: bool = False,
    refs: str = "keep",
    lossless: bool = True,
    origins: bool = False,
) -> str:
    """A config value as strictly valid JSON, read back by `konfig.from_json`.

    Args:
      value: A config value.
      indent: Spaces per level; None writes one line.
      sort_keys: Whether fields come in the order of their names.
      refs: `"keep"` writes references as such, `"resolve"` writes their values.
      lossless: False writes for other tools what they expect: values in place of
        references, arrays for tuples and sets, texts for paths and numbers like NaN.
      origins: Whether each mapping says where it was written; `from_json` reads that
        back.

    Raises:
      SerializationError: With the path of what has no form in JSON.
      ConfigCycleError: When the config contains itself.
    """
    import json  # not needed before the first file

    if lossless:
        data = encode_data(value, sort_keys=sort_keys, refs=refs, origins=origins)
    else:
        from konfig._plain import plain_data

        data = plain_data(value, sort_keys)
    # What was made here is a tree, and holds no NaN.
    encoder = json.JSONEncoder(indent=indent, ensure_ascii=False, check_circular=False)
    try:
        text = encoder.encode(data)
    except ValueError:
        raise _unwritable().endless_int(value) from None
    return text if text.isascii() else _encodable(text, value)


def encode_data(
    value: Any, *, sort_keys: bool = False, refs: str = "keep", origins: bool = False
) -> Any:
    """The data that `encode_text` writes: dicts, lists and scalars of JSON."""
    if refs not in ("keep", "resolve"):
        raise ConfigValueError(f"refs is 'keep' or 'resolve', not {refs!r}")
    encoder = _Encoder(value, sort_keys, refs == "resolve", origins)
    data = _encoded(encoder, value, value)
    return {"__konfig__": VERSION, **data} if isinstance(data, dict) else data


def encode_part(value: Any, root: Any) -> str:
    """A part of a config as JSON text, with references from the root."""
    import json

    encoder = _Encoder(root, False, False)
    data = _encoded(encoder, value, root)
    try:
        return json.dumps(data, allow_nan=False)
    except ValueError:
        raise _unwritable().endless_int(root) from None


def _unwritable() -> ModuleType:
    from konfig import _unwritable  # only what cannot be written pays for it

    return _unwritable


def _encodable(text: str, root: Any) -> str:
    """The text with lone surrogates as escapes, which no encoding of files has."""
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        import re
    if re.search("[\ud800-\udbff][\udc00-\udfff]", text):
        raise _unwritable().lone_surrogate(
            root, "JSON, where two of them are read as one character"
        )
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text)


def _encoded(encoder: _Encoder, value: Any, root: Any) -> Any:
    try:
        return encoder.encode(value)
    except RecursionError:
        raise unending(root) from None


class _Encoder:
    def __init__(
        self, root: Any, sort_keys: bool, resolve_refs: bool, origins: bool = False
    ):
        self._root = root
        self._origins = origins
        self._sort_keys = sort_keys
        self._resolve_refs = resolve_refs
        self._read = reader(root)
        # None for what contains the part that is being written.
        self._written: dict[int, dict[str, Any] | None] = {}
        self._ids = 0
        self._paths: dict[int, Parts] | None = None

    def encode(self, value: Any) -> Any:
        """The JSON data of a value: one frame per level, whatever the kind."""
        if type(value) is float and math.isfinite(value):
            return value
        if isinstance(value, Node):
            mark = id(value)
            if mark in self._written:
                return self._again(mark)
            self._written[mark] = None
            out = value._konfig_fields.copy()
            if self._sort_keys:
                # Before anything is written: what is shared is written at its first
                # place in the text.
                out = dict(sorted(out.items(), key=_by_text))
            texts = True
            for key, item in out.items():
                if type(key) is not str:
                    texts = False
                if type(item) not in _NATIVE:
                    out[key] = self.encode(item)
            if not texts:
                out = {"__items__": [[self.encode(k), v] for k, v in out.items()]}
            if self._origins:
                out = {**self._encode_origin(value), **out}
            self._written[mark] = out
            return out
        if isinstance(value, list):
            items = list.copy(value)
            for index, item in enumerate(items):
                if type(item) not in _NATIVE:
                    items[index] = self.encode(item)
            return items
        if isinstance(value, tuple):
            items = []
            for item in value:
                items.append(self.encode(item))
            return {"__tuple__": items}
        return value if type(value) in _NATIVE else self._encode_special(value)

    def _encode_origin(self, node: Node) -> dict[str, Any]:
        """Where the node was written, and its fields that were set later."""
        places = {}
        for key, origin in places_of(node).items():
            if key == ORIGIN:
                places[""] = describe(origin)
            elif isinstance(key, str) and key in node._konfig_fields:
                places[key] = describe(origin)
        return {ORIGIN: {key: place for key, place in places.items() if place}}

    def _again(self, mark: int) -> dict[str, Any]:
        """A later use of something shared: its number alone."""
        first = self._written[mark]
        if first is None:
            raise unending(self._root)
        if "__id__" not in first:
            if not first:
                first["__items__"] = []  # a number alone stands for what came before
            first["__id__"] = self._ids
            self._ids += 1
        return {"__id__": first["__id__"]}

    def _encode_special(self, value: Any) -> Any:
        if isinstance(value, float):
            return value if math.isfinite(value) else {"__float__": repr(value)}
        if isinstance(value, Const):
            return {"__const__": value.__const__}
        if isinstance(value, (Lazy, Placeholder)) and self._resolve_refs:
            return self.encode(self._read(value))
        if isinstance(value, Lazy):
            return self._encode_lazy(value)
        if isinstance(value, Placeholder):
            return self._encode_placeholder(value)
        if isinstance(value, (set, frozenset)):
            items = [self.encode(item) for item in value]
            return {f"__{type(value).__name__}__": sorted(items, key=repr)}
        if isinstance(value, bytes):
            import binascii

            return {"__bytes__": binascii.b2a_base64(value, newline=False).decode()}
        if isinstance(value, complex):
            return {"__complex__": [self.encode(value.real), self.encode(value.imag)]}
        if isinstance(value, slice):
            bounds = (value.start, value.stop, value.step)
            return {"__slice__": [self.encode(bound) for bound in bounds]}
        if isinstance(value, EllipsisType):
            return {"__ellipsis__": True}
        if is_path(value):
            return {"__path__": value.as_posix()}
        raise _unwritable().refused(value, self._root)

    def _encode_lazy(self, lazy: Any) -> Any:
        mark = id(lazy)
        if mark in self._written:
            return self._again(mark)
        out: dict[str, Any] = {}
        if isinstance(lazy, Ref):
            out["__ref__"] = format_path(lazy.__konfig_path__)
            anchor = self._anchor_of(lazy)
            if anchor:
                out["__anchor__"] = format_path(anchor)
            return out
        self._written[mark] = out
        operands = out["__expr__"] = [lazy.__konfig_op__]
        for arg in lazy.__konfig_args__:
            operands.append(arg if type(arg) in _NATIVE else self.encode(arg))
        if lazy.__konfig_kwargs__:
            named = lazy.__konfig_kwargs__.items()
            out["__kwargs__"] = {key: self.encode(arg) for key, arg in named}
        return out

    def _anchor_of(self, ref: Any) -> Parts:
        anchor = ref.__konfig_anchor__
        if anchor is self._root:
            return ()
        if self._paths is None:
            self._paths = node_paths(self._root)
        found = self._paths.get(id(anchor))
        if found is None:
            raise SerializationError(
                f"{ref!r} reads a config outside the one that is written",
                path=_unwritable().path_of(ref, self._root),
                hint="write the outer config, or use refs='resolve'",
            )
        return found

    def _encode_placeholder(self, declared: Placeholder) -> Any:
        names = declared.type_names
        out: dict[str, Any] = {
            "type": names[0] if len(names) == 1 else list(names),
            "required": declared.required,
        }
        if declared.default is not None:
            out["default"] = self.encode(declared.default)
        if declared.doc:
            out["doc"] = declared.doc
        if declared.value is not UNSET:
            out["value"] = self.encode(declared.value)
        return {"__placeholder__": out}


def _by_text(pair: tuple[Any, Any]) -> tuple[str, str]:
    key = pair[0]
    return str(key), repr(key)
