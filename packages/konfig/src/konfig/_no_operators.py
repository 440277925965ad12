"""Operators that configs refuse: what is described is no number yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from konfig import _faults
from konfig._ref import BINARY, COMPARE, UNARY, Lazy


class NoOperators:
    """A base that says what to write in place of arithmetic with a described call."""

    __slots__ = ()


def _install() -> None:
    """One method per operator; `|`, `==` and `!=` have a meaning for mappings."""

    def refusing(symbol: str) -> Callable[..., Any]:
        def method(self: Any, *others: Any) -> Any:
            if others and isinstance(others[0], Lazy):
                return NotImplemented  # the reference makes an expression of both
            raise _faults.not_built(self, symbol)

        return method

    for op, (symbol, _) in BINARY.items():
        if op != "or":
            setattr(NoOperators, f"__{op}__", refusing(symbol))
            setattr(NoOperators, f"__r{op}__", refusing(symbol))
    for op in ("lt", "le", "gt", "ge"):
        setattr(NoOperators, f"__{op}__", refusing(COMPARE[op][0]))
    for op, (symbol, _) in UNARY.items():
        setattr(NoOperators, f"__{op}__", refusing(symbol))


_install()
