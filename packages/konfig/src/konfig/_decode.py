"""JSON back to configs. Reading imports nothing and runs nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath
from typing import Any

from konfig._const import check_qualname, make_const
from konfig._convert import convert
from konfig._encode import VERSION
from konfig._errors import (
    ConfigFileError,
    ConfigTypeError,
    ConfigValueError,
    KonfigError,
    short,
)
from konfig._keys import raw_key
from konfig._list import ConfigList
from konfig._node import ConfigDict
from konfig._paths import Parts, format_path, parse
from konfig._placeholder import Placeholder
from konfig._ref import Expr, Ref
from konfig._tags import (
    COMPANIONS,
    HEADERS,
    MARKS,
    SIMPLE,
    class_of,
    operation,
    tag_of,
)
from konfig._tree import (
    ORIGIN,
    TARGET,
    TRUSTED,
    Node,
    is_container,
    mark,
    new_list,
    new_node,
    path_key,
    stored_at,
    too_deep,
)


def from_json(
    source: str | bytes | PurePath | Mapping[str, Any] | list[Any],
    *,
    trusted: bool = False,
) -> Any:
    """Reads what `to_json` wrote.

    Args:
      source: The text, a path to a file, or the data that a JSON reader gave.
      trusted: Whether `resolve` may call what the text names. Without it, `resolve`
        asks for the permission.

    Returns:
      The config value; nothing was imported.

    Raises:
      ConfigFileError: When the file cannot be read.
      ConfigValueError: With the place, when the text is no JSON or has a broken tag.
    """
    origin = "JSON"
    if isinstance(source, PurePath):
        origin = str(source)
        try:
            source = Path(source).read_bytes()
        except OSError as error:
            raise ConfigFileError(f"cannot read {origin!r}: {error.strerror}") from None
    if isinstance(source, (str, bytes)):
        source = _loaded(source, origin)
    return decode(source, trusted=trusted, origin=origin)


def decode(data: Any, *, trusted: bool, origin: str | None = None) -> Any:
    """A config value from JSON data, which is left as it is.

    Args:
      data: What a JSON reader gave.
      trusted: Whether `resolve` may call what it names.
      origin: Where it comes from, for messages.
    """
    result, tie = decode_part(data, trusted=trusted, origin=origin)
    tie(result)
    return result


def decode_part(
    data: Any, *, trusted: bool, origin: str | None = None
) -> tuple[Any, Callable[[Any], None]]:
    """A part of a config, and what ties its references to the config they read."""
    decoder = _Decoder(data, trusted, origin)
    try:
        return decoder.decode(data), decoder.anchor
    except RecursionError:
        raise too_deep() from None
    except KonfigError as error:
        # A refused value may lie inside of an object among the data.
        steps = error.steps if isinstance(error, ConfigTypeError) else ()
        error.path = format_path((*reversed(decoder.way_out), *steps), "cfg")
        error.owner = None
        error.origin = error.origin or origin
        raise
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        # A tag with something else in it than what to_json writes.
        raise ConfigValueError(
            f"malformed data: {error}",
            path=format_path(reversed(decoder.way_out), "cfg"),
            origin=origin,
        ) from None


def _loaded(text: str | bytes, origin: str) -> Any:
    try:
        return json.loads(text)
    except UnicodeDecodeError as error:
        raise ConfigValueError(f"not JSON: {error}", origin=origin) from None
    except json.JSONDecodeError as error:
        raise ConfigValueError(
            f"not JSON: {error.msg}",
            origin=f"{origin}:{error.lineno}, column {error.colno}",
        ) from None
    except ValueError:
        raise ConfigValueError(
            "an int of more digits than Python reads",
            origin=origin,
            hint="sys.set_int_max_str_digits(…) says how many it reads",
        ) from None
    except RecursionError:
        raise too_deep() from None


class _Decoder:
    def __init__(self, root: Any, trusted: bool, origin: str | None):
        self._root = root
        self._flags = TRUSTED if trusted else 0
        self._trusted = trusted
        self._origin = origin
        self._shared: dict[Any, Any] = {}
        self._refs: list[tuple[Ref, Parts]] = []
        version = root.get("__konfig__") if isinstance(root, Mapping) else None
        if version is not None and version != VERSION:
            raise ConfigValueError(
                f"written in format {version!r}; this konfig reads {VERSION}",
                hint="update konfig",
            )
        # Without our header the text may be Kauldron's, which writes 3 as '__raw__=3'.
        self._old_keys = version is None
        self._names: set[str] = set()
        self.way_out: list[Any] = []
        """The keys to an error, innermost first."""

    def decode(self, data: Any) -> Any:
        """The config value for JSON data: one frame per level."""
        if type(data) is dict or (
            isinstance(data, Mapping) and not isinstance(data, Node)
        ):
            if not MARKS.isdisjoint(data):
                if data.get("__id__", _NOTHING) in self._shared:
                    return self._shared[data["__id__"]]
                tag = tag_of(data)
                if tag is not None:
                    return self._decode_tag(tag, data)
            node = self._blank(data)
            fields = node._konfig_fields
            key = None
            try:
                for key, item in data.items():
                    if type(key) is not str:
                        key = str(key) if type(key) is int and TARGET in data else key
                    elif key[:2] == "__":
                        if key in HEADERS:
                            continue
                        key = self._special_key(key, item)
                    if type(item) not in _NATIVE:
                        listed = type(item) is list
                        item = self._list(item) if listed else self.decode(item)
                    fields[key] = item
            except Exception:
                self.way_out.append(path_key(node, key))
                raise
            return node
        if type(data) is list:
            return self._list(data)
        # Config values may stand among raw data; live objects are refused here.
        return data if type(data) in _NATIVE else convert(data)

    def _list(self, data: list[Any]) -> Any:
        items = list(data)
        index = 0
        try:
            for index, item in enumerate(items):
                if type(item) not in _NATIVE:
                    items[index] = self.decode(item)
        except Exception:
            self.way_out.append(index)
            raise
        return new_list(ConfigList, items)

    def _special_key(self, key: str, item: Any) -> Any:
        if key == TARGET and not (isinstance(item, str) and item in self._names):
            self._names.add(check_qualname(item))
        return _old_key(key) if self._old_keys else key

    def _blank(self, data: Mapping[Any, Any]) -> ConfigDict:
        node = new_node(ConfigDict, {}, self._flags, self._origin)
        if "__origin__" in data:
            self._read_origin(node, data["__origin__"])
        if "__id__" in data:
            if len(data) == 1 and not self._old_keys:
                # Kauldron writes an empty mapping that is shared in this way.
                raise ConfigValueError(f"no earlier part has the id {data['__id__']!r}")
            self._shared[data["__id__"]] = node
        return node

    def _read_origin(self, node: ConfigDict, places: Mapping[str, Any]) -> None:
        for key, place in places.items():
            if not isinstance(place, str):
                raise ConfigValueError(f"broken '__origin__': {short(place)}")
            mark(node, key or ORIGIN, place)

    def _decode_tag(self, tag: str, data: Mapping[Any, Any]) -> Any:
        try:
            return self._tagged(tag, data)
        except (TypeError, ValueError, AttributeError, KeyError) as error:
            if isinstance(error, KonfigError):
                raise
            # Something else in it than what to_json writes.
            raise ConfigValueError(f"broken {tag!r}: {short(data[tag])}") from None

    def _tagged(self, tag: str, data: Mapping[Any, Any]) -> Any:
        extra = data.keys() - {tag, *HEADERS, *COMPANIONS.get(tag, ())}
        if extra:
            raise ConfigValueError(
                f"{tag!r} does not stand beside {sorted(extra, key=str)}"
            )
        if tag == "__items__":
            node = self._blank(data)
            for written, item in data[tag]:
                value = self.decode(item)
                key = raw_key(self.decode(written), value, False)
                node._konfig_fields[key] = value
            return node
        if tag == "__ref__":
            anchor = data.get("__anchor__", "")
            if not (isinstance(data[tag], str) and isinstance(anchor, str)):
                raise ConfigValueError(f"broken '__ref__': {short(dict(data))}")
            made: Any = Ref(None, parse(data[tag]), self._trusted)
            self._refs.append((made, parse(anchor)))
        elif tag == "__expr__":
            named = data.get("__kwargs__", {})
            op, args = operation(data[tag], named)
            for index, arg in enumerate(args):
                args[index] = self.decode(arg)
            named = {key: self.decode(item) for key, item in named.items()}
            made = Expr(op, tuple(args), named, self._trusted)
        elif tag == "__const__":
            made = make_const(check_qualname(data[tag]), self._trusted)
        elif tag == "__placeholder__":
            made = self._placeholder(data[tag])
        else:
            made = SIMPLE[tag](self.decode, data[tag])
        if "__id__" in data:
            self._shared[data["__id__"]] = made
        return made

    def _placeholder(self, data: Mapping[str, Any]) -> Any:
        unknown = data.keys() - {"type", "default", "required", "doc", "value"}
        names = data.get("type", "builtins:object")
        kinds = list(map(class_of, [names] if isinstance(names, str) else names))
        if unknown or not kinds:
            raise ValueError("a declaration has a type, and nothing else")
        kind = kinds[0]
        for other in kinds[1:]:
            both = isinstance(kind, (type, type(int | str))) and isinstance(other, type)
            kind = kind | other if both else make_const("builtins:object", True)
        default, value = (
            self.decode(data.get("default")),
            self.decode(data.get("value")),
        )
        if isinstance(default, Placeholder) or isinstance(value, Placeholder):
            raise ValueError("a declaration is no value")
        required = bool(data.get("required", False))
        declared = Placeholder(kind, default, required, data.get("doc", ""))
        return declared.filled(value) if "value" in data else declared

    def anchor(self, root: Any) -> None:
        """Ties the references to the finished tree."""
        for ref, parts in self._refs:
            anchor = root
            for key in parts:
                try:
                    anchor = stored_at(anchor, key)
                except (KeyError, IndexError, TypeError):
                    text = format_path(parts, "cfg")
                    raise self._lost(ref, root, f"{text} is not there for") from None
            if not is_container(anchor):
                raise self._lost(ref, root, "no config is there to be read by")
            object.__setattr__(ref, "__konfig_anchor__", anchor)

    def _lost(self, ref: Ref, root: Any, why: str) -> ConfigValueError:
        from konfig._unwritable import path_of  # broken data alone pays for it

        place = path_of(ref, root)
        return ConfigValueError(f"{why} {ref!r}", path=place, origin=self._origin)


_NATIVE = frozenset((type(None), bool, int, float, str))
_NOTHING = object()


def _old_key(key: str) -> Any:
    if not key.startswith("__raw__="):
        return key
    import ast

    try:
        found = ast.literal_eval(key.removeprefix("__raw__="))
        hash(found)
    except (ValueError, SyntaxError, TypeError):
        return key
    return found
