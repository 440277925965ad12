"""Array shapes and dtypes, checked at run time.

Names are loaded when first used, so that `import ktyping` costs nothing.
"""

import importlib

_FAMILIES = (
    "Array", "Num", "Inexact", "Real", "Float", "Float8", "Float16", "Float32",
    "Float64", "BFloat16", "Int", "Int2", "Int4", "Int8", "Int16", "Int32", "Int64",
    "SInt", "UInt", "UInt2", "UInt4", "UInt8", "UInt16", "UInt32", "UInt64", "Bool",
    "IntOrBool", "Complex", "Complex64", "Complex128", "Key", "Str", "Obj",
    "DateTime", "TimeDelta", "Scalar", "ScalarBool", "ScalarInt", "ScalarFloat",
    "ScalarComplex", "PRNGKey", "PRNGKeyArray", "PRNGKeyLike", "ArraySpec",
    "ElementSpec", "is_array_type",
)  # fmt: skip
_ERRORS = (
    "AmbiguityLimitError",
    "AmbiguousDimensionError",
    "KTypeCheckError",
    "KTypeCheckWarning",
    "KTypingError",
    "NoActiveScopeError",
    "ScopeDisabledError",
    "ShapeError",
    "ShapeSpecSyntaxError",
    "SpecInterpolationError",
    "UnboundDimensionError",
    "UnresolvedAnnotationError",
    "UnresolvedAnnotationWarning",
)
_EXPORTS = {
    **dict.fromkeys(_FAMILIES, "_families"),
    **dict.fromkeys(_ERRORS, "_errors"),
    **dict.fromkeys(("typechecked", "check_type", "matches", "shape"), "_api"),
    **dict.fromkeys(("Scope", "dim", "get_current_scope"), "_scope"),
    **dict.fromkeys(("Shape", "Axes", "DType"), "_special"),
    "PyTree": "_pytree",
    **dict.fromkeys(("backend", "register_backend"), "_backend"),
    **dict.fromkeys(("explain", "spec_of"), "_explain"),
    "config": "_config",
    "share": "_records",
    **dict.fromkeys(("Stats", "stats"), "_stats"),
}

# Names that code written for Kauldron uses; served, but not part of a star import.
_FAMILIAR = dict.fromkeys(
    (
        "CONFIG",
        "Config",
        "ReportingPolicy",
        "ShapeScope",
        "add_config_override",
        "remove_config_override",
    ),
    "_kauldron",
)

__all__ = [*_EXPORTS]


def __getattr__(name: str) -> object:
    # `isinstance` is served but not in __all__: a star import must not hide the
    # builtin.
    module = _EXPORTS.get(name) or _FAMILIAR.get(name)
    module = "_api" if name == "isinstance" else module
    if module is None and name.startswith(("Tf", "X")):
        return _of_backend(name)
    if module is None:
        raise AttributeError(f"module 'ktyping' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"ktyping.{module}"), name)
    globals()[name] = value
    return value


def _of_backend(name: str) -> object:
    # TfFloat takes arrays of tensorflow, XFloat arrays of every library.
    library, family = ("tf", name[2:]) if name.startswith("Tf") else ("any", name[1:])
    backend = importlib.import_module("ktyping._backend").backend
    if family not in dir(getattr(backend, library)):
        raise AttributeError(f"module 'ktyping' has no attribute {name!r}")
    return getattr(getattr(backend, library), family)


def __dir__() -> list[str]:
    return [*__all__, *_FAMILIAR, "isinstance"]
