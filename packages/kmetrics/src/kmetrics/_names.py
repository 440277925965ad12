"""Names of metrics: nested mappings flattened with "/"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kmetrics._errors import NameCollisionError

TOTAL = "total"


def flatten_names(tree: Mapping[str, Any], *, what: str) -> dict[str, Any]:
    """`tree` with nested names joined by "/", in order.

    Args:
      tree: names to entries, or to further mappings.
      what: what the entries are, for errors: "metric" or "loss".

    Raises:
      TypeError: a name is not a string.
      NameCollisionError: two entries get one name, or one is called "total".
    """
    flat: dict[str, Any] = {}
    for name, entry in _walk(tree, "", what):
        if name in flat:
            raise NameCollisionError(
                f"two entries are both named {name!r}\nrename one of them"
            )
        flat[name] = entry
    if TOTAL in flat:
        raise NameCollisionError(
            f'a {what} is named "total", the name of the sum of the losses\nrename it'
        )
    return flat


def _walk(tree: Mapping[str, Any], prefix: str, what: str) -> Iterator[tuple[str, Any]]:
    for name, entry in tree.items():
        if not isinstance(name, str) or not name:
            raise TypeError(
                f"the name of a {what} must be a string that is not empty\n"
                f"  got {name!r}" + (f" in {prefix!r}" if prefix else "")
            )
        if isinstance(entry, Mapping):
            yield from _walk(entry, f"{prefix}{name}/", what)
        else:
            yield f"{prefix}{name}", entry
