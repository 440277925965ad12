"""Parameters of targets, as far as they can be known."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING

import pytest

import konfig

if TYPE_CHECKING:
    from nowhere import Missing


@dataclasses.dataclass(kw_only=True)
class Trainer:
    num_train_steps: int
    model: Missing = None
    rate: float | None = None
    names: list[str] = dataclasses.field(default_factory=list)


def passes_on(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs)

    return wrapper


@passes_on
def wrapped(x: int = 1):
    return x


class Meta(type):
    def __call__(cls, *args, **kwargs):
        return super().__call__(*args, **kwargs)


class Made(metaclass=Meta):
    def __init__(self, hidden: int):
        self.hidden = hidden


def test_dataclasses_are_checked_though_an_annotation_cannot_be_read():
    node = konfig.call(Trainer, num_train_steps=3)
    with pytest.raises(TypeError, match="did you mean 'num_train_steps'"):
        konfig.call(Trainer, num_trian_steps=3)
    for override in ("num_train_steps=abc", "rate=abc", "names=3"):
        with pytest.raises(konfig.OverrideError, match="expected"):
            konfig.apply_overrides(node, [override])
    konfig.apply_overrides(node, ["num_train_steps=5", "rate=1", "model=x"])
    built = konfig.resolve(node)
    assert (built.num_train_steps, built.rate, built.model) == (5, 1.0, "x")


def test_a_wrapper_that_takes_everything_is_not_checked():
    node = konfig.call(wrapped, anything=3)
    node.more = 4
    assert node.anything == 3
    with pytest.raises(TypeError, match="anything"):
        konfig.resolve(node)


def test_a_metaclass_that_takes_everything_hides_nothing():
    with pytest.raises(TypeError, match="did you mean 'hidden'"):
        konfig.call(Made, hiden=3)
    assert konfig.resolve(konfig.call(Made, 3)).hidden == 3


def test_a_class_defined_anew_is_read_anew():
    global Made
    old = Made
    konfig.call(old, hidden=1)
    try:

        class Fresh:
            def __init__(self, size):
                self.size = size

        Fresh.__qualname__ = "Made"
        Made = Fresh
        assert konfig.resolve(konfig.call(Made, size=2)).size == 2
    finally:
        Made = old
