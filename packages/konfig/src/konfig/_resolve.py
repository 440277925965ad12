"""From a config to objects: one walk, arguments before calls, each node once."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from konfig import _convert
from konfig._const import Const, check_qualname, is_trusted
from konfig._copy import deepcopy, shallow
from konfig._decode import decode
from konfig._errors import ConfigTypeError, short
from konfig._frozen import FrozenDict
from konfig._keys import is_position
from konfig._lock import lock
from konfig._paths import format_path
from konfig._placeholder import Placeholder
from konfig._preflight import PLAIN, check_node, prepare
from konfig._ref import Expr, Lazy, LocalFunction
from konfig._ref_eval import Evaluation
from konfig._security import Guard, named
from konfig._signature import (
    binding_fault,
    call_faults,
    missing_fault,
    missing_names,
    parameters_of,
)
from konfig._target import load
from konfig._trace import explain, pruned
from konfig._tree import TARGET, TRUSTED, Node, cycle, path_key, unending, walk


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
        if isinstance(cfg, Node) and _OLD_SWITCH in cfg._konfig_fields:
            cfg = _without_switch(cfg)
        guard = prepare(cfg, allow, bool(trusted))
        return _Resolver(cfg, freeze, guard, bool(trusted), check).run()
    except Exception as error:
        raise pruned(error)  # noqa: B904  (the same error, with fewer frames)


def targets(cfg: Any) -> list[str]:
    """The targets and constants that a config names, in order of first use."""
    found: dict[str, None] = {}
    for _, value in walk(cfg):
        for name, _ in named(value):
            found.setdefault(name)
    return list(found)


# In configs written for Kauldron.
_OLD_SWITCH = "_konfig_experimental_nofreeze"


def _without_switch(cfg: Any) -> Any:
    warnings.warn(
        f"{_OLD_SWITCH!r} in a config is ignored: write resolve(cfg, freeze=False)",
        stacklevel=3,
    )
    cfg = shallow(cfg)
    del cfg._konfig_fields[_OLD_SWITCH]
    return cfg


_OPEN = object()
_NOTHING = object()


class _Circle(Exception):
    """A node was reached that is still being built."""

    def __init__(self, node: Node):
        self.node = node


class _Target:
    """What is known of a target once it is loaded."""

    __slots__ = ("call", "keywords", "left_alone", "parameters", "required")

    def __init__(self, qualname: str, call: Any, check: bool):
        self.call = call
        self.left_alone = _left_alone(qualname, call)
        self.parameters = parameters_of(qualname, call) if check else None
        known = self.parameters
        self.keywords = frozenset() if known is None else known.keywords
        self.required = frozenset() if known is None else frozenset(known.required)


def _left_alone(qualname: str, call: Any) -> frozenset[Any]:
    """The arguments that a target takes as configs, by name and by position."""
    names = getattr(call, "__konfig_resolve_exclude_fields__", ())
    if not names:
        return frozenset()
    names = (names,) if isinstance(names, str) else tuple(names)
    known = parameters_of(qualname, call)
    order = known.positional if known else ()
    positions = [str(at) for at, name in enumerate(order) if name in names]
    return frozenset((*names, *positions))


class _Resolver:
    """One walk with one frame per node. Only what fails asks for its path: each level
    notes its key when the error passes.
    """

    def __init__(
        self, root: Any, freeze: bool, guard: Guard | None, trusted: bool, check: bool
    ):
        self._root = root
        self._check = check
        self._freeze = freeze
        self._guard = guard
        self._memo: dict[int, Any] = {}
        self._targets: dict[str, _Target] = {}
        self._silent: set[type] = set()
        self._error: BaseException | None = None
        self._culprit: Node | None = None
        self._way_out: list[tuple[Any, Any]] = []
        self._evaluation = Evaluation(self._constant, trusted, self.build)

    def run(self) -> Any:
        try:
            return self.build(self._root)
        except _Circle as circle:
            way = list(reversed(self._way_out))
            path = tuple([path_key(*step) for step in way])
            first = next(i for i, step in enumerate(way) if step[0] is circle.node)
            raise cycle(path, path[:first]) from None
        except Exception as error:
            told = self._error is error and self._culprit is not None
            if isinstance(error, RecursionError) and not told:
                raise unending(self._root) from None
            keys = [path_key(*step) for step in reversed(self._way_out)]
            explain(error, format_path(keys, "cfg"), self._culprit, self._way_out)
            raise
        finally:
            self._error = None  # it holds this frame

    def build(self, value: Any) -> Any:
        """The object for a stored value."""
        if type(value) in PLAIN:
            return value
        if isinstance(value, Node):
            return self._node(value)
        if not isinstance(value, (list, tuple)):
            return self._other(value)
        made = list.copy(value) if isinstance(value, list) else list(value)
        index = 0
        try:
            for index, item in enumerate(made):
                if type(item) not in PLAIN:
                    node = isinstance(item, Node)
                    made[index] = self._node(item) if node else self.build(item)
        except Exception as error:
            self._passes(error, value, index)
            raise
        return made if isinstance(value, list) and not self._freeze else tuple(made)

    def _node(self, node: Node) -> Any:
        known = self._memo.get(id(node), _NOTHING)
        if known is _OPEN:
            raise _Circle(node)
        if known is not _NOTHING:
            return known
        self._memo[id(node)] = _OPEN
        fields = node._konfig_fields.copy()
        target, left_alone, keywords, key = None, (), False, None
        if TARGET in fields:
            qualname = fields.pop(TARGET)
            target = self._targets.get(qualname) if self._guard is None else None
            if target is None:
                target = self._target(qualname, node)
            left_alone = target.left_alone
            keywords = self._check_binding(node, target, fields)
        try:
            for key, item in fields.items():
                if type(item) in PLAIN:
                    continue
                if key in left_alone:
                    fields[key] = self._evaluation.value(item)
                else:
                    below = isinstance(item, Node)
                    fields[key] = self._node(item) if below else self.build(item)
        except Exception as error:
            self._passes(error, node, key)
            raise
        if target is None:
            made = self._mapping(fields)
        else:
            made = self._call(node, target, fields, keywords)
        self._memo[id(node)] = made
        return made

    def _passes(self, error: Exception, container: Any, key: Any) -> None:
        """Notes where an error came from, on its way out."""
        if self._error is not error:
            self._error, self._culprit, self._way_out = error, None, []
        self._way_out.append((container, key))

    def _blame(self, error: Exception, node: Node) -> None:
        """Notes which call an error belongs to: the first that it met."""
        if self._error is not error:
            self._error, self._culprit, self._way_out = error, node, []

    def _other(self, value: Any) -> Any:
        if isinstance(value, (Lazy, Placeholder)):
            found = self._evaluation.value(value)
            if isinstance(found, Expr):
                found = self._evaluation.value(found)
            return self.build(found)
        if isinstance(value, Const):
            return self._constant(value)
        if isinstance(value, (set, frozenset)):
            kind = frozenset if self._freeze else type(value)
            return kind([self.build(item) for item in value])
        return value

    def _mapping(self, fields: dict[Any, Any]) -> Any:
        return FrozenDict(fields) if self._freeze else fields

    def _call(self, node: Node, target: _Target, fields: Any, keywords: bool) -> Any:
        args: Sequence[Any] = ()
        named = fields
        try:
            if not keywords:
                args, named = _split(node, fields)
            made = target.call(*args, **named)
        except Exception as error:
            fault = None
            if isinstance(error, TypeError):
                qualname = node._konfig_fields[TARGET]
                fault = _call_fault(error, qualname, target.call, args, named)
            self._blame(fault or error, node)
            if fault is not None:
                raise fault from None
            raise
        kind = type(made)
        if kind not in self._silent:
            if hasattr(kind, "__post_konfig_resolve__"):
                self._tell(made, node)
            else:
                self._silent.add(kind)
        return made

    def _tell(self, made: Any, node: Node) -> None:
        """Hands the finished object its config: a copy that nothing changes later."""
        config = deepcopy(node)
        lock(config, "all")
        try:
            made.__post_konfig_resolve__(config)
        except Exception as error:
            self._blame(error, node)
            raise

    def _target(self, qualname: str, node: Node) -> _Target:
        """The target of a call, loaded if this node may have it loaded."""
        trusted = self._guard is None or node._konfig_flags & TRUSTED
        if trusted and qualname in self._targets:
            return self._targets[qualname]
        try:
            made = _Target(qualname, self._loaded(qualname, node), self._check)
        except Exception as error:
            self._blame(error, node)
            raise
        if trusted:
            self._targets[qualname] = made
        return made

    def _check_binding(self, node: Node, target: _Target, fields: Any) -> bool:
        """Refuses a call that cannot fit, before anything below it is built.

        Gives whether all its arguments are keywords that the target is known to take.
        """
        keywords = target.keywords.issuperset(fields)
        parameters = target.parameters
        enough = not target.required or fields.keys() >= target.required
        if parameters is None or (keywords and enough):
            return keywords
        qualname = node._konfig_fields[TARGET]
        named = [key for key in fields if not is_position(key)]
        count = len(fields) - len(named)
        fault = next(call_faults(qualname, parameters, count, named), None)
        if fault is None:
            missing = missing_names(parameters, count, named)
            if not missing:
                return keywords
            fault = missing_fault(qualname, missing, [*named, *map(str, range(count))])
        self._blame(fault, node)
        raise fault

    def _loaded(self, qualname: str, node: Node) -> Any:
        check_qualname(qualname, callable_needed=True)
        guard = None if node._konfig_flags & TRUSTED else self._guard
        if guard is not None:
            guard.check_name(qualname)
            guard.check_arguments(qualname, node._konfig_fields.values())
        found = load(qualname)
        if guard is not None:
            guard.check_object(qualname, found)
        if not callable(found):
            raise ConfigTypeError(
                f"the target {qualname} is not callable, it is a "
                f"{type(found).__qualname__}: {short(found)}"
            )
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


def _split(node: Node, fields: dict[Any, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The positional and the keyword arguments of a call."""
    named = {}
    positions = 0
    for key, item in fields.items():
        if type(key) is str and not key.isdecimal():
            named[key] = item
        else:
            positions += 1
    if not positions:
        return [], named
    check_node(node)
    return [fields[str(index)] for index in range(positions)], named


def _call_fault(
    error: TypeError, qualname: str, target: Any, args: Any, named: dict[str, Any]
) -> ConfigTypeError | None:
    """Why a call did not fit its target, when it failed before the target ran."""
    trace = error.__traceback__
    if trace is not None and trace.tb_next is not None:
        return None
    return binding_fault(qualname, target, args, named)
