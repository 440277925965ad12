"""ktrain: a trainer you can trust.

Exactly N updates, exact resume, every example of an evaluation counted once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ktrain import _compat

if TYPE_CHECKING:
    from ktrain import (
        checkpoint,
        data,
        datasets,
        errors,
        evals,
        kd,
        nn,
        writers,
    )
    from ktrain._bind import RootBound, root
    from ktrain.context import Context
    from ktrain.health import HealthPolicy
    from ktrain.rngs import RngStream, RngStreams
    from ktrain.run import Progress
    from ktrain.session import TrainResult
    from ktrain.sharding import ShardingStrategy
    from ktrain.state import TrainState
    from ktrain.step import TrainStep
    from ktrain.trainer import Trainer

_compat.prepare_libraries()

# Name -> module that defines it; modules of that name are loaded themselves.
_HOMES = {
    "Trainer": "ktrain.trainer",
    "TrainResult": "ktrain.session",
    "TrainState": "ktrain.state",
    "TrainStep": "ktrain.step",
    "Context": "ktrain.context",
    "HealthPolicy": "ktrain.health",
    "Progress": "ktrain.run",
    "RngStream": "ktrain.rngs",
    "RngStreams": "ktrain.rngs",
    "ShardingStrategy": "ktrain.sharding",
    "RootBound": "ktrain._bind",
    "root": "ktrain._bind",
}
_MODULES = (
    "checkpoint",
    "data",
    "datasets",
    "errors",
    "evals",
    "kd",
    "nn",
    "writers",
)

__all__ = [
    "Trainer",
    "TrainResult",
    "TrainState",
    "TrainStep",
    "Context",
    "HealthPolicy",
    "Progress",
    "RngStream",
    "RngStreams",
    "ShardingStrategy",
    "RootBound",
    "root",
    "checkpoint",
    "data",
    "datasets",
    "errors",
    "evals",
    "kd",
    "nn",
    "writers",
]


def __getattr__(name: str) -> Any:
    # Loaded at first use: `ktrain --help` must not wait for jax.
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(f"ktrain.{name}")
    else:
        raise AttributeError(f"module 'ktrain' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
