"""Checkpoints that survive crashes: committed whole, verified, restored exactly."""

from ktrain.checkpoint._checkpointer import Checkpointer
from ktrain.checkpoint._restore import Restored, read_arrays
from ktrain.checkpoint._session import CheckpointSession

__all__ = ["Checkpointer", "CheckpointSession", "Restored", "read_arrays"]
