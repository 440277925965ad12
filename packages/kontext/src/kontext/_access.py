"""Reading by path: one place, or all that a pattern names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kontext._format import format_parts
from kontext._match import matches
from kontext._parts import MISSING
from kontext._path import KNOWN_PARTS, Path, PathLike, as_path, parts_of, single_place
from kontext._read import lookup_error, read
from kontext._read_part import read_part, read_part_or_method


def get_by_path(
    obj: Any,
    path: PathLike | None,
    default: Any = MISSING,
    allow_callables: bool = False,
) -> Any:
    """The value at a path.

    Mappings are read by key, sequences by index, arrays by index or attribute, and
    objects by attribute. Reading changes nothing.

    Args:
      obj: Nested data of any kinds.
      path: Such as `"batch.image"` or `"interms.enc.__call__[0]"`; the empty text
        is `obj` itself. `None` gives the default, or `None` without one.
      default: What to return if nothing is there; `...` stands for no default.
      allow_callables: Whether the methods of objects are values too; those of
        mappings, sequences and arrays never are.

    Raises:
      PathLookupError: If nothing is there and no default was given.
      PathSyntaxError: If the text is not a path.
      PathTypeError: If `path` is no path, or has wildcards.
    """
    # This function is called in inner loops, and most nodes are plain dicts, which need
    # no call: not even `type()`, which costs more than `__class__`. For the same reason
    # no parameter is keyword-only. What fails here is looked up again by `read`.
    node = obj
    try:
        for part in path.parts if type(path) is Path else KNOWN_PARTS[path]:
            if node.__class__ is not dict:
                break
            node = node[part]
        else:
            if node is not MISSING:
                return node
    except (KeyError, TypeError):
        pass
    has_default = default is not MISSING and default is not ...
    if path is None:
        return default if has_default else None
    parts = parts_of(path)
    step = read_part_or_method if allow_callables else read_part
    found = read(obj, parts, step=step)
    if found is not MISSING:
        return found
    if has_default:
        return default
    raise lookup_error(obj, parts, step=step)


def has(obj: Any, path: PathLike) -> bool:
    """Whether a path names a value, which may be `None`.

    Raises:
      PathSyntaxError: If the text is not a path.
      PathTypeError: If `path` is no path, or has wildcards.
    """
    return read(obj, single_place(path).parts) is not MISSING


def iter_matches(obj: Any, path: PathLike) -> Iterator[tuple[Path, Any]]:
    """The places that a glob path names, with their values, in reading order.

    `*` stands for one part and `**` for any number of them; a slice selects items of
    a list. A node comes before what lies below it.

    Raises:
      PathSyntaxError: If the text is not a glob path.
      PathTypeError: If `path` is no path.
    """
    pattern = as_path(path, glob=True).parts
    return ((Path(*match.parts), match.value) for match in matches(obj, pattern))


def get_all(obj: Any, path: PathLike) -> dict[str, Any]:
    """The values that a glob path names, by canonical path; empty if there are none.

    Raises:
      PathSyntaxError: If the text is not a glob path.
      PathTypeError: If `path` is no path.
    """
    pattern = as_path(path, glob=True).parts
    return {format_parts(match.parts): match.value for match in matches(obj, pattern)}
