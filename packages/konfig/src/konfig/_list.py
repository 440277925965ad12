"""Lists of config values: checked on every change, references read on access."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from konfig import _compare, _convert, _copy
from konfig._errors import ConfigTypeError, LockedError, short
from konfig._placeholder import Placeholder
from konfig._ref import Lazy
from konfig._ref_eval import read, tell
from konfig._repr import code_of
from konfig._tree import Items, Node, new_list
from konfig._typing import Any


class ConfigList(Items):
    """A list inside a config.

    What enters is converted as in a `ConfigDict`; what cannot stand in a config is
    refused at the mutator that was called.

    Args:
      items: The first items.

    Raises:
      ConfigTypeError: When an item is a live object.
    """

    __slots__ = ()

    def __init__(self, items: Iterable[Any] = (), /):
        super().__init__(_converted(items))
        self._konfig_lock = None

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        if isinstance(index, slice):
            return ConfigList(found)
        deferred = isinstance(found, (Lazy, Placeholder))
        return self._read(index, found) if deferred else found

    def __iter__(self) -> Iterator[Any]:
        for index, item in enumerate(super().__iter__()):
            deferred = isinstance(item, (Lazy, Placeholder))
            yield self._read(index, item) if deferred else item

    def __setitem__(self, index: Any, value: Any) -> None:
        self._check_lock()
        if isinstance(index, slice):
            super().__setitem__(index, _converted(value))
            return
        try:
            value = _convert.convert(value)
            declared = super().__getitem__(index)
            if isinstance(declared, Placeholder) and not isinstance(value, Placeholder):
                value = declared.filled(value)
        except ConfigTypeError as error:
            raise _convert.below(error, index, "the list") from None
        super().__setitem__(index, value)

    def __delitem__(self, index: Any) -> None:
        self._check_lock()
        super().__delitem__(index)

    def append(self, value: Any, /) -> None:
        """Adds one item at the end."""
        self._check_lock()
        super().append(_converted([value], first=len(self))[0])

    def extend(self, values: Iterable[Any], /) -> None:
        """Adds items at the end; all of them or none."""
        self._check_lock()
        super().extend(_converted(values, first=len(self)))

    def insert(self, index: Any, value: Any, /) -> None:
        """Adds one item before a position."""
        self._check_lock()
        super().insert(index, _converted([value], first=index)[0])

    def pop(self, index: Any = -1, /) -> Any:
        """Removes an item and gives it."""
        self._check_lock()
        value = self[index]
        super().__delitem__(index)
        return value

    def remove(self, value: Any, /) -> None:
        """Removes the first equal item."""
        self._check_lock()
        super().__delitem__(self.index(value))

    def index(self, value: Any, start: Any = 0, stop: Any = None, /) -> int:
        """The position of the first equal item, references read.

        Args:
          value: What is looked for.
          start: Where to begin.
          stop: Where to end; None is the end of the list.

        Raises:
          ValueError: When there is none.
        """
        for index in range(len(self))[start:stop]:
            if _compare.equal(self[index], value):
                return index
        raise ValueError(f"{short(value)} is not in the list")

    def count(self, value: Any, /) -> int:
        """How many items are equal to a value, references read."""
        return sum(_compare.equal(item, value) for item in self)

    def clear(self) -> None:
        """Removes every item."""
        self._check_lock()
        super().clear()

    def sort(self, **options: Any) -> None:
        """Sorts in place, by the values that references have now."""
        self._check_lock()
        super().__setitem__(slice(None), sorted(self, **options))

    def reverse(self) -> None:
        """Reverses in place."""
        self._check_lock()
        super().reverse()

    def copy(self) -> ConfigList:
        """A list of the same items."""
        return ConfigList(super().__iter__())

    def __add__(self, other: Any, /) -> Any:
        if not isinstance(other, list):
            return NotImplemented
        return ConfigList([*super().__iter__(), *list.__iter__(other)])

    def __radd__(self, other: Any, /) -> Any:
        return ConfigList(other) + self if isinstance(other, list) else NotImplemented

    def __mul__(self, count: Any, /) -> Any:
        return ConfigList(list.copy(self) * count)

    __rmul__ = __mul__

    def __iadd__(self, other: Any, /) -> Any:
        self.extend(other)
        return self

    def __imul__(self, count: Any, /) -> Any:
        self._check_lock()
        return super().__imul__(count)

    def __contains__(self, value: Any, /) -> bool:
        return any(_compare.equal(item, value) for item in self)

    def __reversed__(self) -> Iterator[Any]:
        return reversed(list(self))

    def __lt__(self, other: Any, /) -> bool:
        return list(self) < list(other) if isinstance(other, list) else NotImplemented

    def __gt__(self, other: Any, /) -> bool:
        return list(self) > list(other) if isinstance(other, list) else NotImplemented

    def __le__(self, other: Any, /) -> bool:
        return list(self) <= list(other) if isinstance(other, list) else NotImplemented

    def __ge__(self, other: Any, /) -> bool:
        return list(self) >= list(other) if isinstance(other, list) else NotImplemented

    def __eq__(self, other: Any, /) -> bool:
        if not isinstance(other, list):
            return NotImplemented
        return _compare.equal(self, other)

    def __repr__(self) -> str:
        return code_of(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text("[…]" if cycle else code_of(self))

    def _repr_html_(self) -> str:
        from konfig._html import html_of  # notebooks alone pay for it

        return html_of(self)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return _copy.deepcopy(self, memo)

    def __reduce__(self) -> Any:
        return type(self), (), None, list.__iter__(self)

    def _read(self, index: Any, stored: Any) -> Any:
        try:
            return read(stored)
        except Exception as error:
            tell(error, stored, self, index)
            raise

    def _check_lock(self) -> None:
        if self._konfig_lock == "all":
            raise LockedError(
                f"the list is locked: {code_of(self)[:60]}",
                hint="change it inside 'with cfg.unlocked():'",
            )


def _converted(items: Iterable[Any], first: int = 0) -> list[Any]:
    # Stored references are taken over, not read.
    stored = list.__iter__(items) if isinstance(items, list) else items
    result = []
    for index, item in enumerate(stored, first):
        try:
            result.append(_convert.convert(item))
        except ConfigTypeError as error:
            raise _convert.below(error, index, "the list") from None
    return result


def _convert_list(value: list[Any]) -> ConfigList:
    if not _convert.STORED.issuperset(map(type, value)):
        value = value.copy()
        _convert.convert_in_place(value, enumerate(value))
    return new_list(ConfigList, value)


def _convert_tuple(value: tuple[Any, ...]) -> tuple[Any, ...]:
    if _convert.STORED.issuperset(map(type, value)):
        return value
    made = list(value)
    _convert.convert_in_place(made, enumerate(value))
    return tuple(made)


def _set_converter(kind: Any) -> Any:
    def convert_set(value: Any) -> Any:
        items = [_convert.convert(item) for item in value]
        for item in items:
            if isinstance(item, (Node, Lazy, list)):
                raise ConfigTypeError(
                    f"a {kind.__name__} in a config holds scalars, tuples and "
                    f"constants, not {type(item).__name__}",
                    hint="use a list",
                )
        return kind(items)

    return convert_set


_convert.register(ConfigList)
_convert.register(list, _convert_list)
_convert.register(tuple, _convert_tuple)
_convert.register(set, _set_converter(set))
_convert.register(frozenset, _set_converter(frozenset))
