"""A pipeline over arrays in memory."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ktrain import _bind, _errors
from ktrain import spec as spec_lib
from ktrain.data import _arrays, _batch, _iterator, _pipeline, _source


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class InMemoryPipeline(_bind.RootBound):
    """Batches of arrays that fit in memory, in an order that is exact for ever.

    The order depends on the data, the seed and the epoch alone: not on the number of
    processes and not on restarts. Making a pipeline reads nothing.

    Attributes:
      loader: Nested dict of arrays, all with the same first axis (the examples), or a
        callable that gives one. It is called when data is first needed, once for all
        pipelines that share it. Arrays are used as they are, not copied.
      batch_size: Examples of one global batch, over all processes.
      shuffle: Whether every epoch comes in another random order.
      num_epochs: How often training sees each example; None: without end.
        Evaluation always takes one epoch.
      seed: Of the shuffling; the trainer's, or 0 without a trainer.
      remainder: What happens to examples at the end of an epoch that do not fill a
        batch. "drop": left out. "keep": a smaller batch. "pad": filled up with zeros,
        and every batch has a key `_mask`, bool [batch], False for rows that only
        fill. None: "drop" for training and "pad" for evaluation.
      span_epochs: Whether batches may hold the end of one epoch and the start of the
        next, so that only the very last batch of training can be incomplete.

    Raises:
      TrainerConfigError: Fields that cannot work; all of them are named.

    Example:
      ```python
      pipeline = InMemoryPipeline(
          loader={"x": np.zeros((10, 8), np.float32)}, batch_size=4
      )
      batch = next(iter(pipeline))
      ```
    """

    loader: Callable[[], Mapping[str, Any]] | Mapping[str, Any]
    batch_size: int
    shuffle: bool = False
    num_epochs: int | None = None
    seed: int = _bind.root("seed", default=0)
    remainder: _batch.Remainder | None = None
    span_epochs: bool = False

    def __post_init__(self) -> None:
        """Checks the fields, and loads nothing."""
        problems = [
            problem
            for field in dataclasses.fields(self)
            if field.name in _EXPECTED
            and (problem := _problem(field.name, getattr(self, field.name)))
        ]
        if problems:
            raise _errors.TrainerConfigError(
                f"{type(self).__name__} cannot work with:\n{_errors.table(problems)}\n"
                "  Correct these fields."
            )
        object.__setattr__(self, "_source", _source.source_of(self.loader))

    def __repr__(self) -> str:
        # Arrays given as the loader would fill screens.
        shown = [f"loader=<{_source.describe(self.loader)}>"]
        for field in dataclasses.fields(self):
            if field.name != "loader":
                shown.append(f"{field.name}={getattr(self, field.name)!r}")
        return f"{type(self).__name__}({', '.join(shown)})"

    @property
    def element_spec(self) -> dict[str, Any]:
        """Shapes and dtypes of a full global batch, a nested dict of `ArraySpec`.

        Loads the data. The `_mask` of padded batches is not part of it.
        """
        return _spec_tree(self._examples().tree, operator.index(self.batch_size))

    @property
    def num_examples(self) -> int:
        """Number of examples of one epoch; loads the data."""
        return self._examples().num_examples

    def fingerprint(self) -> str:
        """Gives a hash of the data, the same in every process and at every restart.

        Loads the data. Arrays above 256 MiB count by evenly spread samples of as many
        bytes.
        """
        return self._examples().fingerprint

    def num_batches(self, purpose: _pipeline.Purpose = "train") -> int | None:
        """Gives how many batches there are; None when training data is endless.

        Raises:
          DataError: The data has fewer examples than one batch, and drops them.
        """
        return self._plan(purpose).count(0)

    def open(
        self,
        *,
        purpose: _pipeline.Purpose = "train",
        process_index: int = 0,
        process_count: int = 1,
    ) -> _iterator.InMemoryIterator:
        """Gives an iterator at the first batch.

        Args:
          purpose: "train", or "eval": one epoch, with `remainder="pad"` unless the
            field says otherwise, so that every example counts exactly once.
          process_index: Which rows of each global batch it gives: process p of P has
            the p-th of P equal parts.
          process_count: Number of processes P.

        Raises:
          DataError: The batch does not divide by the processes, or no batch is full.
        """
        if not 0 <= process_index < process_count:
            raise ValueError(
                f"open got process_index={process_index} of process_count="
                f"{process_count}; expected 0 <= process_index < process_count."
            )
        return _iterator.InMemoryIterator(
            self._examples(),
            self._plan(purpose),
            seed=operator.index(_bind.value_of(self.seed)),
            shuffle=self.shuffle,
            process_index=process_index,
            process_count=process_count,
        )

    def __iter__(self) -> _iterator.InMemoryIterator:
        return self.open()

    def _examples(self) -> _arrays.Examples:
        source: _source.Source = self.__dict__["_source"]
        if source.loader is not self.loader:
            # A trainer filled a field of the loader: this copy has another loader.
            source = _source.source_of(self.loader)
            object.__setattr__(self, "_source", source)
        return source.examples()

    def _plan(self, purpose: str) -> _batch.BatchPlan:
        if purpose not in {"train", "eval"}:
            raise ValueError(f"got purpose={purpose!r}; expected 'train' or 'eval'.")
        for_eval = purpose == "eval"
        epochs = 1 if for_eval else self.num_epochs
        plan = _batch.BatchPlan(
            num_examples=self.num_examples,
            batch_size=operator.index(self.batch_size),
            num_epochs=None if epochs is None else operator.index(epochs),
            remainder=self.remainder or ("pad" if for_eval else "drop"),
            span_epochs=self.span_epochs,
        )
        if _gives_nothing(plan):
            raise _errors.DataError(
                f"The dataset has {plan.num_examples} examples; global batch"
                f" {plan.batch_size} with remainder='drop' gives 0 batches.\n"
                f"  where: {type(self).__name__}, data from"
                f" {_source.describe(self.loader)}\n"
                f"  Use batch_size <= {plan.num_examples}, or remainder='pad'."
            )
        return plan


_EXPECTED = {
    "loader": "a mapping of arrays, or a callable that gives one",
    "batch_size": "an integer >= 1",
    "shuffle": "True or False",
    "num_epochs": "an integer >= 1, or None for endless data",
    "seed": "an integer",
    "remainder": "'drop', 'keep', 'pad' or None",
    "span_epochs": "True or False",
}


def _problem(name: str, value: Any) -> tuple[str, str, str] | None:
    if isinstance(value, _bind.RootRef) or _is_valid(name, value):
        return None
    hint = ""
    if name == "remainder":
        hint = _errors.did_you_mean(str(value), _batch.REMAINDERS)
    return name, f"got {repr(value)[:60]}", f"expected {_EXPECTED[name]}{hint}"


def _is_valid(name: str, value: Any) -> bool:
    match name:
        case "loader":
            return isinstance(value, Mapping) or callable(value)
        case "batch_size":
            return _is_int(value) and value >= 1
        case "num_epochs":
            return value is None or (_is_int(value) and value >= 1)
        case "seed":
            return _is_int(value)
        case "remainder":
            return value is None or value in _batch.REMAINDERS
        case _:
            return isinstance(value, bool)


def _is_int(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _gives_nothing(plan: _batch.BatchPlan) -> bool:
    if plan.span_epochs:
        return plan.count(0) == 0
    return plan.batches_per_epoch == 0


def _spec_tree(tree: dict[str, Any], batch_size: int) -> dict[str, Any]:
    return {
        key: _spec_tree(value, batch_size)
        if isinstance(value, dict)
        else spec_lib.ArraySpec((batch_size, *value.shape[1:]), value.dtype)
        for key, value in tree.items()
    }
