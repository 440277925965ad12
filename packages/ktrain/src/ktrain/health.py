"""Losses and gradients that are not finite stop a run, by name."""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Mapping
from typing import Any, Literal

from ktrain import _errors

_log = logging.getLogger("ktrain")


@dataclasses.dataclass(frozen=True, kw_only=True)
class HealthPolicy:
    """Checks the loss and the gradient norm of every logged step.

    Attributes:
      on_nonfinite: `"raise"` a `NonFiniteError`, `"warn"` in the log, or `"ignore"`.
    """

    on_nonfinite: Literal["raise", "warn", "ignore"] = "raise"

    def __post_init__(self) -> None:
        if self.on_nonfinite not in {"raise", "warn", "ignore"}:
            raise _errors.TrainerConfigError(
                f"HealthPolicy(on_nonfinite={self.on_nonfinite!r}): expected 'raise',"
                f" 'warn' or 'ignore'"
                + _errors.did_you_mean(
                    str(self.on_nonfinite), ("raise", "warn", "ignore")
                )
            )

    def check(self, step: int, values: Mapping[str, Any], grad_norm: float) -> None:
        """Looks at the values of one logged step.

        Raises:
          NonFiniteError: A loss or the gradient norm is NaN or infinite.
        """
        if self.on_nonfinite == "ignore":
            return
        named = {k: v for k, v in values.items() if k.startswith("losses/")}
        named["gradient norm"] = grad_norm
        bad = [(name, v) for name, v in named.items() if not math.isfinite(v)]
        if not bad:
            return
        message = (
            f"step {step}: "
            + ", ".join(f"{name} is {value}" for name, value in bad)
            + "\n  The state was finite at the last checkpoint. Look at the learning"
            " rate and at the batch of this step; to go on regardless, use"
            " health=HealthPolicy(on_nonfinite='warn')."
        )
        if self.on_nonfinite == "raise":
            raise _errors.NonFiniteError(message)
        _log.warning("%s", message)
