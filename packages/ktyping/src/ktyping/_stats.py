"""What was accepted without being shown to fit, counted."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

_LIMIT = 4096
_unread: Counter[str] = Counter()
_assumed: Counter[str] = Counter()


class Stats(NamedTuple):
    """What was accepted without being shown to fit, since the start.

    Attributes:
      unread: Text of an annotation that cannot be read, with its place if that is
        known -> how often it was met; it accepts every value.
      assumed: `a = b` of two symbolic sizes -> how often they were taken as equal
        because nothing disproves it.
    """

    unread: Mapping[str, int]
    assumed: Mapping[str, int]


def stats() -> Stats:
    """Returns what was accepted so far without being shown to fit.

    `assert not ktyping.stats().unread` at the end of a run says that every annotation
    was read.
    """
    return Stats(dict(_unread), dict(_assumed))


def count_unread(annotation: str) -> None:
    """Counts an annotation that accepts every value."""
    _count(_unread, annotation)


def num_unread() -> int:
    """Returns how often an annotation was met that accepts every value."""
    return _unread.total()


def count_assumed(left: Any, right: Any) -> None:
    """Counts two symbolic sizes that are taken as equal."""
    _count(_assumed, f"{left} = {right}")


def _count(counter: Counter[str], key: str) -> None:
    # Texts of annotations are unbounded in a long-lived process.
    if key in counter or len(counter) < _LIMIT:
        counter[key] += 1
