"""Names of metrics: nested mappings flattened with "/"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from kmetrics._errors import NameCollisionError

TOTAL = "total"


class Named(Protocol):
    """What is asked of a metric to name its results."""

    def metric_names(self) -> tuple[str, ...] | None:
        """The names of its results; None: one, or not known before the data."""
        ...


def result_names(metrics: Mapping[str, Named]) -> tuple[str, ...]:
    """The names of all results, as far as they are known: `name`, or `name/result`.

    Raises:
      NameCollisionError: two results get one name.
      TypeError: `metric_names` of a metric gives something else than names.
    """
    owner: dict[str, str] = {}
    for name, metric in metrics.items():
        for full in _full_names(name, metric):
            if full in owner:
                raise NameCollisionError(
                    f"two results are both named {full!r}\n"
                    f"  of the metrics {owner[full]!r} and {name!r}\n"
                    "rename one of them"
                )
            owner[full] = name
    return tuple(owner)


def _full_names(name: str, metric: Named) -> tuple[str, ...]:
    parts = metric.metric_names()
    if parts is None:
        return (name,)
    if not isinstance(parts, tuple) or not all(isinstance(p, str) for p in parts):
        raise TypeError(
            f"{type(metric).__name__}.metric_names must give names, or None\n"
            f"  got {parts!r}, expected a tuple of texts"
        )
    return tuple(f"{name}/{part}" for part in parts)


def flatten_names(tree: Mapping[str, Any], *, what: str) -> dict[str, Any]:
    """`tree` with nested names joined by "/", in order.

    Args:
      tree: names to entries, or to further mappings.
      what: what the entries are, for errors: "metric" or "loss".

    Raises:
      TypeError: `tree` is no mapping, or a name is not a string.
      NameCollisionError: two entries get one name, or one is called "total".
    """
    if not isinstance(tree, Mapping):
        raise TypeError(
            f"expected a mapping from names, each to a {what}\n"
            f"  got {type(tree).__name__}"
        )
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
