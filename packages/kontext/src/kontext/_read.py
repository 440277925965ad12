"""Reads the value at a path, part by part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kontext._errors import Explanation, PathLookupError
from kontext._explain import explain_lookup
from kontext._format import format_parts
from kontext._parts import MISSING, Part, Parts
from kontext._read_part import read_part


def read(
    root: Any, parts: Parts, *, step: Callable[[Any, Part], Any] = read_part
) -> Any:
    """The value at `parts` below `root`, or `MISSING`; `step` reads one part."""
    node = root
    for part in parts:
        # Most nodes are plain dicts; theirs is the only rule that fits on a line.
        if type(node) is dict:
            try:
                node = node[part]
                continue
            except (KeyError, TypeError):
                pass
        node = step(node, part)
        if node is MISSING:
            return MISSING
    return node


def lookup_error(
    root: Any, parts: Parts, *, step: Callable[[Any, Part], Any] = read_part
) -> PathLookupError:
    """The error for `parts`, which name no value below `root`.

    Args:
      root: Where the lookup began.
      parts: The path.
      step: How one part was read.
    """
    if not parts:
        gap = Explanation("the context itself is MISSING: a gap, and no value")
        return PathLookupError(lambda: gap, path="")
    nodes = [root]
    # All but the last are tried again; that one is missing if they are not.
    for part in parts[:-1]:
        node = step(nodes[-1], part)
        if node is MISSING:
            break
        nodes.append(node)
    depth = len(nodes) - 1
    return PathLookupError(
        lambda: explain_lookup(parts, nodes),
        path=format_parts(parts),
        reached=format_parts(parts[:depth]),
        part=parts[depth],
    )
