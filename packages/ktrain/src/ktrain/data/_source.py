"""Data that is loaded when it is first needed, and once."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from ktrain.data import _arrays

Loader = Callable[[], Mapping[str, Any]] | Mapping[str, Any]


class Source:
    """The examples of one loader; pickles and deep copies as the loader alone."""

    def __init__(self, loader: Loader):
        """Takes a loader, and calls nothing."""
        self.loader = loader
        self._lock = threading.Lock()
        self._examples: _arrays.Examples | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return source_of, (self.loader,)

    def examples(self) -> _arrays.Examples:
        """Gives the checked data, loaded by the first call.

        Raises:
          DataError: The data cannot be used.
          Exception: Whatever the loader raises, with a note that names it.
        """
        if self._examples is None:
            with self._lock:
                if self._examples is None:
                    self._examples = self._load()
        return self._examples

    def _load(self) -> _arrays.Examples:
        if isinstance(self.loader, Mapping):
            return _arrays.check(self.loader)
        try:
            return _arrays.check(self.loader())
        except Exception as error:
            error.add_note(f"while loading data with {describe(self.loader)}")
            raise


# Pipelines that were given the same callable (such as for training and for another
# batch size) share its data for as long as one of them lives. A mapping is not
# shared: whoever changes it between two pipelines means two sets of data.
_SOURCES: weakref.WeakValueDictionary[int, Source] = weakref.WeakValueDictionary()


def source_of(loader: Loader) -> Source:
    """Gives the source of a loader, the same one for the same callable."""
    if isinstance(loader, Mapping):
        return Source(loader)
    found = _SOURCES.get(id(loader))
    if found is None or found.loader is not loader:
        found = _SOURCES[id(loader)] = Source(loader)
    return found


def describe(loader: Any) -> str:
    """Gives a short name of a loader for messages."""
    if isinstance(loader, Mapping):
        return "a mapping with the keys " + ", ".join(repr(str(k)) for k in loader)
    name = getattr(loader, "__qualname__", None)
    return f"{loader.__module__}.{name}" if name else repr(loader)[:200]
