"""Overrides: `model.hidden=128` parsed, checked against the config, and applied."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from konfig import _access, _convert
from konfig._const import Const
from konfig._copy import deepcopy
from konfig._decode import decode_part
from konfig._errors import (
    ConfigIndexError,
    ConfigKeyError,
    ConfigValueError,
    KonfigError,
    OverrideError,
    did_you_mean,
    joined,
    listed,
    short,
)
from konfig._faults import names_of
from konfig._flag import Override, parsed
from konfig._io import load_data
from konfig._keys import RESERVED, positional_slot, stored_key
from konfig._literal import adapt, literal
from konfig._node import ConfigDict
from konfig._paths import ANY, DEEP, Parts, format_path
from konfig._placeholder import Placeholder
from konfig._pyexpr import parse_call, parse_ref
from konfig._signature import parameters_of
from konfig._tree import (
    TARGET,
    TRUSTED,
    Node,
    field_key,
    mark,
    set_flag,
    stored_at,
    target_of,
    walk,
)
from konfig._types import Mismatch
from konfig._undo import undone_on_error

_MISSING = object()


def apply_overrides(
    cfg: Any,
    overrides: Iterable[str | Override],
    *,
    names: Mapping[str, Any] | None = None,
) -> list[str]:
    """Changes a config as the command line says, in the given order.

    Args:
      cfg: The config; changed in place.
      overrides: `"model.hidden=128"` and the like.
      names: What names mean in `py::` expressions: proxies by name.

    Returns:
      The paths that were changed, with wildcards written out.

    Raises:
      OverrideError: When an override does not fit; none of them is applied then.
    """
    return change(cfg, parsed(overrides), names or {})


def change(
    cfg: Any,
    overrides: Iterable[Override],
    names: Mapping[str, Any],
    trusted: bool = True,
) -> list[str]:
    """Does what `apply_overrides` says.

    Args:
      cfg: The config; changed in place.
      overrides: The changes.
      names: What names mean in `py::` expressions.
      trusted: Whether `resolve` may call what the changes name.
    """
    paths: list[str] = []
    changes: list[_Change] = []
    with undone_on_error(cfg):
        for override in overrides:
            places = _places(cfg, override)
            paths += [format_path(parts, "cfg") for parts in places]
            for parts in _in_turn(cfg, places):
                changes.append(_Change(cfg, override, parts, names, trusted))
                changes[-1].apply()
        for made in changes:
            made.tie()
    return paths


def _places(cfg: Any, override: Override) -> list[Parts]:
    """The paths that an override means."""
    parts = override.parts
    if ANY not in parts and DEEP not in parts:
        return [parts]
    found = _access.glob_paths(cfg, parts)
    if not found:
        raise OverrideError(
            f"no match for {format_path(parts, 'cfg')}",
            path=override.flag,
            hint=did_you_mean(parts[-1], _names_below(cfg)) or None,
        )
    return found


def _in_turn(cfg: Any, places: list[Parts]) -> list[Parts]:
    """The places from the end, so that none moves or goes before its turn.

    What is shared by several of them is changed once.
    """
    if len(places) < 2:
        return places
    once: dict[tuple[int, Parts], Parts] = {}
    for parts in places:
        at, owner, below = cfg, id(cfg), parts
        for index, key in enumerate(parts[:-1], 1):
            at = stored_at(at, key)
            if not isinstance(at, tuple):
                owner, below = id(at), parts[index:]
        once.setdefault((owner, below), parts)
    return list(once.values())[::-1]


def _names_below(cfg: Any) -> list[Any]:
    """The names of all fields of a config."""
    nodes = [value for _, value in walk(cfg) if isinstance(value, Node)]
    return [name for node in nodes for name in names_of(node)]


class _Change:
    """One override at one path."""

    def __init__(
        self, cfg: Any, override: Override, parts: Parts, names: Any, trusted: bool
    ):
        self._cfg = cfg
        self._override = override
        self._parts = parts
        self._names = names
        self._trusted = trusted
        self._tied: Callable[[Any], None] | None = None

    def apply(self) -> None:
        create = self._override.op == ":="
        with self._told():
            _access.change(self._cfg, self._parts, self._act, create)

    def tie(self) -> None:
        """Ties references in data to what they read, which may have come later."""
        if self._tied is not None:
            with self._told():
                self._tied(self._cfg)

    @contextmanager
    def _told(self) -> Generator[None]:
        """Tells what fails inside as the fault of this override."""
        try:
            yield
        except OverrideError as error:
            if self._override.flag not in error.message:
                error.path = self._override.flag
            raise
        except KonfigError as error:
            fault = self._fault(error.message, error.hint)
            fault.origin = error.origin
            raise fault from None

    def _fault(self, message: str, hint: str | None = None) -> OverrideError:
        """The error for this override; the caret stands under its last name."""
        flag = self._override.flag
        word = str(self._parts[-1]) if self._parts else flag
        for part in self._parts:
            named = f"{part!r}" if isinstance(part, str) else f"no position {part} "
            if named in message:
                word = str(part)
                break
        head = flag.partition("=")[0]
        column = max(head.rfind(word), 0)
        return OverrideError(f"{message}\n  {flag}\n  {' ' * column}^", hint=hint)

    def _act(self, container: Any, key: Any) -> Any:
        op = self._override.op
        if op == ":del":
            return _access.delete(container, key)
        if isinstance(container, Node):
            key = field_key(container, key)
            if op != ":=":
                self._check_declared(container, key)
        elif not isinstance(container, (list, tuple)):
            raise self._fault(f"{short(container)} has no fields, so no {key!r}")
        current = self._current(container, key)
        if op == "+=":
            return self._append(container, key, current)
        value = self._value(container, key, current)
        trusted = isinstance(container, Node) and container._konfig_flags & TRUSTED
        after = _access.assign(container, key, value)
        if isinstance(container, Node):
            key = positional_slot(container, key) or stored_key(container, key)
            by_hand = "" if op == "is" else " on the command line"
            mark(container, key, f"{self._override.flag}{by_hand}")
            if trusted and self._trusted:
                # The command line is the user's own text, also for a new target.
                set_flag(container, TRUSTED, True)
        return after

    def _current(self, container: Any, key: Any) -> Any:
        try:
            return _access.child(container, key)
        except (ConfigKeyError, ConfigIndexError):
            if isinstance(container, (list, tuple)):
                raise
            return _MISSING
        except Exception:
            # A reference that cannot be read is replaced like any other value.
            return _MISSING

    def _check_declared(self, node: Any, key: Any) -> None:
        """Refuses a field that is neither there nor a parameter of the target."""
        target = target_of(node)
        parameters = None if target is None else parameters_of(target)
        if key in node or positional_slot(node, key) is not None:
            return
        known = [name for name in names_of(node) if isinstance(name, str)]
        if parameters is not None:
            if key in parameters.keywords:
                return
            offered = [name for name in parameters.names if not name.startswith("_")]
            known += [name for name in offered if name not in known]
        where = format_path(self._parts[:-1], "cfg")
        kind = f" ({target})" if target else ""
        raise self._fault(
            f"no field {key!r} in {where}{kind}",
            joined(
                did_you_mean(key, known),
                f"fields: {listed(known, 12)}",
                f"to add it, write {format_path(self._parts, 'cfg')}:=VALUE"
                if self._override.op != "is"
                and key not in RESERVED
                and (parameters is None or parameters.any_keyword)
                else "",
            ),
        )

    def _append(self, container: Any, key: Any, current: Any) -> Any:
        if current is _MISSING:
            raise self._fault(
                "+= appends to a value, and there is none yet",
                f"set it: {format_path(self._parts, 'cfg')}=VALUE",
            )
        value = self._parsed(None, None)
        if isinstance(current, list):
            current.extend(value) if isinstance(value, list) else current.append(value)
            return container
        if isinstance(current, tuple):
            more = tuple(value) if isinstance(value, (list, tuple)) else (value,)
            return _access.assign(container, key, current + more)
        if isinstance(current, ConfigDict) and isinstance(value, Mapping):
            self.tie()  # the copies that are merged in are out of reach afterwards
            current.update(value)
            return container
        raise self._fault(
            f"+= appends to a list or merges a mapping, not to {short(current)}"
        )

    def _value(self, container: Any, key: Any, current: Any) -> Any:
        if self._override.op == "is":
            return deepcopy(self._override.text)
        annotation = self._annotation(container, key)
        now = self._default(container, key) if current is _MISSING else current
        if self._override.op == "flag":
            if annotation is not bool and not isinstance(now, bool):
                flag = self._override.flag
                if self._override.text == "False":
                    flag = flag.replace("--no", "--", 1)
                raise self._fault("the value is missing", f"write {flag}=VALUE")
            return self._override.text == "True"
        return self._parsed(annotation, now)

    def _default(self, container: Any, key: Any) -> Any:
        """What a parameter is when the config does not give it."""
        target = target_of(container) if isinstance(container, Node) else None
        parameters = None if target is None else parameters_of(target)
        return None if parameters is None else parameters.defaults.get(key)

    def _annotation(self, container: Any, key: Any) -> Any:
        """What the field is declared as: by its placeholder, or by the target."""
        if not isinstance(container, Node):
            return None
        declared = container._konfig_fields.get(key)
        if isinstance(declared, Placeholder):
            unknown = declared.type is object or isinstance(declared.type, Const)
            return None if unknown else declared.type
        target = container._konfig_fields.get(TARGET)
        parameters = None if target is None else parameters_of(target)
        if parameters is None:
            return None
        if isinstance(key, str) and key.isdecimal():
            index = int(key)
            if index >= len(parameters.positional):
                return None
            key = parameters.positional[index]
        return parameters.annotation(key)

    def _parsed(self, annotation: Any, current: Any) -> Any:
        text = self._override.text
        try:
            prefix, mark_, rest = text.partition("::")
            if mark_ and prefix in _PREFIXES:
                return _PREFIXES[prefix](self, rest)
            if annotation is None and current is None:
                return literal(text)
            return _convert.convert(adapt(text, annotation, current))
        except Mismatch as mismatch:
            raise self._fault(
                f"expected {mismatch.expected}, got {short(text)} for "
                f"{format_path(self._parts, 'cfg')}"
            ) from None

    def _from_py(self, text: str) -> Any:
        return parse_call(text, self._names)

    def _from_ref(self, text: str) -> Any:
        return parse_ref(text, self._cfg)

    def _from_json(self, text: str) -> Any:
        import json

        try:
            data = json.loads(text)
        except ValueError as error:
            raise self._fault(f"not JSON: {error}") from None
        # Typed by the user like the rest of the command line, so it may name targets.
        value, self._tied = decode_part(data, trusted=self._trusted)
        with suppress(ConfigValueError):  # `tie` tries again
            self._tied(self._cfg)
        return value

    def _from_file(self, text: str) -> Any:
        return load_data(text)

    def _from_str(self, text: str) -> Any:
        return text


_PREFIXES: dict[str, Any] = {
    "py": _Change._from_py,
    "ref": _Change._from_ref,
    "json": _Change._from_json,
    "file": _Change._from_file,
    "str": _Change._from_str,
}
