"""What counts as an array: libraries are looked up when loaded, never imported."""

import sys
from typing import Any, NamedTuple

_CACHE_LIMIT = 4096
_ASK_INSTANCE = "instance"
_known: dict[type, str | None] = {}
_traced: dict[tuple[type, type], bool] = {}


class Facts(NamedTuple):
    """What a check of an array depends on."""

    backend: str
    shape: tuple[Any, ...]
    dtype: Any


def backend_of(value: Any) -> str | None:
    """Returns `np` or `jax` for an array of that library, else None."""
    cls = type(value)
    try:
        known = _known[cls]
    except KeyError:
        known = _classify(cls)
        if len(_known) >= _CACHE_LIMIT:
            _known.clear()
        _known[cls] = known
    return traced_backend(value) if known is _ASK_INSTANCE else known


def traced_backend(value: Any) -> str | None:
    """Returns `jax` if a tracer stands for an array, else None."""
    jax = sys.modules["jax"]
    # isinstance asks what the tracer stands for and is slow; the class of that
    # decides, so it is asked once per class.
    kind = (type(value), type(jax.typeof(value)))
    is_array = _traced.get(kind)
    if is_array is None:
        if len(_traced) >= _CACHE_LIMIT:
            _traced.clear()
        is_array = _traced[kind] = isinstance(value, jax.Array)
    return "jax" if is_array else None


def asks_instance(cls: type) -> bool:
    """Whether being an array is a matter of the instance (a tracer of jax)."""
    known = _known.get(cls, "")
    if known == "":
        tracer = _attribute("jax", "core", "Tracer")
        return tracer is not None and issubclass(cls, tracer)
    return known is _ASK_INSTANCE


def array_facts(value: Any) -> Facts | None:
    """Returns backend, shape and dtype of an array, None for anything else."""
    backend = backend_of(value)
    if backend is None:
        return None
    return Facts(backend, tuple(value.shape), value.dtype)


def _attribute(module: str, *path: str) -> Any:
    found: Any = sys.modules.get(module)
    for name in path:
        found = getattr(found, name, None)
    return found


def _classify(cls: type) -> str | None:
    ndarray, generic = _attribute("numpy", "ndarray"), _attribute("numpy", "generic")
    if ndarray is not None and issubclass(cls, (ndarray, generic)):
        return "np"
    # For a tracer issubclass(cls, jax.Array) is False although the instance is an
    # array: the answer depends on what is traced, so it is never kept by class.
    if asks_instance(cls):
        return _ASK_INSTANCE
    jax_array = _attribute("jax", "Array")
    if jax_array is not None and issubclass(cls, jax_array):
        return "jax"
    return None
