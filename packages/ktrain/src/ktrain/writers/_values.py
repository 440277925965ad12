"""What may be written: numbers, texts and media, flattened to one level of names."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np

from ktrain import _errors, spec

if TYPE_CHECKING:
    from kmetrics.summaries import Media

MAX_VECTOR = 16

Scalar: TypeAlias = bool | int | float | str


class UnwritableValueError(_errors.TrainError, TypeError):
    """A metric computed something that no writer can write."""


class FlatValues(dict[str, "Scalar | Media"]):
    """Values by full name ("metrics/acc"): plain Python numbers, texts and media."""

    def numbers(self) -> dict[str, bool | int | float]:
        """Gives the numbers."""
        return {k: v for k, v in self.items() if isinstance(v, (bool, int, float))}

    def texts(self) -> dict[str, str]:
        """Gives the texts."""
        return {k: v for k, v in self.items() if isinstance(v, str)}

    def media(self) -> dict[str, Media]:
        """Gives the pictures, histograms and other media of `kmetrics.summaries`."""
        return {k: v for k, v in self.items() if _is_media(v)}


def flatten(values: Mapping[str, Any]) -> FlatValues:
    """Gives one level of plain values; flat ones are given back as they are.

    Nested dicts become `name/sub`, vectors `name/0`, `name/1`, ... Numbers of every
    real dtype become Python numbers, without loss. Media stay as they are.

    Raises:
      UnwritableValueError: A value is none of these; the message names its path.
    """
    if isinstance(values, FlatValues):
        return values
    flat = FlatValues()
    _add_mapping(flat, "", values)
    return flat


def _add_mapping(flat: FlatValues, path: str, values: Mapping[str, Any]) -> None:
    for key, value in values.items():
        _add(flat, f"{path}/{key}" if path else str(key), value)


def _add(flat: FlatValues, path: str, value: Any) -> None:
    if type(value) in {float, int, bool, str}:
        _put(flat, path, value)
    elif isinstance(value, Mapping):
        _add_mapping(flat, path, value)
    elif isinstance(value, str):
        _put(flat, path, str(value))
    elif isinstance(value, (bool, int, float)):
        _put(flat, path, _plain_number(path, np.asarray(value)))
    elif isinstance(value, (list, tuple)):
        _add_vector(flat, path, value, f"{type(value).__name__} of {len(value)}")
    elif _is_media(value):
        _put(flat, path, value)
    else:
        _add_array(flat, path, _array(path, value))


def _is_media(value: Any) -> TypeGuard[Media]:
    # Whoever has a value of it has imported the module; nobody else has to.
    summaries = sys.modules.get("kmetrics.summaries")
    return summaries is not None and isinstance(value, summaries.Media)


def _put(flat: FlatValues, path: str, value: Scalar | Media) -> None:
    if path in flat:
        raise UnwritableValueError(
            f"{path}: two values have this name.\n"
            "  Rename one: a dict's keys and a vector's positions are joined with '/'."
        )
    flat[path] = value


def _array(path: str, value: Any) -> np.ndarray:
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        try:
            return np.asarray(value)
        except TypeError as error:
            raise _unwritable(path, type(value).__qualname__) from error
    raise _unwritable(path, type(value).__qualname__)


def _add_array(flat: FlatValues, path: str, array: np.ndarray) -> None:
    if array.ndim == 0:
        _put(flat, path, _plain_number(path, array))
    else:
        name = f"{spec.short_dtype(array.dtype)}{list(array.shape)}"
        if array.ndim > 1:
            raise _unwritable(path, f"array {name}")
        _add_vector(flat, path, array, f"array {name}")


def _add_vector(flat: FlatValues, path: str, items: Any, described: str) -> None:
    if len(items) > MAX_VECTOR:
        raise _unwritable(path, described)
    for i, item in enumerate(items):
        array = np.asarray(item) if not isinstance(item, Mapping) else None
        if array is None or array.ndim > 0:
            raise _unwritable(f"{path}/{i}", type(item).__qualname__)
        _put(flat, f"{path}/{i}", _plain_number(f"{path}/{i}", array))


def _plain_number(path: str, array: np.ndarray) -> Scalar:
    kind, name = array.dtype.kind, array.dtype.name
    if kind == "b":
        return bool(array)
    if kind in "iu" or name.startswith(("int", "uint")):
        return int(array)
    # The kind of bfloat16 and the 8-bit floats is "V": not one of NumPy's own.
    if kind == "f" or "float" in name:
        return float(array)
    if kind == "U":
        return str(array)
    raise _unwritable(path, name)


def _unwritable(path: str, described: str) -> UnwritableValueError:
    return UnwritableValueError(
        f"{path}: a value of type {described} cannot be written.\n"
        f"  Expected a number, a vector of at most {MAX_VECTOR} numbers, a text, media"
        " of kmetrics.summaries, or a dict of these.\n"
        "  Return one of them from the metric's `compute`, for example the mean."
    )
