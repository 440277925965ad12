"""Reads the text of a path: one pass from left to right, with positions."""

from __future__ import annotations

from kontext._errors import PathSyntaxError
from kontext._parts import DOUBLE_STAR, STAR, Part, Parts, Wildcard, is_axes
from kontext._scanner import INT, WORD, Scanner

_CONSTANTS = {"True": True, "False": False, "None": None}


def parse_parts(text: str, *, glob: bool) -> Parts:
    """The parts that `text` names.

    Args:
      text: The text of a path.
      glob: Whether `*` and `**` are allowed.

    Raises:
      PathSyntaxError: If the text is not a path.
    """
    parts = _names_and_indices(text)
    if parts is not None:
        return parts
    try:
        return _Parser(text, glob=glob).parse()
    except RecursionError:
        reason = "the tuples in it are nested too deeply"
        raise PathSyntaxError(text, text.find("(("), reason) from None


def _names_and_indices(text: str) -> Parts | None:
    """The parts of what most texts are, such as `a.b[0].c`; `None` for others."""
    segments = text.split(".")
    if "[" not in text:
        # Most texts are names alone, and the loop over them is not one of Python.
        return tuple(segments) if all(map(str.isidentifier, segments)) else None
    parts: list[Part] = []
    for segment in segments:
        if segment.isidentifier():
            parts.append(segment)
            continue
        name, *indices = segment.split("[")
        if not indices or not name.isidentifier():
            return None
        parts.append(name)
        for index in indices:
            digits = index[:-1]
            is_plain = digits.isdecimal() and digits.isascii() and index[-1] == "]"
            if not is_plain or (digits[0] == "0" and digits != "0"):
                return None
            if len(digits) > 18:  # an index for the parser, which knows the limit
                return None
            parts.append(int(digits))
    return tuple(parts)


class _Parser(Scanner):
    """Recursive descent over one text."""

    def __init__(self, text: str, *, glob: bool) -> None:
        super().__init__(text)
        self.glob = glob

    def parse(self) -> Parts:
        self.skip_blanks()
        if not self.peek():
            return ()
        parts = [self.bracket() if self.peek() == "[" else self.dotted()]
        self.skip_blanks()
        while self.peek():
            if self.peek() == "[":
                parts.append(self.bracket())
            elif self.peek() == ".":
                self.pos += 1
                self.skip_blanks()
                parts.append(self.dotted())
            else:
                self.fail_between_parts()
            self.skip_blanks()
        return tuple(parts)

    # Parts outside of brackets.

    def dotted(self) -> Part:
        """A name, an index or a wildcard, at the start or after a dot."""
        char = self.peek()
        if char == "*":
            return self.wildcard()
        if char and char in "+-0123456789":
            return self.dotted_index()
        word = WORD.match(self.text, self.pos)
        if word is None:
            raise self.fail(self.why_no_name())
        name = word.group()
        if not name.isidentifier():
            raise self.fail(f"{name!r} is not a name: write [{name!r}]")
        self.pos = word.end()
        if self.peek() == "*":
            raise self.fail("partial globs such as 'name*' are not supported")
        return name

    def dotted_index(self) -> int:
        number = INT.match(self.text, self.pos)
        if number is None:
            raise self.fail("expected digits after the sign")
        start, self.pos = self.pos, number.end()
        rest = WORD.match(self.text, self.pos)
        if rest is not None:
            word = number.group() + rest.group()
            raise self.fail(f"{word!r} is not a name: write [{word!r}]", start)
        return self.to_int(number.group(), start)

    def why_no_name(self) -> str:
        char = self.peek()
        if not char:
            return "expected a name after the dot"
        if char in "'\"":
            return "a quoted key stands in brackets: a['x']"
        if char == ".":
            return "expected a name before the dot; a path has no empty parts"
        if char == "{":
            return "alternatives such as '{a,b}' are not supported"
        return f"expected a name, a number or [, got {char!r}"

    def fail_between_parts(self) -> None:
        char = self.peek()
        if char == "*":
            raise self.fail("a wildcard is a part of its own: write '.*'")
        if char == "]":
            raise self.fail("this ] closes nothing")
        if char == "{":
            raise self.fail("alternatives such as '{a,b}' are not supported")
        raise self.fail(
            f"expected . or [ between parts, got {char!r}\n"
            "a key with other characters stands quoted in brackets: ['a-b']"
        )

    def wildcard(self) -> Wildcard:
        start = self.pos
        while self.peek() == "*":
            self.pos += 1
        stars = self.pos - start
        if stars > 2 or WORD.match(self.text, self.pos):
            raise self.fail(
                "expected * or **: partial globs such as '*name' are not supported",
                start,
            )
        if not self.glob:
            raise self.fail(
                "a wildcard is allowed in a glob path only:\n"
                "kontext.get_all, or kontext.parse(text, glob=True)",
                start,
            )
        return STAR if stars == 1 else DOUBLE_STAR

    # Parts inside of brackets.

    def bracket(self) -> Part:
        opened = self.pos
        self.accept("[")
        if self.peek() == "]":
            raise self.fail("expected a key between [ and ]")
        if self.peek() == "*":
            part: Part = self.wildcard()
            self.skip_blanks()
        else:
            part = self.key_or_axes()
        if not self.accept("]"):
            if not self.peek():
                raise self.fail("this [ is never closed", opened)
            raise self.fail(f"expected ] here, got {self.peek()!r}")
        return part

    def items_until(self, close: str) -> tuple[list[Part], bool]:
        """The items up to `close`, and whether a comma stood among them."""
        items = [self.item()]
        has_comma = False
        while self.accept(","):
            has_comma = True
            if self.peek() == close:
                break
            items.append(self.item())
        return items, has_comma

    def key_or_axes(self) -> Part:
        start = self.pos
        items, has_comma = self.items_until("]")
        if not has_comma:
            return items[0]
        if not is_axes(tuple(items)):
            raise self.fail(
                "axes are integers, slices, ... and None\n"
                "a tuple as a key stands in parentheses: [('x', 1)]",
                start,
            )
        return tuple(items)

    def item(self) -> Part:
        char = self.peek()
        if char == "(":
            part = self.parenthesized()
        elif char and char in "'\"":
            part = self.string(raw=False)
        elif self.text.startswith("...", self.pos):
            self.pos += 3
            part = ...
        elif char and (char in ":+-." or char in "0123456789"):
            part = self.number_or_slice()
        else:
            part = self.word()
        self.skip_blanks()
        return part

    def parenthesized(self) -> Part:
        opened = self.pos
        self.accept("(")
        if self.accept(")"):
            return ()
        items, has_comma = self.items_until(")")
        if not self.accept(")"):
            raise self.fail("this ( is never closed", opened)
        if has_comma:
            return tuple(items)
        if type(items[0]) is complex:
            return items[0]
        raise self.fail("a tuple of one item needs a comma: (x,)", opened)

    def number_or_slice(self) -> Part:
        start = self.pos
        bounds = [self.bound()]
        while self.accept(":"):
            at = self.pos
            bounds.append(self.bound())
            if type(bounds[-1]) not in (int, type(None)):
                raise self.fail("slice bounds must be integers", at)
        if len(bounds) == 1:
            return bounds[0]
        if type(bounds[0]) not in (int, type(None)):
            raise self.fail("slice bounds must be integers", start)
        if len(bounds) > 3:
            raise self.fail("a slice has at most three bounds", start)
        if len(bounds) == 3 and bounds[2] == 0:
            raise self.fail("the step of a slice cannot be 0", start)
        return slice(*bounds)

    def bound(self) -> Part:
        if self.peek() in (":", "]", ")", ",", ""):
            return None
        number = self.number()
        self.skip_blanks()
        return number

    def word(self) -> Part:
        match = WORD.match(self.text, self.pos)
        if match is None:
            got = repr(self.peek()) if self.peek() else "the end"
            raise self.fail(f"expected a key, got {got}")
        word = match.group()
        follows_quote = self.text[match.end() : match.end() + 1] in ("'", '"')
        if follows_quote and word.lower() == "r":
            self.pos = match.end()
            return self.string(raw=True)
        if follows_quote and "b" in word.lower():
            raise self.fail("bytes keys are not supported")
        if follows_quote:
            raise self.fail(f"the prefix {word!r} of a text is not supported")
        if word not in _CONSTANTS:
            head = self.text[: self.text.rfind("[", 0, self.pos)].rstrip()
            head = head if len(head) <= 40 else f"…{head[-39:]}"
            raise self.fail(
                "name inside [] must be quoted: "
                f"did you mean {head}[{word!r}] or {head}{'.' if head else ''}{word}?"
            )
        self.pos = match.end()
        return _CONSTANTS[word]
