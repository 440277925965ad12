"""Memory of verdicts: equal classes, shapes and dtypes give an equal verdict."""

from collections.abc import Sequence
from typing import Any

from ktyping._backends import (
    asks_instance,
    has_own_facts,
    traced_backend,
    traced_kind,
)
from ktyping._checker import ARRAY, CLASS, Checker, Trial
from ktyping._hypothesis import EMPTY, Hypotheses, close_all
from ktyping._source import PLAIN_CLASSES, always_array

MAX_VERDICTS = 256
_MAX_ALONE = 1024


class Entry:
    """A verdict: these arguments fit, and give these readings.

    Attributes:
      hypotheses: The readings.
      returns: What is known to fit the return annotation under these readings.
    """

    __slots__ = ("hypotheses", "returns")

    def __init__(self, hypotheses: Hypotheses):
        self.hypotheses = hypotheses
        self.returns: set[Any] = set()

    def knows(self, key: Any) -> bool:
        """Whether a returned value with this key fits."""
        try:
            return key is not None and key in self.returns
        except TypeError:
            return False

    def remember(self, key: Any) -> None:
        """Notes that a returned value with this key fits."""
        if len(self.returns) >= MAX_VERDICTS:
            self.returns.clear()
        if _is_hashable(key):
            self.returns.add(key)


class Verdicts:
    """The verdicts on the arguments of one function that fitted.

    Attributes:
      known: Key -> verdict; the generated look-up reads it without asking here.
      slots: (index of the argument, checker) of what a verdict depends on.
      traced: Key of the generated look-up, what tracers stand for -> verdict.
    """

    __slots__ = ("known", "slots", "traced")

    def __init__(self, slots: Sequence[tuple[int, Checker]] = ()):
        self.known: dict[Any, Entry] = {}
        self.traced: dict[Any, Entry] = {}
        self.slots = [(n, c) for n, c in slots if c.depends in (CLASS, ARRAY)]

    def traced_key(self, flat: Any, args: tuple[Any, ...]) -> Any:
        """Returns the key of a call with tracers; None if there is no such key.

        The generated look-up knows their classes only, which is not enough.
        """
        values = [args[index] for index, _ in self.slots]
        kinds = tuple(traced_kind(v) for v in values if asks_instance(type(v)))
        key = (flat, kinds)
        return key if kinds and flat is not None and _is_hashable(key) else None

    def remember_traced(self, key: Any, entry: Entry) -> None:
        """Notes a verdict under the key of a call with tracers."""
        if key is None:
            return
        if len(self.traced) >= MAX_VERDICTS:
            self.traced.clear()
        self.traced[key] = entry

    def key(self, args: tuple[Any, ...]) -> Any:
        """Returns what the verdict depends on; None when it cannot be told."""
        key: list[Any] = []
        for index, checker in self.slots:
            part = key_of(args[index], checker)
            if part is None:
                return None
            key += part
        return tuple(key)

    def find(self, args: tuple[Any, ...]) -> tuple[Any, Entry | None]:
        """Returns the key of the arguments, or None, and the verdict if known."""
        key = self.key(args)
        try:
            return key, None if key is None else self.known.get(key)
        except TypeError:
            # A shape or dtype of a foreign object that has no hash.
            return None, None

    def remember(self, key: Any, hypotheses: Hypotheses) -> Entry:
        """Notes that arguments with this key give these readings."""
        if len(self.known) >= MAX_VERDICTS:
            self.known.clear()
        entry = self.known[key] = Entry(hypotheses)
        return entry


# Verdicts on single values outside of any scope, good and bad.
_alone: dict[Any, bool] = {}


def forget_alone() -> None:
    """Forgets all verdicts on single values."""
    _alone.clear()


def fits_alone(checker: Checker, value: Any) -> bool:
    """Whether a value matches, outside of any scope.

    The verdict is remembered if it depends on class, shape and dtype alone.
    """
    try:
        return _alone[checker, type(value), value.shape, value.dtype]
    except Exception:
        # Not known; or what is asked for is missing, raises, or has no hash.
        pass
    key = (checker, *(key_of(value, checker) or (None,)))
    plain = key[1] is None or not _is_hashable(key)
    known = None if plain else _alone.get(key)
    if known is None:
        known = bool(close_all(checker.match(value, "value", (EMPTY,), Trial())))
        if not plain:
            if len(_alone) >= _MAX_ALONE:
                _alone.clear()
            _alone[key] = known
    return known


def _is_hashable(key: Any) -> bool:
    try:
        hash(key)
    except TypeError:
        return False
    return True


def traced_result_key(flat: Any, result: Any) -> Any:
    """Returns the key of a returned tracer; None for other values."""
    if flat is None or not asks_instance(type(result)) or _is_symbolic(result.shape):
        return None
    return flat, traced_kind(result)


def _is_symbolic(shape: Any) -> bool:
    # What symbols are equal to is a matter of the configuration, which may change.
    return type(shape) is tuple and any(not isinstance(n, int) for n in shape)


def key_of(value: Any, checker: Checker) -> tuple[Any, ...] | None:
    """Returns what the verdict on a value depends on; None when it cannot be told.

    For a tracer that is more than its class: whether it is an array at all.
    """
    if checker.depends not in (CLASS, ARRAY):
        return None
    cls: Any = type(value)
    if checker.depends == CLASS or cls in PLAIN_CLASSES:
        return (cls,)
    try:
        shape, dtype = value.shape, value.dtype
    except AttributeError:
        known = has_own_facts(value) or hasattr(value, "shape")
        return None if known else (cls,)
    except Exception:
        # Foreign objects may raise anything here; then nothing is remembered.
        return None
    if asks_instance(cls):
        if _is_symbolic(shape):
            return None
        cls = (cls, traced_backend(value))
    elif has_own_facts(value):
        return None
    facts = (cls, shape, dtype)
    return facts if always_array(checker) else (facts,)
