"""ConfigDict: a mapping, or the description of a call, as plain data."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager

from konfig import _compare, _convert, _copy, _faults, _lock
from konfig._const import check_qualname, make_const
from konfig._encode import encode_text
from konfig._errors import (
    ConfigAttributeError,
    ConfigIndexError,
    ConfigKeyError,
    ConfigTypeError,
    ConfigValueError,
)
from konfig._keys import (
    RESERVED,
    check_argument,
    count_positional,
    holds,
    is_call,
    is_position,
    positional_slot,
    stored_key,
    writable_key,
)
from konfig._origin import capture
from konfig._paths import format_below
from konfig._placeholder import Placeholder
from konfig._plain import to_plain
from konfig._raw import fill, pairs_of
from konfig._ref import Expr, Ref
from konfig._ref_eval import read, tell
from konfig._repr import code_of
from konfig._tree import (
    TARGET,
    TYPED,
    Node,
    mark,
    new_node,
    path_key,
    set_flag,
    setup,
    too_deep,
    where,
)
from konfig._typing import Any, NoReturn

_DEFERRED = (Ref, Expr, Placeholder)
_MISSING: Any = object()


class ConfigDict(Node, _faults.NoOperators, MutableMapping):
    """Nested fields, read and written as attributes or items.

    With the key `__qualname__` the node describes a call of that target with the
    other fields as arguments, the positional ones under `"0"`, `"1"`, and so on.
    `konfig.resolve` makes the call; until then it is data.

    Args:
      given: A mapping or pairs of key and value. Another `ConfigDict` gives its
        children, which are shared then; `konfig.deepcopy` makes independent ones.
      **fields: More fields.

    Raises:
      ConfigTypeError: When a value is a live object instead of data.
    """

    __slots__ = ()

    def __init__(self, given: Any = None, /, **fields: Any):
        setup(self, {}, 0, capture())
        pairs: dict[Any, Any] = {}
        if isinstance(given, Node):
            pairs.update(given._konfig_fields)
            set_flag(self, given._konfig_flags, TARGET not in fields)
        elif given is not None:
            pairs.update(pairs_of(given))
        pairs.update(fields)
        if "__const__" in pairs:
            raise ConfigValueError(
                "a constant is no mapping", hint="use konfig.Const('module:name')"
            )
        try:
            fill(ConfigDict, self._konfig_fields, pairs)
        except RecursionError:
            raise too_deep() from None

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise _faults.not_built(self)

    # Reading

    def __getattr__(self, name: str) -> Any:
        if name[:1] == "_" and (name[:8] == "_konfig_" or name[:2] == "__"):
            if name != TARGET:
                raise AttributeError(f"a config has no attribute {name!r}")
        found = self._konfig_fields.get(name, _MISSING)
        if found is _MISSING:
            slot = positional_slot(self, name)
            if slot is None:
                raise _faults.missing(self, name, ConfigAttributeError)
            return self[slot]
        if isinstance(found, _DEFERRED):
            return _read_field(self, name, found)
        return found

    def __getitem__(self, key: Any) -> Any:
        key = stored_key(self, key)
        found = self._konfig_fields.get(key, _MISSING)
        if found is _MISSING:
            slot = positional_slot(self, key)
            if slot is None:
                raise _faults.missing(self, key, ConfigKeyError)
            found = self._konfig_fields[slot]
        if isinstance(found, _DEFERRED):
            return _read_field(self, key, found)
        return found

    def __iter__(self) -> Iterator[Any]:
        return iter(self._konfig_fields)

    def __len__(self) -> int:
        return len(self._konfig_fields)

    def __contains__(self, key: Any) -> bool:
        if isinstance(key, int) and not isinstance(key, bool) and is_call(self):
            return key in self._konfig_fields or str(key) in self._konfig_fields
        return key in self._konfig_fields

    def __dir__(self) -> list[str]:
        names = [key for key in self._konfig_fields if isinstance(key, str)]
        return [*names, *_METHODS]

    @property
    def ref(self) -> Any:
        """A lazy view: `cfg.ref.a.b` is the value that `a.b` has when it is read."""
        return Ref(self)

    # Writing

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _METHODS:
            raise ConfigAttributeError(
                f"{name!r} is a method of every config",
                hint=f"use cfg[{name!r}] = …",
            )
        if name.startswith("__") and name != TARGET:
            raise ConfigAttributeError(f"a config takes no attribute {name!r}")
        try:
            self[name] = value
        except ConfigKeyError as error:
            raise ConfigAttributeError(error.message, hint=error.hint) from None

    def __setitem__(self, key: Any, value: Any) -> None:
        key = writable_key(self, key)
        try:
            value = _convert.convert(value)
            declared = self._konfig_fields.get(key)
            if isinstance(declared, Placeholder) and not isinstance(value, _DEFERRED):
                value = declared.filled(value)
            if self._konfig_flags & TYPED:
                check_argument(self, key, value)
        except ConfigTypeError as error:
            error.origin = error.origin or where(self)
            step = path_key(self, key)
            raise _convert.below(error, step, _faults.describe(self)) from None
        except RecursionError:
            raise too_deep() from None
        if key == TARGET:
            self._retarget(value)
        _lock.inherit(self, value)
        self._konfig_fields[key] = value
        mark(self, key, capture())

    def _retarget(self, value: Any) -> None:
        if value != self._konfig_fields.get(TARGET):
            set_flag(self, self._konfig_flags, False)
        check_qualname(value)

    def __delattr__(self, name: str) -> None:
        if name not in self._konfig_fields and positional_slot(self, name) is None:
            raise _faults.missing(self, name, ConfigAttributeError)
        del self[name]

    def __delitem__(self, key: Any) -> None:
        key = stored_key(self, key)
        if key not in self._konfig_fields:
            key = positional_slot(self, key) or key
        _lock.check(self, key, removing=True)
        if key not in self._konfig_fields:
            raise _faults.missing(self, key, ConfigKeyError)
        if is_call(self) and isinstance(key, str) and key.isdecimal():
            if int(key) != count_positional(self) - 1:
                raise ConfigIndexError(
                    f"only the last positional argument can be deleted, not {key}: "
                    "the later ones would move",
                )
        del self._konfig_fields[key]

    def get(self, key: Any, default: Any = None) -> Any:
        """The field as it reads, or the default when there is none."""
        return self[key] if holds(self, key) else default

    def pop(self, key: Any, default: Any = _MISSING) -> Any:
        """Removes a field and gives it, or the default when there is none."""
        if default is not _MISSING and not holds(self, key):
            return default
        value = self[key]
        del self[key]
        return value

    def clear(self) -> None:
        """Removes every field; none is read for it."""
        for key in reversed(list(self._konfig_fields)):
            del self[key]

    def popitem(self) -> tuple[Any, Any]:
        """Removes the last field and gives its key and value."""
        if not self._konfig_fields:
            raise ConfigKeyError("the config is empty: it has no field to remove")
        key = next(reversed(self._konfig_fields))
        return key, self.pop(key)

    def setdefault(self, key: Any, default: Any = None, /) -> Any:
        """The field as it reads, stored first if it is not there."""
        if not holds(self, key):
            self[key] = default
        return self[key]

    def update(self, other: Any = (), /, **fields: Any) -> None:
        """Merges deeply; a node with another target replaces the one that was there.

        When a field is refused nothing is changed.

        The parts of another config are copied: references that read it there read this
        one here. The nodes in a plain mapping are taken as they are.

        Args:
          other: A mapping or pairs.
          **fields: More fields.
        """
        if other is not self or fields:
            _merge(self, other, fields, copies=isinstance(other, Node))

    def __or__(self, other: Any) -> Any:
        if not isinstance(other, Mapping):
            return NotImplemented
        result = _copy.deepcopy(self)
        _merge(result, other)
        return result

    def __ror__(self, other: Any) -> Any:
        if not isinstance(other, Mapping):
            return NotImplemented
        return ConfigDict(other) | self

    def __ior__(self, other: Any) -> Any:
        if other is not self:
            _merge(self, other)
        return self

    def copy(self) -> Any:
        """A copy of the top level; the children are shared."""
        return _copy.shallow(self)

    # Locks

    def lock(self, mode: str = "keys") -> None:
        """Forbids changes here and below.

        Args:
          mode: `"keys"` forbids new fields, `"all"` forbids every change.
        """
        _lock.lock(self, mode)

    @contextmanager
    def unlocked(self) -> Generator[Any]:
        """Allows every change inside the block, here and below."""
        with _lock.unlocked(self):
            yield self

    @property
    def is_locked(self) -> bool:
        """Whether `lock` forbids some changes."""
        return self._konfig_lock is not None

    # Other forms

    def to_json(self, **options: Any) -> str:
        """The config as JSON text; see `konfig.to_json`."""
        return encode_text(self, **options)

    def to_dict(self) -> dict[Any, Any]:
        """Plain nested dicts and lists, with references read."""
        return to_plain(self)

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return _compare.equal(self, other)

    def __repr__(self) -> str:
        return code_of(self)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return _copy.deepcopy(self, memo)

    def __reduce__(self) -> Any:
        from konfig._revive import reduced  # pickles alone pay for it

        return reduced(self)

    def __setstate__(self, state: Any) -> None:
        # Behind the fields that pickle had to write first.
        fields = state[1] if type(state) is tuple else state
        object.__setattr__(self, "_konfig_fields", fields)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text("ConfigDict(…)" if cycle else code_of(self))

    def _repr_html_(self) -> str:
        from konfig._html import html_of  # notebooks alone pay for it

        return html_of(self)

    def _ipython_key_completions_(self) -> list[Any]:
        return list(self._konfig_fields)


_NO_ARGUMENTS = frozenset((*RESERVED, TARGET, "__const__"))
_METHODS = frozenset(name for name in dir(ConfigDict) if not name.startswith("_"))


def new_call(
    qualname: str, args: Sequence[Any], kwargs: Mapping[str, Any], flags: int
) -> ConfigDict:
    """A call node from arguments, converted.

    Raises:
      ConfigTypeError: When an argument cannot stand in a config.
    """
    if not _NO_ARGUMENTS.isdisjoint(kwargs):
        key = next(key for key in kwargs if key in _NO_ARGUMENTS)
        raise ConfigValueError(f"{key!r} cannot be an argument of a call")
    fields: dict[Any, Any] = {TARGET: qualname, **kwargs}
    if args:
        positions = {str(index): value for index, value in enumerate(args)}
        fields = {TARGET: qualname, **positions, **kwargs}
    try:
        _convert.convert_in_place(fields, fields.items())
    except ConfigTypeError as error:
        key, *below = error.steps
        error.steps = (int(key) if is_position(key) else key, *below)
        error.owner = f"the call of {qualname}"
        error.path = format_below(error.steps)
        raise
    return new_node(ConfigDict, fields, flags, capture(2))


def _from_mapping(given: Mapping[Any, Any]) -> Any:
    """A node from a raw mapping; a target in it was named by data: not trusted."""
    if "__const__" in given:
        if len(given) != 1:
            raise ConfigValueError("a constant has the one key '__const__'")
        return make_const(given["__const__"], trusted=False)
    node = new_node(ConfigDict, {}, 0, capture())
    fill(ConfigDict, node._konfig_fields, given)
    return node


def _merge(node: Node, other: Any, fields: Any = (), *, copies: bool = True) -> None:
    from konfig._merge import merge  # configs that are merged alone pay for it

    incoming = ConfigDict(other, **dict(fields))
    try:
        merge(node, incoming, other, copies=copies)
    except RecursionError:
        raise too_deep() from None


def _read_field(node: Node, key: Any, stored: Any) -> Any:
    try:
        return read(stored)
    except Exception as error:
        tell(error, stored, node, key)
        raise


_convert.register(ConfigDict)
_convert.register(dict, _from_mapping)
_convert.register_fallback(lambda value: isinstance(value, Node), lambda node: node)
_convert.register_fallback(lambda value: isinstance(value, Mapping), _from_mapping)
