"""Reading texts: sentences, references, words, and how far two sequences differ."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from kmetrics._errors import HostOnlyError, MaskShapeError
from kmetrics._masks import check_weights
from kmetrics._numerics import is_traced


def kept_texts(
    name: str, preds: Any, targets: Any, mask: Any | None
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The predictions and the references of each, without what the mask drops.

    Args:
      name: the metric, for errors.
      preds: texts `[b]`.
      targets: texts `[b]`, or for several references texts `[b, r]` or lists of
        different lengths.
      mask: bools or numbers `[b]` or `[b, 1]`; what is 0 is not looked at.

    Raises:
      HostOnlyError: called under jit.
      TypeError: something is not a text, or the mask no numbers.
      ValueError: the lengths differ, or a prediction has no reference.
    """
    if is_traced((preds, targets, mask)):
        raise HostOnlyError(
            f"{name} compares texts on the host, not under jit\n"
            "call get_state outside of the jitted function"
        )
    for what, texts in (("preds", preds), ("targets", targets)):
        if isinstance(texts, str | bytes | Mapping | Set) or not _is_many(texts):
            raise TypeError(
                f"{name}: {what} must be a list of texts, one per example\n"
                f"  got {texts!r:.60}"
            )
    keep = np.ones(len(preds), bool) if mask is None else _kept(name, mask)
    if not len(preds) == len(targets) == len(keep):
        raise ValueError(
            f"{name}: not as many preds as targets\n"
            f"  {len(preds)} preds, {len(targets)} targets"
            + ("" if mask is None else f", a mask of {len(keep)}")
        )
    for i in np.flatnonzero(keep):
        references = targets[i]
        if isinstance(references, str | bytes) or not _is_many(references):
            references = (references,)
        if not len(references):
            raise ValueError(f"{name}: example {i} has no reference")
        texts = [_as_text(name, "preds", i, preds[i])]
        texts += [_as_text(name, "targets", i, text) for text in references]
        yield texts[0], tuple(texts[1:])


def _kept(name: str, mask: Any) -> np.ndarray:
    """Which examples a mask keeps, bool `[b]`."""
    mask = np.asarray(mask)
    if mask.dtype.kind not in "biufV":  # V: bfloat16
        raise TypeError(
            f"{name}: the mask must be bools or numbers, one per example\n"
            f"  got an array of {mask.dtype}"
        )
    check_weights(mask)
    if any(size != 1 for size in mask.shape[1:]):
        raise MaskShapeError(
            f"{name}: the mask must have one number per example\n"
            f"  got {list(mask.shape)}, expected [b] or [b, 1]"
        )
    return mask.reshape(-1) != 0


def _is_many(texts: Any) -> bool:
    return hasattr(texts, "__len__") and hasattr(texts, "__iter__")


def _as_text(name: str, what: str, index: Any, value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, str):
        return str(value)
    raise TypeError(
        f"{name}: {what}[{index}] is not a text\n  got {value!r:.60}\n"
        "decode numbers of tokens into texts first"
    )


def words_of(
    text: str, *, lowercase: bool, tokenize: Callable[[str], Any] | None
) -> Sequence[str]:
    """The words of a text: between white space, or as `tokenize` says."""
    text = text.lower() if lowercase else text
    return text.split() if tokenize is None else list(tokenize(text))


def ngrams(words: Sequence[Any], n: int) -> collections.Counter[Any]:
    """How often each run of `n` words occurs."""
    starts = range(len(words) - n + 1)
    return collections.Counter(tuple(words[i : i + n]) for i in starts)


def num_edits(a: Sequence[Any], b: Sequence[Any]) -> int:
    """The fewest insertions, deletions and substitutions that turn `a` into `b`.

    Reference: R. A. Wagner, M. J. Fischer, The string-to-string correction problem
    (1974); a row of the table at a time.
    """
    one, other = _numbered(a, b)
    places = np.arange(len(other) + 1)
    row = places
    for symbol in one:
        kept = np.minimum(row[1:] + 1, row[:-1] + (other != symbol))
        row = np.concatenate([row[:1] + 1, kept])
        # An insertion comes from the left: the best of all places there.
        row = np.minimum.accumulate(row - places) + places
    return int(row[-1])


def num_common(a: Sequence[Any], b: Sequence[Any]) -> int:
    """The length of the longest common subsequence."""
    one, other = _numbered(a, b)
    row = np.zeros(len(other) + 1, int)
    for symbol in one:
        longer = np.maximum(row[1:], row[:-1] + (other == symbol))
        row = np.maximum.accumulate(np.concatenate([row[:1], longer]))
    return int(row[-1])


def _numbered(a: Sequence[Any], b: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    numbers: dict[Any, int] = {}
    one, other = (
        np.array([numbers.setdefault(symbol, len(numbers)) for symbol in x], int)
        for x in (a, b)
    )
    return one, other
