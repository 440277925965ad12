"""Paths inside a config: `model.layers[0].hidden`, read, written and matched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from konfig._errors import ConfigTypeError, ConfigValueError, short
from konfig._typing import Any


class _Wildcard:
    """A part of a pattern that stands for many keys."""

    __slots__ = ("text",)

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text


ANY = _Wildcard("*")
"""One key, whichever."""
DEEP = _Wildcard("**")
"""Any number of keys, none included."""

Parts = tuple[Any, ...]
_NOTHING = object()


def parse(text: str, *, glob: bool = False) -> Parts:
    """Splits a path into its keys.

    Args:
      text: `a.b`, `a[0]`, `a.0`, `a[-1]`, `a['b.c']`, `[0].a`; the empty text is the
        root.
      glob: Whether `*` and `**` are wildcards.

    Returns:
      The keys: texts, integers, the key between brackets where it is another literal.

    Raises:
      ConfigValueError: With the column, when the text is no path.
    """
    if not isinstance(text, str):
        raise ConfigTypeError(
            f"a path is a text or a tuple of its keys, not {short(text)}",
            hint="write 'model.layers[0].hidden' or ('model', 'layers', 0, 'hidden')",
        )
    parts, end = scan(text, glob=glob)
    if end != len(text):
        raise _fault(text, end, "a '.', a '[' or the end")
    return parts


def keys_of(path: Any, *, glob: bool = False) -> Parts:
    """The keys of a path that is given as its text, or as its keys."""
    return tuple(path) if isinstance(path, (tuple, list)) else parse(path, glob=glob)


def scan(text: str, *, glob: bool = False) -> tuple[Parts, int]:
    """Reads a path from the start of a text; gives its keys and where it ends."""
    parts: list[Any] = []
    at = 0
    while at < len(text):
        if text[at] == "[":
            key, at = _scan_brackets(text, at, glob)
        elif text[at] == "." or not parts:
            start = at + 1 if text[at] == "." and parts else at
            key, at = _scan_word(text, start, glob)
            if key is None:
                if start == at == 0:
                    break
                raise _fault(text, start, "a name")
        else:
            break
        parts.append(key)
    return tuple(parts), at


def _scan_word(text: str, start: int, glob: bool) -> tuple[Any, int]:
    if glob and text.startswith("*", start):
        deep = text.startswith("**", start)
        return (DEEP, start + 2) if deep else (ANY, start + 1)
    at = start + 1 if text.startswith("-", start) else start
    while at < len(text) and f"_{text[at]}".isidentifier():
        at += 1
    word = text[start:at]
    number = _number(word)
    if number is not None:
        return number, at
    return (word, at) if word.isidentifier() else (None, start)


def _scan_brackets(text: str, start: int, glob: bool) -> tuple[Any, int]:
    end = _closing(text, start)
    inner = text[start + 1 : end].strip()
    if glob and inner in ("*", "**"):
        return (ANY if inner == "*" else DEEP), end + 1
    number = _number(inner)
    if number is not None:
        return number, end + 1
    import ast  # quoted and composed keys are rare

    try:
        key = ast.literal_eval(inner)
        hash(key)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise _fault(text, start + 1, "an index or a quoted key") from None
    return key, end + 1


def _number(word: str) -> int | None:
    """The position that a word is, or None; no config has a longer one."""
    digits = word.removeprefix("-")
    return int(word) if digits.isdecimal() and len(digits) < 10 else None


def _closing(text: str, start: int) -> int:
    """The position of the bracket that closes the one at `start`."""
    quote = ""
    depth = 0
    at = start
    while at < len(text):
        char = text[at]
        if quote:
            at += char == "\\"
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "[(":
            depth += 1
        elif char in "])":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    raise _fault(text, len(text), "']'")


def _fault(text: str, at: int, expected: str) -> ConfigValueError:
    return ConfigValueError(
        f"not a config path: expected {expected} at column {at + 1}\n"
        f"  {text}\n  {' ' * at}^"
    )


def format_path(parts: Iterable[Any], root: str = "") -> str:
    """The text of a path: `parse(format_path(parts)) == parts`."""
    below = format_below(parts)
    return root + below if root else below.removeprefix(".")


def format_below(parts: Iterable[Any]) -> str:
    """The text of a path behind what it begins at: `.layers[0]`."""
    text = ""
    for part in parts:
        named = isinstance(part, str) and part.isidentifier()
        if named or isinstance(part, _Wildcard):
            text += f".{part}"
        else:
            text += f"[{part!r}]"
    return text


def started(pattern: Sequence[Any]) -> frozenset[int]:
    """How much of a pattern the empty path may have used up."""
    return _behind_deep(pattern, {0})


def advanced(
    pattern: Sequence[Any], reached: Iterable[int], key: Any
) -> frozenset[int]:
    """How much of a pattern a path may have used up that is one key longer.

    Args:
      pattern: Keys, `ANY` and `DEEP`.
      reached: The same of the path without the key; none when it cannot match.
      key: The last key of the path.
    """
    after = set()
    for at in reached:
        part = pattern[at] if at < len(pattern) else _NOTHING
        if part is DEEP:
            after.add(at)
        elif part is ANY or (part is not _NOTHING and _same_key(part, key)):
            after.add(at + 1)
    return _behind_deep(pattern, after)


def _behind_deep(pattern: Sequence[Any], reached: set[int]) -> frozenset[int]:
    """With what `**` may leave out: it stands for no key as well."""
    for at in range(len(pattern)):
        if at in reached and pattern[at] is DEEP:
            reached.add(at + 1)
    return frozenset(reached)


def matches(pattern: Sequence[Any], parts: Sequence[Any]) -> bool:
    """Whether a path is named by a pattern with `*` and `**`."""
    if not pattern:
        return not parts
    head, rest = pattern[0], pattern[1:]
    if head is DEEP:
        return any(matches(rest, parts[skip:]) for skip in range(len(parts) + 1))
    if not parts:
        return False
    return (head is ANY or _same_key(head, parts[0])) and matches(rest, parts[1:])


def _same_key(written: Any, key: Any) -> bool:
    """`a.0` names the key `'0'` of a call as well as the index 0."""
    return written == key or (isinstance(written, int) and str(written) == key)


def covers(patterns: Iterable[Sequence[Any]], parts: Sequence[Any]) -> bool:
    """Whether a pattern names this path or one above it."""
    return any(
        matches(pattern, parts[:length])
        for pattern in patterns
        for length in range(len(parts) + 1)
    )
