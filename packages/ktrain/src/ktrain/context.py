"""The namespace that keys point into: everything one step knows, by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import jax


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Context:
    """What losses, metrics and the model can read, as `batch.image` or `preds.y`.

    All values describe the state *before* the update of the step.

    Attributes:
      step: Number of updates in the state, i32[].
      batch: The batch, without the padding mask.
      params: Parameters of the model.
      collections: Its other variables (`batch_stats`, …).
      preds: What the model returned.
      interms: Outputs of inner layers, as `interms.enc.__call__[0]`.
      schedules: Values of the trainer's schedules at this step, f32[] each.
      loss_total: The loss that is differentiated, f32[] (training only).
      grads: Gradients of the parameters (training only).
      updates: What the optimizer adds to the parameters (training only).
      opt_state: State of the optimizer before the update (training only).
      mask: Which examples count, bool[b]; None when all do.
    """

    step: Any = None
    batch: Any = None
    params: Any = None
    collections: Any = None
    preds: Any = None
    interms: Any = None
    schedules: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    loss_total: Any = None
    grads: Any = None
    updates: Any = None
    opt_state: Any = None
    mask: Any = None

    example_roots: ClassVar[frozenset[str]] = frozenset({"batch", "preds", "interms"})
    """Fields whose arrays have one row per example, to which the mask applies."""

    train_only: ClassVar[frozenset[str]] = frozenset(
        {"loss_total", "grads", "updates", "opt_state"}
    )
    """Fields that exist in training steps only."""

    def replace(self, **changes: Any) -> Context:
        """Gives a copy with other values in the named fields."""
        return dataclasses.replace(self, **changes)
