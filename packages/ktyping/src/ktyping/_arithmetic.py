"""Values of expressions, and what a value says about the one size not known."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from ktyping import _dims as d
from ktyping._config import config
from ktyping._stats import count_assumed

Sizes = tuple[Any, ...]
_MAX_CANDIDATES = 1024
_MAX_BITS = 256


class Undefined(Exception):
    """The expression has no whole value; the text says why."""


class Unknown(Exception):
    """The expression reads a name that is not bound."""


def is_symbolic(size: Any) -> bool:
    """Whether a size is a symbol whose value is not known while tracing."""
    return not isinstance(size, int)


def is_one(size: Any) -> bool:
    """Whether a size is known to be 1; a symbol is not."""
    return isinstance(size, int) and size == 1


def same_size(left: Any, right: Any) -> bool:
    """Whether two sizes are equal; symbols are, unless it can be disproved.

    The difference of two symbolic sizes is an `int` when it does not depend on the
    symbols: then it decides. Else `config.strict_symbolic` does. None stands for a
    size nobody knows.
    """
    if isinstance(left, int) and isinstance(right, int):
        return left == right
    if left is None or right is None:
        return True
    difference = left - right
    if isinstance(difference, int):
        return difference == 0
    if not config.strict_symbolic:
        count_assumed(left, right)
    return not config.strict_symbolic


def same_sizes(left: Sizes, right: Sizes) -> bool:
    """Whether two runs of sizes have equal length and equal sizes."""
    return len(left) == len(right) and all(map(same_size, left, right))


def evaluate(node: d.Node, bound: Mapping[str, Sizes]) -> Any:
    """Computes an expression.

    Args:
      node: The expression.
      bound: Name -> sizes.

    Returns:
      An int, or a symbolic size.

    Raises:
      Unknown: When a name is not in `bound`.
      Undefined: When there is no whole value, as after a division by zero.
    """
    match node:
        case d.Number():
            return node.value
        case d.Name():
            sizes = _sizes(node.name, bound)
            if len(sizes) != 1:
                raise Undefined(f"{node.name} is a run of {len(sizes)} axes")
            return sizes[0]
        case d.Unary():
            return -evaluate(node.operand, bound)
        case d.Binary():
            left, right = evaluate(node.left, bound), evaluate(node.right, bound)
            return _OPERATORS[node.op](left, right)
        case d.Call():
            return _call(node, bound)
        case _:
            raise Undefined("a value of the call is missing")


def _sizes(name: str, bound: Mapping[str, Sizes]) -> Sizes:
    if name not in bound:
        raise Unknown(name)
    return bound[name]


def _call(node: d.Call, bound: Mapping[str, Sizes]) -> Any:
    values: list[Any] = []
    for arg in node.args:
        if isinstance(arg, d.Splat):
            values.extend(_sizes(arg.name, bound))
        else:
            values.append(evaluate(arg, bound))
    if node.function in ("min", "max") and not values:
        raise Undefined(f"{node.function} of no axes")
    return _FUNCTIONS[node.function](values)


def _divide(left: Any, right: Any) -> Any:
    quotient = _floor(left, right)
    if isinstance(quotient, int) and quotient * right != left:
        raise Undefined(f"{left}/{right} is not whole")
    return quotient


def _floor(left: Any, right: Any) -> Any:
    if isinstance(right, int) and right == 0:
        raise Undefined("division by zero")
    return left // right


def _modulo(left: Any, right: Any) -> Any:
    if isinstance(right, int) and right == 0:
        raise Undefined("division by zero")
    return left % right


def _power(left: Any, right: Any) -> Any:
    if is_symbolic(right) or right < 0:
        raise Undefined(f"the exponent {right} is not a whole number >= 0")
    too_large = isinstance(left, int) and left.bit_length() * right > _MAX_BITS
    if too_large and abs(left) > 1:
        raise Undefined(f"{left}**{right} is too large")
    return left**right


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": _divide,
    "//": _floor,
    "%": _modulo,
    "**": _power,
}
_FUNCTIONS: dict[str, Callable[[list[Any]], Any]] = {
    "min": min,
    "max": max,
    "sum": sum,
    "prod": math.prod,
}


def solutions(
    node: d.Node, name: str, size: int, bound: Mapping[str, Sizes]
) -> range | list[int] | None:
    """Returns every size of `name` for which the expression has the value `size`.

    Args:
      node: An expression in which `name` is the only name not in `bound`.
      name: The unknown name.
      size: The value of the expression.
      bound: The sizes of the other names.

    Returns:
      The sizes in rising order; None when they cannot be listed.
    """
    try:
        interval = _interval(node, name, size, size, bound)
    except Undefined:
        return []
    if interval is None:
        return None
    low, high = max(interval[0], 0), interval[1]
    if high - low >= _MAX_CANDIDATES:
        return None
    return [n for n in range(low, high + 1) if _gives(node, name, n, size, bound)]


def _gives(node: d.Node, name: str, value: int, size: int, bound: Any) -> bool:
    try:
        return bool(evaluate(node, {**bound, name: (value,)}) == size)
    except Undefined:
        return False


Interval = tuple[int, int] | None


def _interval(node: d.Node, name: str, low: int, high: int, bound: Any) -> Interval:
    """Bounds of `name` when the node lies in [low, high]; None when not known."""
    match node:
        case d.Name():
            return low, high
        case d.Unary():
            return _interval(node.operand, name, -high, -low, bound)
        case d.Binary():
            on_left = name in d.names_in(node.left)
            if on_left and name in d.names_in(node.right):
                return None
            side, other = (
                (node.left, node.right) if on_left else (node.right, node.left)
            )
            known = evaluate(other, bound)
            if is_symbolic(known):
                return None
            inverse = (_INVERSE_LEFT if on_left else _INVERSE_RIGHT).get(node.op)
            narrowed = inverse(low, high, known) if inverse else None
            return narrowed and _interval(side, name, *narrowed, bound)
        case d.Call() if len(node.args) == 1 and not isinstance(node.args[0], d.Splat):
            return _interval(node.args[0], name, low, high, bound)
        case _:
            return None


_EMPTY = (1, 0)


def _times(low: int, high: int, factor: int) -> Interval:
    # x * factor in [low, high]
    if factor == 0:
        return None if low <= 0 <= high else _EMPTY
    if factor < 0:
        low, high, factor = -high, -low, -factor
    return -(-low // factor), high // factor


def _over(low: int, high: int, divisor: int) -> Interval:
    # x / divisor in [low, high], exactly
    if divisor == 0:
        raise Undefined("division by zero")
    ends = (low * divisor, high * divisor)
    return min(ends), max(ends)


def _over_floored(low: int, high: int, divisor: int) -> Interval:
    # x // divisor in [low, high]
    if divisor == 0:
        raise Undefined("division by zero")
    if divisor < 0:
        return high * divisor + divisor + 1, low * divisor
    return low * divisor, high * divisor + divisor - 1


def _root(low: int, high: int, exponent: int) -> Interval:
    # x ** exponent in [low, high]; wider than exact, candidates are tried anyway
    if exponent <= 0:
        return None if exponent == 0 and low <= 1 <= high else _EMPTY
    furthest = max(abs(low), abs(high))
    root = 1 if exponent > _MAX_BITS else _floor_root(furthest, exponent)
    return (-root, root) if low <= high else _EMPTY


def _floor_root(value: int, exponent: int) -> int:
    low, high = 0, 1 << (value.bit_length() // exponent + 1)
    while low < high:
        middle = (low + high + 1) // 2
        if middle**exponent <= value:
            low = middle
        else:
            high = middle - 1
    return low


_Inverse = Callable[[int, int, int], Interval]
_INVERSE_LEFT: dict[str, _Inverse] = {
    "+": lambda low, high, known: (low - known, high - known),
    "-": lambda low, high, known: (low + known, high + known),
    "*": _times,
    "/": _over,
    "//": _over_floored,
    "**": _root,
}
_INVERSE_RIGHT: dict[str, _Inverse] = {
    "+": lambda low, high, known: (low - known, high - known),
    "-": lambda low, high, known: (known - high, known - low),
    "*": _times,
}
