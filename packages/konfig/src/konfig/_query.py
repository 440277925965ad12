"""Finding nodes, replacing them, and putting flat configs together again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from konfig._access import assign, change_at, glob_paths
from konfig._const import Const, dotted
from konfig._convert import convert
from konfig._copy import deepcopy
from konfig._errors import ConfigKeyError, ConfigTypeError, short
from konfig._keys import count_positional, is_call, is_position
from konfig._node import ConfigDict
from konfig._paths import Parts, format_path, parse
from konfig._proxy import Proxy, qualname_of
from konfig._ref_eval import reader
from konfig._signature import parameters_of
from konfig._target import canonical_name
from konfig._tree import TARGET, Node, stored_at, walk


def select(cfg: Any, pattern: str = "**", *, target: Any = None) -> dict[str, Any]:
    """The values that a pattern names, by path, in the order of the config.

    Args:
      cfg: A config value.
      pattern: A path with `*` and `**`.
      target: Only calls of this target: `"flax.linen:Dense"`, `"flax.linen.*"` for what
        lies in a module or below, a class, or a proxy.
    """
    found = {parts: _stored(cfg, parts) for parts in glob_paths(cfg, pattern)}
    read = reader(cfg)
    return {
        format_path(parts): _value(stored, read)
        for parts, stored in found.items()
        if target is None or _calls(stored, target)
    }


def replace(
    cfg: Any, pattern: str, fn: Callable[[Any], Any], *, target: Any = None
) -> Any:
    """A copy of a config with some of its values replaced.

    Inner values are replaced before outer ones; what was shared stays shared.

    Args:
      cfg: A config value.
      pattern: A path with `*` and `**`.
      fn: From a value to what takes its place.
      target: Only calls of this target; see `select`.

    Raises:
      ConfigTypeError: When a replacement cannot stand in a config.
    """
    result = deepcopy(cfg)
    found = [parse(path) for path in select(result, pattern, target=target)]
    made: dict[int, tuple[Any, Any]] = {}
    for parts in sorted(found, key=len, reverse=True):
        value = _value(_stored(result, parts), reader(result))
        known = made.get(id(value)) if isinstance(value, Node) else None
        after = fn(value) if known is None else known[1]
        if isinstance(value, Node):
            made[id(value)] = (value, after)
        if not parts:
            return after
        result = change_at(result, parts, _assigner(after))
    return result


def unflatten(flat: Mapping[str, Any]) -> Any:
    """The config with these values by path: the inverse of `konfig.flatten`.

    Numbers in a path are positions of a list. Call nodes that are put together here are
    data: `resolve` asks before it runs them.

    Raises:
      ConfigKeyError: When a list has holes, or a value stands where others are below.
    """
    if not isinstance(flat, Mapping):
        raise ConfigTypeError(f"a flat config is a mapping of paths, not {short(flat)}")
    if list(flat.items()) == [("", {})]:
        return ConfigDict()
    root: dict[Any, Any] = {}
    for path, value in flat.items():
        parts = parse(path)
        at = root
        for part in parts[:-1]:
            at = at.setdefault(part, _Branch())
            if not isinstance(at, _Branch):
                raise ConfigKeyError(f"{path!r} lies below a value: {short(at)}")
        if not parts or isinstance(at.get(parts[-1]), _Branch):
            raise ConfigKeyError(f"a value stands at {path!r}, and others below it")
        at[parts[-1]] = value
    return ConfigDict({key: _grown(item, (key,)) for key, item in root.items()})


def canonicalize(cfg: Any) -> Any:
    """A copy in which calls of loaded targets are written in one way.

    Positional arguments become keywords where the signature has a name for them, and
    a target is named by its module and the path inside it.
    """
    result = deepcopy(cfg)
    for _, value in walk(result):
        if isinstance(value, Node) and TARGET in value._konfig_fields:
            _canonicalize(value)
    return result


class _Branch(dict):
    """What is under construction, told apart from a mapping that is a value."""


def _grown(value: Any, above: Parts) -> Any:
    if not isinstance(value, _Branch):
        return value
    items = {key: _grown(item, (*above, key)) for key, item in value.items()}
    if not all(isinstance(key, int) for key in items):
        return items
    if sorted(items) != list(range(len(items))):
        raise ConfigKeyError(f"the list at {format_path(above, 'cfg')} has holes")
    return [items[index] for index in range(len(items))]


def _stored(cfg: Any, parts: Parts) -> Any:
    for key in parts:
        cfg = stored_at(cfg, key)
    return cfg


def _value(stored: Any, read: Callable[[Any], Any]) -> Any:
    """What a stored value reads as; itself where it has no value yet."""
    try:
        return read(stored)
    except Exception:  # whatever a function of a reference raises
        return stored


def _assigner(value: Any) -> Callable[[Any, Any], Any]:
    return lambda container, key: assign(container, key, value)


def _calls(value: Any, target: Any) -> bool:
    if not isinstance(value, ConfigDict) or not is_call(value):
        return False
    name = dotted(value._konfig_fields[TARGET])
    if isinstance(target, str):
        if target.endswith("*"):
            return name.startswith(dotted(target.removesuffix("*")))
        return name == dotted(target)
    if isinstance(target, Proxy):
        return name == dotted(qualname_of(target))
    wanted = target if isinstance(target, Const) else _named(target)
    return name == dotted(wanted.__const__)


def _named(target: Any) -> Const:
    found = convert(target)
    if not isinstance(found, Const):
        raise ConfigTypeError(f"a target is a name, class or proxy: {short(target)}")
    return found


def _canonicalize(node: Any) -> None:
    fields = node._konfig_fields
    qualname = fields[TARGET] = canonical_name(fields[TARGET])
    parameters = parameters_of(qualname)
    count = count_positional(node)
    if parameters is None or not count or count > len(parameters.positional):
        return
    renamed = {}
    for key, item in fields.items():
        position = int(key) if is_position(key) else -1
        if parameters.only_by_position <= position < count:
            key = parameters.positional[position]
        if key in renamed:
            return  # given twice: left for resolve to tell
        renamed[key] = item
    fields.clear()
    fields.update(renamed)
