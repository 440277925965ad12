"""Which stored field a key means: positions of a call, names of its parameters."""

from __future__ import annotations

from konfig import _faults, _lock
from konfig._const import check_qualname
from konfig._errors import ConfigKeyError, ConfigTypeError, ConfigValueError
from konfig._signature import parameters_of, unknown_keyword
from konfig._tree import CHECKED, TARGET, Node, where
from konfig._typing import Any

RESERVED = frozenset(
    """__id__ __ref__ __anchor__ __expr__ __kwargs__ __placeholder__ __tuple__ __set__
    __frozenset__ __items__ __float__ __bytes__ __complex__ __slice__ __ellipsis__
    __path__ __origin__ __none__ __konfig__""".split()
)
"""Keys with a meaning in JSON, which no field may take."""


def is_call(node: Node) -> bool:
    """Whether a node describes a call."""
    return TARGET in node._konfig_fields


def count_positional(node: Node) -> int:
    """How many positional arguments a call node has."""
    fields = node._konfig_fields
    count = 0
    while str(count) in fields:
        count += 1
    return count


def is_index(key: Any) -> bool:
    """Whether a key is a position (True and False are keys like any other)."""
    return isinstance(key, int) and not isinstance(key, bool)


def is_position(key: Any) -> bool:
    """Whether a stored key of a call is the text of a position."""
    return isinstance(key, str) and key.isdecimal()


def raw_key(key: Any, value: Any, call: bool) -> Any:
    """The stored key for a key of a raw mapping.

    Raises:
      ConfigValueError: When it has a meaning in JSON, or names a malformed target.
    """
    if key in RESERVED or key == "__const__":
        raise ConfigValueError(
            f"{key!r} has a meaning in JSON and cannot be a key",
            hint="read JSON with konfig.from_json",
        )
    if key == TARGET:
        check_qualname(value)
    return str(key) if call and is_index(key) else key


def stored_key(node: Node, key: Any) -> Any:
    """The stored key for a key as written: positions of a call are texts."""
    if isinstance(key, slice):
        raise ConfigTypeError("a config cannot be sliced")
    if not is_index(key) or key in node._konfig_fields or not is_call(node):
        return key
    count = count_positional(node)
    index = key + count if key < 0 else key
    if not 0 <= index < count:
        raise _faults.no_position(node, key, count)
    return str(index)


def holds(node: Node, key: Any) -> bool:
    """Whether there is a field that reading a key would give."""
    if is_index(key) and key not in node._konfig_fields and is_call(node):
        count = count_positional(node)
        return -count <= key < count
    return key in node._konfig_fields or positional_slot(node, key) is not None


def writable_key(node: Node, key: Any) -> Any:
    """The stored key for a write, after every check of the key itself."""
    if key in RESERVED or key == "__const__":
        raise ConfigKeyError(f"{key!r} has a meaning in JSON and cannot be a key")
    if is_index(key) and is_call(node):
        count = count_positional(node)
        if key > count:
            raise _faults.no_position(node, key, count, gap=True)
        key = str(key) if key == count else stored_key(node, key)
    if key not in node._konfig_fields:
        slot = positional_slot(node, key)
        if slot is not None:
            key = slot
    if key not in node._konfig_fields:
        error = _faults.crossing(node, key)
        if error is not None:
            raise error
    _lock.check(node, key)
    if key not in node._konfig_fields:
        _check_keyword(node, key)
    return key


def positional_slot(node: Node, key: Any) -> str | None:
    """The position under which a parameter was given that is asked for by name."""
    fields = node._konfig_fields
    if "0" not in fields or TARGET not in fields or not isinstance(key, str):
        return None
    parameters = parameters_of(fields[TARGET])
    index = None if parameters is None else parameters.position(key)
    slot = None if index is None else str(index)
    return slot if slot in fields else None


def _check_keyword(node: Node, key: Any) -> None:
    """Refuses a field that the target of a checked call does not take."""
    if not node._konfig_flags & CHECKED or not isinstance(key, str):
        return
    if key == TARGET or key.isdecimal():
        return
    qualname = node._konfig_fields[TARGET]
    parameters = parameters_of(qualname)
    if parameters is not None and not parameters.accepts(key):
        error = unknown_keyword(qualname, parameters, key, ConfigKeyError)
        error.origin = where(node)
        raise error


def check_argument(node: Node, key: Any, value: Any) -> None:
    """Refuses an argument that its parameter is not declared for.

    Raises:
      ConfigTypeError: Naming the parameter and what it is declared as.
    """
    from konfig._conform import check_value  # only where types are asked for

    check_value(node, key, value)
