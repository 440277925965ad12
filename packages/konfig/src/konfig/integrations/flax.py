"""FrozenDict in flax's state dicts, and so in its bytes and checkpoints."""

from __future__ import annotations

import importlib
from typing import Any

from konfig._frozen import FrozenDict

_registered = False


def register() -> None:
    """Makes `FrozenDict` known to `flax.serialization`; a second call does nothing.

    Keys are written as texts, as flax does for its own mappings.

    Raises:
      ImportError: When flax is not installed.
    """
    global _registered
    if _registered:
        return
    serialization = importlib.import_module("flax.serialization")

    def to_state(frozen: FrozenDict) -> dict[str, Any]:
        state = {str(key): value for key, value in frozen.items()}
        if len(state) < len(frozen):
            raise ValueError(f"two keys have one text: {sorted(map(repr, frozen))}")
        return {key: serialization.to_state_dict(state[key]) for key in state}

    def from_state(frozen: FrozenDict, state: dict[str, Any]) -> FrozenDict:
        names = {str(key) for key in frozen}
        if names != state.keys():
            raise ValueError(
                f"the state of a FrozenDict has the keys {sorted(state)}, expected "
                f"{sorted(names)}"
            )
        return FrozenDict(
            {
                key: serialization.from_state_dict(value, state[str(key)], str(key))
                for key, value in frozen.items()
            }
        )

    serialization.register_serialization_state(FrozenDict, to_state, from_state)
    _registered = True
