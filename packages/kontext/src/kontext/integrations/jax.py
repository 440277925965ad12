"""Trees of JAX by path: what optimizers ask for, selected with globs.

These functions see a tree as JAX does: leaves, order and containers are those of
`jax.tree_util`. kontext itself never imports JAX; whoever has a tree for it has.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kontext._errors import PathError, PathTypeError
from kontext._format import format_child, format_parts
from kontext._jax import part_of_jax_key
from kontext._match import matches
from kontext._parts import MISSING, Parts
from kontext._path import Path, PathLike, as_path
from kontext._targets import no_target_error

__all__ = ["labels", "map_with_path", "mask"]


def map_with_path(
    fn: Callable[[Path, Any], Any], tree: Any, pattern: PathLike = "**"
) -> Any:
    """A tree of the same structure with `fn(path, leaf)` for each selected leaf.

    Args:
      fn: Gets the `Path` and the value of a leaf, and gives the new value.
      tree: A pytree.
      pattern: A path or glob path; it selects the leaves that it names and those
        below a node that it names. All others stay as they are.

    Raises:
      PathLookupError: If the pattern selects no leaf.
    """
    selected = _selected(tree, pattern)

    def mapped(parts: Parts, leaf: Any) -> Any:
        if parts not in selected:
            return leaf
        try:
            return fn(Path(*parts), leaf)
        except Exception as error:
            error.add_note(f"raised by the function for {format_parts(parts)!r}")
            raise

    return _rebuilt(tree, (mapped(parts, leaf) for parts, leaf in _leaves(tree)))


def mask(tree: Any, pattern: PathLike, *, invert: bool = False) -> Any:
    """A tree of the same structure that is `True` where a pattern selects the leaf.

    The mask for `optax.masked` or `optax.add_decayed_weights`.

    Args:
      tree: A pytree.
      pattern: As in `map_with_path`.
      invert: Whether to mark all other leaves instead.

    Raises:
      PathLookupError: If the pattern selects no leaf.
    """
    selected = _selected(tree, pattern)
    return _rebuilt(tree, ((p in selected) is not invert for p, _ in _leaves(tree)))


def labels(tree: Any, rules: Mapping[str, Any], *, default: Any = MISSING) -> Any:
    """A tree of the same structure with a label for each leaf.

    The labels for `optax.multi_transform`; of several patterns that select a leaf,
    the first one counts.

    Args:
      tree: A pytree.
      rules: Pattern, as in `map_with_path`, to label.
      default: The label of leaves that no pattern selects.

    Raises:
      PathTypeError: If `rules` is no mapping.
      PathLookupError: If a pattern selects no leaf.
      PathError: If there is no default, and a leaf has no label.
    """
    if not isinstance(rules, Mapping):
        raise PathTypeError(
            "labels takes a mapping from patterns to labels\n"
            f"  got {type(rules).__name__} {rules!r:.60}"
        )
    found: dict[Parts, Any] = {}
    for pattern, label in rules.items():
        for parts in _selected(tree, pattern):
            found.setdefault(parts, label)
    unlabelled = [p for p, _ in _leaves(tree) if p not in found]
    if unlabelled and default is MISSING:
        shown = ", ".join(format_parts(parts) for parts in unlabelled[:5])
        more = f", … (+{len(unlabelled) - 5} more)" if len(unlabelled) > 5 else ""
        raise PathError(
            f"no rule selects: {shown}{more}\n"
            f"  rules: {', '.join(map(repr, rules)) or 'none'}\n"
            "  default= is the label of all other leaves"
        )
    return _rebuilt(tree, (found.get(p, default) for p, _ in _leaves(tree)))


def _selected(tree: Any, pattern: PathLike) -> set[Parts]:
    """The leaves at or below the places that a pattern names."""
    wanted = as_path(pattern, glob=True).parts
    named = {format_parts(match.parts) for match in matches(tree, wanted)}
    selected = {parts for parts, _ in _leaves(tree) if _is_below(parts, named)}
    if not selected:
        raise no_target_error(tree, wanted, advice="")
    return selected


def _is_below(parts: Parts, named: set[str]) -> bool:
    text = ""
    if text in named:
        return True
    for part in parts:
        text = format_child(text, part)
        if text in named:
            return True
    return False


def _leaves(tree: Any) -> Iterator[tuple[Parts, Any]]:
    for key_path, leaf in _jax().tree_util.tree_flatten_with_path(tree)[0]:
        yield tuple(map(part_of_jax_key, key_path)), leaf


def _rebuilt(tree: Any, leaves: Iterator[Any]) -> Any:
    return _jax().tree_util.tree_structure(tree).unflatten(leaves)


def _jax() -> Any:
    jax = sys.modules.get("jax")
    if jax is None:
        raise PathTypeError("a tree of JAX needs JAX: import jax first")
    return jax
