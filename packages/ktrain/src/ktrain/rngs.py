"""Named streams of random keys, derived from the seed and the step number.

No key is stored: a resumed run derives the keys that the undisturbed run had.
The order of folding is fixed: seed, name of the stream, step, phase.
"""

from __future__ import annotations

import dataclasses
import hashlib
from typing import Any

import jax

from ktrain import _bind, _errors


@dataclasses.dataclass(frozen=True, kw_only=True)
class RngStream:
    """One stream of keys.

    Attributes:
      name: Name under which the model asks for the key (`"dropout"`).
      init: Whether the stream exists while the model is initialised.
      train: Whether it exists in training steps.
      eval: Whether it exists in evaluation.
      per_step: Whether every step has its own key.
    """

    name: str
    init: bool = True
    train: bool = True
    eval: bool = False
    per_step: bool = True


DEFAULT_STREAMS = (
    RngStream(name="params", train=False, per_step=False),
    RngStream(name="dropout"),
    RngStream(name="default"),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class RngStreams(_bind.RootBound):
    """The streams of a run.

    Attributes:
      streams: The streams; by default `params` (initialisation only), `dropout` and
        `default` (initialisation and training).
      seed: Root of every key; by default the trainer's.
    """

    streams: tuple[RngStream, ...] = DEFAULT_STREAMS
    seed: int = _bind.root("seed", default=0)

    def __post_init__(self) -> None:
        names = [stream.name for stream in self.streams]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise _errors.TrainerConfigError(
                f"rng_streams: two streams are named {twice[0]!r}.\n"
                "  Give every stream a name of its own."
            )

    def init(self) -> dict[str, jax.Array]:
        """Gives the typed keys for initialising the model, by stream name."""
        return {s.name: self._key(s, "init", 0) for s in self.streams if s.init}

    def train(self, step: Any) -> dict[str, jax.Array]:
        """Gives the typed keys of the update with number `step` (int or i32[])."""
        return {s.name: self._key(s, "train", step) for s in self.streams if s.train}

    def eval(self, eval_batch: Any) -> dict[str, jax.Array]:
        """Gives the typed keys of an evaluation batch, equal in every evaluation."""
        return {
            s.name: self._key(s, "eval", eval_batch) for s in self.streams if s.eval
        }

    def _key(self, stream: RngStream, phase: str, step: Any) -> jax.Array:
        key = jax.random.key(_bind.value_of(self.seed))
        key = jax.random.fold_in(key, _stable_hash(stream.name))
        if stream.per_step:
            key = jax.random.fold_in(key, step)
        return jax.random.fold_in(key, _stable_hash(phase))


def _stable_hash(text: str) -> int:
    """Gives the first 4 bytes of SHA-1 as an integer, the same in every process."""
    return int.from_bytes(hashlib.sha1(text.encode()).digest()[:4], "little")
