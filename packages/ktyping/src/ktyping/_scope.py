"""The dims of one checked call: who owns them, and how code reads them."""

import operator
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from types import CodeType, FrameType
from typing import Any, Protocol

from ktyping._arithmetic import Sizes, same_sizes
from ktyping._config import config
from ktyping._errors import (
    AmbiguousDimensionError,
    NoActiveScopeError,
    ScopeDisabledError,
    UnboundDimensionError,
)
from ktyping._failure import known_sizes
from ktyping._hypothesis import Hypotheses, distinct


class Origin(Protocol):
    """What opened a scope: a checked function or a `with` block."""

    code: CodeType

    def named(self, args: tuple[Any, ...]) -> Mapping[str, Any]:
        """Returns argument name -> value."""
        ...


class Scope:
    """What is known about dims in one call of a checked function, or one block.

    Attributes:
      hypotheses: Every reading that is still possible.
      origin: What opened the scope. Its body, with the functions defined in it,
        may read and bind these dims.
      parent: The scope of the caller, or None.
      args: The arguments of the call, in the order of the signature.
      entry: The verdict that the scope began with, when it came from memory.
      typevars: TypeVar -> the class it stands for in this call.
    """

    __slots__ = ("args", "entry", "hypotheses", "origin", "parent", "typevars")

    def __init__(
        self,
        hypotheses: Hypotheses,
        origin: Origin,
        parent: "Scope | None",
        args: tuple[Any, ...] = (),
        entry: Any = None,
    ):
        self.hypotheses = hypotheses
        self.origin = origin
        self.parent = parent
        self.args = args
        self.entry = entry
        self.typevars: dict[Any, type] | None = None

    def extend(self, add: Callable[[Hypotheses], Hypotheses]) -> Hypotheses:
        """Extends the readings, and gives them; none remain if it does not fit.

        Threads may share a scope: a copied context has that of its caller.

        Args:
          add: Readings -> those that remain; called again if another thread has
            bound something meanwhile.
        """
        while True:
            known = self.hypotheses
            found = add(known)
            if not found:
                return ()
            with _writing:
                if self.hypotheses is known:
                    self.hypotheses = found
                    return found

    @property
    def values(self) -> Mapping[str, Any]:
        """Argument name -> value."""
        return self.origin.named(self.args)

    @property
    def candidates(self) -> tuple[dict[str, Sizes], ...]:
        """Name -> sizes, once per reading that is still possible."""
        return tuple(known_sizes(h) for h in self.hypotheses)

    @property
    def dim(self) -> "Dims":
        """The dims of this scope."""
        return Dims(self)

    def __repr__(self) -> str:
        return f"<Scope {self.dim!r}>"


class SharedScope(Scope):
    """A scope that keeps its dims in the scope of the caller."""

    __slots__ = ()

    @property
    def hypotheses(self) -> Hypotheses:  # type: ignore[override]
        """The readings of the caller's scope."""
        assert self.parent is not None
        return self.parent.hypotheses

    @hypotheses.setter
    def hypotheses(self, value: Hypotheses) -> None:
        if self.parent is not None:
            self.parent.hypotheses = value


_writing = threading.Lock()
CURRENT: ContextVar[Scope | None] = ContextVar("ktyping_scope", default=None)
_nested: dict[CodeType, frozenset[CodeType]] = {}


def nested_code(owner: CodeType) -> frozenset[CodeType]:
    """Returns the code of a function and of the functions defined inside it.

    For the body of a module only its lambdas and comprehensions count: its
    functions do not belong to a block that happens to stand in the same file.
    """
    if owner not in _nested:
        inner = [c for c in owner.co_consts if isinstance(c, CodeType)]
        if owner.co_name == "<module>":
            inner = [c for c in inner if c.co_name.startswith("<")]
        _nested[owner] = frozenset((owner,)).union(*map(nested_code, inner))
    return _nested[owner]


def owned_scope(frame: FrameType | None) -> Scope | None:
    """Returns the nearest scope that the code of a frame belongs to."""
    scope = CURRENT.get()
    while scope is not None and frame is not None:
        if frame.f_code in nested_code(scope.origin.code):
            return scope
        scope = scope.parent
    return None


def get_current_scope(*, nested_ok: bool = False) -> Scope:
    """Returns the scope of the checked function or block this code stands in.

    Args:
      nested_ok: Accept the innermost active scope even if the calling code is not
        inside the function that opened it.

    Raises:
      NoActiveScopeError: When there is no such scope.
    """
    return scope_of(sys._getframe(1), nested_ok, "get_current_scope()")


def scope_of(frame: FrameType | None, nested_ok: bool, asked: str) -> Scope:
    """Returns the scope of a frame, or raises NoActiveScopeError."""
    scope = CURRENT.get() if nested_ok else owned_scope(frame)
    module = frame.f_globals.get("__name__") if frame is not None else None
    if scope is None and config.mode_in(module) == "off":
        raise ScopeDisabledError(
            f"{asked} needs dims, but checking is off here, so nothing is bound.\n"
            "Mode `dims` binds them without checking: `config.override('dims')`."
        )
    if scope is None:
        raise NoActiveScopeError(_no_scope(frame, asked))
    if not scope.hypotheses:
        raise ScopeDisabledError(
            f"{asked} needs dims, but this call of {scope.origin} is not checked, by "
            "mode `trace` or `every=`.\nCode that needs dims is checked in every call."
        )
    return scope


def _no_scope(frame: FrameType | None, asked: str) -> str:
    place = ""
    if frame is not None:
        code = frame.f_code
        place = f" in {code.co_qualname} ({code.co_filename}:{frame.f_lineno})"
    active = CURRENT.get()
    if active is None:
        reason = "No checked call or `with typechecked():` block is active here."
    else:
        reason = f"The active scope belongs to {active.origin}, not to this code."
    return (
        f"{asked} has no scope{place}.\n{reason}\n"
        "Decorate the function with `@typechecked`, or open a block with "
        "`with typechecked():`."
    )


class Dims(Mapping[str, Sizes | Any]):
    """The dims known in a scope: `dim["n"]` is a size, `dim["*b"]` a tuple.

    Without a scope of its own it looks up the one of the calling code.
    """

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope | None = None):
        self._scope = scope

    def _in_scope(self, asked: str) -> Scope:
        # Two frames up: the public method, then its caller. Methods that Mapping
        # provides add a frame, so they are all defined here.
        return self._scope or scope_of(sys._getframe(2), False, asked)

    def __getitem__(self, key: str) -> Any:
        scope = self._in_scope(f"dim[{key!r}]")
        name, is_run = _name_of(key)
        sizes = _read(scope, name)
        if is_run:
            return sizes
        if len(sizes) != 1:
            raise AmbiguousDimensionError(
                f"{name!r} is a run of {len(sizes)} axes: {sizes}.\n"
                f'Read it as `dim["*{name}"]`.'
            )
        return sizes[0]

    def __setitem__(self, key: str, value: Any) -> None:
        scope = self._in_scope(f"dim[{key!r}] = ...")
        name, is_run = _name_of(key)
        sizes = _sizes_from(key, value, is_run)

        def add(readings: Hypotheses) -> Hypotheses:
            bound = [h.bind(name, sizes, "assignment to dim") for h in readings]
            return distinct([h for h in bound if h is not None])

        if not scope.extend(add):
            known = [known_sizes(h).get(name) for h in scope.hypotheses]
            raise ValueError(
                f"dim[{key!r}] cannot become {value}: it is "
                f"{_or(known)} already, or sizes computed from it forbid it."
            )

    def __contains__(self, key: object) -> bool:
        scope = self._in_scope(f"{key!r} in dim")
        try:
            name, _ = _name_of(key)
        except UnboundDimensionError:
            return False
        return all(name in known_sizes(h) for h in scope.hypotheses)

    def __iter__(self) -> Iterator[str]:
        return iter(_table(self._in_scope("iteration over dim")))

    def __len__(self) -> int:
        return len(_table(self._in_scope("len(dim)")))

    def get(self, key: str, default: Any = None) -> Any:
        """Returns the size, or `default` when the name is not bound."""
        scope = self._in_scope(f"dim.get({key!r})")
        return Dims(scope)[key] if key in Dims(scope) else default

    def keys(self) -> Any:
        """Returns the names as `dim` takes them: runs of axes with a star."""
        return _table(self._in_scope("dim.keys()")).keys()

    def values(self) -> Any:
        """Returns the sizes."""
        return _table(self._in_scope("dim.values()")).values()

    def items(self) -> Any:
        """Returns (name, size) pairs."""
        return _table(self._in_scope("dim.items()")).items()

    def __repr__(self) -> str:
        scope = self._scope or owned_scope(sys._getframe(1))
        if scope is None:
            return "dim{no active scope}"
        tables = [_shown(h.bound) for h in scope.hypotheses[:5]]
        return "dim{" + " | ".join(tables) + "}"


def _shown(bound: Mapping[str, Sizes]) -> str:
    return ", ".join(
        f"{n}: {s[0]}" if len(s) == 1 else f"*{n}: {s}" for n, s in bound.items()
    )


def _table(scope: Scope) -> dict[str, Any]:
    known = [known_sizes(h) for h in scope.hypotheses]
    table: dict[str, Any] = {}
    for name, sizes in known[0].items() if known else ():
        if all(other.get(name) == sizes for other in known):
            table[name if len(sizes) == 1 else f"*{name}"] = (
                sizes[0] if len(sizes) == 1 else sizes
            )
    return table


def _name_of(key: Any) -> tuple[str, bool]:
    name = key.strip() if isinstance(key, str) else key
    is_run = isinstance(name, str) and name[:1] in ("*", "+")
    bare = name[1:] if is_run else name
    if not isinstance(bare, str) or not bare.isidentifier() or bare[0] == "_":
        raise UnboundDimensionError(
            f"{key!r} is not the name of a dim.\n"
            'Use `dim["n"]` for one axis and `dim["*b"]` for a run of axes.'
        )
    return bare, is_run


def _read(scope: Scope, name: str) -> Sizes:
    found = [known_sizes(h).get(name) for h in scope.hypotheses]
    bound = [sizes for sizes in found if sizes is not None]
    if not bound or len(bound) < len(found):
        raise UnboundDimensionError(_unbound(scope, name))
    if any(not same_sizes(bound[0], sizes) for sizes in bound):
        raise AmbiguousDimensionError(
            f"{name!r} can be {_or(bound)}: the shapes seen so far allow each.\n"
            f'Check a value that fixes it, or set it: `dim["{name}"] = ...`.'
        )
    return bound[0]


def _unbound(scope: Scope, name: str) -> str:
    lines = [f"{name!r} is not bound."]
    known = list(_table(scope))
    lines.append(f"Bound: {', '.join(known) if known else 'nothing'}.")
    for hypothesis in scope.hypotheses[:1]:
        if name in hypothesis.lower:
            lines.append(f"Every `#{name}` axis has size 1, which says nothing.")
        for pending in hypothesis.pending:
            if name in pending.expression.names:
                text = f"{pending.expression.text} = {pending.size}"
                lines.append(f"{text} (from {pending.source}) allows several sizes.")
    return "\n".join(lines)


def _or(sizes: list[Any]) -> str:
    shown = list(
        dict.fromkeys(str(s[0]) if s and len(s) == 1 else str(s) for s in sizes)
    )
    return " or ".join(shown[:5]) + (" or ..." if len(shown) > 5 else "")


def _sizes_from(key: str, value: Any, is_run: bool) -> Sizes:
    try:
        sizes = tuple(value) if is_run else (value,)
        whole = tuple(s if _is_symbol(s) else operator.index(s) for s in sizes)
    except TypeError:
        wanted = "a sequence of whole numbers" if is_run else "a whole number"
        raise TypeError(f"dim[{key!r}] must be {wanted}, got {value!r}.") from None
    if any(isinstance(s, int) and s < 0 for s in whole):
        raise ValueError(f"dim[{key!r}] must not be negative, got {value!r}.")
    return whole


def _is_symbol(size: Any) -> bool:
    return hasattr(size, "dimension_as_value")


dim = Dims()
