"""Reads a shape spec such as `"*b n c+1"` into the terms of `_dims`."""

import functools
import re
from typing import NoReturn

from ktyping import _dims as d
from ktyping._errors import ShapeSpecSyntaxError

FUNCTIONS = ("max", "min", "prod", "sum")

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_UINT = re.compile(r"[0-9]+")
_INTERP = re.compile(
    r"\{([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)(?:\[(-?[0-9]+)\])?\}"
)
_MAX_LENGTH = 1000
_MAX_DEPTH = 40
_MAX_SHOWN = 100


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> d.Spec:
    """Parses a shape spec.

    Args:
      text: Terms separated by spaces, tabs or line ends.

    Returns:
      The parsed spec.

    Raises:
      ShapeSpecSyntaxError: With the column of the mistake.
    """
    if len(text) > _MAX_LENGTH:
        raise ShapeSpecSyntaxError(
            f"The shape spec has {len(text)} characters, more than {_MAX_LENGTH}.",
            code="length",
        )
    words = [(m.group(), m.start()) for m in re.finditer(r"[^ \t\r\n]+", text)]
    _refuse_split_terms(text, words)
    terms = tuple(_Reader(text, word, start).term() for word, start in words)
    return d.make_spec(terms, tuple(word for word, _ in words))


def _refuse_split_terms(text: str, words: list[tuple[str, int]]) -> None:
    # A space inside a term gives words that cannot stand alone; naming the space
    # is more use than what the halves would say.
    depth = 0
    for index, (word, start) in enumerate(words):
        lone = word in ("+", "-", "*", "/", "//", "%", "**", "|", "=", "<=", ">=")
        if index and (depth or lone or word[0] in "/%|)-="):
            _fail(text, "space", start - 1, "a space inside a term", _SPACE_HINT)
        ends_open = word[-1] in "+-*/%|=(#" and index + 1 < len(words)
        if ends_open and _NAME.search(word):
            after = start + len(word)
            _fail(text, "space", after, "a space inside a term", _SPACE_HINT)
        depth += word.count("(") - word.count(")")
        depth += word.count("{") - word.count("}")


_SPACE_HINT = "Write a term without spaces: `a+1`, `min(a,b)`."


def _fail(text: str, code: str, at: int, what: str, hint: str = "") -> NoReturn:
    shown, caret = _excerpt(text.replace("\n", " ").replace("\t", " "), at)
    lines = [
        f"The shape spec {shown!r} has {what} at column {at + 1}:",
        f"  {shown}",
        f"  {' ' * caret}^",
    ]
    if hint:
        lines.append(hint)
    raise ShapeSpecSyntaxError("\n".join(lines), code=code, column=at + 1, hint=hint)


def _excerpt(text: str, at: int) -> tuple[str, int]:
    """What of a long text fits on a line around `at`, and where `at` is in that."""
    if len(text) <= _MAX_SHOWN:
        return text, at
    start = max(0, min(at - _MAX_SHOWN // 2, len(text) - _MAX_SHOWN))
    end = start + _MAX_SHOWN
    head, tail = "…" if start else "", "…" if end < len(text) else ""
    return f"{head}{text[start:end]}{tail}", at - start + len(head)


class _Reader:
    """Recursive descent over one term; `at` counts inside the word."""

    def __init__(self, text: str, word: str, start: int):
        self.text = text
        self.word = word
        self.start = start
        self.at = 0
        self.depth = 0

    # -- characters ---------------------------------------------------------

    def fail(
        self, code: str, what: str, hint: str = "", at: int | None = None
    ) -> NoReturn:
        _fail(self.text, code, self.start + (self.at if at is None else at), what, hint)

    def peek(self, *options: str) -> bool:
        return any(self.word.startswith(option, self.at) for option in options)

    def take(self, option: str) -> bool:
        if self.word.startswith(option, self.at):
            self.at += len(option)
            return True
        return False

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.word, self.at)
        if found:
            self.at = found.end()
        return found

    # -- terms --------------------------------------------------------------

    def term(self) -> d.Term:
        items = [self.item()]
        while self.take("|"):
            items.append(self.item())
        term: d.Term = items[0] if len(items) == 1 else d.Choice(tuple(items))
        if self.take("?"):
            term = d.Optional(term)
            if self.at < len(self.word) and not self.peek("?"):
                hint = "`?` ends a term; a space follows it: `a? b`."
                self.fail("optional", f"{self.word[self.at]!r} after '?'", hint)
        if self.at < len(self.word):
            self.refuse_rest()
        return term

    def item(self) -> d.Term:
        if self.take("..."):
            return d.Variadic(None, 0, False)
        if self.peek("#*", "#+"):
            self.at += 1
            return self.variadic(broadcast=True)
        if self.peek("*", "+"):
            return self.variadic(broadcast=False)
        if self.take("#"):
            return self.broadcast()
        if self.peek("_"):
            return self.anonymous()
        return self.bounded() or self.expression()

    def variadic(self, broadcast: bool) -> d.Term:
        least = int(self.word[self.at] == "+")
        self.at += 1
        broadcast = self.take("#") or broadcast
        if self.peek("{"):
            return d.Splice(self.interp(), broadcast, least)
        if self.peek("_"):
            if broadcast:
                self.fail("anon_bcast", "a broadcast axis without a name", _BCAST_HINT)
            self.anonymous()
            return d.Variadic(None, least, False)
        name = self.match(_NAME)
        if not name:
            self.fail("variadic_name", "a run of axes without a name", _RUN_HINT)
        if self.peek("+", "-", "*", "/", "%"):
            what = f"{self.word[self.at]!r} after a run of axes"
            hint = "A run has no single size: use `prod(*b)` or `sum(*b)` in sums."
            self.fail("variadic_expr", what, hint)
        return d.Variadic(name.group(), least, broadcast)

    def broadcast(self) -> d.Term:
        if self.peek("_"):
            self.fail("anon_bcast", "a broadcast axis without a name", _BCAST_HINT)
        if self.peek("{"):
            return d.Splice(self.interp(), True)
        if size := self.match(_UINT):
            return d.FixedBroadcast(int(size.group()))
        name = self.match(_NAME)
        if not name:
            self.fail("bcast", "'#' without a name or size", "Write `#a` or `#3`.")
        return d.Broadcast(name.group())

    def anonymous(self) -> d.Term:
        self.at += 1
        if self.peek("#"):
            self.fail("anon_bcast", "'#' after '_'", _BCAST_HINT)
        if self.match(_UINT):
            hint = "Write the size alone (`4`), or `_` for any size."
            self.fail("anon_fixed", "a size after '_'", hint, at=1)
        self.match(_NAME)
        return d.Anonymous()

    def bounded(self) -> d.Term | None:
        start = self.at
        name = self.match(_NAME)
        if name and self.peek("=="):
            self.fail("compare", "'=='", "A fixed size that is remembered is `n=3`.")
        for op in ("<=", ">=", "="):
            if name and self.take(op):
                size = self.match(_UINT)
                if not size:
                    self.fail("bound", f"no size after {op!r}", f"Write `n{op}3`.")
                return d.Bounded(name.group(), op, int(size.group()))
        self.at = start
        return None

    def expression(self) -> d.Term:
        start = self.at
        node = self.sum()
        match node:
            case d.Number():
                return d.Fixed(node.value)
            case d.Name():
                return d.Named(node.name)
            case d.Interp():
                return d.Splice(node, False)
            case _:
                text = self.word[start : self.at]
                return d.Expression(node, text, d.names_in(node))

    # -- expressions --------------------------------------------------------

    def sum(self) -> d.Node:
        node = self.product()
        while self.peek("+", "-"):
            op = self.word[self.at]
            self.at += 1
            node = d.Binary(op, node, self.product())
        return node

    def product(self) -> d.Node:
        node = self.unary()
        while self.peek("*", "/", "%"):
            op = "//" if self.peek("//") else self.word[self.at]
            self.at += len(op)
            if self.at == len(self.word) or self.peek("?", "|"):
                at = self.at - len(op)
                self.fail("postfix", f"{op!r} after a name", _POSTFIX_HINT, at=at)
            node = d.Binary(op, node, self.unary())
        return node

    def unary(self) -> d.Node:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            self.fail("nesting", f"more than {_MAX_DEPTH} nested operations")
        node = d.Unary(self.unary()) if self.take("-") else self.power()
        self.depth -= 1
        return node

    def power(self) -> d.Node:
        base = self.atom()
        if self.take("**"):
            return d.Binary("**", base, self.unary())
        return base

    def atom(self) -> d.Node:
        if size := self.match(_UINT):
            if self.match(_NAME):
                hint = "A name begins with a letter: `n2`; a product is `2*n`."
                self.fail("char", "a name after a size", hint, at=size.end())
            return d.Number(int(size.group()))
        if self.peek("{"):
            return self.interp()
        if self.take("("):
            return self.group()
        name = self.match(_NAME)
        if not name:
            self.refuse_rest()
        if self.peek("("):
            return self.call(name.group(), name.start())
        return d.Name(name.group())

    def group(self) -> d.Node:
        node = self.sum()
        if self.peek("|"):
            hint = "A choice stands outside parentheses: `a|b`, `a|b?`."
            self.fail("choice", "'|' inside parentheses", hint)
        self.close()
        return node

    def call(self, function: str, at: int) -> d.Node:
        if function not in FUNCTIONS:
            hint = f"The functions are {', '.join(FUNCTIONS)}."
            what = f"the unknown function {function[:40]!r}"
            self.fail("function", what, hint, at=at)
        self.at += 1
        args = [self.argument()]
        while self.take(","):
            args.append(self.argument())
        if self.peek("|"):
            self.fail("choice", "'|' inside a function", "A choice stands outside.")
        self.close()
        return d.Call(function, tuple(args))

    def argument(self) -> d.Node:
        if not self.take("*"):
            return self.sum()
        name = self.match(_NAME)
        if not name:
            self.fail("variadic_name", "a run of axes without a name", _RUN_HINT)
        return d.Splat(name.group())

    def close(self) -> None:
        if not self.take(")"):
            if self.at < len(self.word):
                self.refuse_rest()
            self.fail("paren", "a parenthesis that is not closed")

    def interp(self) -> d.Interp:
        found = self.match(_INTERP)
        if not found:
            hint = (
                "Only `{name}`, `{name.attribute}` and `{name[0]}` are read, never "
                "other Python: pass the value as a parameter, or write `{n}*5`."
            )
            self.fail("interp", "'{' that does not begin a plain path", hint)
        index = found.group(2)
        return d.Interp(
            tuple(found.group(1).split(".")), None if index is None else int(index)
        )

    # -- what cannot stand here -----------------------------------------------

    def refuse_rest(self) -> NoReturn:
        if self.at >= len(self.word):
            self.fail("end", "the end of a term where a name or size should be")
        char = self.word[self.at]
        code, what, hint = _REFUSED.get(char, ("char", f"the character {char!r}", ""))
        if char not in _REFUSED and not char.isascii():
            code, hint = "non_ascii", "Names are made of a-z, A-Z, 0-9 and '_'."
        _fail(self.text, code, self.start + self.at, what, hint)


_BCAST_HINT = "`#` ties axes together by name: write `#a`, or `_` for any size."
_RUN_HINT = "Write `*b`, `+b`, or `...` for any axes."
_POSTFIX_HINT = "A run of axes is marked in front: `*b`."
_REFUSED = {
    ",": ("comma", "a comma", "Separate axes by spaces: `a b`."),
    ".": ("attribute", "an attribute", "Values of arguments are `{a.b}`."),
    "[": ("index", "an index", "Values of arguments are `{a[0]}`."),
    "$": ("dollar", "'$'", "`$S` names a tree in `PyTree[T, '$S']`, not an axis."),
    "#": ("anon_bcast", "'#' after a name", "Write `#` in front: `#a`."),
    "?": ("optional", "a second or misplaced '?'", "`?` ends a term: `a?`, `a|b?`."),
    "=": ("compare", "'='", "A fixed size that is remembered is `n=3`."),
    "<": ("compare", "'<'", "A limit is written `n<=3`."),
    ">": ("compare", "'>'", "A limit is written `n>=3`."),
    ")": ("paren", "a parenthesis that was not opened", ""),
    "_": ("anon", "'_' inside an expression", "Give the axis a name to compute."),
}
