"""From the keys of a component to the values they name in a context."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kontext._errors import (
    Explanation,
    PathLookupError,
    PathTypeError,
    RequiredKeyError,
)
from kontext._format import format_parts
from kontext._keys import get_keypaths, key_path, map_keys, required_among
from kontext._match import matches
from kontext._parts import MISSING, Part
from kontext._path import GlobPath, Path
from kontext._read import lookup_error, read
from kontext._read_part import read_part
from kontext._shapes import read_spec_part
from kontext._signature import check_names
from kontext._targets import no_target_error

_MAX_BLOCKS = 4


def resolve_from_keyed_obj(
    context: Any, obj: Any, *, func: Callable[..., Any] | None = None
) -> dict[str, Any]:
    """The keyword arguments that the keys of a component select from a context.

    Keys that are `None` are left out, so that the default of the function applies.
    A `KeyGlob` gives a dict of canonical path to value, in reading order.

    Args:
      context: Nested data.
      obj: The component; see `get_keypaths`.
      func: The function that will be called with the result. The names are checked
        against its signature before anything is looked up. A class can name another
        one in a method `__kontext_func__`, which wins.

    Returns:
      Name of the field to value, in the order of declaration; for a tree of paths,
      the tree of values.

    Raises:
      RequiredKeyError: If keys are still `REQUIRED`; it names all of them.
      SignatureMismatchError: If the names do not fit `func`.
      PathLookupError: If paths name nothing; it reports all of them.
    """
    return _resolve(context, _checked_keys(obj, func), type(obj).__name__)


def validate(obj: Any, context_spec: Any) -> None:
    """Checks the keys of a component against a context that has no values yet.

    The checks are those of `resolve_from_keyed_obj`, which computes nothing either;
    but here, shape structs such as `jax.ShapeDtypeStruct` may be indexed and sliced
    in place of the arrays they stand for.

    Args:
      obj: The component; see `get_keypaths`.
      context_spec: Nested data as the context will be, with shape structs for arrays.

    Raises:
      RequiredKeyError: If keys are still `REQUIRED`.
      SignatureMismatchError: If the names do not fit the `__kontext_func__` of `obj`.
      PathLookupError: If paths name nothing.
    """
    keys = _checked_keys(obj, None)
    _resolve(context_spec, keys, type(obj).__name__, step=read_spec_part)


def _checked_keys(obj: Any, func: Callable[..., Any] | None) -> dict[str, Any]:
    """The keys that are not None, if none is required and `func` takes them."""
    paths = get_keypaths(obj)
    owner = type(obj).__name__
    given = {name: tree for name, tree in paths.items() if tree is not None}
    missing = required_among(given)
    if missing:
        raise RequiredKeyError(owner, missing)
    named_func = getattr(type(obj), "__kontext_func__", None)
    if named_func is not None:
        func = named_func(obj)
    if func is not None:
        unset = {name for name in paths if name not in given}
        check_names(func, given, owner=owner, unset=unset)
    return given


def resolve_from_keypaths(context: Any, paths: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a mapping of names to trees of paths selects from a context.

    `None` stays `None`.

    Raises:
      PathTypeError: If `paths` is no mapping.
      RequiredKeyError: If a path is `REQUIRED`.
      PathLookupError: If paths name nothing; it reports all of them.
    """
    if not isinstance(paths, dict) and not isinstance(paths, Mapping):
        raise PathTypeError(
            "resolve_from_keypaths takes a mapping from names to paths\n"
            f"  got {type(paths).__name__} {paths!r:.60}"
        )
    missing = required_among(dict(paths))
    if missing:
        raise RequiredKeyError("", missing)
    return _resolve(context, paths, "")


def _resolve(
    context: Any,
    paths: Mapping[str, Any],
    owner: str,
    *,
    step: Callable[[Any, Part], Any] = read_part,
) -> dict[str, Any]:
    failures: list[tuple[str, PathLookupError]] = []
    values = {}
    for name, tree in paths.items():
        # The name of the key is bound now: map_keys calls the function at once.
        def look_up(leaf: Any, name: str = name) -> Any:
            if leaf is None:
                return None
            path = key_path(leaf)
            found = _found(context, path, step)
            if found is MISSING:
                failures.append((name, _failure(context, path, step)))
            return found

        try:
            values[name] = (
                look_up(tree) if type(tree) is str else map_keys(look_up, tree)
            )
        except Exception as error:
            of_owner = f" of {owner}" if owner else ""
            error.add_note(f"while reading the key {name!r}{of_owner}")
            raise
    if failures:
        raise _all_failures(owner, failures)
    return values


def _found(context: Any, path: Path, step: Callable[[Any, Part], Any]) -> Any:
    """The value at a path, or the values at a glob path; `MISSING` if there is none."""
    if not isinstance(path, GlobPath):
        return read(context, path.parts, step=step)
    found = matches(context, path.parts, step=step)
    return {format_parts(match.parts): match.value for match in found} or MISSING


def _failure(
    context: Any, path: Path, step: Callable[[Any, Part], Any]
) -> PathLookupError:
    if isinstance(path, GlobPath):
        return no_target_error(context, path.parts, advice="")
    return lookup_error(context, path.parts, step=step)


def _all_failures(
    owner: str, failures: list[tuple[str, PathLookupError]]
) -> PathLookupError:
    first = failures[0][1]
    return PathLookupError(
        lambda: _explain_all(owner, failures),
        path=first.path,
        reached=first.reached,
        part=first.part,
        errors=[error for _, error in failures],
    )


def _explain_all(
    owner: str, failures: list[tuple[str, PathLookupError]]
) -> Explanation:
    several = f"{len(failures)} keys name" if len(failures) > 1 else "a key names"
    prefix = f"{owner}: " if owner else ""
    blocks = [f"{prefix}{several} nothing in the context"]
    for name, error in failures[:_MAX_BLOCKS]:
        block = f"key {name!r}: {error}"
        blocks.append("\n".join(f"  {line}" for line in block.split("\n")))
    rest = [name for name, _ in failures[_MAX_BLOCKS:]]
    if rest:
        blocks.append(f"  and also: {', '.join(map(repr, rest))}")
    return Explanation(
        "\n".join(blocks),
        failures[0][1].available,
        tuple(s for _, error in failures for s in error.suggestions),
    )
