"""Agreement between the processes of one run; with one process nothing to agree."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Group:
    """The processes that save and restore together.

    Attributes:
      primary: This process owns the folders: it creates, commits, moves and deletes.
      processes: How many processes take part, each calling the same methods.
    """

    primary: bool
    processes: int

    def all_ok(self, ok: bool) -> bool:
        """Says whether it is true in every process; all processes meet here."""
        if self.processes == 1:
            return ok
        import numpy as np
        from jax.experimental import multihost_utils

        return bool(np.all(multihost_utils.process_allgather(np.array(ok))))
