"""Writes the wrapper of a function, and its look-up of known verdicts, as code.

The wrapper has the parameters of the function, so that Python itself binds the
arguments and reports wrong ones. It reads everything from one object, the plan.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ktyping import _signature as signature
from ktyping._checker import ARRAY, CLASS, Checker
from ktyping._signature import Parameter

_MODE = """\
    mode{s} = plan{s}.mode or plan{s}.override() or plan{s}.settings.mode
    if mode{s} == "off":
        return {wait}plan{s}.function({forward})
    {when}mode{s} = plan{s}.narrow(mode{s}, ({names}))
    if mode{s} == "skip":
        scope{s} = plan{s}.unchecked(({names}))
    else:
        scope{s} = plan{s}.begin(mode{s}, {names})
"""
_TIE = "        plan{s}.tie(mode{s}, scope{s})\n"

_PLAIN = """\
def {name}({parameters}):
{begin}    token{s} = plan{s}.enter(scope{s})
    try:
        result{s} = plan{s}.function({forward})
    finally:
        plan{s}.leave(token{s})
    return plan{s}.finish(mode{s}, scope{s}, result{s})
"""

_COROUTINE = """\
async def {name}({parameters}):
{begin}    result{s} = await plan{s}.resume(scope{s}, plan{s}.function({forward}))
    return plan{s}.finish(mode{s}, scope{s}, result{s})
"""

_GENERATOR = """\
def {name}({parameters}):
{begin}    return plan{s}.iterate(mode{s}, scope{s}, plan{s}.function({forward}))
"""

# File name of all generated code.
LABEL = "<ktyping"
_TEMPLATES = {"plain": _PLAIN, "coroutine": _COROUTINE, "generator": _GENERATOR}
_LOCALS = ("plan", "mode", "scope", "token", "result")


def make_wrapper(
    function: Callable[..., Any],
    parameters: Sequence[Parameter],
    kind: str,
    plan: Any,
) -> Callable[..., Any]:
    """Returns a function with the parameters of `function` that runs the plan.

    Args:
      function: The function to wrap.
      parameters: Its parameters.
      kind: `plain`, `coroutine` or `generator`.
      plan: What the wrapper asks: `options`, `begin`, `finish` and the rest.
    """
    suffix = "_kt"
    taken = {p.name for p in parameters}
    while any(name + suffix in taken for name in _LOCALS):
        suffix += "_"
    name = function.__name__
    options = plan.options
    parts = {
        "s": suffix,
        "name": name if name.isidentifier() else "wrapper",
        "parameters": _declare(parameters),
        "forward": _forward(parameters),
        "names": "".join(f"{p.name}, " for p in parameters),
        "wait": "await " if kind == "coroutine" else "",
        # Without `every` there is something to decide in one mode alone.
        "when": "" if options.every > 1 else f'if mode{suffix} == "trace": ',
    }
    begin = _MODE + (_TIE if options.ties else "")
    source = _TEMPLATES[kind].format(begin=begin.format(**parts), **parts)
    label = f"{LABEL} wrapper of {function.__qualname__}>"
    wrapper = _define(source, label, {f"plan{suffix}": plan})
    # Of the signature, not of the function: a function under another decorator shows
    # the signature of the one inside.
    given = [p for p in parameters if p.default is not signature.ABSENT]
    keywords = {p.name: p.default for p in given if p.kind == signature.KEYWORD_ONLY}
    wrapper.__defaults__ = tuple(p.default for p in given if p.name not in keywords)
    wrapper.__kwdefaults__ = keywords
    return wrapper


def _declare(parameters: Sequence[Parameter]) -> str:
    parts: list[str] = []
    previous: Any = None
    for p in parameters:
        if previous == signature.POSITIONAL_ONLY != p.kind:
            parts.append("/")
        starred = previous in (signature.KEYWORD_ONLY, signature.VAR_POSITIONAL)
        if p.kind == signature.KEYWORD_ONLY and not starred:
            parts.append("*")
        default = "" if p.default is signature.ABSENT else "=None"
        parts.append(f"{_stars(p)}{p.name}{default}")
        previous = p.kind
    if previous == signature.POSITIONAL_ONLY:
        parts.append("/")
    return ", ".join(parts)


def _forward(parameters: Sequence[Parameter]) -> str:
    return ", ".join(
        f"{p.name}={p.name}"
        if p.kind == signature.KEYWORD_ONLY
        else f"{_stars(p)}{p.name}"
        for p in parameters
    )


def _stars(parameter: Parameter) -> str:
    if parameter.kind == signature.VAR_POSITIONAL:
        return "*"
    return "**" if parameter.kind == signature.VAR_KEYWORD else ""


# A look-up asks foreign objects for shape, dtype and hash, which may raise anything;
# the slow way then decides and reports.
#
# Values of these classes have no shape; asking their class is quicker than asking
# for one.
PLAIN_CLASSES = frozenset({type(None), bool, int, float, complex, str})

_BEGIN = """\
def begin(mode, {names}):
    try:
        key = {key}
        entry = known(key)
    except Exception:
        key = entry = None
    if entry is None:
        return slow(mode, ({names}), key)
    return {scope}
"""
_SCOPE = "Scope(entry.hypotheses, plan, current(), ({names}), entry)"
_MORE = "more(mode, entry, ({names}))"

_FINISH = """\
def finish(mode, scope, result):
    entry = scope.entry
    key = None
    if entry is not None and scope.hypotheses is entry.hypotheses:
        try:
            key = {key}
            if key in entry.returns:
                return result
        except Exception:
            pass
    return slow(mode, scope, result, key)
"""


def make_begin(
    names: Sequence[str],
    checkers: Sequence[Checker],
    complete: bool,
    namespace: dict[str, Any],
) -> Callable[..., Any]:
    """Returns the look-up of the verdict on the arguments of a call.

    Args:
      names: Names of the parameters.
      checkers: Their checkers.
      complete: Whether the verdict from memory is the whole verdict; if not,
        `more` in the namespace goes on with it.
      namespace: `known`, `slow`, `more`, `Scope`, `plan`, `current`. `slow` gets the
        key, or None when it could not be made.
    """
    listed = "".join(f"{name}_, " for name in names)
    parts = [_key(f"{n}_", c) for n, c in zip(names, checkers, strict=True)]
    source = _BEGIN.format(
        names=listed,
        key="(" + "".join(f"{part}, " for part in parts if part) + ")",
        scope=(_SCOPE if complete else _MORE).format(names=listed),
    )
    constants = {"PLAIN_CLASSES": PLAIN_CLASSES, **namespace}
    return _define(source, f"{LABEL} look-up>", constants)


def make_finish(checker: Checker, slow: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the look-up of the verdict on a returned value."""
    key = f"({_key('result', checker)},)"
    constants = {"PLAIN_CLASSES": PLAIN_CLASSES, "slow": slow}
    return _define(_FINISH.format(key=key), f"{LABEL} look-up>", constants)


def _key(name: str, checker: Checker) -> str:
    """The code of what a verdict depends on (`_verdicts.key_of` is the same, slow)."""
    if checker.depends == CLASS:
        return f"type({name})"
    if checker.depends != ARRAY:
        return ""
    facts = f"type({name}), {name}.shape, {name}.dtype"
    if always_array(checker):
        return facts
    return f"type({name}) if type({name}) in PLAIN_CLASSES else ({facts})"


def always_array(checker: Checker) -> bool:
    """Whether only arrays fit, so that shape and dtype can be asked at once."""
    return not hasattr(checker, "members")


def _define(source: str, label: str, namespace: dict[str, Any]) -> Callable[..., Any]:
    known = dict(namespace)
    exec(compile(source, label, "exec"), namespace)
    (made,) = namespace.keys() - known.keys() - {"__builtins__"}
    return namespace[made]
