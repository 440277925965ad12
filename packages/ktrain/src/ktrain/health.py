"""Losses and gradients that are not finite stop a run, by name."""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Mapping
from typing import Any, Literal

import jax
import jax.numpy as jnp

from ktrain import _errors

_log = logging.getLogger("ktrain")


@dataclasses.dataclass(frozen=True, kw_only=True)
class HealthPolicy:
    """Checks losses and gradient norm of logged steps, parameters before a save.

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
        self._tell(
            f"step {step}: " + ", ".join(f"{name} is {value}" for name, value in bad)
        )

    def check_params(self, step: int, params: Any) -> None:
        """Looks at the parameters after `step` updates; waits for the device.

        Raises:
          NonFiniteError: A parameter is NaN or infinite; checkpoints hold none such.
        """
        if self.on_nonfinite != "ignore" and not bool(_all_finite(params)):
            self._tell(f"after {step} updates: parameters are NaN or infinite")

    def _tell(self, what: str) -> None:
        message = (
            f"{what}\n  No such state is saved. Look at the learning rate and at the"
            " batches since the last log (log_metrics_every=1 finds the step); to go"
            " on regardless, use health=HealthPolicy(on_nonfinite='warn')."
        )
        if self.on_nonfinite == "raise":
            raise _errors.NonFiniteError(message)
        _log.warning("%s", message)


@jax.jit
def _all_finite(tree: Any) -> jax.Array:
    leaves = [x for x in jax.tree.leaves(tree) if jnp.issubdtype(x.dtype, jnp.inexact)]
    return jnp.all(jnp.stack([jnp.all(jnp.isfinite(x)) for x in leaves] or [True]))
