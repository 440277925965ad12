"""Losses of sequences whose alignment is not known."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import kontext
from kmetrics._loss import Loss
from kmetrics._numerics import is_traced, wide_integers
from kmetrics._options import Flag, Natural
from ktyping import Array, Bool, Float, Int, Real, typechecked

# The logarithm of a probability of 0, without an inf, whose gradient would be NaN.
_IMPOSSIBLE = -1e30


@dataclasses.dataclass(frozen=True, kw_only=True)
class CTC(Loss):
    """`-log` of the probability that the frames spell the labels, over all alignments.

    Each frame is one of `n` classes; equal neighbours are one, and blanks are left out.
    Labels that the frames are too few for have the value inf.

    A label that is no class, or the blank, or that counts after one that does not,
    gives NaN; outside jit it raises ValueError.

    Reference: A. Graves, S. Fernández, F. Gomez, J. Schmidhuber, Connectionist temporal
    classification (2006), section 4.1.

    Attributes:
      logits: path of floats `[*b, t, n]`.
      labels: path of integers `[*b, l]`.
      logit_mask: path of bools or 0 and 1 `[*b, t]`: which frames count.
      label_mask: path of bools or 0 and 1 `[*b, l]`: which labels count; what does not
        is at the end.
      blank: the class of the blank, in [0, n).
      zero_infinity: whether labels that the frames are too few for have the value 0.
    """

    logits: kontext.Key = kontext.REQUIRED
    labels: kontext.Key = kontext.REQUIRED
    logit_mask: kontext.Key | None = None
    label_mask: kontext.Key | None = None
    blank: Natural = 0
    zero_infinity: Flag = False

    @typechecked
    def get_values(
        self,
        logits: Float[Array, "*b t n"],
        labels: Int[Array, "*b l"],
        logit_mask: Real[Array, "*b t"] | Bool[Array, "*b t"] | None = None,
        label_mask: Real[Array, "*b l"] | Bool[Array, "*b l"] | None = None,
        mask: Any = None,
    ) -> Float[Array, "*b 1"]:
        """`[*b, 1]`, one value per sequence."""
        logits, labels = self._floats(logits), wide_integers(labels)
        if self.blank >= logits.shape[-1]:
            raise ValueError(
                "CTC: the blank is no class\n"
                f"  got blank={self.blank}, expected 0 to {logits.shape[-1] - 1}"
            )
        frames = _all_or(logit_mask, logits.shape[:-1])
        # Before the softmax, whose gradient would see a NaN in the padding.
        log_probs = jax.nn.log_softmax(jnp.where(frames[..., None], logits, 0.0))
        counts = _all_or(label_mask, labels.shape)
        is_label = (labels >= 0) & (labels < log_probs.shape[-1])
        is_label = (is_label & (labels != self.blank)) | ~counts
        # What counts after something that does not would be spelled too early.
        in_order = ~counts[..., 1:] | counts[..., :-1]
        if mask is None:
            self._check(labels, is_label, log_probs.shape[-1])
            _check_order(in_order)
        labels = jnp.where(is_label & counts, labels, self.blank)
        total = _log_probability(log_probs, labels, frames, counts, self.blank)
        impossible = 0.0 if self.zero_infinity else jnp.inf
        values = jnp.where(total > _IMPOSSIBLE / 2, -total, impossible)
        is_fine = is_label.all(axis=-1) & in_order.all(axis=-1)
        return jnp.where(is_fine, values, jnp.nan)[..., None]

    def _check(self, labels: jax.Array, is_label: jax.Array, n: int) -> None:
        if not is_traced(is_label) and not bool(jnp.all(is_label)):
            raise ValueError(
                "CTC: a label is no class, or the blank\n"
                f"  got {int(labels[~is_label][0])}, expected 0 to {n - 1} without "
                f"{self.blank}\nleave out the padding of the labels with label_mask"
            )


def _check_order(in_order: jax.Array) -> None:
    if not is_traced(in_order) and not np.all(in_order):
        raise ValueError(
            "CTC: label_mask leaves out a label before one that counts\n"
            "labels that do not count must stand at the end"
        )


# One compiled call when used outside jit, and plain operations inside.
@functools.partial(jax.jit, static_argnames="blank", inline=True)
def _log_probability(
    log_probs: jax.Array,
    labels: jax.Array,
    frames: jax.Array,
    counts: jax.Array,
    blank: int,
) -> jax.Array:
    """The forward algorithm, `[*b]`, over labels with blanks around each of them."""
    spelled = jnp.full((*labels.shape[:-1], 2 * labels.shape[-1] + 1), blank)
    spelled = spelled.at[..., 1::2].set(labels)
    # A blank between two labels may be skipped unless they are equal.
    before = jnp.pad(spelled, [*[(0, 0)] * (spelled.ndim - 1), (2, 0)])[..., :-2]
    may_skip = (spelled != blank) & (spelled != before)
    may_skip = may_skip & (jnp.arange(spelled.shape[-1]) >= 2)
    emitted = jnp.take_along_axis(log_probs, spelled[..., None, :], axis=-1)

    def step(reached: jax.Array, frame: tuple[jax.Array, jax.Array]) -> Any:
        emit, frame_counts = frame
        skipped = jnp.where(may_skip, _shift(reached, 2), _IMPOSSIBLE)
        into = jnp.logaddexp(jnp.logaddexp(reached, _shift(reached, 1)), skipped)
        # A sum of very many impossible frames must not become -inf.
        into = jnp.maximum(into + emit, _IMPOSSIBLE)
        return jnp.where(frame_counts[..., None], into, reached), None

    start = jnp.full(spelled.shape, _IMPOSSIBLE, emitted.dtype).at[..., 0].set(0.0)
    by_time = (jnp.moveaxis(emitted, -2, 0), jnp.moveaxis(frames, -1, 0))
    reached, _ = jax.lax.scan(step, start, by_time)
    last = 2 * jnp.sum(counts, axis=-1, keepdims=True)
    after_blank = jnp.take_along_axis(reached, last, axis=-1)[..., 0]
    label = jnp.take_along_axis(reached, jnp.maximum(last - 1, 0), axis=-1)[..., 0]
    return jnp.where(last[..., 0] == 0, after_blank, jnp.logaddexp(after_blank, label))


def _shift(x: jax.Array, by: int) -> jax.Array:
    """Each entry in the place of the one `by` further on."""
    padding = [*[(0, 0)] * (x.ndim - 1), (by, 0)]
    return jnp.pad(x, padding, constant_values=_IMPOSSIBLE)[..., : x.shape[-1]]


def _all_or(mask: Any, shape: tuple[int, ...]) -> jax.Array:
    return jnp.ones(shape, bool) if mask is None else jnp.asarray(mask) != 0
