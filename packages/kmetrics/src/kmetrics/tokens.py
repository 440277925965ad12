"""Metrics of predicted tokens."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import jax.numpy as jnp

import kontext
from kmetrics._auto import AutoState
from kmetrics._class_inputs import example_weights
from kmetrics._fields import sum_field
from kmetrics._masks import masked_sums
from kmetrics._metric import Metric, OnEmpty
from kmetrics._numerics import Pair, is_traced
from kmetrics._options import Whole
from kmetrics._register import state
from kmetrics.calibration import LogLoss
from kmetrics.classification import Accuracy
from ktyping import Array, Bool, Int, Real, typechecked

__all__ = ["BitsPerByte", "TokenAccuracy"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TokenAccuracy(Accuracy):
    """The share of tokens that are right, each counting once over all batches.

    Attributes, errors: as for `Accuracy`, with logits `[b, t, n]`, labels `[b, t]`, and
    a mask of tokens `[b, t]` or of examples `[b]`. `ignore_index` leaves padding out.
    """


@state
class BitsPerByteState(AutoState):
    """Sums of the information of the tokens and of the length of the texts.

    Attributes:
      nats: scalar, Σ -log p(token).
      num_bytes: scalar.
    """

    nats: Any = sum_field()
    num_bytes: Any = sum_field()

    def compute(self) -> float:
        """Bits per byte; what `on_empty` of the metric says without any byte."""
        if self.num_bytes == 0:
            return self.empty_value()
        return float(self.nats / self.num_bytes) / math.log(2)


@dataclasses.dataclass(frozen=True, kw_only=True)
class BitsPerByte(Metric):
    """The information of the tokens per byte of their text, in bits.

    `Σ -log₂ p(token) / Σ bytes`. Unlike the perplexity it does not depend on the
    vocabulary, so that models of different tokenizers can be compared.

    Attributes:
      logits: path of real numbers `[*b, t, n]`, of a softmax over the vocabulary.
      labels: path of the tokens, integers `[*b, t]`.
      num_bytes: path of the length of each text in bytes (UTF-8), integers `[*b]`.
      mask: path of bools or non-negative numbers `[*b]`, or `[*b, t]`; the bytes of a
        text count as much as that of its tokens which counts most.
      ignore_index: a token that does not count, such as -1.
      on_empty: the value without any byte: "nan", "zero", or "raise".
    """

    higher_is_better = False
    range = (0.0, math.inf)

    State = BitsPerByteState

    logits: kontext.Key = kontext.REQUIRED
    labels: kontext.Key = kontext.REQUIRED
    num_bytes: kontext.Key = kontext.REQUIRED
    mask: kontext.Key | None = None
    ignore_index: Whole | None = None
    on_empty: OnEmpty = "nan"

    @typechecked
    def get_state(
        self,
        logits: Real[Array, "*b t n"],
        labels: Int[Array, "*b t"],
        num_bytes: Int[Array, "*b"],
        mask: Real[Array, "..."] | Bool[Array, "..."] | None = None,
    ) -> Any:
        """The state of one batch.

        Raises:
          ValueError: a length is below 0. Under jit the value is NaN.
        """
        loss = LogLoss(ignore_index=self.ignore_index)
        state = loss.get_state(logits=logits, labels=labels, mask=mask)
        labels = jnp.asarray(labels)
        tokens = example_weights(mask, labels.shape)
        if self.ignore_index is not None:
            ignored = labels == self.ignore_index
            tokens = jnp.where(ignored, jnp.zeros_like(tokens), tokens)
        is_bool = tokens.dtype == jnp.bool_
        texts = tokens.any(axis=-1) if is_bool else tokens.max(axis=-1, initial=0)
        total, _ = masked_sums(num_bytes, texts)
        is_wrong = jnp.any((jnp.asarray(num_bytes) < 0) & (texts != 0))
        if not is_traced(is_wrong) and bool(is_wrong):
            raise ValueError(
                f"{type(self).__name__}: num_bytes holds a number below 0\n"
                "give the length of each text in bytes"
            )
        unknown = jnp.where(is_wrong, jnp.nan, 0.0)
        nats = Pair(state.total.hi + unknown, state.total.lo)
        return BitsPerByteState(nats=nats, num_bytes=total)
