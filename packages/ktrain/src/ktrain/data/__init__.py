"""Batches of data in an exact order, with an exact position."""

from ktrain.data._in_memory import InMemoryPipeline
from ktrain.data._iterator import InMemoryIterator
from ktrain.data._pipeline import DataIterator, Pipeline

__all__ = ["InMemoryPipeline", "InMemoryIterator", "Pipeline", "DataIterator"]
