"""Single tokens of a path: blanks, numbers and quoted texts, with their positions."""

from __future__ import annotations

import ast
import cmath
import re

from kontext._errors import PathSyntaxError
from kontext._parts import Part

WORD = re.compile(r"[A-Za-z0-9_\x80-\U0010ffff]+")
_INT_TEXT = r"[+-]?(?:0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|[0-9][0-9_]*)"
INT = re.compile(_INT_TEXT)
_DECIMAL = r"(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?"
_NUMBER = re.compile(
    rf"[+-]?{_DECIMAL}(?:[jJ]|[+-]{_DECIMAL}[jJ])"
    rf"|{_INT_TEXT}(?![0-9.eEjJ])"
    rf"|[+-]?{_DECIMAL}"
)
_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_ESCAPE = re.compile(
    r"\\(?:([\\'\"abfnrtvxuUN]|[0-3][0-7]{0,2}|[4-7][0-7]?(?![0-7]))|.)"
)


class Scanner:
    """A text, and `pos`, where its next token begins."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0

    def peek(self) -> str:
        return self.text[self.pos : self.pos + 1]

    def skip_blanks(self) -> None:
        while self.peek() in (" ", "\t"):
            self.pos += 1

    def accept(self, token: str) -> bool:
        """Steps over `token` and the blanks after it, if it is next."""
        if not self.text.startswith(token, self.pos):
            return False
        self.pos += len(token)
        self.skip_blanks()
        return True

    def fail(self, reason: str, column: int | None = None) -> PathSyntaxError:
        return PathSyntaxError(
            self.text, self.pos if column is None else column, reason
        )

    def number(self) -> Part:
        number = _NUMBER.match(self.text, self.pos)
        if number is None:
            raise self.fail("expected a number")
        literal, start = number.group(), self.pos
        self.pos = number.end()
        if WORD.match(self.text, self.pos) or self.peek() == ".":
            raise self.fail("this is not a number; a text key must be quoted", start)
        if INT.fullmatch(literal):
            return self.to_int(literal, start)
        try:
            value = complex(literal) if literal[-1] in "jJ" else float(literal)
        except ValueError:
            raise self.fail(f"{literal!r} is not a number", start) from None
        if not cmath.isfinite(value):
            raise self.fail("a number in a path must be finite", start)
        return value

    def to_int(self, literal: str, start: int) -> int:
        try:
            number = int(literal, 0)
            str(number)  # the text of the path, for which Python has a limit
        except ValueError:
            reason = f"{literal!r} is not an integer"
            if len(literal) > 100:
                reason = "this number has too many digits"
            elif literal.lstrip("+-0_").isdigit():
                reason += ": leading zeros are not allowed"
            raise self.fail(reason, start) from None
        return number

    def string(self, *, raw: bool) -> str:
        start = self.pos
        quoted = _QUOTED.match(self.text, self.pos)
        if quoted is None:
            raise self.fail("this quote is never closed")
        self.pos = quoted.end()
        literal = quoted.group()
        if raw or "\\" not in literal:
            return literal[1:-1]
        for escape in _ESCAPE.finditer(literal):
            if escape.group(1) is None:
                raise self.fail(
                    f"unknown escape {escape.group()}: double the backslash, "
                    "or write r'...'",
                    start + escape.start(),
                )
        try:
            return ast.literal_eval(literal.replace("\n", "\\n"))
        except (SyntaxError, ValueError):
            raise self.fail("this text has a broken escape", start) from None
