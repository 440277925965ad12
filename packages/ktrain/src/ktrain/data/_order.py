"""Which example stands at which position of the endless stream of epochs.

The order is a pure function of (seed, epoch, position): nothing is drawn, so any
position is reached at once and every process and every restart sees the same
order. It is part of every saved position, so it must never change.

An epoch of at most `BLOCK` examples is sorted by a keyed hash, which gives every
permutation the same chance. A longer one is permuted block by block by an
unbalanced Feistel network with cycle walking, so that memory does not grow with
the number of examples.
"""

from __future__ import annotations

import numpy as np

BLOCK = 8192
"""Positions that are evaluated at once and kept."""

_WORD = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_MIX_1 = 0xBF58476D1CE4E5B9
_MIX_2 = 0x94D049BB133111EB
# Must be even: the two halves of an odd number of bits swap widths in each round.
_ROUNDS = 6


class ExampleOrder:
    """The order of `num_examples` examples, epoch after epoch.

    With a seed every epoch is another permutation; without one (`None`) every
    epoch runs from the first example to the last.
    """

    def __init__(self, num_examples: int, seed: int | None):
        """Takes the length of an epoch and the seed, which counts modulo 2**64."""
        self.num_examples = num_examples
        self.seed = seed
        self._block_start = self._block_stop = 0
        self._block = np.empty(0, np.intp)

    def rows(self, position: int, count: int) -> slice | np.ndarray:
        """Gives which examples stand at `position`, ..., `position + count - 1`.

        Args:
          position: Place in the stream: epoch * num_examples + place in the epoch.
          count: How many; they may reach into later epochs.

        Returns:
          A slice, or an integer array [count]; it must not be written to.
        """
        stop = position + count
        if self.seed is not None:
            if self._block_start <= position and stop <= self._block_stop:
                base = self._block_start
                return self._block[position - base : stop - base]
            return self._gather(position, stop)
        start = position % self.num_examples
        if start + count <= self.num_examples:
            return slice(start, start + count)
        return np.arange(start, start + count) % self.num_examples

    def _gather(self, position: int, stop: int) -> np.ndarray:
        pieces = []
        while position < stop:
            if not self._block_start <= position < self._block_stop:
                self._load_block(position)
            base, end = self._block_start, min(stop, self._block_stop)
            pieces.append(self._block[position - base : end - base])
            position = end
        if len(pieces) == 1:
            return pieces[0]
        return np.concatenate(pieces) if pieces else np.empty(0, np.intp)

    def _load_block(self, position: int) -> None:
        assert self.seed is not None
        epoch, place = divmod(position, self.num_examples)
        start = place - place % BLOCK
        stop = min(start + BLOCK, self.num_examples)
        self._block = shuffled(self.num_examples, self.seed, epoch, start, stop)
        self._block_start = epoch * self.num_examples + start
        self._block_stop = epoch * self.num_examples + stop


def shuffled(
    num_examples: int,
    seed: int,
    epoch: int = 0,
    start: int = 0,
    stop: int | None = None,
) -> np.ndarray:
    """Gives a part of the permutation of one epoch.

    Args:
      num_examples: Length of the permutation.
      seed: Any integer; counts modulo 2**64.
      epoch: Which permutation, >= 0.
      start: First place.
      stop: Place after the last one; the end by default.

    Returns:
      int array [stop - start], the examples at the places start, ..., stop - 1.
    """
    stop = num_examples if stop is None else stop
    keys = _round_keys(seed, epoch)
    if num_examples <= BLOCK:
        # The hash is a bijection, so that there are no ties to break.
        order = np.argsort(_mix(np.arange(num_examples, dtype=np.uint64) + keys[0]))
        return order[start:stop].astype(np.intp)
    return feistel(np.arange(start, stop, dtype=np.uint64), num_examples, keys)


def feistel(places: np.ndarray, num_examples: int, keys: list[int]) -> np.ndarray:
    """Permutes `0, ..., num_examples - 1` by a keyed network, place by place.

    Args:
      places: uint64 array [n], each below `num_examples`.
      num_examples: Length of the permutation, >= 2.
      keys: 64-bit integers, one for each of an even number of rounds.

    Returns:
      int array [n].

    Reference:
      Black and Rogaway, "Ciphers with arbitrary finite domains", 2002: the cycle
      walk of section 3 (a result outside the domain is permuted again).
    """
    bits = (num_examples - 1).bit_length()
    out = _feistel_bits(places, bits, keys)
    outside = np.flatnonzero(out >= num_examples)
    while outside.size:
        out[outside] = _feistel_bits(out[outside], bits, keys)
        outside = outside[out[outside] >= num_examples]
    return out.astype(np.intp)


def _feistel_bits(values: np.ndarray, bits: int, keys: list[int]) -> np.ndarray:
    low = bits // 2
    width, other = bits - low, low
    left = (values >> low).astype(np.uint32)
    right = (values & ((1 << low) - 1)).astype(np.uint32)
    for key in keys:
        left, right = right, left ^ (_mix_32(right + (key >> 32)) >> (32 - width))
        width, other = other, width
    return left.astype(np.uint64) << low | right


def _round_keys(seed: int, epoch: int) -> list[int]:
    start = _mix_int(_mix_int(seed + _GOLDEN) ^ _mix_int(epoch + 2 * _GOLDEN))
    return [_mix_int(start + i * _GOLDEN) for i in range(1, _ROUNDS + 1)]


def _mix_int(value: int) -> int:
    """Hashes one integer modulo 2**64 as `_mix` does."""
    value &= _WORD
    value = (value ^ (value >> 30)) * _MIX_1 & _WORD
    value = (value ^ (value >> 27)) * _MIX_2 & _WORD
    return value ^ (value >> 31)


def _mix(values: np.ndarray) -> np.ndarray:
    """Hashes uint64 values one to one (Steele, Lea and Flood 2014, SplitMix64)."""
    values = values ^ (values >> 30)
    values *= _MIX_1
    values ^= values >> 27
    values *= _MIX_2
    values ^= values >> 31
    return values


def _mix_32(values: np.ndarray) -> np.ndarray:
    """Hashes uint32 values one to one, in place (Appleby 2011, MurmurHash3 fmix32)."""
    values ^= values >> 16
    values *= 0x85EBCA6B
    values ^= values >> 13
    values *= 0xC2B2AE35
    values ^= values >> 16
    return values
