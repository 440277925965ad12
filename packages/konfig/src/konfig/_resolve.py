"""From a config to objects: one walk, arguments before calls, each node once."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from konfig import _convert
from konfig._const import Const, check_qualname, is_trusted
from konfig._copy import deepcopy
from konfig._decode import decode
from konfig._errors import (
    ConfigTypeError,
    ConfigValueError,
    short,
)
from konfig._frozen import FrozenDict
from konfig._keys import is_position
from konfig._lock import lock
from konfig._paths import format_path
from konfig._placeholder import Placeholder
from konfig._preflight import PLAIN, check_node, prepare
from konfig._ref import Expr, Lazy, LocalFunction
from konfig._ref_eval import Evaluation
from konfig._security import Guard
from konfig._signature import (
    binding_fault,
    call_faults,
    missing_fault,
    missing_names,
    parameters_of,
)
from konfig._target import load
from konfig._trace import explain, pruned
from konfig._tree import TARGET, TRUSTED, Node, cycle, too_deep, walk


def resolve(
    cfg: Any,
    *,
    freeze: bool = True,
    allow: Iterable[str] | str | None = None,
    trusted: bool | None = None,
    check: bool = True,
) -> Any:
    """Imports the targets and calls them, arguments first, each node once.

    Args:
      cfg: A config value. Raw dicts and lists are read as by `konfig.from_json`.
      freeze: Whether lists become tuples, mappings `FrozenDict` and sets frozensets.
      allow: Targets that data may name: `["optax.*", "flax.linen:Dense"]`. A filter,
        not a sandbox.
      trusted: True lets everything run that the config names.
      check: Whether a call is held against the signature of its target before its
        arguments are built. False is for targets whose signature says less than they
        take.

    Returns:
      The object. A node that is used in several places is one object there.

    Raises:
      UnsafeTargetError: When data from outside names targets and nobody allowed them.
      RequiredValueError: Naming every required field that is not set.
      ConfigCycleError: When the config contains itself.
      Exception: What a target raises, the same object, with notes on the config path,
        the call and the place where it was written.
    """
    try:
        if isinstance(cfg, (Mapping, list)) and not isinstance(cfg, Node):
            cfg = decode(cfg, trusted=bool(trusted))
        else:
            cfg = _convert.convert(cfg)
        guard = prepare(cfg, allow, bool(trusted))
        return _Resolver(cfg, freeze, guard, bool(trusted), check).run()
    except Exception as error:
        raise pruned(error)  # noqa: B904  (the same error, with fewer frames)


def targets(cfg: Any) -> list[str]:
    """The targets and constants that a config names, in order of first use."""
    found: dict[str, None] = {}
    for _, value in walk(cfg):
        if isinstance(value, Node) and TARGET in value._konfig_fields:
            found.setdefault(value._konfig_fields[TARGET])
        elif isinstance(value, Const):
            found.setdefault(value.__const__)
    return list(found)


_OPEN = object()
_NOTHING = object()


class _Resolver:
    def __init__(
        self, root: Any, freeze: bool, guard: Guard | None, trusted: bool, check: bool
    ):
        self._root = root
        self._check = check
        self._freeze = freeze
        self._guard = guard
        self._memo: dict[int, Any] = {}
        self._targets: dict[str, Any] = {}
        self._path: list[Any] = []
        self._evaluation = Evaluation(self._constant, trusted, self.build)

    def run(self) -> Any:
        try:
            return self.build(self._root)
        except RecursionError as error:
            if getattr(error, "__notes__", None):
                raise  # it came from a target, which is told already
            raise too_deep() from None

    def build(self, value: Any) -> Any:
        """The object for a stored value."""
        if type(value) in PLAIN:
            return value
        if isinstance(value, Node):
            known = self._memo.get(id(value), _NOTHING)
            if known is not _NOTHING:
                if known is _OPEN:
                    raise cycle(tuple(self._path), self._path_of_open(value))
                return known
            self._memo[id(value)] = _OPEN
            fields = value._konfig_fields
            if TARGET in fields:
                made = self._call(value, fields)
            else:
                made = self._mapping(fields)
            self._memo[id(value)] = made
            return made
        if isinstance(value, (list, tuple)):
            return self._sequence(value)
        return self._other(value)

    def _other(self, value: Any) -> Any:
        if isinstance(value, (Lazy, Placeholder)):
            try:
                found = self._evaluation.value(value)
                if isinstance(found, Expr):
                    found = self._evaluation.value(found)
            except Exception as error:
                explain(error, format_path(self._path, "cfg"), None)
                raise
            return self.build(found)
        if isinstance(value, Const):
            try:
                return self._constant(value)
            except Exception as error:
                explain(error, format_path(self._path, "cfg"), None)
                raise
        if isinstance(value, (set, frozenset)):
            kind = frozenset if self._freeze else type(value)
            return kind([self.build(item) for item in value])
        return value

    def _sequence(self, value: Any) -> Any:
        iterate = list.__iter__ if isinstance(value, list) else tuple.__iter__
        made = []
        for index, item in enumerate(iterate(value)):
            if type(item) not in PLAIN:
                self._path.append(index)
                item = self.build(item)
                self._path.pop()
            made.append(item)
        return made if isinstance(value, list) and not self._freeze else tuple(made)

    def _mapping(self, fields: dict[Any, Any]) -> Any:
        made = {}
        for key, item in fields.items():
            if type(item) not in PLAIN:
                self._path.append(key)
                item = self.build(item)
                self._path.pop()
            made[key] = item
        if not self._freeze:
            return made
        if "jax" in sys.modules:
            _register_with_jax()
        return FrozenDict(made)

    def _call(self, node: Node, fields: dict[Any, Any]) -> Any:
        qualname = fields[TARGET]
        target = self._target(qualname, node)
        if self._check:
            self._check_binding(node, qualname, target)
        left_alone = getattr(target, "__konfig_resolve_exclude_fields__", ())
        positions: dict[Any, Any] = {}
        args: Sequence[Any] = ()
        named: dict[str, Any] = {}
        for key, item in fields.items():
            if key == TARGET:
                continue
            if type(item) not in PLAIN and key not in left_alone:
                self._path.append(key)
                item = self.build(item)
                self._path.pop()
            if type(key) is str and not key.isdecimal():
                named[key] = item
            else:
                positions[key] = item
        if positions:
            args = self._in_order(node, positions)
        try:
            made = target(*args, **named)
        except Exception as error:
            fault = None
            if isinstance(error, TypeError):
                fault = _call_fault(error, qualname, target, args, named)
            explain(fault or error, format_path(self._path, "cfg"), node)
            if fault is not None:
                raise fault from None
            raise
        if hasattr(type(made), "__post_konfig_resolve__"):
            self._tell(made, node)
        return made

    def _check_binding(self, node: Node, qualname: str, target: Any) -> None:
        """Refuses a call that cannot fit, before anything below it is built."""
        parameters = parameters_of(qualname, target)
        if parameters is None:
            return
        fields = node._konfig_fields
        named = [key for key in fields if key != TARGET and not is_position(key)]
        count = len(fields) - 1 - len(named)
        fault = next(call_faults(qualname, parameters, count, named), None)
        if fault is None:
            missing = missing_names(parameters, count, named)
            if not missing:
                return
            fault = missing_fault(qualname, missing, [*named, *map(str, range(count))])
        explain(fault, format_path(self._path, "cfg"), node)
        raise fault

    def _tell(self, made: Any, node: Node) -> None:
        """Hands the finished object its config: a copy that nothing changes later."""
        config = deepcopy(node)
        lock(config, "all")
        try:
            made.__post_konfig_resolve__(config)
        except Exception as error:
            explain(error, format_path(self._path, "cfg"), node)
            raise

    def _in_order(self, node: Node, positions: dict[Any, Any]) -> list[Any]:
        try:
            check_node(node)
        except ConfigValueError as error:
            explain(error, format_path(self._path, "cfg"), node)
            raise
        return [positions[str(index)] for index in range(len(positions))]

    def _target(self, qualname: str, node: Node) -> Any:
        trusted = self._guard is None or node._konfig_flags & TRUSTED
        if trusted and qualname in self._targets:
            return self._targets[qualname]
        try:
            check_qualname(qualname, callable_needed=True)
            if not trusted and self._guard is not None:
                self._guard.check_name(qualname)
                self._guard.check_arguments(qualname, node._konfig_fields.values())
            found = load(qualname)
            if not trusted and self._guard is not None:
                self._guard.check_object(qualname, found)
            if not callable(found):
                raise ConfigTypeError(
                    f"the target {qualname} is not callable, it is a "
                    f"{type(found).__qualname__}: {short(found)}"
                )
        except Exception as error:
            explain(error, format_path(self._path, "cfg"), node)
            raise
        if trusted:
            self._targets[qualname] = found
        return found

    def _constant(self, const: Any) -> Any:
        if isinstance(const, LocalFunction):
            return const
        checked = self._guard is not None and not is_trusted(const)
        if checked and self._guard is not None:
            self._guard.check_name(const.__const__)
        found = load(const.__const__)
        if checked and self._guard is not None:
            self._guard.check_object(const.__const__, found)
        return found

    def _path_of_open(self, node: Node) -> tuple[Any, ...]:
        """Where the node stands on the way to itself."""
        at: Any = self._root
        for length, key in enumerate([*self._path, None]):
            if at is node or key is None:
                return tuple(self._path[:length])
            at = at._konfig_fields[key] if isinstance(at, Node) else at[key]
        return ()


def _call_fault(
    error: TypeError, qualname: str, target: Any, args: Any, named: dict[str, Any]
) -> ConfigTypeError | None:
    """Why a call did not fit its target, when it failed before the target ran."""
    trace = error.__traceback__
    if trace is not None and trace.tb_next is not None:
        return None
    return binding_fault(qualname, target, args, named)


def _register_with_jax() -> None:
    from konfig.integrations.jax import register

    register()
