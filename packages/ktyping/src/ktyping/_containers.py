"""Checkers for lists, tuples, mappings and other collections of values."""

import collections.abc
from collections.abc import Iterator
from itertools import islice
from typing import Any

from ktyping._checker import Checker, Trial
from ktyping._config import config
from ktyping._failure import shown_key, summary
from ktyping._hypothesis import Hypotheses


class EachItem(Checker):
    """A collection of one kind of item.

    Of items with arrays the first 1000 are checked, of others the first and the
    last: arrays are few and matter, other items can be millions. `config.containers`
    and `config.container_limit` choose otherwise.
    """

    __slots__ = ("cls", "has_arrays", "item")

    def __init__(self, cls: type, item: Checker):
        self.cls = cls
        self.item = item
        self.has_arrays = item.has_arrays

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Accepts a collection whose items fit."""
        if not isinstance(value, self.cls):
            return _wrong_class(self, value, where, trial)
        for index, item in self._selected(value):
            hypotheses = self.item.match(item, f"{where}[{index}]", hypotheses, trial)
            if not hypotheses:
                return ()
        return hypotheses

    def _selected(self, value: Any) -> Iterator[tuple[Any, Any]]:
        if not isinstance(value, collections.abc.Sequence):
            shown = islice(value, _limit(self.has_arrays))
            yield from ((f"item {n}", v) for n, v in enumerate(shown))
        elif config.containers != "sample" or self.has_arrays or len(value) <= 2:
            yield from enumerate(islice(value, _limit(True)))
        else:
            yield 0, value[0]
            yield len(value) - 1, value[-1]

    def __repr__(self) -> str:
        inner = f"{self.item!r}, ..." if self.cls is tuple else repr(self.item)
        return f"{self.cls.__name__}[{inner}]"


class Iterables(Checker):
    """`Iterable[T]`: collections are looked into, iterators are not consumed."""

    __slots__ = ("collection", "has_arrays")

    def __init__(self, item: Checker):
        self.collection = EachItem(collections.abc.Collection, item)
        self.has_arrays = item.has_arrays

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Accepts an iterable."""
        if isinstance(value, collections.abc.Collection):
            return self.collection.match(value, where, hypotheses, trial)
        if isinstance(value, collections.abc.Iterable):
            return hypotheses
        return _wrong_class(self, value, where, trial)

    def __repr__(self) -> str:
        return f"Iterable[{self.collection.item!r}]"


class FixedTuple(Checker):
    """A tuple with one annotation per item."""

    __slots__ = ("has_arrays", "items")

    def __init__(self, items: list[Checker]):
        self.items = items
        self.has_arrays = any(item.has_arrays for item in items)

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Accepts a tuple of the right length whose items fit."""
        if not isinstance(value, tuple):
            return _wrong_class(self, value, where, trial)
        if len(value) != len(self.items):
            items = "item" if len(self.items) == 1 else "items"
            message = f"expected {len(self.items)} {items}, got {len(value)}"
            return trial.fail("structure", where, message, repr(self), value)
        for index, (checker, item) in enumerate(zip(self.items, value, strict=True)):
            hypotheses = checker.match(item, f"{where}[{index}]", hypotheses, trial)
            if not hypotheses:
                return ()
        return hypotheses

    def __repr__(self) -> str:
        return f"tuple[{', '.join(map(repr, self.items)) or '()'}]"


class OpenTuple(Checker):
    """A tuple with fixed items around a part of any length: `tuple[A, *tuple[B, ...]]`.

    `whole` is set for `*args` that are annotated so: it is the tuple of all of them.
    """

    __slots__ = ("after", "before", "has_arrays", "middle", "whole")

    def __init__(
        self,
        before: list[Checker],
        middle: Checker | None,
        after: list[Checker],
        whole: bool = False,
    ):
        self.before = before
        self.middle = middle
        self.after = after
        self.whole = whole
        parts = [*before, *after, *([middle] if middle else [])]
        self.has_arrays = any(part.has_arrays for part in parts)

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Accepts a tuple that is long enough and whose items fit."""
        if not isinstance(value, tuple):
            return _wrong_class(self, value, where, trial)
        fixed = len(self.before) + len(self.after)
        if len(value) < fixed or (self.middle is None and len(value) > fixed):
            least = "" if self.middle is None else "at least "
            items = "item" if fixed == 1 else "items"
            message = f"expected {least}{fixed} {items}, got {len(value)}"
            return trial.fail("structure", where, message, repr(self), value)
        middle = [] if self.middle is None else [self.middle] * (len(value) - fixed)
        checkers = [*self.before, *middle, *self.after]
        for index, (checker, item) in enumerate(zip(checkers, value, strict=True)):
            hypotheses = checker.match(item, f"{where}[{index}]", hypotheses, trial)
            if not hypotheses:
                return ()
        return hypotheses

    def __repr__(self) -> str:
        middle = [] if self.middle is None else [f"*tuple[{self.middle!r}, ...]"]
        parts = [*map(repr, self.before), *middle, *map(repr, self.after)]
        return f"tuple[{', '.join(parts)}]"


class KeysAndValues(Checker):
    """A mapping with one annotation for keys and one for values."""

    __slots__ = ("cls", "has_arrays", "keys", "values")

    def __init__(self, cls: type, keys: Checker, values: Checker):
        self.cls = cls
        self.keys = keys
        self.values = values
        self.has_arrays = keys.has_arrays or values.has_arrays

    def match(self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial):
        """Accepts a mapping whose keys and values fit."""
        if not isinstance(value, self.cls):
            return _wrong_class(self, value, where, trial)
        for key, item in islice(value.items(), _limit(self.has_arrays)):
            path = f"{where}[{shown_key(key)}]"
            hypotheses = self.keys.match(key, f"key {path}", hypotheses, trial)
            hypotheses = hypotheses and self.values.match(item, path, hypotheses, trial)
            if not hypotheses:
                return ()
        return hypotheses

    def __repr__(self) -> str:
        return f"{self.cls.__name__}[{self.keys!r}, {self.values!r}]"


def _limit(has_arrays: bool) -> int | None:
    """Returns how many items are checked; None for all."""
    sample = config.container_limit if has_arrays else 2
    return {"first": 1, "all": None}.get(config.containers, sample)


def _wrong_class(checker: Checker, value: Any, where: str, trial: Trial) -> Hypotheses:
    message = f"{summary(value)} is not {checker!r}"
    return trial.fail("type", where, message, repr(checker), value)
