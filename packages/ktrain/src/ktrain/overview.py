"""The parameter table that is printed before training."""

from __future__ import annotations

import math
from typing import Any

from ktrain import records, spec


def params_table(params: Any) -> str:
    """Gives a table `path | shape | dtype | count` of a tree of parameters."""
    rows = [("parameter", "shape", "dtype", "count")]
    total = size = 0
    for path, leaf in records.flat_leaves(params):
        count = math.prod(leaf.shape)
        total += count
        size += count * leaf.dtype.itemsize
        shape = "×".join(map(str, leaf.shape)) or "scalar"
        rows.append((path, shape, spec.short_dtype(leaf.dtype), f"{count:,}"))
    rows.append(("total", "", _bytes(size), f"{total:,}"))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    lines = [
        "  ".join(
            (
                row[0].ljust(widths[0]),
                row[1].ljust(widths[1]),
                row[2].ljust(widths[2]),
                row[3].rjust(widths[3]),
            )
        ).rstrip()
        for row in rows
    ]
    rule = "─" * max(map(len, lines))
    return "\n".join([lines[0], rule, *lines[1:-1], rule, lines[-1]])


def _bytes(size: int) -> str:
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} B"
