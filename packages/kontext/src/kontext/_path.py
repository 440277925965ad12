"""`Path`: an immutable place in nested data, and the text that names it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import total_ordering
from itertools import islice
from typing import Any, ClassVar, TypeAlias, overload

from kontext._errors import PathTypeError
from kontext._explain import outline
from kontext._format import format_parts
from kontext._jax import jax_key_path, part_of_jax_key
from kontext._parser import parse_parts
from kontext._parts import MISSING, Part, Parts, has_wildcard, normalize_parts
from kontext._read import lookup_error, read
from kontext._write import set_places

# What every function takes for a path; a tuple is a sequence of parts.
PathLike: TypeAlias = "str | tuple[Any, ...] | Path"


@total_ordering
class Path:
    """A place in nested data, as a sequence of parts.

    Its `str` is the canonical text, which parses back to an equal path. Paths are
    equal if their parts are, in type and in value; they order by their text.

    Args:
      *parts: Names, indices, slices and other keys, as they are: dots and brackets
        inside of a text have no meaning here.

    Raises:
      PathTypeError: If a value cannot be a part of a path.
    """

    __slots__ = ("__weakref__", "_text", "parts")
    __match_args__ = ("parts",)

    parts: Parts
    _text: str | None
    _glob: ClassVar[bool] = False

    def __init__(self, *parts: Part) -> None:
        object.__setattr__(self, "parts", normalize_parts(parts, glob=self._glob))
        object.__setattr__(self, "_text", None)

    @classmethod
    def parse(cls, text: str) -> Path:
        """The path that a text names.

        Raises:
          PathSyntaxError: If the text is not a path.
        """
        if not isinstance(text, str):
            raise PathTypeError(
                f"the text of a path is a str, got {type(text).__name__}"
            )
        return _GLOB_PATHS[text] if cls._glob else PLAIN_PATHS[text]

    @classmethod
    def from_str(cls, text: str) -> Path:
        """The same as `Path.parse`."""
        return cls.parse(text)

    @classmethod
    def from_jax_path(cls, key_path: tuple[Any, ...]) -> Path:
        """The path for a key path of `jax.tree_util`.

        Args:
          key_path: Entries with an attribute `key`, `name` or `idx`, which are
            recognised by it; JAX itself is not imported.

        Raises:
          PathTypeError: If an entry has none, or its key cannot be part of a path.
        """
        return cls(*map(part_of_jax_key, key_path))

    def as_jax(self, *, like: Any) -> tuple[Any, ...]:
        """The key path of `jax.tree_util` for this path.

        Args:
          like: The tree that the path is about: its types decide about the entries.

        Raises:
          PathTypeError: If JAX sees no such place in `like`.
        """
        return jax_key_path(self.parts, like)

    # The value.

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a path cannot be changed: {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a path cannot be changed: {name!r}")

    def __str__(self) -> str:
        text = self._text
        if text is None:
            text = format_parts(self.parts)
            object.__setattr__(self, "_text", text)
        return text

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    # The text tells 1 from True and from 1.0, which == and hash of the parts do not.

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Path):
            return NotImplemented
        return str(self) == str(other)

    def __hash__(self) -> int:
        return hash(self._text or str(self))

    def __lt__(self, other: Path) -> bool:
        if not isinstance(other, Path):
            return NotImplemented
        return str(self) < str(other)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.parts

    def __copy__(self) -> Path:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Path:
        return self

    # The sequence.

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[Part]:
        return iter(self.parts)

    def __contains__(self, part: Part) -> bool:
        return any(type(part) is type(own) and part == own for own in self.parts)

    @overload
    def __getitem__(self, index: slice) -> Path: ...
    @overload
    def __getitem__(self, index: int) -> Part: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(*self.parts[index])
        return self.parts[index]

    # The tree.

    @property
    def parent(self) -> Path:
        """The path without its last part; the root is its own parent."""
        return self[:-1]

    @property
    def parents(self) -> tuple[Path, ...]:
        """All paths above this one, the nearest first and the root last."""
        return tuple(self[:length] for length in range(len(self) - 1, -1, -1))

    @property
    def name(self) -> Part:
        """The last part.

        Raises:
          PathTypeError: If the path is the root, which has no name.
        """
        if not self.parts:
            raise PathTypeError("the root path has no name")
        return self.parts[-1]

    @property
    def is_glob(self) -> bool:
        """Whether the path has wildcards, and so may name several places."""
        return self._glob and has_wildcard(self.parts)

    def __truediv__(self, other: Any) -> Path:
        """This path, followed by one part, a tuple of parts or a path."""
        if hasattr(other, "__kontext_path__") or isinstance(other, Path):
            return self + as_path(other)
        more = other if isinstance(other, tuple) else (other,)
        return type(self)(*self.parts, *more)

    def __add__(self, other: Path) -> Path:
        if not isinstance(other, Path):
            return NotImplemented
        cls = GlobPath if self._glob or other._glob else Path
        return cls(*self.parts, *other.parts)

    def with_prefix(self, prefix: PathLike) -> Path:
        """This path below `prefix`."""
        return as_path(prefix) + self

    def startswith(self, prefix: PathLike) -> bool:
        """Whether the first parts are those of `prefix`."""
        head = as_path(prefix)
        return len(head) <= len(self) and self[: len(head)] == head

    def relative_to(self, prefix: PathLike) -> Path:
        """The rest of this path below `prefix`.

        Raises:
          PathTypeError: If the path does not lie below `prefix`.
        """
        head = as_path(prefix)
        if not self.startswith(head):
            raise PathTypeError(f"{str(self)!r} does not lie below {str(head)!r}")
        return self[len(head) :]

    def get_from(
        self, context: Any, default: Any = MISSING, err_spec: bool = False
    ) -> Any:
        """The value at this path; see `kontext.get_by_path`.

        Args:
          context: Nested data.
          default: What to return if nothing is there; `...` stands for no default.
          err_spec: Whether the error also lists the leaves of the whole context.
        """
        parts = single_place(self).parts
        found = read(context, parts)
        if found is not MISSING:
            return found
        if default is MISSING or default is ...:
            error = lookup_error(context, parts)
            if err_spec:
                error.add_note(outline(context))
            raise error
        return default

    def set_in(self, context: Any, value: Any, *, create: bool = False) -> list[str]:
        """Sets this path in place; see `kontext.set_by_path`."""
        return set_places(context, self.parts, value, create=create, missing_ok=False)


class GlobPath(Path):
    """A path in which `*` stands for one part, and `**` for any number of them.

    Without wildcards it equals the `Path` of the same parts.
    """

    __slots__ = ()
    _glob: ClassVar[bool] = True

    @property
    def first_non_glob_parent(self) -> Path:
        """The longest path above all matches that has no wildcard."""
        length = 0
        while length < len(self) and not has_wildcard(self.parts[length : length + 1]):
            length += 1
        return Path(*self.parts[: min(length, max(len(self) - 1, 0))])


_MAX_TEXTS = 4096


class _Parsed(dict[str, Path]):
    """The paths of texts, remembered; those that were parsed first go first.

    A dict, because finding what is known is then no call at all.
    """

    def __init__(self, cls: type[Path]) -> None:
        super().__init__()
        self._cls = cls

    def __missing__(self, text: str) -> Path:
        # What the parser gives is of exact types; see `normalize_parts`.
        path = object.__new__(self._cls)
        _set_parts(path, parse_parts(text, glob=self._cls._glob))
        _set_text(path, None)
        if len(self) >= _MAX_TEXTS:
            self._forget_first()
        # Whichever thread comes first: all get the same object.
        return self.setdefault(str.__str__(text), path)

    def _forget_first(self) -> None:
        """Forgets the texts that were parsed first, many at once.

        One at a time, a dict would look through the gaps that are left each time.
        """
        try:
            for text in list(islice(self, _MAX_TEXTS // 4)):
                self.pop(text, None)
        except RuntimeError:  # another thread was here
            pass


# A path refuses to be changed; its slots themselves are what fills a new one.
_set_parts, _set_text = vars(Path)["parts"].__set__, vars(Path)["_text"].__set__


PLAIN_PATHS = _Parsed(Path)
# The parts of texts that `parts_of` has seen. A plain dict, which Python reads quicker
# than one of a class of its own.
KNOWN_PARTS: dict[Any, Parts] = {}
_GLOB_PATHS = _Parsed(GlobPath)


def parse(text: str, *, glob: bool = False) -> Path:
    """The path that a text names.

    Args:
      text: Such as `preds.aux[0]`, `t[..., 0]` or `['a.b']`; empty for the root.
      glob: Whether `*` and `**` are allowed; the result is then a `GlobPath`.

    Raises:
      PathSyntaxError: If the text is not a path.
    """
    return GlobPath.parse(text) if glob else Path.parse(text)


def as_path(path: Any, *, glob: bool = False) -> Path:
    """The `Path` for anything that functions of kontext take as one.

    Raises:
      PathSyntaxError: If a text is not a path.
      PathTypeError: If the value is no path at all.
    """
    if isinstance(path, str):
        return _GLOB_PATHS[path] if glob else PLAIN_PATHS[path]
    if isinstance(path, Path):
        return path
    if isinstance(path, tuple):
        return GlobPath(*path) if glob else Path(*path)
    convert = getattr(type(path), "__kontext_path__", None)
    if convert is not None:
        return convert(path)
    raise PathTypeError(
        f"not a path: {type(path).__name__} {path!r:.60}\n"
        "  expected a text such as 'batch.image', a tuple of parts or a kontext.Path"
    )


def single_place(path: Any) -> Path:
    """The `Path` for anything that names one place.

    Raises:
      PathSyntaxError: If a text is not a path.
      PathTypeError: If the value is no path at all, or has wildcards.
    """
    place = as_path(path)
    if place.is_glob:
        raise PathTypeError(
            f"{str(place)!r} has wildcards and may name several places\n"
            "  kontext.get_all reads all of them"
        )
    return place


def parts_of(path: Any) -> Parts:
    """The parts of what names one place; those of a text are remembered.

    Raises:
      PathSyntaxError: If the text is not a path.
      PathTypeError: If the value is no path at all, or has wildcards.
    """
    parts = single_place(path).parts
    if type(path) is str:
        if len(KNOWN_PARTS) >= _MAX_TEXTS:
            KNOWN_PARTS.clear()
        KNOWN_PARTS[path] = parts
    return parts
