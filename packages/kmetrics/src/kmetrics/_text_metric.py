"""What the metrics of texts share: their inputs, and counts of n-grams."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

import kontext
from kmetrics._auto import AutoState
from kmetrics._fields import sum_field
from kmetrics._metric import Metric, OnEmpty
from kmetrics._options import Flag, Function
from kmetrics._register import state
from kmetrics._texts import kept_texts, words_of

Tokenize: TypeAlias = Callable[[str], Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TextMetric(Metric):
    """Compares predicted texts with references, on the host."""

    mask_weighs = False

    preds: kontext.Key = kontext.REQUIRED
    targets: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    lowercase: Flag = False
    on_empty: OnEmpty = "nan"

    def get_state(self, preds: Any, targets: Any, mask: Any | None = None) -> Any:
        """The state of one batch, on the host.

        Args:
          preds: texts `[b]`, a list or an array.
          targets: texts `[b]`; or several references for each, `[b, r]` or lists.
          mask: bools or numbers `[b]` or `[b, 1]`; 0 drops the example.

        Raises:
          HostOnlyError: called under jit.
          TypeError: something is not a text.
          ValueError: the lengths differ, or an example has no reference.
        """
        pairs = kept_texts(type(self).__name__, preds, targets, mask)
        return self._state([self._split(*pair) for pair in pairs])

    def _split(self, pred: str, references: Sequence[str]) -> tuple[Any, list[Any]]:
        return self._tokens(pred), [self._tokens(text) for text in references]

    def _tokens(self, text: str) -> Sequence[str]:
        return text.lower() if self.lowercase else text

    def _state(self, pairs: Sequence[tuple[Any, list[Any]]]) -> Any:
        raise NotImplementedError


@dataclasses.dataclass(frozen=True, kw_only=True)
class WordMetric(TextMetric):
    """A `TextMetric` of words."""

    tokenize: Function | None = None

    def _tokens(self, text: str) -> Sequence[str]:
        return words_of(text, lowercase=self.lowercase, tokenize=self.tokenize)


@state
class NgramState(AutoState):
    """Counts of n-grams per order, each `[orders]`.

    Attributes:
      hits: n-grams of the predictions that occur in a reference.
      in_preds: n-grams of the predictions.
      in_refs: n-grams of the references, the chosen one of each example.
      examples: scalar.
    """

    hits: Any = sum_field()
    in_preds: Any = sum_field()
    in_refs: Any = sum_field()
    examples: Any = sum_field()

    def compute(self) -> float:
        """What the metric makes of the counts, a float."""
        if self.examples == 0:
            return self.empty_value()
        counts = (self.hits, self.in_preds, self.in_refs)
        return float(self.parent.from_counts(*map(np.asarray, counts)))
