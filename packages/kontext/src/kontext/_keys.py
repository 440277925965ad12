"""`Key`: fields of a component whose value is a path into a context."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, TypeAlias, TypeVar

from kontext._errors import PathError, PathSyntaxError, PathTypeError
from kontext._path import GlobPath, Path, as_path, single_place
from kontext._scan import GLOB_MARK, KEY_MARK, key_fields

_T = TypeVar("_T")

# What keys point into: nested data of any kinds.
Context: TypeAlias = Any

# Any, because a key may be given as a text, a Path or a path builder.
Key: TypeAlias = Annotated[Any, KEY_MARK]
KeyTree: TypeAlias = Annotated[_T, KEY_MARK]
OptionalKey: TypeAlias = Annotated[Any, KEY_MARK] | None
KeyGlob: TypeAlias = Annotated[Any, GLOB_MARK]

# A text, so that it survives JSON.
REQUIRED = "__KEY_REQUIRED__"


def get_keypaths(obj: Any) -> dict[str, Any]:
    """The key fields of a component and the paths they are set to.

    In the order of declaration, those of base classes first. A field that was never
    set counts as `REQUIRED`. The paths of a `KeyGlob` field come as `GlobPath`. A
    class with a method `__kontext_keys__` gives the dict itself, and its annotations
    are not read.

    Args:
      obj: An instance; for one without keys the result is empty.

    Raises:
      PathTypeError: If `obj` is a class with keys, or `__kontext_keys__` gives no dict
        from names.
    """
    protocol = getattr(type(obj), "__kontext_keys__", None)
    if protocol is not None:
        return _told_keys(protocol, obj)
    if isinstance(obj, type) and is_key_annotated(obj):
        raise PathTypeError(
            f"{obj.__name__} is a class, and keys have their paths in an instance\n"
            f"  make one: {obj.__name__}(...)"
        )
    paths = {}
    for name, mark in key_fields(type(obj)).items():
        tree = getattr(obj, name, REQUIRED)
        if mark is GLOB_MARK:
            tree = map_keys(_as_glob, tree)
        elif type(tree) is not str and tree is not None:
            tree = map_keys(_without_glob, tree)
        paths[name] = tree
    return paths


def _told_keys(protocol: Any, obj: Any) -> dict[str, Any]:
    method = f"{type(obj).__name__}.__kontext_keys__"
    if not callable(protocol):
        raise PathTypeError(
            f"{method} must be a method that gives a dict from names to paths\n"
            f"  got {type(protocol).__name__}"
        )
    keys = protocol(obj)
    # Of dict itself first: the check of an abstract class costs more than the rest.
    is_mapping = isinstance(keys, dict) or isinstance(keys, Mapping)
    if not is_mapping or not all(isinstance(name, str) for name in keys):
        raise PathTypeError(
            f"{method} must give a dict from names to paths\n"
            f"  got {type(keys).__name__} {keys!r:.60}"
        )
    return dict(keys)


def _as_glob(leaf: Any) -> Any:
    if leaf is None or _is_required(leaf):
        return leaf
    return GlobPath(*as_path(leaf, glob=True))


def _without_glob(leaf: Any) -> Any:
    """A stray glob as a text: its being a `GlobPath` would say that it is meant."""
    return str(leaf) if isinstance(leaf, GlobPath) else leaf


def is_key_annotated(obj_or_cls: Any) -> bool:
    """Whether a component, or a class of components, has keys."""
    cls = obj_or_cls if isinstance(obj_or_cls, type) else type(obj_or_cls)
    return hasattr(cls, "__kontext_keys__") or bool(key_fields(cls))


def required_keys(obj: Any) -> tuple[str, ...]:
    """The names of the keys that still have to be set, in order of declaration."""
    return required_among(get_keypaths(obj))


def required_among(paths: dict[str, Any]) -> tuple[str, ...]:
    """The names whose tree of paths holds `REQUIRED`."""
    return tuple(
        name
        for name, tree in paths.items()
        if any(_is_required(leaf) for leaf in key_leaves(tree))
    )


def _is_required(leaf: Any) -> bool:
    return isinstance(leaf, str) and leaf == REQUIRED


def forward_keys(obj: Any, *, prefix: Any = "") -> dict[str, Any]:
    """The keys of `obj`, for the `__kontext_keys__` of a component that wraps it.

    Args:
      obj: The component that is wrapped.
      prefix: A path put before every path of `obj`, for a wrapper that hands it a
        part of the context.
    """
    head = as_path(prefix)
    paths = get_keypaths(obj)
    if not head:
        return paths
    moved = {}
    for name, tree in paths.items():
        try:
            moved[name] = map_keys(_prefixed(head), tree)
        except PathError as error:
            error.add_note(f"while reading the key {name!r} of {type(obj).__name__}")
            raise
    return moved


def _prefixed(head: Path) -> Callable[[Any], Any]:
    def add(leaf: Any) -> Any:
        if leaf is None or _is_required(leaf):
            return leaf
        return key_path(leaf).with_prefix(head)

    return add


def key_path(leaf: Any) -> Path:
    """The path in a key: a `GlobPath` is one that may name several places."""
    try:
        return leaf if isinstance(leaf, GlobPath) else single_place(leaf)
    except PathSyntaxError:
        if not _is_glob_text(leaf):
            raise
        raise PathTypeError(
            f"{leaf!r} has wildcards, and a Key names one place\n"
            "  annotate the field as kontext.KeyGlob to get all of them, by path"
        ) from None


def _is_glob_text(text: Any) -> bool:
    try:
        return as_path(text, glob=True).is_glob
    except PathSyntaxError:
        return False


def is_key_tree(tree: Any) -> bool:
    """Whether a value of a key is a tree of paths, not a single one.

    A tuple is one here: as a path, it would be written as `Path(*parts)`.
    """
    if isinstance(tree, str):
        return False
    return isinstance(tree, list | tuple | Mapping)


def key_leaves(tree: Any) -> Iterator[Any]:
    """The single paths in the value of a key."""
    if not is_key_tree(tree):
        yield tree
        return
    for below in tree.values() if isinstance(tree, Mapping) else tree:
        yield from key_leaves(below)


def map_keys(fn: Callable[[Any], Any], tree: Any) -> Any:
    """The tree of the same shape with `fn(path)` for each path.

    Mappings of all kinds become dicts: a frozen one may refuse what `fn` gives.
    """
    if not is_key_tree(tree):
        return fn(tree)
    if isinstance(tree, Mapping):
        return {name: map_keys(fn, below) for name, below in tree.items()}
    if isinstance(tree, list):
        return [map_keys(fn, below) for below in tree]
    below = (map_keys(fn, item) for item in tree)
    return type(tree)(*below) if hasattr(tree, "_fields") else tuple(below)
