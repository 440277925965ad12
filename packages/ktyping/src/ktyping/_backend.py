"""`backend.torch.Float`: array types of one library, and libraries of one's own."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from ktyping._array_type import ArrayType, make
from ktyping._backends import LIBRARIES, Library, LibraryName, add_library
from ktyping._dtypes import FAMILIES, family_called
from ktyping._verdicts import forget_alone


class Backend(LibraryName):
    """The array types of one library: `backend.torch.Float["n"]`.

    `Float[backend.torch, "n"]` is the same. `backend.any` holds those that take arrays
    of every library.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> ArrayType:
        if name not in FAMILIES:
            raise AttributeError(
                f"{self!r} has no array type {name!r}; it has {', '.join(FAMILIES)}."
            )
        return make((family_called(f"backend.{self.name}.{name}"),))

    def __dir__(self) -> list[str]:
        return list(FAMILIES)

    def __repr__(self) -> str:
        return f"backend.{self.name}"


class Backends:
    """The libraries of arrays that are known: `np`, `jax`, `tf`, `torch`, `xarray`.

    None of them is imported.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Backend:
        if name != "any" and name not in LIBRARIES:
            raise AttributeError(
                f"No library of arrays is called {name!r}; known are any, "
                f"{', '.join(LIBRARIES)}.\nOthers are added by `register_backend`."
            )
        return Backend(name)

    def __dir__(self) -> list[str]:
        return ["any", *LIBRARIES]

    def __repr__(self) -> str:
        return "ktyping.backend"


backend = Backends()


def register_backend(
    name: str,
    module: str,
    cls: str,
    shape: str | Callable[[Any], Any] = "shape",
    dtype: str | Callable[[Any], Any] = "dtype",
) -> None:
    """Adds a library whose arrays have a shape and a dtype.

    Its array types are then `backend.<name>.Float` and so on, and `backend.any` takes
    its arrays as well. The module is never imported: as long as it is not loaded,
    there are no such arrays.

    Args:
      name: Short name: a Python name that is none of `any`, `np`, `jax`, `tf`,
        `torch`, `xarray`.
      module: Name of the module that has the class, such as `"mylib.arrays"`.
      cls: Name of the class in it; subclasses count as well.
      shape: Attribute, or a function of the array, that gives the sizes.
      dtype: Attribute, or a function of the array, that gives the dtype: an object
        with a `name`, or one whose text is the name, such as `float32`.

    Raises:
      ValueError: When the name is not one that can be added.
    """
    if not name.isidentifier() or name in ("any", *_BUILT_IN):
        raise ValueError(
            f"register_backend cannot add {name!r}.\n"
            f"Take a Python name that is none of any, {', '.join(_BUILT_IN)}."
        )
    add_library(
        Library(name, module, (cls,), _getter(shape, "shape"), _getter(dtype, "dtype"))
    )
    forget_alone()


_BUILT_IN = tuple(LIBRARIES)


def _getter(
    given: str | Callable[[Any], Any], usual: str
) -> Callable[[Any], Any] | None:
    if isinstance(given, str):
        return None if given == usual else attrgetter(given)
    return given
