"""Which items of two lists belong together."""

from __future__ import annotations

from typing import Any

from konfig._tree import TARGET, Node, stored_items

Pairs = list[tuple[int | None, int | None]]

# Beyond it the search for what moved takes longer than it is worth.
_LONGEST = 1000


def aligned(old: Any, new: Any) -> Pairs | None:
    """The positions of items that belong together, in the order of the new list.

    Args:
      old: A list or tuple as stored.
      new: Another one.

    Returns:
      Pairs of the old and the new position; None stands for an item that is only on
      one side. None instead of pairs when each item has stayed where it was, but for
      some at the end.
    """
    if len(old) == len(new) or not (old and new) or max(len(old), len(new)) > _LONGEST:
        return None
    items = [item for _, item in stored_items(old)], [x for _, x in stored_items(new)]
    pairs = _matched(*items, (_exact, _kind))
    return None if _ends(pairs) else pairs


def _matched(old: list[Any], new: list[Any], keys: tuple[Any, ...]) -> Pairs:
    """Pairs by equal keys; what is left between them by the next kind of key."""
    if not keys or not old or not new:
        both = min(len(old), len(new))
        together: Pairs = [(index, index) for index in range(both)]
        together += [(index, None) for index in range(both, len(old))]
        return together + [(None, index) for index in range(both, len(new))]
    import difflib  # lists of other lengths alone pay for it

    key, *rest = keys
    before, after = list(map(key, old)), list(map(key, new))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    pairs: Pairs = []
    for tag, low, high, first, last in matcher.get_opcodes():
        left = () if tag == "equal" else tuple(rest)
        for one, other in _matched(old[low:high], new[first:last], left):
            one = None if one is None else one + low
            pairs.append((one, None if other is None else other + first))
    return pairs


def _ends(pairs: Pairs) -> bool:
    """Whether each item has stayed, and what came or went stands behind them."""
    alone = [None in pair for pair in pairs]
    stayed = all(one == other for one, other in pairs if None not in (one, other))
    return stayed and alone == sorted(alone)


def _exact(item: Any) -> str:
    return repr(item)


def _kind(item: Any) -> Any:
    """The target of a call, else the type alone."""
    target = item._konfig_fields.get(TARGET) if isinstance(item, Node) else None
    return target or type(item)
