"""`with typechecked():` - a scope for a block of code."""

from contextvars import Token
from types import CodeType, FrameType
from typing import Any

from ktyping._hypothesis import EMPTY
from ktyping._scope import CURRENT, Scope


class BlockOrigin:
    """Where a block stands."""

    __slots__ = ("code", "line")

    def __init__(self, code: CodeType, line: int):
        self.code = code
        self.line = line

    def named(self, args: tuple[Any, ...]) -> dict[str, Any]:
        """Returns no names: a block has no arguments."""
        return {}

    def __str__(self) -> str:
        return (
            f"a block in {self.code.co_qualname} ({self.code.co_filename}:{self.line})"
        )


class Block:
    """Opens a scope while a `with` block runs; gives the scope."""

    def __init__(self, frame: FrameType):
        self.origin = BlockOrigin(frame.f_code, frame.f_lineno)
        self.tokens: list[Token[Scope | None]] = []

    def __enter__(self) -> Scope:
        scope = Scope((EMPTY,), self.origin, CURRENT.get())
        self.tokens.append(CURRENT.set(scope))
        return scope

    def __exit__(self, *exc_info: object) -> None:
        CURRENT.reset(self.tokens.pop())
