"""Batches from data in memory, with a position that is one integer."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from ktrain import _errors, spec
from ktrain.data import _arrays, _batch, _order, _position

_ENDLESS = 1 << 62


class InMemoryIterator:
    """Gives this process's rows of each global batch; see `DataIterator`.

    Attributes:
      batches_done: How many batches of the data were given out.
      num_batches: How many there are in all; None when the data is endless.
    """

    num_batches: int | None

    def __init__(
        self,
        examples: _arrays.Examples,
        plan: _batch.BatchPlan,
        *,
        seed: int,
        shuffle: bool,
        process_index: int,
        process_count: int,
    ):
        """Takes checked data, and how it is cut.

        Raises:
          DataError: A batch does not divide by the processes.
        """
        _check_divides(plan, process_count)
        self._examples = examples
        self._tree = examples.tree
        self._plan = plan
        self._seed = seed
        self._shuffle = shuffle
        self._order = _order.ExampleOrder(plan.num_examples, seed if shuffle else None)
        self._process_count = process_count
        self._batch_size = plan.batch_size
        self._local_size = plan.batch_size // process_count
        self._offset = process_index * self._local_size
        self._full_mask = np.ones(self._local_size, np.bool_)
        self._padded = plan.remainder == "pad"
        self._closed = False
        self._seek(origin=0, batches=0)

    def _seek(self, *, origin: int, batches: int) -> None:
        """Stands before the batch at position `origin`, after `batches` batches."""
        _check_shares(self._plan, origin, self._process_count)
        self._origin = origin
        self._batches_at_origin = batches
        self.batches_done = batches
        left = self._plan.count(origin)
        self.num_batches = None if left is None else batches + left
        self._arrive()

    def _arrive(self) -> None:
        """Finds where the next batch starts, and how far full batches go."""
        self._position = self._position_after(self.batches_done)
        if self.batches_done == self.num_batches:
            self._full_stop = self._position
            return
        left = self._plan.left(self._position)
        full = _ENDLESS if left is None else left - left % self._batch_size
        self._full_stop = self._position + full

    def __iter__(self) -> InMemoryIterator:
        return self

    def __next__(self) -> dict[str, Any]:
        position = self._position
        if position >= self._full_stop:
            return self._next_at_edge()
        batch = self._rows(self._order.rows(position + self._offset, self._local_size))
        if self._padded:
            batch[spec.MASK_KEY] = self._full_mask.copy()
        self._position = position + self._batch_size
        self.batches_done += 1
        return batch

    def _next_at_edge(self) -> dict[str, Any]:
        """Gives the batch after a run of full ones: incomplete, or of a new epoch."""
        self._check_open()
        if self.batches_done == self.num_batches:
            raise StopIteration
        self._arrive()
        if self._position < self._full_stop:
            return next(self)
        left = self._plan.left(self._position)
        assert left is not None
        batch = self._incomplete_batch(left)
        self.batches_done += 1
        return batch

    def _rows(self, rows: slice | np.ndarray) -> dict[str, Any]:
        if isinstance(rows, slice):
            return _batch.copy_rows(self._tree, rows)
        return _batch.take_rows(self._tree, rows)

    def _incomplete_batch(self, size: int) -> dict[str, Any]:
        if not self._padded:
            local = size // self._process_count
            start = self._position + self._offset * size // self._batch_size
            return self._rows(self._order.rows(start, local))
        local = min(max(size - self._offset, 0), self._local_size)
        # A process without a row of its own reads no position, not one too far.
        start = self._position + (self._offset if local else 0)
        batch = self._rows(self._order.rows(start, local))
        batch = _batch.pad_rows(batch, self._local_size)
        batch[spec.MASK_KEY] = np.arange(self._local_size) < local
        return batch

    def _position_after(self, batches: int) -> int:
        return self._plan.start(self._origin, batches - self._batches_at_origin)

    def state(self, lag: int = 0) -> dict[str, Any]:
        """Gives the position as plain JSON data.

        Args:
          lag: How many batches before the present one: a loop that fetches the next
            batch ahead saves the position of the batch it has used.

        Returns:
          A dict: `version`; `position`, the place in the stream of examples at which
          the next batch starts (epoch * num_examples + place in the epoch, so that
          dropped examples count as passed); `epoch` of that place; `batches` given
          out; `seed`; `fingerprint` of the data; `pipeline`, what else decides the
          order.

        Raises:
          ValueError: `lag` reaches back before the start or the last `restore`.
        """
        batches = self.batches_done - operator.index(lag)
        if lag < 0 or batches < self._batches_at_origin:
            raise ValueError(
                f"There is no state {lag} batches ago: the iterator gave"
                f" {self.batches_done - self._batches_at_origin} batches since it was"
                " opened or restored.\n  Use 0 <= lag <= that number."
            )
        position = self._position_after(batches)
        return _position.write(self._plan, position, batches, self._identity())

    def restore(self, state: Mapping[str, Any], mode: _position.Mode = "exact") -> None:
        """Continues at a saved position, whatever the number of processes was.

        Args:
          state: What `state` gave.
          mode: "exact" refuses any other order. "position" also takes the state of
            another batch size and goes on with the next example: none is repeated
            or left out.

        Raises:
          DataError: The data or its order is another one, or the state is damaged;
            the iterator stays where it was.
        """
        self._check_open()
        origin, batches = _position.read(state, self._plan, self._identity(), mode)
        self._seek(origin=origin, batches=batches)

    def _identity(self) -> dict[str, Any]:
        return _position.identity(
            self._plan,
            seed=self._seed,
            shuffle=self._shuffle,
            fingerprint=self._examples.fingerprint,
        )

    def _check_open(self) -> None:
        if self._closed:
            raise _errors.DataError(
                "The iterator is closed; it gives no more batches.\n"
                "  Open the pipeline again, and restore the position if one is needed."
            )

    def close(self) -> None:
        """Ends the iterator: `next` raises `DataError` from now on."""
        self._closed = True
        self._full_stop = -1

    def __enter__(self) -> InMemoryIterator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _check_divides(plan: _batch.BatchPlan, process_count: int) -> None:
    if plan.batch_size % process_count:
        below = plan.batch_size // process_count * process_count
        sizes = [size for size in (below, below + process_count) if size]
        raise _errors.DataError(
            f"The global batch size {plan.batch_size} does not divide by"
            f" {process_count} processes.\n"
            f"  Use batch_size={' or batch_size='.join(map(str, sizes))}."
        )


def _check_shares(plan: _batch.BatchPlan, origin: int, process_count: int) -> None:
    if plan.remainder != "keep":
        return
    uneven = [size for size in plan.incomplete(origin) if size % process_count]
    if uneven:
        raise _errors.DataError(
            f"With remainder='keep' a batch has {min(uneven)} examples, which do not"
            f" divide by {process_count} processes.\n"
            "  Use remainder='pad', which counts every example exactly once."
        )
