"""Families of dtypes, decided by the name of a dtype without its library."""

import re
import sys
from typing import Any

from ktyping._backends import DEFAULT, backend_of

_CACHE_LIMIT = 1024
_FLOATS = ("float", "bfloat", "longdouble")


def canonical_name(dtype: Any) -> str:
    """Returns the name of a dtype as numpy spells it, such as `float32`.

    Typed PRNG keys are `key<...>`; text dtypes are `str` and `bytes`.
    """
    name = getattr(dtype, "name", None)
    return name if isinstance(name, str) else str(dtype).removeprefix("torch.")


def kind(dtype: Any) -> str:
    """Returns the kind of a dtype.

    One of `bool`, `sint`, `uint`, `float`, `complex`, `key`, `str`, `object`,
    `datetime`, `timedelta`, `other`.
    """
    name = canonical_name(dtype)
    if name.startswith("key<") or _is_jax_key(dtype):
        return "key"
    if name.startswith(_FLOATS):
        return "float"
    for start, found in _KINDS:
        if name.startswith(start):
            return found
    return "other"


_KINDS = (
    ("uint", "uint"),
    ("int", "sint"),
    ("bool", "bool"),
    ("complex", "complex"),
    ("str", "str"),
    ("bytes", "str"),
    ("StringDType", "str"),
    ("object", "object"),
    ("datetime64", "datetime"),
    ("timedelta64", "timedelta"),
)


def _is_jax_key(dtype: Any) -> bool:
    dtypes = getattr(sys.modules.get("jax"), "dtypes", None)
    if dtypes is None:
        return False
    try:
        return bool(dtypes.issubdtype(dtype, dtypes.prng_key))
    except TypeError:
        return False


class DTypeFamily:
    """A set of dtypes with a name.

    Args:
      name: Public name of the family.
      kinds: Kinds of dtype in the family.
      names: Names of single dtypes in the family.
      prefix: Names that begin so are in the family.
      backends: Libraries whose arrays are accepted; None for every library.
    """

    __slots__ = ("_known", "backends", "kinds", "name", "names", "prefix")

    def __init__(
        self,
        name: str,
        kinds: tuple[str, ...] = (),
        names: tuple[str, ...] = (),
        prefix: str | None = None,
        backends: tuple[str, ...] | None = DEFAULT,
    ):
        self.name = name
        self.kinds = kinds
        self.names = names
        self.prefix = prefix
        self.backends = backends
        self._known: dict[Any, bool] = {}

    def of(self, backend: str) -> "DTypeFamily":
        """Returns the family for arrays of one library, or of `any`."""
        backends = None if backend == "any" else (backend,)
        name = f"{_PREFIXES.get(backend, f'backend.{backend}.')}{self.name}"
        return DTypeFamily(name, self.kinds, self.names, self.prefix, backends)

    def takes(self, backend: str) -> bool:
        """Whether arrays of a library are accepted."""
        return self.backends is None or backend in self.backends

    def accepts(self, dtype: Any) -> bool:
        """Whether a dtype is in the family."""
        try:
            known = self._known.get(dtype)
        except TypeError:
            return self._decide(dtype)
        if known is None:
            if len(self._known) >= _CACHE_LIMIT:
                self._known.clear()
            known = self._known[dtype] = self._decide(dtype)
        return known

    def _decide(self, dtype: Any) -> bool:
        if self.kinds == ANY:
            return True
        name = canonical_name(dtype)
        if self.prefix is not None and name.startswith(self.prefix):
            return True
        return name in self.names or kind(dtype) in self.kinds


ANY = ("any",)
INTEGERS = ("sint", "uint")

_SIZED: dict[str, tuple[str, ...]] = {
    "Float16": ("float16",),
    "Float32": ("float32",),
    "Float64": ("float64",),
    "BFloat16": ("bfloat16",),
    "Complex64": ("complex64",),
    "Complex128": ("complex128",),
    **{f"Int{n}": (f"int{n}",) for n in (2, 4, 8, 16, 32, 64)},
    **{f"UInt{n}": (f"uint{n}",) for n in (2, 4, 8, 16, 32, 64)},
}
_WIDE: dict[str, tuple[str, ...]] = {
    "Array": ANY,
    "Num": (*INTEGERS, "float", "complex"),
    "Inexact": ("float", "complex"),
    "Real": (*INTEGERS, "float"),
    "Float": ("float",),
    "Int": INTEGERS,
    "SInt": ("sint",),
    "UInt": ("uint",),
    "IntOrBool": (*INTEGERS, "bool"),
    "Bool": ("bool",),
    "Complex": ("complex",),
    "Key": ("key",),
    "Str": ("str",),
    "Obj": ("object",),
    "DateTime": ("datetime",),
    "TimeDelta": ("timedelta",),
}

FAMILIES: dict[str, DTypeFamily] = {
    **{name: DTypeFamily(name, kinds=kinds) for name, kinds in _WIDE.items()},
    **{name: DTypeFamily(name, names=names) for name, names in _SIZED.items()},
    "Float8": DTypeFamily("Float8", prefix="float8"),
}

# How the families of a library are called, where that is not `backend.NAME.Float`.
_PREFIXES = {"tf": "Tf", "any": "X"}
_derived: dict[str, DTypeFamily] = {
    names[0]: FAMILIES[family] for family, names in _SIZED.items()
}


def family_called(name: str) -> DTypeFamily:
    """Returns the family of a name.

    That is a public name, the name of one dtype, or one of these for the arrays of
    one library: `TfFloat`, `XFloat`, `backend.torch.Float`.
    """
    known = FAMILIES.get(name) or _derived.get(name)
    if known is not None:
        return known
    backend, base = _parts(name)
    if backend is None:
        made = DTypeFamily(name, names=(name,))
    else:
        made = family_called(base).of(backend)
    return _derived.setdefault(made.name, made)


def _parts(name: str) -> tuple[str | None, str]:
    for backend, prefix in _PREFIXES.items():
        base = name.removeprefix(prefix)
        if name.startswith(prefix) and base in FAMILIES:
            return backend, base
    if name.startswith("backend."):
        _, backend, base = name.split(".", 2)
        return backend, base
    return None, name


def single_dtype(family: DTypeFamily, name: str) -> DTypeFamily | None:
    """Returns the part of a family that is one dtype; None if it is not in it."""
    single = family_called(name)
    if family.backends not in (DEFAULT, single.backends):
        backend = "any" if family.backends is None else family.backends[0]
        single = family_called(f"backend.{backend}.{single.name}")
    return single if is_subfamily(single, family) else None


def canonical_dtype(value: Any) -> str | None:
    """Returns the name of the dtype that a value stands for; None for other values.

    A dtype is given by an object of its library, a scalar class (`np.float32`,
    `jnp.float32`, `float`), or its name.
    """
    for scalar, name in _PYTHON:
        if value is scalar:
            return name
    if isinstance(value, str):
        return _dtype_of_text(value)
    cls = value if isinstance(value, type) else type(value)
    if cls.__module__.partition(".")[0] not in _LIBRARIES:
        return None
    if isinstance(value, type) and _is_numpy_scalar(value):
        return _numpy_name(value)
    if backend_of(value) is not None:
        return None
    # jnp.float32 makes scalars and has their dtype.
    value = getattr(value, "dtype", value)
    return canonical_name(value) if kind(value) != "other" else None


_PYTHON: tuple[tuple[type, str], ...] = (
    (bool, "bool"),
    (int, "int64"),
    (float, "float64"),
    (complex, "complex128"),
)
_LIBRARIES = {"numpy", "jax", "jaxlib", "ml_dtypes", "torch", "tensorflow"}
_TEXT = re.compile(
    r"bool|u?int(2|4|8|16|32|64)|b?float(16|32|64|128)|float(4|6|8)_\w+"
    r"|complex(64|128|256)|str|bytes|object|(datetime|timedelta)64(\[\w+\])?"
)


def _dtype_of_text(text: str) -> str | None:
    if _TEXT.fullmatch(text):
        return text
    return _numpy_name(text)


def _is_numpy_scalar(cls: type) -> bool:
    generic = getattr(sys.modules.get("numpy"), "generic", None)
    return generic is not None and issubclass(cls, generic)


def _numpy_name(dtype: Any) -> str | None:
    numpy = sys.modules.get("numpy")
    try:
        return None if numpy is None else numpy.dtype(dtype).name
    except TypeError:
        return None


_SHORT: tuple[tuple[str, str], ...] = (
    ("bfloat", "bf"),
    ("float", "f"),
    ("uint", "ui"),
    ("int", "i"),
    ("complex", "c"),
)


def short_name(dtype: Any) -> str:
    """Returns a dtype in a few letters: `f32`, `bf16`, `i64`, `bool`."""
    name = canonical_name(dtype)
    for long, short in _SHORT:
        if name.startswith(long):
            return short + name.removeprefix(long)
    return name


def is_subfamily(small: DTypeFamily, big: DTypeFamily) -> bool:
    """Whether every dtype of one family is in another."""
    if not _within(small.backends, big.backends):
        return False
    if big.kinds == ANY or small is big:
        return True
    if small.names or small.prefix:
        examples = (*small.names, *([small.prefix] if small.prefix else []))
        return all(big.accepts(_Named(name)) for name in examples)
    return bool(small.kinds) and set(small.kinds) <= set(big.kinds)


def _within(small: tuple[str, ...] | None, big: tuple[str, ...] | None) -> bool:
    return big is None or (small is not None and set(small) <= set(big))


class _Named:
    def __init__(self, name: str):
        self.name = name
