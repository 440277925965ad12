"""What counts as an array: libraries are looked up when loaded, never imported."""

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

_CACHE_LIMIT = 4096
_ASK_INSTANCE = "instance"
_known: dict[type, str | None] = {}
_traced: dict[tuple[type, type], bool] = {}


class Library(NamedTuple):
    """A library of arrays.

    Attributes:
      name: Short name, in `backend.name` and in reports.
      module: Module that holds the classes.
      classes: Names of the array classes in it.
      shape: Value -> its shape; None for the attribute `shape`.
      dtype: Value -> its dtype; None for the attribute `dtype`.
      names: Attribute that holds the names of the axes; None if they have none.
    """

    name: str
    module: str
    classes: tuple[str, ...]
    shape: Callable[[Any], Any] | None = None
    dtype: Callable[[Any], Any] | None = None
    names: str | None = None


class LibraryName:
    """What stands for a library in an array type: `Float[backend.torch, "n"]`."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name


# What an array type accepts that names no library.
DEFAULT = ("np", "jax")

LIBRARIES: dict[str, Library] = {
    library.name: library
    for library in (
        Library("np", "numpy", ("ndarray", "generic")),
        Library("jax", "jax", ("Array",)),
        Library("tf", "tensorflow", ("Tensor", "Variable")),
        Library("torch", "torch", ("Tensor",)),
        Library("xarray", "xarray", ("DataArray",), names="dims"),
    )
}


class Facts(NamedTuple):
    """What a check of an array depends on; the shape is None if its rank is unknown."""

    backend: str
    shape: tuple[Any, ...] | None
    dtype: Any


def backend_of(value: Any) -> str | None:
    """Returns the short name of the library that an array is of, None for no array."""
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
    # isinstance asks what the tracer stands for and is slow; the class of that
    # decides, so it is asked once per class.
    kind = (type(value), traced_kind(value))
    is_array = _traced.get(kind)
    if is_array is None:
        if len(_traced) >= _CACHE_LIMIT:
            _traced.clear()
        is_array = _traced[kind] = isinstance(value, sys.modules["jax"].Array)
    return "jax" if is_array else None


def traced_kind(tracer: Any) -> type:
    """Returns the class of what a tracer stands for."""
    return type(sys.modules["jax"].typeof(tracer))


def asks_instance(cls: type) -> bool:
    """Whether being an array is a matter of the instance (a tracer of jax)."""
    known = _known.get(cls, "")
    if known == "":
        tracer = _attribute("jax", "core", "Tracer")
        return tracer is not None and issubclass(cls, tracer)
    return known is _ASK_INSTANCE


def has_own_facts(value: Any) -> bool:
    """Whether a check depends on more than the attributes shape and dtype."""
    library = LIBRARIES.get(backend_of(value) or "")
    return library is not None and any(library[3:])


def axis_names(value: Any, backend: str) -> tuple[Any, ...] | None:
    """Returns the names of the axes of an array; None if its library has none."""
    attribute = LIBRARIES[backend].names
    return None if attribute is None else tuple(getattr(value, attribute))


def array_facts(value: Any) -> Facts | None:
    """Returns backend, shape and dtype of an array, None for anything else."""
    backend = backend_of(value)
    if backend is None:
        return None
    library = LIBRARIES[backend]
    shape = value.shape if library.shape is None else library.shape(value)
    dtype = value.dtype if library.dtype is None else library.dtype(value)
    return Facts(backend, sizes_of(shape), dtype)


def sizes_of(shape: Any) -> tuple[Any, ...] | None:
    """Returns the sizes of a shape; None if not even their number is known."""
    if type(shape) is tuple:
        return shape
    try:
        return tuple(shape)
    except (TypeError, ValueError):
        # A tf.TensorShape of unknown rank cannot be iterated.
        return None


def add_library(library: Library) -> None:
    """Adds a library, or replaces the one of the same name."""
    LIBRARIES[library.name] = library
    _known.clear()


def _attribute(module: str, *path: str) -> Any:
    found: Any = sys.modules.get(module)
    for name in path:
        found = getattr(found, name, None)
    return found


def _classify(cls: type) -> str | None:
    # For a tracer issubclass(cls, jax.Array) is False although the instance is an
    # array: the answer depends on what is traced, so it is never kept by class.
    if asks_instance(cls):
        return _ASK_INSTANCE
    for library in LIBRARIES.values():
        for name in library.classes:
            found = _attribute(library.module, *name.split("."))
            if isinstance(found, type) and issubclass(cls, found):
                return library.name
    return None
