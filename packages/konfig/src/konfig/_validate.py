"""Every problem of a config at once, before anything is built."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from konfig._conform import declared, mismatch
from konfig._const import Const, is_trusted
from konfig._convert import convert
from konfig._errors import (
    ConfigCycleError,
    ConfigValueError,
    KonfigError,
    RequiredValueError,
    short,
)
from konfig._faults import names_of
from konfig._keys import count_positional
from konfig._loader import FILE_MODULE
from konfig._paths import Parts, format_path
from konfig._placeholder import Placeholder
from konfig._preflight import check_node
from konfig._ref import Expr, Lazy, LocalFunction, Ref, follows_field
from konfig._ref_eval import reader
from konfig._report import Problem, Report
from konfig._signature import call_faults, missing_names, parameters_of
from konfig._target import load, loaded
from konfig._tree import (
    TARGET,
    TRUSTED,
    Node,
    field_key,
    is_container,
    node_paths,
    path_items,
    path_key,
    stored_items,
    walk,
    where,
)

_PARTIAL = "functools:partial"
_NOT_ELSEWHERE = ("__main__:", FILE_MODULE)


def validate(cfg: Any, *, import_targets: bool = True, types: str = "warn") -> Report:
    """Looks for everything that is wrong with a config, and builds nothing.

    Found are: targets that cannot be imported, unknown, doubled and missing arguments,
    arguments of another type than the annotation says, broken and circular references
    and those that leave the config, required fields that are not set, malformed names,
    what has no form in JSON, targets of `__main__`, and nodes used in several places.

    Args:
      cfg: A config value.
      import_targets: Whether targets are imported to be checked; otherwise those that
        are loaded already are. A target that data named is never imported.
      types: Whether arguments of the wrong type are `"error"` or `"warn"`, or not
        looked for (`"off"`).

    Returns:
      The report; `report.ok` is True when no problem is an error.

    Raises:
      ConfigTypeError: When the value cannot stand in a config.
    """
    if types not in ("error", "warn", "off"):
        raise ConfigValueError(f"types is 'error', 'warn' or 'off', not {types!r}")
    check = _Check(convert(cfg), import_targets, types)
    try:
        check.run()
    except ConfigCycleError as error:
        check.enter((), "cycle", "error", error.message, error.hint)
    return Report(check.problems)


class _Check:
    def __init__(self, root: Any, import_targets: bool, types: str):
        self.problems: list[Problem] = []
        self._root = root
        self._import_targets = import_targets
        self._types = types
        self._read = reader()
        self._owners: dict[Parts, Any] = {}

    def run(self) -> None:
        self._nodes = node_paths(self._root)
        for parts, value in walk(self._root):
            if isinstance(value, Node):
                self._owners[parts] = value
                if TARGET in value._konfig_fields:
                    self._call(value, parts)
            elif isinstance(value, Placeholder):
                self._placeholder(value, parts)
            elif isinstance(value, Lazy):
                self._lazy(value, parts)
            elif isinstance(value, Const):
                self._load(value.__const__, is_trusted(value), parts)
            elif isinstance(value, (set, frozenset)):
                for item in value:
                    if isinstance(item, Const):
                        self._load(item.__const__, is_trusted(item), parts)
        self._shared()

    def enter(
        self,
        parts: Parts,
        kind: str,
        level: str,
        message: str,
        hint: str | None = None,
        origin: str | None = None,
    ) -> None:
        """Notes a problem, with the place where its part was written."""
        path = format_path(parts, "cfg")
        origin = origin or self._origin(parts)
        self.problems.append(Problem(path, kind, level, message, hint, origin))

    def _origin(self, parts: Parts) -> str | None:
        """Where a field was written, or else the nearest node above it."""
        if parts in self._owners:
            return where(self._owners[parts])
        for length in range(len(parts) - 1, -1, -1):
            owner = self._owners.get(parts[:length])
            if owner is not None:
                return where(owner, field_key(owner, parts[length]))
        return None

    def _fault(self, parts: Parts, kind: str, error: KonfigError) -> None:
        hint, origin = error.hint, error.origin
        self.enter(parts, kind, "error", error.message, hint, origin)

    # Calls

    def _call(self, node: Node, parts: Parts) -> None:
        qualname = node._konfig_fields[TARGET]
        try:
            check_node(node)
        except ConfigValueError as error:
            self._fault(parts, "structure", error)
            return
        found = self._load(qualname, bool(node._konfig_flags & TRUSTED), parts)
        if found is None:
            return
        if not callable(found):
            self.enter(parts, "import", "error", f"{qualname} is not callable")
            return
        self._arguments(node, qualname, found, parts)

    def _arguments(self, node: Node, qualname: str, found: Any, parts: Parts) -> None:
        count = count_positional(node)
        keywords = [key for key in names_of(node) if key in node._konfig_fields]
        keywords = [key for key in keywords if not key.isdecimal()]
        partial = qualname == _PARTIAL
        if partial:
            # The arguments are those of the function that is called later.
            function = node._konfig_fields.get("0")
            if not isinstance(function, Const):
                return
            qualname, found = function.__const__, loaded(function.__const__)
            count -= 1
        parameters = None if found is None else parameters_of(qualname, found)
        if parameters is None:
            return
        for fault in call_faults(qualname, parameters, count, keywords):
            self._fault(parts, "keyword", fault)
        missing = [] if partial else missing_names(parameters, count, keywords)
        if missing:
            names = ", ".join(map(repr, missing))
            message = f"{qualname} needs {names}, which the config does not give"
            self.enter(parts, "missing", "error", message)
        if self._types != "off" and not partial:
            self._annotations(node, parameters, parts)

    def _annotations(self, node: Node, parameters: Any, parts: Parts) -> None:
        level = "error" if self._types == "error" else "warning"
        for key, stored in node._konfig_fields.items():
            name, annotation = declared(parameters, key)
            if name is None or annotation is None:
                continue
            try:
                value = self._read(stored) if isinstance(stored, _DEFERRED) else stored
            except Exception:
                continue  # a problem of its own, found at the field
            expected = mismatch(value, annotation)
            if expected is not None:
                message = f"expected {expected} for {name!r}, got {short(value)}"
                self.enter((*parts, path_key(node, key)), "type", level, message)

    # Names

    def _load(self, qualname: str, trusted: bool, parts: Parts) -> Any:
        """The object, or None when it cannot or may not be had."""
        if qualname.startswith(_NOT_ELSEWHERE):
            message = f"{qualname} cannot be found by another program"
            hint = "define it in a module"
            self.enter(parts, "main", "warning", message, hint)
        if loaded(qualname) is None and not trusted:
            message = f"{qualname} was named by data, so it was not imported"
            hint = "load the config with trusted=True to have it checked"
            self.enter(parts, "untrusted", "warning", message, hint)
            return None
        if not self._import_targets:
            return loaded(qualname)
        try:
            return load(qualname)
        except KonfigError as error:
            self._fault(parts, "import", error)
        except Exception as error:
            message = f"importing {qualname} raised {type(error).__name__}: {error}"
            self.enter(parts, "import", "error", message)
        return None

    # Values that are not there yet

    def _placeholder(self, declaration: Placeholder, parts: Parts) -> None:
        if declaration.is_missing:
            message = f"required {declaration.type_text} is not set"
            hint = f"set it, or give --{format_path(parts, 'cfg')}=…"
            self.enter(parts, "required", "error", message, hint)

    def _lazy(self, lazy: Lazy, parts: Parts) -> None:
        for part in _parts_of(lazy):
            if isinstance(part, LocalFunction):
                message = f"{part!r} has no importable name, so no form in JSON"
                hint = "define it at the top level of a module"
                self.enter(parts, "json", "warning", message, hint)
            elif isinstance(part, Ref) and not self._inside(part):
                message = f"{part!r} reads a config outside this one"
                self.enter(parts, "ref", "warning", message)
            elif isinstance(part, Const):
                self._load(part.__const__, is_trusted(part), parts)
        if not follows_field(lazy) or not self._may_load(lazy):
            return
        try:
            self._read(lazy)
        except RequiredValueError:
            pass  # found at the field itself
        except KonfigError as error:
            self._fault(parts, "ref", error)
        except Exception as error:
            message = f"{lazy!r} raised {type(error).__name__}: {error}"
            self.enter(parts, "ref", "error", message)

    def _may_load(self, lazy: Lazy) -> bool:
        """Whether reading it imports nothing that is not to be imported."""
        names = [part for part in _parts_of(lazy) if isinstance(part, Const)]
        return all(self._import_targets and is_trusted(name) for name in names)

    def _inside(self, ref: Any) -> bool:
        anchor = ref.__konfig_anchor__
        return anchor is self._root or id(anchor) in self._nodes

    # Nodes in several places

    def _shared(self) -> None:
        uses: dict[int, list[Parts]] = {}
        for parts, value in walk(self._root):
            if is_container(value):
                for key, item in path_items(value):
                    if isinstance(item, Node):
                        uses.setdefault(id(item), []).append((*parts, key))
        for places in uses.values():
            if len(places) > 1:
                _, *others = [format_path(place, "cfg") for place in places]
                message = f"one node with {', '.join(others)}: built once"
                hint = "konfig.deepcopy makes an independent one"
                self.enter(places[0], "shared", "info", message, hint)


_DEFERRED = (Lazy, Placeholder)


def _parts_of(lazy: Any) -> Iterable[Any]:
    """The references, functions and constants inside of an expression, each once."""
    seen: set[int] = set()
    left: list[Any] = [lazy]
    while left:
        value = left.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, (Ref, LocalFunction, Const)):
            yield value
        elif isinstance(value, Expr):
            left.extend(value.__konfig_args__)
            left.extend(value.__konfig_kwargs__.values())
        elif is_container(value):
            left.extend([item for _, item in stored_items(value)])
