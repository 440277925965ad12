"""Which part of the stream each batch takes, and how rows become a batch.

Plain arithmetic on the position in the stream of examples: nothing has to be
replayed to know batch number one million.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import numpy as np

Remainder = Literal["drop", "keep", "pad"]
REMAINDERS = ("drop", "keep", "pad")


@dataclasses.dataclass(frozen=True)
class BatchPlan:
    """How the endless stream of examples is cut into global batches.

    Attributes:
      num_examples: Examples of one epoch, >= 1.
      batch_size: Examples of one global batch, >= 1.
      num_epochs: How many epochs there are; None for endless ones.
      remainder: What happens to examples at the end that do not fill a batch.
      span_epochs: Whether a batch may hold examples of two epochs.
    """

    num_examples: int
    batch_size: int
    num_epochs: int | None
    remainder: Remainder
    span_epochs: bool

    @property
    def num_positions(self) -> int | None:
        """Length of the whole stream in examples; None when it is endless."""
        return None if self.num_epochs is None else self.num_epochs * self.num_examples

    def count(self, origin: int) -> int | None:
        """Gives how many batches follow from position `origin` on; None: endless."""
        end = self.num_positions
        if end is None:
            return None
        if self.span_epochs:
            return self._batches_in(end - origin)
        if origin >= end:
            return 0
        epoch, place = divmod(origin, self.num_examples)
        first = self._batches_in(self.num_examples - place)
        return first + (end // self.num_examples - epoch - 1) * self.batches_per_epoch

    @property
    def batches_per_epoch(self) -> int:
        """How many batches an epoch has when no batch spans two epochs."""
        return self._batches_in(self.num_examples)

    def start(self, origin: int, batch: int) -> int:
        """Gives where batch number `batch`, counted from `origin`, starts."""
        if self.span_epochs:
            position = origin + batch * self.batch_size
            end = self.num_positions
            return position if end is None else min(position, end)
        epoch, place = divmod(origin, self.num_examples)
        first = self._batches_in(self.num_examples - place)
        if batch < first:
            return origin + batch * self.batch_size
        epochs, nth = divmod(batch - first, self.batches_per_epoch)
        return (epoch + 1 + epochs) * self.num_examples + nth * self.batch_size

    def left(self, position: int) -> int | None:
        """Gives how many examples there are before batches must end; None: endless."""
        if not self.span_epochs:
            return self.num_examples - position % self.num_examples
        end = self.num_positions
        return None if end is None else end - position

    def incomplete(self, origin: int) -> set[int]:
        """Gives the sizes of all batches after `origin` that are not full."""
        if self.remainder == "drop" or (self.span_epochs and self.num_epochs is None):
            return set()
        end = self.num_positions
        if self.span_epochs and end is not None:
            lengths = {end - origin}
        else:
            whole = end is None or end - origin > self.num_examples
            rest = self.num_examples - origin % self.num_examples
            lengths = {rest, self.num_examples} if whole else {rest}
        return {length % self.batch_size for length in lengths} - {0}

    def _batches_in(self, examples: int) -> int:
        if self.remainder == "drop":
            return examples // self.batch_size
        return -(-examples // self.batch_size)


def take_rows(tree: dict[str, Any], rows: np.ndarray) -> dict[str, Any]:
    """Gives the rows of every array of a nested dict, in new memory."""
    return {
        key: take_rows(value, rows) if type(value) is dict else value.take(rows, 0)
        for key, value in tree.items()
    }


def copy_rows(tree: dict[str, Any], rows: slice) -> dict[str, Any]:
    """Gives consecutive rows of every array, in new memory.

    A view would be quicker, but jax may use the memory of a numpy array as its
    own, and a step that donates its batch would then write into the data.
    """
    return {
        key: copy_rows(value, rows) if type(value) is dict else value[rows].copy()
        for key, value in tree.items()
    }


def pad_rows(tree: dict[str, Any], size: int) -> dict[str, Any]:
    """Appends rows of zeros to every array, up to `size` rows."""
    return {
        key: pad_rows(value, size) if type(value) is dict else _pad(value, size)
        for key, value in tree.items()
    }


def _pad(array: np.ndarray, size: int) -> np.ndarray:
    padded = np.zeros((size, *array.shape[1:]), array.dtype)
    padded[: len(array)] = array
    return padded
