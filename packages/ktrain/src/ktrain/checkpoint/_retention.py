"""Which steps may go."""

from __future__ import annotations

from collections.abc import Sequence


def surplus(steps: Sequence[int], max_to_keep: int | None) -> list[int]:
    """Gives the steps beyond the newest `max_to_keep`, oldest first; None keeps all.

    The newest step is never among them.
    """
    if max_to_keep is None:
        return []
    return sorted(steps)[: -max(max_to_keep, 1)]
