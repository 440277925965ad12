"""Reads the value at a path, part by part."""

from __future__ import annotations

from typing import Any

from kontext._errors import PathLookupError
from kontext._explain import explain_lookup
from kontext._format import format_parts
from kontext._nodes import read_part
from kontext._parts import MISSING, Parts


def read(root: Any, parts: Parts) -> Any:
    """The value at `parts` below `root`, or `MISSING`."""
    node = root
    for part in parts:
        # Most nodes are plain dicts; theirs is the only rule that fits on a line.
        if type(node) is dict:
            try:
                node = node[part]
                continue
            except (KeyError, TypeError):
                pass
        node = read_part(node, part)
        if node is MISSING:
            return MISSING
    return node


def lookup_error(root: Any, parts: Parts) -> PathLookupError:
    """The error for `parts`, of which `read` found no value below `root`."""
    nodes = [root]
    for part in parts:
        node = read_part(nodes[-1], part)
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
