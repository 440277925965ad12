"""The errors of ktrain, for `except`."""

from ktrain._errors import (
    CheckpointError,
    CheckpointMismatchError,
    CheckpointNotFoundError,
    ConfigDriftError,
    DataError,
    DataExhausted,
    EvaluatorError,
    NonFiniteError,
    TrainerConfigError,
    TrainError,
    TreeContractError,
    UnboundRootRefError,
    WorkdirLockedError,
)

__all__ = [
    "CheckpointError",
    "CheckpointMismatchError",
    "CheckpointNotFoundError",
    "ConfigDriftError",
    "DataError",
    "DataExhausted",
    "EvaluatorError",
    "NonFiniteError",
    "TrainError",
    "TrainerConfigError",
    "TreeContractError",
    "UnboundRootRefError",
    "WorkdirLockedError",
]
