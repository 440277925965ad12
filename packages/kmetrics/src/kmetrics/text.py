"""Metrics that compare texts: translations, summaries, transcripts, answers.

Texts are compared on the host: call `get_state` outside of jit. The states hold counts,
which merge exactly.
"""

from __future__ import annotations

import collections
import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from kmetrics._average import AverageState
from kmetrics._options import Count, Function, Natural, Positive
from kmetrics._text_metric import NgramState, TextMetric, WordMetric
from kmetrics._texts import ngrams, num_common, num_edits, words_of

__all__ = ["Bleu", "Cer", "ChrF", "ExactMatch", "RougeL", "RougeN", "Wer"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Bleu(WordMetric):
    """The BLEU of a whole corpus, 0 to 1.

    The geometric mean of the shares of n-grams that occur in a reference, no more often
    than there, times a penalty for predictions that are shorter than their references.
    Of several references the one counts whose length is closest; of two, the shorter.

    Reference: K. Papineni, S. Roukos, T. Ward, W.-J. Zhu, BLEU: a method for automatic
    evaluation of machine translation (2002). Words are split at white space, so numbers
    differ from tools with a tokenizer of their own; give that as `tokenize`.

    Attributes:
      preds: path of texts `[b]`.
      targets: path of texts `[b]`, or of several references for each.
      mask: path of bools or numbers `[b]`; 0 drops the example.
      lowercase: whether case is ignored.
      on_empty: the value without examples: "nan", "zero", or "raise".
      tokenize: a function from a text to its words; None: split at white space.
      max_order: the longest n-grams.
      smoothing: None: 0 if an order has no hit. "add1": one hit and one n-gram more in
        each order above 1 (C.-Y. Lin, F. J. Och, ORANGE, 2004).

    Raises:
      ValueError: an option is not known.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    State = NgramState

    max_order: Count = 4
    smoothing: Literal["add1"] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.smoothing not in (None, "add1"):
            raise ValueError(
                f'Bleu: smoothing={self.smoothing!r} is not known\nuse None or "add1"'
            )

    def _state(self, pairs: Sequence[tuple[Any, list[Any]]]) -> Any:
        counts = np.zeros((3, self.max_order), np.int64)
        for words, references in pairs:
            closest = min(map(len, references), key=lambda n: (abs(n - len(words)), n))
            for i in range(self.max_order):
                found = ngrams(words, i + 1)
                allowed = collections.Counter[Any]()
                for reference in references:
                    allowed |= ngrams(reference, i + 1)
                counts[0, i] += (found & allowed).total()
                counts[1, i] += found.total()
                counts[2, i] += max(closest - i, 0)
        hits, in_preds, in_refs = counts
        return NgramState(
            hits=hits, in_preds=in_preds, in_refs=in_refs, examples=len(pairs)
        )

    def from_counts(
        self, hits: np.ndarray, in_preds: np.ndarray, in_refs: np.ndarray
    ) -> float:
        """BLEU from counts `[max_order]`; the first order counts the words."""
        pred_length, ref_length = in_preds[0], in_refs[0]
        if self.smoothing == "add1":
            more = np.arange(self.max_order) > 0
            hits, in_preds = hits + more, in_preds + more
        if not hits.all():
            return 0.0
        precision = math.exp(np.log(hits / in_preds).mean())
        return precision * math.exp(min(0.0, 1 - ref_length / pred_length))


@dataclasses.dataclass(frozen=True, kw_only=True)
class ChrF(TextMetric):
    """The F-score of character n-grams over a whole corpus (chrF), 0 to 1.

    Precision and recall are means over the orders that occur on both sides. White space
    is not looked at. Of several references the one counts that the prediction fits
    best.

    Reference: M. Popović, chrF: character n-gram F-score for automatic MT evaluation
    (2015); with `word_order=2` chrF++: words helping character n-grams (2017).

    Attributes:
      preds: path of texts `[b]`.
      targets: path of texts `[b]`, or of several references for each.
      mask: path of bools or numbers `[b]`; 0 drops the example.
      lowercase: whether case is ignored.
      on_empty: the value without examples: "nan", "zero", or "raise".
      order: the longest n-grams of characters.
      word_order: the longest n-grams of words; 0: none.
      beta: how much more recall counts than precision.

    Raises:
      ValueError: an option is out of range.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    State = NgramState

    order: Count = 6
    word_order: Natural = 0
    beta: Positive = 2.0

    def _tokens(self, text: str) -> Any:
        words = words_of(text, lowercase=self.lowercase, tokenize=None)
        characters = "".join(words)
        return [ngrams(characters, n + 1) for n in range(self.order)] + [
            ngrams(words, n + 1) for n in range(self.word_order)
        ]

    def _state(self, pairs: Sequence[tuple[Any, list[Any]]]) -> Any:
        total = np.zeros((3, self.order + self.word_order), np.int64)
        for found, references in pairs:
            options = [_overlap(found, reference) for reference in references]
            total += max(options, key=lambda counts: self.from_counts(*counts))
        hits, in_preds, in_refs = total
        return NgramState(
            hits=hits, in_preds=in_preds, in_refs=in_refs, examples=len(pairs)
        )

    def from_counts(
        self, hits: np.ndarray, in_preds: np.ndarray, in_refs: np.ndarray
    ) -> float:
        """The F-score from counts `[orders]`."""
        both = (in_preds > 0) & (in_refs > 0)
        if not hits.any():
            return 0.0
        precision = (hits[both] / in_preds[both]).mean()
        recall = (hits[both] / in_refs[both]).mean()
        weight = self.beta**2
        return (1 + weight) * precision * recall / (weight * precision + recall)


def _overlap(found: Sequence[Any], reference: Sequence[Any]) -> np.ndarray:
    """Hits, n-grams here and n-grams there, `[3, orders]`."""
    sides = zip(found, reference, strict=True)
    counts = [((a & b).total(), a.total(), b.total()) for a, b in sides]
    return np.array(counts, np.int64).T


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Rouge(WordMetric):
    State = AverageState

    score: Literal["f1", "precision", "recall"] = "f1"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.score not in ("f1", "precision", "recall"):
            raise ValueError(
                f"{type(self).__name__}: score={self.score!r} is not known\n"
                'use "f1", "precision" or "recall"'
            )

    def _state(self, pairs: Sequence[tuple[Any, list[Any]]]) -> Any:
        best = [max(self._of(p, r) for r in references) for p, references in pairs]
        # Summed in float64, and kept in 48 bits.
        return AverageState(total=np.float64(sum(best)), count=len(best))

    def _of(self, pred: Sequence[str], reference: Sequence[str]) -> float:
        hits, here, there = self._counts(pred, reference)
        of = {"precision": here, "recall": there, "f1": (here + there) / 2}[self.score]
        return hits / of if of else 0.0

    def _counts(
        self, pred: Sequence[str], reference: Sequence[str]
    ) -> tuple[int, int, int]:
        """What is common, and how much there is in each of the two."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True, kw_only=True)
class RougeN(_Rouge):
    """The share of n-grams that a prediction and its reference have in common.

    The mean over the examples, 0 to 1; of several references the best one counts.

    Reference: C.-Y. Lin, ROUGE: a package for automatic evaluation of summaries (2004).

    Attributes:
      preds: path of texts `[b]`.
      targets: path of texts `[b]`, or of several references for each.
      mask: path of bools or numbers `[b]`; 0 drops the example.
      lowercase: whether case is ignored.
      on_empty: the value without examples: "nan", "zero", or "raise".
      tokenize: a function from a text to its words; None: split at white space.
      score: "f1", "precision" or "recall".
      n: how many words a run has.

    Raises:
      ValueError: an option is not known.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    n: Count = 1

    def _counts(
        self, pred: Sequence[str], reference: Sequence[str]
    ) -> tuple[int, int, int]:
        here, there = ngrams(pred, self.n), ngrams(reference, self.n)
        return (here & there).total(), here.total(), there.total()


@dataclasses.dataclass(frozen=True, kw_only=True)
class RougeL(_Rouge):
    """The longest sequence of words that both have in order, as a share.

    The mean over the examples, 0 to 1; of several references the best one counts.
    Attributes and reference: see `RougeN`.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    def _counts(
        self, pred: Sequence[str], reference: Sequence[str]
    ) -> tuple[int, int, int]:
        return num_common(pred, reference), len(pred), len(reference)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExactMatch(TextMetric):
    """The share of predictions that equal a reference.

    Attributes:
      preds: path of texts `[b]`.
      targets: path of texts `[b]`, or of several references for each.
      mask: path of bools or numbers `[b]`; 0 drops the example.
      lowercase: whether case is ignored.
      on_empty: the value without examples: "nan", "zero", or "raise".
      normalize: a function from a text to what is compared, such as `str.strip`.
    """

    higher_is_better = True
    range = (0.0, 1.0)

    State = AverageState

    normalize: Function | None = None

    def _tokens(self, text: str) -> Any:
        text = text.lower() if self.lowercase else text
        return text if self.normalize is None else self.normalize(text)

    def _state(self, pairs: Sequence[tuple[Any, list[Any]]]) -> Any:
        hits = sum(pred in references for pred, references in pairs)
        return AverageState(total=hits, count=len(pairs))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Wer(WordMetric):
    """The word error rate: edits per word of the references, 0 and more.

    An edit inserts, deletes or replaces a word. Σ edits / Σ words over all examples, so
    a long reference counts more than a short one. Of several references the one counts
    that needs the fewest edits.

    Attributes:
      preds: path of texts `[b]`.
      targets: path of texts `[b]`, or of several references for each.
      mask: path of bools or numbers `[b]`; 0 drops the example.
      lowercase: whether case is ignored.
      on_empty: the value without words: "nan", "zero", or "raise".
      tokenize: a function from a text to its words; None: split at white space.
    """

    higher_is_better = False
    range = (0.0, math.inf)

    State = AverageState

    def _state(self, pairs: Sequence[tuple[Any, list[Any]]]) -> Any:
        best = [
            min(
                (num_edits(pred, reference), len(reference)) for reference in references
            )
            for pred, references in pairs
        ]
        edits, lengths = np.array(best, np.int64).reshape(-1, 2).sum(axis=0)
        return AverageState(total=edits, count=lengths)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cer(Wer):
    """The character error rate: as `Wer`, with characters for words.

    White space counts as it stands. `tokenize` may split a text into other signs.
    """

    def _tokens(self, text: str) -> Sequence[str]:
        return words_of(text, lowercase=self.lowercase, tokenize=self.tokenize or tuple)
