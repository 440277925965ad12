"""Which of the names that exist was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from kontext._format import format_child, format_parts
from kontext._nodes import children
from kontext._parts import MISSING, Part, Parts

MAX_SUGGESTIONS = 5
_MAX_NODES = 2000
_MAX_DEPTH = 6


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """The names that resemble `name`, the best first; none if none does."""
    candidates = list(dict.fromkeys(names))
    same = [c for c in candidates if c.lower() == name.lower() and c != name]
    if same:
        return same[:MAX_SUGGESTIONS]
    # Only failures need it, and it is not free to import.
    import difflib

    return difflib.get_close_matches(name, candidates, n=3, cutoff=0.6)


def suggest_paths(root: Any, nodes: list[Any], parts: Parts) -> list[str]:
    """Paths that were probably meant by `parts`, whose `nodes` could be reached.

    Args:
      root: Where the lookup began.
      nodes: The nodes on the way, from the root to the last one that exists.
      parts: The whole path that was looked up.
    """
    depth = len(nodes) - 1
    found = _with_dots(nodes, parts) or _siblings(nodes, parts)
    found = found or _elsewhere(root, parts[depth:])
    return list(dict.fromkeys(found))[:MAX_SUGGESTIONS]


def _siblings(nodes: list[Any], parts: Parts) -> list[str]:
    depth = len(nodes) - 1
    by_text = {str(key): key for key, _ in _some_children(nodes[-1])}
    for name in _public_names(nodes[-1]):
        by_text.setdefault(name, name)
    found = []
    for name in nearest(str(parts[depth]), by_text):
        key = by_text[name]
        text = format_child(format_parts(parts[:depth]), key)
        found.append(_with_tail(text, _stored(nodes[-1], key), parts[depth + 1 :]))
    return found


def _public_names(node: Any) -> list[str]:
    return [name for name in getattr(node, "__dict__", ()) if not name.startswith("_")]


def _with_tail(text: str, node: Any, tail: Parts) -> str:
    """The path of a node, with the rest of a longer one if that exists there."""
    longer = text
    for part in tail:
        node = _stored(node, part)
        if node is MISSING:
            return text
        longer = format_child(longer, part)
    return longer


def _some_children(node: Any) -> list[tuple[Any, Any]]:
    """The first children, as many as an error may cost."""
    return list(islice(children(node) or (), _MAX_NODES))


def _stored(node: Any, part: Part) -> Any:
    """The child at `part`, found without running code of the user."""
    for key, value in _some_children(node):
        if type(key) is type(part) and key == part:
            return value
    return MISSING


def _with_dots(nodes: list[Any], parts: Parts) -> list[str]:
    """Paths where dots belong to a key: `['a.b']` for `a.b`."""
    found = []
    for start, node in enumerate(nodes):
        for stop in range(len(parts), max(start + 1, len(nodes) - 1), -1):
            key = format_parts(parts[start:stop])
            if key not in parts[start:stop] and _has_key(node, key):
                found.append(format_parts((*parts[:start], key, *parts[stop:])))
    return found


def _has_key(node: Any, key: str) -> bool:
    """Whether a mapping has this very key."""
    return any(name == key for name, _ in _some_children(node) if type(name) is str)


def _elsewhere(root: Any, rest: Parts) -> list[str]:
    """Paths to the last name of `rest` anywhere in the context, or to its first.

    The last one first: what lies there is what the path is about. Where all of `rest`
    exists, that is the better path.
    """
    names = [at for at, part in enumerate(rest) if type(part) is str]
    for at in dict.fromkeys((*names[-1:], *names[:1])):
        found = list(_named(root, rest[at], rest[at + 1 :]))
        if found:
            whole = format_parts(rest[names[0] :])
            return sorted(found, key=lambda text: not f".{text}".endswith(f".{whole}"))
    return []


def _named(root: Any, name: Part, tail: Parts) -> Iterator[str]:
    """Paths to `name`, the nearest to the root first, with `tail` if that exists."""
    queue: list[tuple[str, Any, int]] = [("", root, 0)]
    for seen, (text, node, depth) in enumerate(queue):
        if seen >= _MAX_NODES:
            return
        for key, value in _some_children(node):
            if type(key) not in (str, int):
                continue
            below = format_child(text, key)
            if key == name:
                yield _with_tail(below, value, tail)
            if depth + 1 < _MAX_DEPTH and len(queue) < _MAX_NODES:
                queue.append((below, value, depth + 1))
