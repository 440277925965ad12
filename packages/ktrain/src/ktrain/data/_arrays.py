"""Arrays as a loader gives them, made into examples that can be cut into batches.

Everything that can be wrong with data is said here, once, before the first batch:
which key, what it holds, what to do.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ktrain import _errors, spec

# Larger arrays are fingerprinted by as many bytes in evenly spread blocks.
_HASHED_BYTES = 1 << 28
_HASHED_BLOCK = 1 << 16


@dataclasses.dataclass(frozen=True, eq=False)
class Examples:
    """Checked data: a nested dict of C-contiguous arrays, all [num_examples, ...]."""

    tree: dict[str, Any]
    num_examples: int

    @functools.cached_property
    def fingerprint(self) -> str:
        """Hash of keys, shapes, dtypes and contents, 32 hexadecimal digits.

        Arrays above 256 MiB count by 4096 evenly spread blocks of 64 KiB.
        """
        digest = hashlib.blake2b(digest_size=16)
        for path, array in sorted(leaves(self.tree), key=lambda leaf: leaf[0]):
            digest.update(repr((path, array.shape, array.dtype.name)).encode())
            for block in _hashed_blocks(array):
                digest.update(block.data)
        return digest.hexdigest()


def check(data: Any) -> Examples:
    """Gives examples from what a loader returned.

    Args:
      data: Mapping from str to array, or nested such mappings. Sequences of numbers
        count as arrays. All have the same first axis, the examples.

    Returns:
      The same data; 64-bit arrays are converted to 32 bits, with one warning.

    Raises:
      DataError: There is no data, it is not arrays, or the lengths differ.
    """
    if not isinstance(data, Mapping):
        raise _errors.DataError(
            f"The loader gave a {_kind(data)}; expected a mapping from names to"
            " arrays.\n"
            "  Return a dict such as {'image': images, 'label': labels}."
        )
    if spec.MASK_KEY in data:
        raise _errors.DataError(
            f"The key {spec.MASK_KEY!r} of the data is reserved: pipelines write there"
            " which rows of a padded batch are real examples.\n"
            "  Give that array another name."
        )
    wide: dict[str, str] = {}
    tree = _check_tree(data, (), wide)
    num_examples = _common_length(tree)
    if wide:
        warnings.warn(_narrowing(wide), UserWarning, stacklevel=2)
    return Examples(tree, num_examples)


def leaves(
    tree: Mapping[str, Any], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], np.ndarray]]:
    """Gives each array of a nested dict with the keys that lead to it."""
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key), value


def _check_tree(
    data: Mapping[Any, Any], path: tuple[str, ...], wide: dict[str, str]
) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for key, value in data.items():
        if not isinstance(key, str):
            raise _errors.DataError(
                f"The data has the key {key!r} of type {_kind(key)}"
                f"{' in ' + _name(path) if path else ''}.\n"
                "  Give every array a str as its name."
            )
        inner = (*path, key)
        if isinstance(value, Mapping):
            tree[key] = _check_tree(value, inner, wide)
        else:
            tree[key] = _check_array(value, inner, wide)
    return tree


def _check_array(value: Any, path: tuple[str, ...], wide: dict[str, str]) -> np.ndarray:
    try:
        array = np.asarray(value)
    except ValueError as error:
        ragged = _ragged(value, path)
        if ragged is None:
            error.add_note(f"while making an array of {_name(path)} of the data")
            raise
        raise ragged from None
    if array.dtype.kind == "O":
        ragged = _ragged(value, path) if array.ndim else None
        raise ragged or _not_numbers(array, path)
    if array.dtype.kind in "USTMm" or array.dtype.fields is not None:
        raise _not_numbers(array, path)
    if array.ndim == 0:
        raise _errors.DataError(
            f"{_name(path)} of the data is a single {_kind(value)}; expected"
            " an array whose first axis is the examples."
        )
    narrow = _narrow(array, path)
    if narrow.dtype != array.dtype and hasattr(value, "dtype"):
        wide[_name(path)] = f"{array.dtype} -> {narrow.dtype}"
    # `take` copies the whole of an array that is not contiguous, at every batch.
    return np.ascontiguousarray(narrow, narrow.dtype.newbyteorder("="))


def _narrow(array: np.ndarray, path: tuple[str, ...]) -> np.ndarray:
    limit = 16 if array.dtype.kind == "c" else 8
    if array.dtype.kind not in "iufc" or array.dtype.itemsize < limit:
        return array
    target = np.dtype(f"{array.dtype.kind}{limit // 2}")
    with np.errstate(over="ignore"):
        narrow = array.astype(target)
    if array.dtype.kind in "iu":
        lost = narrow != array
    else:
        lost = np.isfinite(narrow) != np.isfinite(array)
    if lost.any():
        first = tuple(int(i) for i in np.argwhere(lost)[0])
        raise _errors.DataError(
            f"{_name(path)} of the data is {array.dtype} and holds values that"
            f" {target} cannot hold.\n"
            f"  First at index {list(first)}: {array[first]}\n"
            f"  Convert it in the loader, such as to another unit or to two arrays."
        )
    return narrow


def _common_length(tree: dict[str, Any]) -> int:
    lengths = {_name(path): len(array) for path, array in leaves(tree)}
    if not lengths:
        raise _errors.DataError(
            "The loader gave no array at all.\n"
            "  Return a dict such as {'image': images, 'label': labels}."
        )
    if len(set(lengths.values())) > 1:
        rows = [(name, str(length)) for name, length in lengths.items()]
        raise _errors.DataError(
            "The arrays of the data have different numbers of examples"
            f" (first axis):\n{_errors.table(rows)}\n"
            "  Give every array one row for each example."
        )
    num_examples = next(iter(lengths.values()))
    if num_examples == 0:
        raise _errors.DataError(
            f"The data has 0 examples: the first axis of {', '.join(lengths)} is"
            " empty.\n  Check what the loader reads."
        )
    return num_examples


def _ragged(value: Any, path: tuple[str, ...]) -> _errors.DataError | None:
    """Gives the error for rows of different shapes; None when shapes agree."""
    first: tuple[int, ...] | None = None
    for index, row in enumerate(value):
        try:
            shape = np.shape(row)
        except ValueError:
            return _errors.DataError(
                f"{_name(path)}[{index}] of the data is ragged in itself: its rows"
                " have different lengths.\n"
                "  Pad or crop them in the loader to one shape."
            )
        first = shape if first is None else first
        if shape != first:
            return _errors.DataError(
                f"{_name(path)} of the data is ragged: its examples have different"
                " shapes.\n"
                f"  {_name(path)}[0]  shape {list(first)}\n"
                f"  {_name(path)}[{index}]  shape {list(shape)}\n"
                "  Pad or crop them in the loader to one shape."
            )
    return None


def _not_numbers(array: np.ndarray, path: tuple[str, ...]) -> _errors.DataError:
    held = _kind(array.flat[0]) if array.size else f"dtype {array.dtype}"
    return _errors.DataError(
        f"{_name(path)} of the data has dtype {array.dtype} (holds {held}); expected"
        " numbers or booleans.\n"
        "  Encode it in the loader, such as class names as int32 labels."
    )


def _narrowing(wide: dict[str, str]) -> str:
    changes = ", ".join(f"{name} ({change})" for name, change in wide.items())
    return (
        f"64-bit arrays of the data are converted to 32 bits: {changes}."
        " Convert them in the loader to choose the dtype and to lose this warning."
    )


def _hashed_blocks(array: np.ndarray) -> Iterator[np.ndarray]:
    data = array.reshape(-1).view(np.uint8)
    if len(data) <= _HASHED_BYTES:
        yield data
        return
    count = _HASHED_BYTES // _HASHED_BLOCK
    for i in range(count):
        start = i * (len(data) - _HASHED_BLOCK) // (count - 1)
        yield data[start : start + _HASHED_BLOCK]


def _name(path: tuple[str, ...]) -> str:
    return repr(".".join(path))


def _kind(value: Any) -> str:
    return type(value).__name__
