"""`typechecked(ties=...)`: dims of a call that are dims of the scope around it."""

from collections.abc import Iterable

from ktyping._arithmetic import Sizes, same_sizes
from ktyping._errors import KTypeCheckError
from ktyping._failure import known_sizes, summary
from ktyping._hypothesis import Hypothesis, distinct
from ktyping._report import describe_dims
from ktyping._scope import Scope

Pair = tuple[Hypothesis, Hypothesis] | None


def tie_dims(scope: Scope, ties: Iterable[tuple[str, str]]) -> KTypeCheckError | None:
    """Makes dims of a scope and dims of the scope around it one; or returns why not.

    A dim that only one of the two knows becomes known to the other. Where there is no
    scope around, there is nothing to tie to.
    """
    around = scope.parent
    while around is not None and not around.hypotheses:
        around = around.parent
    if around is None or not scope.hypotheses:
        return None
    own, outer = scope.hypotheses, around.hypotheses
    for name, other in ties:
        pairs = [_tied(h, name, g, other) for h in own for g in outer]
        kept = [pair for pair in pairs if pair is not None]
        if not kept:
            return _error(scope, name, own[0], around, other, outer[0])
        own = distinct([h for h, _ in kept])
        outer = distinct([g for _, g in kept])
    scope.hypotheses, around.hypotheses = own, outer
    return None


def _tied(own: Hypothesis, name: str, outer: Hypothesis, other: str) -> Pair:
    here, there = known_sizes(own).get(name), known_sizes(outer).get(other)
    if here is not None and there is not None:
        return (own, outer) if same_sizes(here, there) else None
    bound: Hypothesis | None = own
    known: Hypothesis | None = outer
    if there is not None:
        bound = own.bind(name, there, f"{other} of the caller")
    elif here is not None:
        known = outer.bind(other, here, f"{name} of a call")
    return None if bound is None or known is None else (bound, known)


def _error(
    scope: Scope,
    name: str,
    own: Hypothesis,
    around: Scope,
    other: str,
    outer: Hypothesis,
) -> KTypeCheckError:
    here, there = known_sizes(own).get(name), known_sizes(outer).get(other)
    arguments = {key: summary(value) for key, value in scope.values.items()}
    lines = [
        f"dim {name!r} is tied to {other!r}: {_shown(name, here, own)}, but "
        f"{_shown(other, there, outer)} in {around.origin}",
        *describe_dims(scope.hypotheses),
        "Arguments",
        *(f"    {key}: {text}" for key, text in arguments.items()),
        f"Origin: {scope.origin}",
        "Around the call:",
        *(f"  {line}" for line in describe_dims(around.hypotheses)),
    ]
    brief = "\n".join(lines[: 1 + len(describe_dims(scope.hypotheses))])
    return KTypeCheckError(
        "\n".join(lines),
        code="size",
        subject=f"dim {name}",
        expected=str(there),
        actual=str(here),
        bindings=known_sizes(own),
        hypotheses=scope.candidates,
        arguments=arguments,
        origin=str(scope.origin),
        brief=brief,
    )


def _shown(name: str, sizes: Sizes | None, hypothesis: Hypothesis) -> str:
    size = sizes[0] if sizes is not None and len(sizes) == 1 else sizes
    source = hypothesis.sources.get(name)
    return f"{name} = {size}" + (f" from {source}" if source else "")
