"""Arrays on disk in the orbax format. The only module that imports orbax."""

from __future__ import annotations

import concurrent.futures
import functools
import logging
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

_T = TypeVar("_T")


def write(path: Path, arrays: Mapping[str, Any]) -> None:
    """Writes named arrays into a new folder (with several processes: all call it)."""
    ocp = _orbax()

    def save() -> None:
        with ocp.Checkpointer(_handler(ocp)) as checkpointer:
            checkpointer.save(path.absolute(), args=ocp.args.PyTreeSave(dict(arrays)))

    _in_own_thread(save)


def read(path: Path, likes: Mapping[str, Any]) -> dict[str, Any]:
    """Reads named arrays.

    Args:
      path: The folder that was written.
      likes: What to read; None gives a numpy array, an abstract array with a sharding
        gives a jax array laid out so.

    Returns:
      The arrays under their names.
    """
    ocp = _orbax()
    args = ocp.args.PyTreeRestore(
        item=dict.fromkeys(likes, 0),
        restore_args={name: _restore_args(ocp, like) for name, like in likes.items()},
    )

    def restore() -> dict[str, Any]:
        with ocp.Checkpointer(_handler(ocp)) as checkpointer:
            return checkpointer.restore(path.absolute(), args=args)

    return _in_own_thread(restore)


def _in_own_thread(act: Callable[[], _T]) -> _T:
    # Where an event loop runs, as in a notebook, orbax would patch asyncio for all.
    with concurrent.futures.ThreadPoolExecutor(1, "ktrain-orbax") as pool:
        return pool.submit(act).result()


def _restore_args(ocp: Any, like: Any) -> Any:
    import numpy as np

    if like is None:
        return ocp.RestoreArgs(restore_type=np.ndarray)
    return ocp.ArrayRestoreArgs(
        sharding=like.sharding, global_shape=like.shape, dtype=like.dtype
    )


def _handler(ocp: Any) -> Any:
    # Weights hardly compress: without it a save takes 0.6x and a restore 0.3x the time.
    return ocp.PyTreeCheckpointHandler(
        use_ocdbt=True, use_zarr3=True, use_compression=False
    )


@functools.cache
def _orbax() -> Any:
    import orbax.checkpoint as ocp

    logging.getLogger("absl").addFilter(_is_worth_reading)
    logging.getLogger("asyncio").addFilter(_is_no_echo)
    sys.unraisablehook = _without_echoes(sys.unraisablehook)
    return ocp


def _is_worth_reading(record: logging.LogRecord) -> bool:
    # Orbax writes some twenty INFO lines per save, and the trace of every error that
    # it raises as well.
    if f"{os.sep}orbax{os.sep}" not in record.pathname:
        return True
    return record.levelno >= logging.WARNING and not record.exc_info


# At the first array that fails orbax raises its error and closes the event loop that
# the other arrays of the same call still report to. Each of them would print a trace,
# at any time later: the same error again, or that the loop is closed.


def _is_no_echo(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return not (isinstance(error, ValueError) and "OCDBT database" in str(error))


def _without_echoes(hook: Callable[[Any], object]) -> Callable[[Any], object]:
    def filtered(unraisable: Any) -> None:
        error = unraisable.exc_value
        from_no_object = isinstance(error, RuntimeError) and unraisable.object is None
        if not (from_no_object and str(error) == "Event loop is closed"):
            hook(unraisable)

    return filtered
