"""String paths that bind components: read, set and wire nested data."""

# Type checkers take any variable of this name for true; typing itself is not free
# to import.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from kontext._access import get_all, get_by_path, has, iter_matches
    from kontext._access import get_by_path as get
    from kontext._builder import (
        AnnotatedPathBuilder,
        DynamicPathBuilder,
        path_builder_from,
    )
    from kontext._errors import (
        PathError,
        PathLookupError,
        PathSyntaxError,
        PathTypeError,
        RequiredKeyError,
        SignatureMismatchError,
    )
    from kontext._filter import filter_by_path
    from kontext._filter import filter_by_path as filter
    from kontext._flatten import flatten_with_path, unflatten
    from kontext._flatten import flatten_with_path as flatten
    from kontext._keys import (
        REQUIRED,
        Context,
        Key,
        KeyGlob,
        KeyTree,
        OptionalKey,
        forward_keys,
        get_keypaths,
        is_key_annotated,
        required_keys,
    )
    from kontext._mutate import delete, set_by_path, update
    from kontext._mutate import set_by_path as set
    from kontext._parts import DOUBLE_STAR, MISSING, STAR, Part, Wildcard
    from kontext._path import GlobPath, Path, PathLike, parse
    from kontext._register import register_node
    from kontext._resolve import resolve_from_keyed_obj, resolve_from_keypaths, validate

__all__ = [
    # Paths.
    "DOUBLE_STAR",
    "GlobPath",
    "Part",
    "Path",
    "PathLike",
    "STAR",
    "Wildcard",
    "parse",
    # Reading.
    "get",
    "get_all",
    "get_by_path",
    "has",
    "iter_matches",
    "MISSING",
    # Changing.
    "delete",
    "filter",
    "filter_by_path",
    "set",
    "set_by_path",
    "update",
    # Flat and nested.
    "flatten",
    "flatten_with_path",
    "unflatten",
    # Classes of others.
    "register_node",
    # Keys.
    "Context",
    "Key",
    "KeyGlob",
    "KeyTree",
    "OptionalKey",
    "REQUIRED",
    "forward_keys",
    "get_keypaths",
    "is_key_annotated",
    "required_keys",
    "resolve_from_keyed_obj",
    "resolve_from_keypaths",
    "validate",
    # Paths written as Python.
    "AnnotatedPathBuilder",
    "DynamicPathBuilder",
    "path_builder_from",
    # Errors.
    "PathError",
    "PathLookupError",
    "PathSyntaxError",
    "PathTypeError",
    "RequiredKeyError",
    "SignatureMismatchError",
]

# Module -> public names, loaded when one of them is first used. A name that differs
# from the one in the module is written `public=own`.
_EXPORTS = {
    "_access": "get=get_by_path get_all get_by_path has iter_matches",
    "_builder": "AnnotatedPathBuilder DynamicPathBuilder path_builder_from",
    "_errors": "PathError PathLookupError PathSyntaxError PathTypeError "
    "RequiredKeyError SignatureMismatchError",
    "_filter": "filter=filter_by_path filter_by_path",
    "_flatten": "flatten=flatten_with_path flatten_with_path unflatten",
    "_keys": "Context Key KeyGlob KeyTree OptionalKey REQUIRED forward_keys "
    "get_keypaths is_key_annotated required_keys",
    "_mutate": "delete set=set_by_path set_by_path update",
    "_parts": "DOUBLE_STAR MISSING Part STAR Wildcard",
    "_path": "GlobPath Path PathLike parse",
    "_register": "register_node",
    "_resolve": "resolve_from_keyed_obj resolve_from_keypaths validate",
}
_HOME = {
    entry.partition("=")[0]: (module, entry.rpartition("=")[2])
    for module, entries in _EXPORTS.items()
    for entry in entries.split()
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'kontext' has no attribute {name!r}")
    import importlib

    module, own_name = _HOME[name]
    value = getattr(importlib.import_module(f"kontext.{module}"), own_name)
    # From now on the name is found without a call.
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
