"""Shapes and dtypes without data: what a batch looks like."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

import kontext

MASK_KEY = "_mask"
"""Key of a batch: bool [batch], False for rows which only fill the batch."""

_SHORT = {
    "float": "f",
    "bfloat": "bf",
    "int": "i",
    "uint": "u",
    "complex": "c",
}


@dataclasses.dataclass(frozen=True)
class ArraySpec:
    """Shape and dtype of one array; prints as `f32[128 8]`."""

    shape: tuple[int, ...]
    dtype: Any

    @classmethod
    def of(cls, array: Any) -> ArraySpec:
        """Gives the spec of an array, a number, or anything with shape and dtype."""
        if not hasattr(array, "shape"):
            array = np.asarray(array)
        return cls(tuple(int(n) for n in array.shape), array.dtype)

    def __repr__(self) -> str:
        return f"{short_dtype(self.dtype)}[{' '.join(map(str, self.shape))}]"


def short_dtype(dtype: Any) -> str:
    """Gives `f32` for float32, `i64` for int64; other dtypes by their name."""
    name = getattr(dtype, "name", str(dtype))
    stem = name.rstrip("0123456789")
    return _SHORT[stem] + name[len(stem) :] if stem in _SHORT else name


def spec_of(tree: Any) -> Any:
    """Gives the tree of specs of nested mappings, lists and tuples of arrays."""
    if isinstance(tree, Mapping):
        return {key: spec_of(value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(spec_of(value) for value in tree)
    return ArraySpec.of(tree)


def path_text(key_path: tuple[Any, ...]) -> str:
    """Gives a jax key path as the text that a key would have, `opt_state[0].count`."""
    return str(kontext.Path.from_jax_path(key_path))
