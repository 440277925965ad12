"""Strategies of Hypothesis for code that works with paths (extra `testing`)."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kontext._flatten import flatten_with_path
from kontext._parts import DOUBLE_STAR, STAR
from kontext._path import GlobPath, Path, parse

__all__ = ["glob_paths", "keys", "names", "parts", "paths", "places", "trees"]

_BOUND = st.none() | st.integers(-9, 9)
_STEP = _BOUND.filter(lambda step: step != 0)
_LETTERS = ("Lu", "Ll", "Lt", "Lm", "Lo", "Nl")
_FIRST = st.characters(categories=_LETTERS, include_characters="_")
_LATER = st.characters(categories=(*_LETTERS, "Nd"), include_characters="_")


def names() -> st.SearchStrategy[str]:
    """Texts that a path writes without brackets, of any script."""
    # Some letters are none in names.
    return st.builds(str.__add__, _FIRST, st.text(_LATER, max_size=8)).filter(
        str.isidentifier
    )


def keys() -> st.SearchStrategy[Any]:
    """Keys of a dict that a path can name: texts of all kinds, integers and others."""
    finite = {"allow_nan": False, "allow_infinity": False}
    return (
        names()
        | st.text()
        | st.integers()
        | st.booleans()
        | st.none()
        | st.floats(**finite)
        | st.complex_numbers(**finite)
    )


def parts() -> st.SearchStrategy[Any]:
    """Parts of every kind but wildcards: keys, slices, `...`, and tuples of these."""
    single = keys() | st.builds(slice, _BOUND, _BOUND, _STEP) | st.just(...)
    return st.recursive(
        single, lambda below: st.lists(below, max_size=3).map(tuple), max_leaves=5
    )


def paths(*, max_size: int = 5) -> st.SearchStrategy[Path]:
    """Paths with up to `max_size` parts."""
    return st.lists(parts(), max_size=max_size).map(lambda found: Path(*found))


def glob_paths(*, max_size: int = 5) -> st.SearchStrategy[GlobPath]:
    """Glob paths with up to `max_size` parts, with wildcards and without."""
    part = st.sampled_from([STAR, DOUBLE_STAR]) | parts()
    return st.lists(part, max_size=max_size).map(lambda found: GlobPath(*found))


def trees(
    leaves: st.SearchStrategy[Any] | None = None, *, max_leaves: int = 12
) -> st.SearchStrategy[Any]:
    """Nested dicts, lists and tuples with legal keys.

    Args:
      leaves: What lies at the ends; integers, texts and `None` by default.
      max_leaves: How many of them there are at most.
    """
    if leaves is None:
        leaves = st.integers() | st.text(max_size=5) | st.none()
    return st.recursive(
        leaves,
        lambda below: (
            st.lists(below, max_size=3)
            | st.lists(below, max_size=3).map(tuple)
            | st.dictionaries(keys(), below, max_size=3)
        ),
        max_leaves=max_leaves,
    )


def places(tree: Any) -> st.SearchStrategy[Path]:
    """Paths of the leaves of a tree; of the root if it has none."""
    texts = list(flatten_with_path(tree, keep_empty=True))
    return st.sampled_from(texts or [""]).map(parse)
