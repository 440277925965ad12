"""The text of a failed check: what, where, what bound it, what to do."""

import warnings
from collections.abc import Mapping
from itertools import permutations
from typing import Any, NamedTuple

from ktyping._backends import DEFAULT, LIBRARIES
from ktyping._blame import Item, Verdict
from ktyping._errors import KTypeCheckError, KTypeCheckWarning
from ktyping._failure import Failure, known_sizes, summary
from ktyping._hypothesis import Hypotheses, Hypothesis
from ktyping._solve import match_shape
from ktyping._unread import user_level

_MAX_LENGTH = 4000
_MAX_READINGS = 5
_MAX_ROWS = 20


class Context(NamedTuple):
    """Where a check took place.

    Attributes:
      subject: What is checked: `argument`, `return value`, `yield #0`, `value`.
      arguments: Argument name -> value.
      origin: `function name (file:line)`, or None outside a function.
      returned: The returned value, alone in a tuple, or None.
    """

    subject: str
    arguments: Mapping[str, Any]
    origin: str | None
    returned: tuple[Any] | None = None


def make_error(item: Item, verdict: Verdict, context: Context) -> KTypeCheckError:
    """Builds the exception for an item that does not fit."""
    failure, rest = verdict.failure, verdict.rest
    subject = _subject(failure, context)
    arguments = {name: summary(v) for name, v in context.arguments.items()}
    blocks = [
        _headline(subject, item, failure),
        *_picture(failure),
        *_alternatives(failure),
        *describe_dims(rest),
    ]
    brief = _shortened("\n".join(blocks))
    blocks += _arguments(arguments, item.where, context)
    origin = _origin(context)
    if origin:
        blocks.append(f"Origin: {origin}")
    blocks += [f"Hint: {hint}" for hint in _hints(failure, rest)]
    return KTypeCheckError(
        _shortened("\n".join(blocks)),
        code=failure.code,
        subject=subject,
        value_summary=summary(item.value),
        axis=failure.axis,
        expected=failure.expected,
        actual=failure.actual,
        bindings=known_sizes(rest[0]),
        hypotheses=tuple(known_sizes(h) for h in rest),
        pending=tuple(_pending(rest)),
        arguments=arguments,
        origin=origin,
        brief=brief,
    )


def _origin(context: Context) -> str | None:
    """The origin; an inherited method by the class of the object that has it."""
    name, found, place = (context.origin or "").partition(" (")
    owner, dot, method = name.rpartition(".")
    cls = type(context.arguments.get("self"))
    if dot and owner in [base.__qualname__ for base in cls.__mro__]:
        return f"{cls.__qualname__}.{method}{found}{place}"
    return context.origin


def _shortened(text: str) -> str:
    if len(text) <= _MAX_LENGTH:
        return text
    return text[: _MAX_LENGTH - 4].rstrip() + "\n..."


def warn_mismatch(error: Exception) -> None:
    """Warns about a mismatch, at the line outside of ktyping that led to it."""
    warnings.warn(str(error), KTypeCheckWarning, stacklevel=user_level())


def _subject(failure: Failure, context: Context) -> str:
    kind, where = context.subject, failure.where
    if kind == "argument":
        return where if where[:1] == "*" else f"argument {where}"
    if kind == "value":
        return where
    if kind == "field":
        return f"field {where}"
    return kind + where.removeprefix(kind)


def _headline(subject: str, item: Item, failure: Failure) -> str:
    nested = failure.where != item.where
    shown = summary(item.value)
    if failure.code in ("type", "backend", "structure") and not failure.alternatives:
        return f"{subject}: {failure.message} (required by {item.checker!r})"
    inside = "" if nested else f" = {shown}"
    return f"{subject}{inside} does not fit {item.checker!r}: {failure.message}"


def _picture(failure: Failure) -> list[str]:
    """The terms of the spec over the sizes, with a mark under the failing axis."""
    spec, shape, axis = failure.spec, failure.shape, failure.axis
    if spec is None or shape is None or axis is None or failure.term is None:
        return []
    words, before = list(spec.words), axis - failure.term
    columns: list[tuple[str, str]] = []
    if before == 0 and len(words) == len(shape):
        columns = list(zip(words, map(str, shape), strict=True))
        marked = axis
    else:
        head = " ".join(map(str, shape[:axis]))
        tail = " ".join(map(str, shape[axis + 1 :]))
        columns = [
            (" ".join(words[: failure.term]), head),
            (words[failure.term], str(shape[axis])),
            (" ".join(words[failure.term + 1 :]), tail),
        ]
        marked = 1
    widths = [max(len(a), len(b)) for a, b in columns]
    above = "  ".join(w.ljust(n) for (w, _), n in zip(columns, widths, strict=True))
    below = "  ".join(s.ljust(n) for (_, s), n in zip(columns, widths, strict=True))
    indent = sum(n + 2 for n in widths[:marked])
    mark = " " * indent + "^" * max(1, len(columns[marked][1]))
    return [
        f"  spec   {above}".rstrip(),
        f"  shape  {below}".rstrip(),
        f"         {mark}",
    ]


def _alternatives(failure: Failure) -> list[str]:
    if len(failure.alternatives) < 2:
        return []
    lines = [f"  - {f.expected}: {f.message}" for f in failure.alternatives[:6]]
    return ["None of the alternatives fits:", *lines]


def describe_dims(rest: Hypotheses) -> list[str]:
    """Returns the lines of the table of dims: values, and what bound them."""
    tables = [_rows(h) for h in rest]
    if not any(tables) and not any(_pending(rest)):
        return []
    lines = ["Inferred Dims"]
    for number, rows in enumerate(tables[:_MAX_READINGS], start=1):
        if len(tables) > 1:
            lines.append(f"  reading {number}" + ("" if rows else ": nothing bound"))
        lines += _table(rows[:_MAX_ROWS])
        if len(rows) > _MAX_ROWS:
            lines.append(f"  +{len(rows) - _MAX_ROWS} more")
    if len(tables) > _MAX_READINGS:
        lines.append(f"  +{len(tables) - _MAX_READINGS} more readings")
    lines += [f"  open: {text}" for text in _pending(rest)[:_MAX_READINGS]]
    return lines


def _rows(hypothesis: Hypothesis) -> list[tuple[str, str, str]]:
    rows = []
    for name, sizes in known_sizes(hypothesis).items():
        source = hypothesis.sources.get(name, "")
        run = len(sizes) != 1 or "axes" in source
        shown = str(sizes) if run else str(sizes[0])
        rows.append((f"*{name}" if run else name, shown, source))
    whole = [fact for fact in hypothesis.trees if fact.relation == "is"]
    return rows + [(f.name, str(f.structure), f.source) for f in whole]


def _table(rows: list[tuple[str, str, str]]) -> list[str]:
    if not rows:
        return []
    widths = [max(len(row[n]) for row in rows) for n in range(2)]
    return [
        f"  {name.ljust(widths[0])} = {size.ljust(widths[1])}  bound by {source}"
        for name, size, source in rows
    ]


def _pending(rest: Hypotheses) -> list[str]:
    texts = [
        f"{p.expression.text} = {p.size} (from {p.source})"
        for h in rest
        for p in h.pending
    ]
    return list(dict.fromkeys(texts))


def _arguments(arguments: Mapping[str, str], where: str, context: Context) -> list[str]:
    lines = []
    if arguments:
        culprit = where.split("[")[0].split(".")[0]
        lines.append("Arguments")
        for name, shown in list(arguments.items())[:_MAX_ROWS]:
            mark = ">" if name == culprit and context.subject == "argument" else " "
            lines.append(f"  {mark} {name}: {shown}")
    if context.returned is not None:
        given = "Returned" if context.subject == "return value" else "Value"
        lines.append(f"{given}: {summary(context.returned[0])}")
    return lines


def _hints(failure: Failure, rest: Hypotheses) -> list[str]:
    if failure.code == "dtype":
        return [_dtype_hint(failure)]
    if failure.code == "backend":
        return _backend_hint(failure)
    if failure.code == "structure" and failure.axis is not None:
        return [
            "rename the axes, or reorder them: `x.rename(...)`, `x.transpose(...)`."
        ]
    if failure.spec is None or failure.shape is None or len(failure.shape) > 5:
        return []
    shape = failure.shape

    def fits(other: tuple[Any, ...]) -> bool:
        return bool(failure.spec and match_shape(failure.spec, other, rest, ""))

    for order in permutations(range(len(shape))):
        if order != tuple(sorted(order)) and fits(tuple(shape[n] for n in order)):
            return [f"the axes fit in the order {order}: transpose the value."]
    if shape and shape[0] == 1 and fits(shape[1:]):
        return ["without its first axis (size 1) it fits: `x[0]`."]
    if fits((1, *shape)):
        return ["with one more axis in front it fits: `x[None]`."]
    if shape and failure.spec.most is not None and fits(shape[1:]):
        return [
            f"it has an axis in front too many; `... {failure.spec.text}` allows it."
        ]
    if failure.actual == "1" and failure.axis is not None:
        word = failure.spec.words[failure.term or 0]
        if word.isidentifier():
            return [f"`#{word}` accepts size 1 as well, for broadcasting."]
    return []


def _dtype_hint(failure: Failure) -> str:
    return (
        f"convert the value, as in `x.astype(...)`, or annotate the dtype that comes "
        f"(`Num` takes every number); got {failure.actual}."
    )


def _backend_hint(failure: Failure) -> list[str]:
    got = failure.actual
    if got.startswith(("list", "tuple")):
        return ["make an array of it: `np.asarray(x)` or `jnp.asarray(x)`."]
    if got.startswith(("float", "int", "complex", "bool")):
        kind = got.split()[0].capitalize()
        return [f"`Scalar{kind}` accepts Python numbers and arrays without axes."]
    if got == "None":
        return [f"write `{failure.expected} | None` if the value may be left out."]
    if got == "ShapeDtypeStruct":
        return ["`Float.spec[...]` and `ArraySpec[...]` describe arrays without data."]
    if got.startswith("np.") and "jax" in failure.message:
        return ["the value is a numpy array; `jnp.asarray(x)` makes a jax array."]
    library, dot, _ = got.partition(".")
    if dot and library in LIBRARIES and library not in DEFAULT:
        return [
            f"`backend.{library}.Float` takes arrays of {LIBRARIES[library].module}, "
            "`backend.any.Float` those of every library."
        ]
    return []
