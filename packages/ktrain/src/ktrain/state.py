"""What training changes: step, parameters, collections, optimizer state."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import jax


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainState:
    """The state of training, a pytree of plain arrays.

    Random keys are not part of it: they are derived from the seed and `step`.

    Attributes:
      step: Number of updates that the state has seen, i32[].
      params: Parameters of the model.
      collections: Its other variables (`batch_stats`, …); may be empty.
      opt_state: State of the optimizer.
    """

    step: Any
    params: Any
    collections: Any
    opt_state: Any

    def replace(self, **changes: Any) -> TrainState:
        """Gives a copy with other values in the named fields."""
        return dataclasses.replace(self, **changes)

    def num_params(self) -> int:
        """Gives the number of scalars in `params`."""
        return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(self.params))

    def is_deleted(self) -> bool:
        """Tells whether a step has taken the arrays over (buffers are donated)."""
        return any(
            leaf.is_deleted()
            for leaf in jax.tree.leaves(self)
            if isinstance(leaf, jax.Array)
        )
