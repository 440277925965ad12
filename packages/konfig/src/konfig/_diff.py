"""What differs between two configs, path by path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from konfig._access import get_path
from konfig._align import aligned
from konfig._compare import Comparison, equal
from konfig._const import dotted
from konfig._convert import convert
from konfig._copy import deepcopy
from konfig._encode import encode_part
from konfig._errors import ConfigValueError, OverrideError, short
from konfig._flag import parsed
from konfig._keys import is_index
from konfig._overrides import change
from konfig._paths import Parts, covers, format_path, parse
from konfig._placeholder import UNSET, Placeholder
from konfig._ref import Lazy
from konfig._security import came_as_data
from konfig._tree import TARGET, Node, path_key, unending, where

_MISSING = object()


class Entry:
    """One difference.

    Attributes:
      path: Where, as text below `cfg`: `"model.hidden"`; empty for the config itself.
      kind: `"added"`, `"removed"`, `"changed"`, `"target_changed"`, `"type_changed"`
        or `"ref_changed"`.
      old: The value before, or None.
      new: The value after, or None.
      origin: Where the new value was written, or None.
    """

    __slots__ = ("kind", "new", "old", "origin", "path")

    def __init__(self, path: str, kind: str, old: Any, new: Any, origin: str | None):
        self.path = path
        self.kind = kind
        self.old = old
        self.new = new
        self.origin = origin

    def __str__(self) -> str:
        path = self.path or "cfg"
        if self.kind == "added":
            return f"+ {path}: {short(self.new)}"
        if self.kind == "removed":
            return f"- {path}: {short(self.old)}"
        return f"~ {path}: {short(self.old)} → {short(self.new)}"

    def __repr__(self) -> str:
        return f"<{self.kind} {self}>"


class Diff:
    """The differences in the order of the second config; false when there are none."""

    __slots__ = ("_declared", "_moved", "_new", "_shared", "entries")

    def __init__(
        self,
        entries: Iterable[Entry],
        new: Any,
        moved: Iterable[Parts] = (),
        declared: Iterable[str] = (),
        shared: Node | None = None,
    ):
        self.entries = tuple(entries)
        # The first config, when parts of it stand in several places.
        self._shared: Any = shared
        # Fields that were declared with a type before, and are plain values now.
        self._declared = frozenset(declared)
        self._new = new
        # Where no paths lead from the old to the new: lists in which items have moved.
        self._moved = tuple(moved)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, index: Any) -> Any:
        return self.entries[index]

    def __bool__(self) -> bool:
        return bool(self.entries)

    def __str__(self) -> str:
        return "\n".join(map(str, self.entries))

    def as_overrides(self) -> list[str]:
        """The overrides that turn the first config into the second.

        They stand on a command line behind the config file, or in `apply_overrides`.
        What was shared in the second config is written at each place.

        Raises:
          ConfigValueError: When the configs differ as a whole.
          SerializationError: When a new value has no form in JSON.
        """
        if any(not entry.path for entry in self.entries):
            raise ConfigValueError("the configs differ as a whole, no field alone")
        texts = self._by_entry()
        if self._shared is None or self._leads(self._shared, texts):
            return texts
        return self._by_field(self._shared)

    def _came_as_data(self) -> bool:
        """Whether the overrides name a target or a reference that data named."""
        # Lists with moved items and shared parts are written with all that is in them.
        if self._moved or self._shared is not None:
            return came_as_data(self._new)
        return any(came_as_data(entry.new) for entry in self.entries)

    def _leads(self, old: Node, texts: list[str]) -> bool:
        """Whether overrides turn one config into the second."""
        result = deepcopy(old)
        try:
            change(result, parsed(texts), {})
        except OverrideError:
            return False
        return equal(result, self._new)

    def _by_field(self, old: Node) -> list[str]:
        """Whole fields: a smaller change would be seen wherever its part is shared."""
        before, after = old._konfig_fields, self._new._konfig_fields
        comparison = Comparison(old, self._new)
        texts = []
        for key, value in after.items():
            path = format_path([path_key(self._new, key)])
            if key in before and comparison.equal(before[key], value):
                continue
            if isinstance(before.get(key), Placeholder):
                texts.append(f"{path}:del")
            texts.append(f"{path}:=json::{encode_part(value, self._new)}")
        gone = [path_key(old, key) for key in before if key not in after]
        return texts + [f"{format_path([key])}:del" for key in reversed(gone)]

    def _by_entry(self) -> list[str]:
        """One override for each difference, where no part is shared."""
        lists = [parts for parts in self._moved if not _below(parts, self._moved)]
        kept = [
            entry
            for entry in self.entries
            if not lists or not _below(parse(entry.path), lists)
        ]
        removed = [entry for entry in kept if entry.kind == "removed"]
        # A declaration would hold the new value against its type.
        texts = [f"{e.path}:del" for e in kept if e.path in self._declared]
        texts += [self._override(entry) for entry in kept if entry.kind != "removed"]
        # No override moves an item: such a list is written as a whole.
        for parts in lists:
            value = encode_part(get_path(self._new, parts), self._new)
            texts.append(f"{format_path(parts)}:=json::{value}")
        # From the end, so that no position moves before its turn.
        return texts + [f"{entry.path}:del" for entry in reversed(removed)]

    def _override(self, entry: Entry) -> str:
        value = entry.new
        if entry.kind == "added" and isinstance(parse(entry.path)[-1], int):
            owner = format_path(parse(entry.path)[:-1])
            if isinstance(get_path(self._new, owner), (list, tuple)):
                return f"{owner}+=json::[{encode_part(value, self._new)}]"
        plain = entry.kind == "changed" and entry.path not in self._declared
        short_int = type(value) is int and value.bit_length() < 200
        if plain and (type(value) is bool or short_int):
            return f"{entry.path}={value}"
        if plain and isinstance(value, str):
            return f"{entry.path}=str::{value}"
        return f"{entry.path}:=json::{encode_part(value, self._new)}"

    def to_json(self) -> str:
        """The differences as a JSON array: kind, path, origin, old and new as text."""
        import json

        rows = [
            {
                "kind": entry.kind,
                "path": entry.path,
                "old": None if entry.kind == "added" else repr(entry.old),
                "new": None if entry.kind == "removed" else repr(entry.new),
                "origin": entry.origin,
            }
            for entry in self.entries
        ]
        return json.dumps(rows, ensure_ascii=False)

    def __repr__(self) -> str:
        return f"<Diff of {len(self.entries)} entries>"


def diff(a: Any, b: Any, *, ignore: str | Iterable[str] = ()) -> Diff:
    """What has to change in `a` to become `b`.

    References are compared as written, by what they read from. An item that came into
    a list or left it is one entry: added items have their new positions, removed ones
    their old. A call of another target is one entry.

    Args:
      a: A config value.
      b: Another one.
      ignore: Paths that do not count, with `*` and `**`: `"workdir"`, `"**.seed"`.

    Raises:
      ConfigTypeError: When a value cannot stand in a config.
    """
    a, b = convert(a), convert(b)
    patterns = (ignore,) if isinstance(ignore, str) else tuple(ignore)
    search = _Search(a, b, [parse(pattern, glob=True) for pattern in patterns])
    try:
        search.compare(a, b, (), None)
    except RecursionError:
        raise unending(a) from None
    whole = isinstance(a, Node) and isinstance(b, Node) and not search.ignores
    shared = a if search.shared and whole else None
    return Diff(search.entries, b, search.moved, search.declared, shared)


def apply(cfg: Any, changes: Diff) -> Any:
    """A copy of a config with the changes made: `apply(a, diff(a, b)) == b`.

    When some of the changes came as data, `resolve` asks before it runs what they name.

    Raises:
      ConfigValueError: When the compared configs differ as a whole.
      OverrideError: When the changes do not fit this config.
    """
    result = deepcopy(cfg)
    texts = parsed(changes.as_overrides())
    change(result, texts, {}, trusted=not changes._came_as_data())
    return result


class _Search:
    def __init__(self, a: Any, b: Any, ignore: list[Parts]):
        self.entries: list[Entry] = []
        self.moved: list[Parts] = []
        self.declared: list[str] = []
        self._comparison = Comparison(a, b)
        self._ignore = ignore
        self._seen: set[tuple[int, int]] = set()
        self._met: set[int] = set()
        self.ignores = bool(ignore)
        self.shared = False
        """Whether a part of the first config stands in several places."""

    def compare(self, old: Any, new: Any, parts: Parts, origin: str | None) -> None:
        if self._ignore and parts and covers(self._ignore, parts):
            return
        if isinstance(old, Placeholder) and not isinstance(new, Placeholder):
            named = parts and isinstance(parts[-1], str) and not parts[-1].isdecimal()
            if new is not _MISSING and named:
                self.declared.append(format_path(parts))
        old, new = _set_value(old), _set_value(new)
        if old is _MISSING or new is _MISSING:
            kind = "added" if old is _MISSING else "removed"
            self._enter(parts, kind, old, new, origin)
        elif isinstance(old, Node) and isinstance(new, Node):
            self._nodes(old, new, parts, origin)
        elif _both(old, new, list) or _both(old, new, tuple):
            self._items(old, new, parts, origin)
        elif isinstance(old, Lazy) or isinstance(new, Lazy):
            if not self._comparison.equal(old, new):
                self._enter(parts, "ref_changed", old, new, origin)
        elif _type(old) is not _type(new):
            self._enter(parts, "type_changed", old, new, origin)
        elif not self._comparison.equal(old, new):
            self._enter(parts, "changed", old, new, origin)

    def _nodes(self, old: Node, new: Node, parts: Parts, origin: str | None) -> None:
        self._meet(old)
        pair = (id(old), id(new))
        if pair in self._seen:
            return
        self._seen.add(pair)
        before, after = old._konfig_fields, new._konfig_fields
        if dotted(str(before.get(TARGET))) != dotted(str(after.get(TARGET))):
            self._enter(parts, "target_changed", old, new, origin or where(new))
            return
        keys = [*after, *[key for key in before if key not in after]]
        if parts and any(is_index(key) and str(key) in keys for key in keys):
            self.moved.append(parts)  # a path cannot tell 1 from '1'
        for key in keys:
            if key != TARGET:
                found = before.get(key, _MISSING), after.get(key, _MISSING)
                below = (*parts, path_key(new, key))
                self.compare(*found, below, where(new, key))

    def _items(self, old: Any, new: Any, parts: Parts, origin: str | None) -> None:
        if isinstance(old, list):
            self._meet(old)
        pairs = aligned(old, new) if parts else None
        if pairs is None:
            for index in range(max(len(old), len(new))):
                below = (*parts, index)
                self.compare(_item(old, index), _item(new, index), below, origin)
            return
        self.moved.append(parts)
        for before, after in pairs:
            one = _MISSING if before is None else _item(old, before)
            other = _MISSING if after is None else _item(new, after)
            below = (*parts, before if after is None else after)
            self.compare(one, other, below, origin)

    def _meet(self, old: Any) -> None:
        self.shared = self.shared or id(old) in self._met
        self._met.add(id(old))

    def _enter(
        self, parts: Parts, kind: str, old: Any, new: Any, origin: str | None
    ) -> None:
        old = None if old is _MISSING else old
        new = None if new is _MISSING else new
        self.entries.append(Entry(format_path(parts), kind, old, new, origin))


def _set_value(value: Any) -> Any:
    if isinstance(value, Placeholder) and value.value is not UNSET:
        return value.value
    return value


def _both(old: Any, new: Any, kind: type) -> bool:
    return isinstance(old, kind) and isinstance(new, kind)


def _item(items: Any, index: int) -> Any:
    if index >= len(items):
        return _MISSING
    kind: Any = list if isinstance(items, list) else tuple
    return kind.__getitem__(items, index)


def _below(parts: Parts, owners: Iterable[Parts]) -> bool:
    """Whether a path leads into one of some containers."""
    return any(
        len(parts) > len(owner) and parts[: len(owner)] == owner for owner in owners
    )


def _type(value: Any) -> Any:
    # Paths of one machine and of another differ in class alone.
    return "path" if hasattr(value, "as_posix") else type(value)
