"""What a trainer needs of data: the two protocols that every pipeline follows.

A pipeline says which batches there are and reads nothing; an iterator gives them
and knows its exact position. Both can be written by users: no base class is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol, runtime_checkable

Purpose = Literal["train", "eval"]


@runtime_checkable
class DataIterator(Protocol):
    """An iterator of batches that can be stopped and continued at any batch.

    `next` gives this process's rows of the next global batch, as a dict of numpy
    arrays, and raises `StopIteration` at the end of finite data.
    """

    @property
    def num_batches(self) -> int | None:
        """How many batches there are from the first to the last; None: endless."""
        ...

    @property
    def batches_done(self) -> int:
        """How many of them were given out, counted from the first one of the data."""
        ...

    def __iter__(self) -> DataIterator: ...

    def __next__(self) -> dict[str, Any]: ...

    def state(self, lag: int = 0) -> dict[str, Any]:
        """Gives the position as plain JSON data; `lag` batches before the present."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continues at a position that `state` gave.

        Raises:
          DataError: The data or its order is not that of the saved position.
        """
        ...

    def close(self) -> None:
        """Frees what the iterator holds."""
        ...


@runtime_checkable
class Pipeline(Protocol):
    """A description of batches; opening it gives the batches themselves."""

    @property
    def batch_size(self) -> int:
        """How many examples a global batch has."""
        ...

    @property
    def element_spec(self) -> Any:
        """Shapes and dtypes of a global batch, a tree of `ktrain.spec.ArraySpec`."""
        ...

    def num_batches(self, purpose: Purpose = "train") -> int | None:
        """Gives how many batches `open(purpose=purpose)` has; None when endless."""
        ...

    def open(
        self,
        *,
        purpose: Purpose = "train",
        process_index: int = 0,
        process_count: int = 1,
    ) -> DataIterator:
        """Gives an iterator at the first batch.

        Args:
          purpose: "eval" means every example exactly once.
          process_index: Which rows of each global batch the iterator gives.
          process_count: In how many equal parts each global batch is cut.
        """
        ...
