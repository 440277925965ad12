"""What a model may ask about the step that it runs in."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator
from typing import Any

_train: contextvars.ContextVar[bool] = contextvars.ContextVar("ktrain_train")


def is_training() -> bool:
    """Tells whether the model runs in a training step (also while it is initialised).

    Raises:
      LookupError: The model runs outside of a trainer and of `training`.
    """
    try:
        return _train.get()
    except LookupError:
        raise LookupError(
            "is_training() is known only while a trainer or an evaluator runs the"
            " model.\n  Outside of them, use `with ktrain.nn.training(True):`."
        ) from None


def train_property() -> Any:
    """Gives a property for a model class that tells whether it is training.

    Example:
      class Net(nn.Module):
        is_training = ktrain.nn.train_property()
    """
    return property(lambda _: is_training(), doc="Whether this is a training step.")


@contextlib.contextmanager
def training(value: bool) -> Iterator[None]:
    """Sets what `is_training` tells within the block, in this thread or task."""
    token = _train.set(value)
    try:
        yield
    finally:
        _train.reset(token)
