"""How one checked function checks: its annotations, and the verdicts so far."""

import typing
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from ktyping._blame import Item, blame, match_all
from ktyping._check import checker_for
from ktyping._checker import ARRAY, CLASS, VALUE, Checker, Trial
from ktyping._config import OVERRIDE, config
from ktyping._errors import KTypingError
from ktyping._hints import Unresolved, function_annotations
from ktyping._hypothesis import EMPTY, Hypotheses, close_all
from ktyping._lenient import bind_what_fits
from ktyping._options import Options
from ktyping._plain import ANYTHING
from ktyping._records import KeywordCheck
from ktyping._report import Context, make_error, warn_mismatch
from ktyping._resume import Resumed, iterate, iterate_async
from ktyping._scope import CURRENT, Scope, SharedScope
from ktyping._signature import (
    VAR_KEYWORD,
    VAR_POSITIONAL,
    Parameter,
    innermost,
    kind_of,
    parameters_of,
)
from ktyping._source import make_begin, make_finish
from ktyping._ties import tie_dims
from ktyping._traced import is_traced
from ktyping._unread import reading, report_unread
from ktyping._verdicts import Entry, Verdicts, key_of, traced_result_key


class Plan:
    """What the wrapper of a function asks.

    `begin` matches the arguments and opens the scope, `finish` matches the returned
    value. Both are made at the first call, when every name that annotations use
    should exist, and answer from memory when they can: a verdict depends on class,
    shape and dtype of the values alone unless an annotation says more.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        options: Options,
        local: Mapping[str, Any],
    ):
        self.function = function
        self.options = options
        self.mode = options.mode
        self.new_scope = options.new_scope
        self.local = dict(local)
        self.code = innermost(function).__code__
        self.parameters = parameters_of(function)
        self.names = tuple(p.name for p in self.parameters)
        self.settings = config.settings_of(function.__module__)
        self.override = OVERRIDE.get
        self.enter = CURRENT.set
        self.leave = CURRENT.reset
        self.resume = Resumed
        self.checkers: tuple[Checker, ...] = ()
        self.returns: Checker = ANYTHING
        self.yields: Checker = ANYTHING
        self.sends: Checker = ANYTHING
        self.verdicts = Verdicts()
        self.complete = False
        self.calls = count()
        self.begin: Callable[..., Scope] = self._first_begin
        self.finish: Callable[..., Any] = self._finish_slow

    def __reduce__(self) -> Any:
        return Plan, (self.function, self.options, self.local)

    def __str__(self) -> str:
        code = self.code
        place = f"{code.co_filename}:{code.co_firstlineno}"
        return f"{self.function.__qualname__} ({place})"

    def named(self, args: tuple[Any, ...]) -> Mapping[str, Any]:
        """Returns argument name -> value."""
        return dict(zip(self.names, args, strict=False))

    # -- annotations ----------------------------------------------------------

    def resolved(self, owner: type | None) -> dict[str, Any]:
        """Returns parameter name, or `return` -> annotation or `Unresolved`."""
        return function_annotations(self.function, self.local, owner, str(self))

    def prepare(self, owner: type | None) -> None:
        """Makes the checkers and the look-ups."""
        found = self.resolved(owner)
        checkers = {name: self._checker(name, a) for name, a in found.items()}
        self.checkers = tuple(checkers.get(n, ANYTHING) for n in self.names)
        self._prepare_return(found.get("return"), checkers.get("return", ANYTHING))
        keyed = [c if _keyed(p, c) else ANYTHING for p, c in self._slots()]
        slots = [(n, c) for n, (p, c) in enumerate(self._slots()) if _keyed(p, c)]
        self.verdicts = Verdicts(slots)
        self.complete = self.new_scope and all(
            c.depends != VALUE and _keyed(p, c) for p, c in self._slots()
        )
        self.begin = make_begin(
            self.names,
            keyed,
            self.complete,
            {
                "known": self.verdicts.known.get,
                "slow": self._begin_slow,
                "more": self._begin_more,
                "Scope": Scope,
                "plan": self,
                "current": CURRENT.get,
            },
        )

    def _slots(self) -> list[tuple[Parameter, Checker]]:
        return list(zip(self.parameters, self.checkers, strict=True))

    def _checker(self, name: str, annotation: Any) -> Checker:
        place = f" of {name!r} in {self}"
        with reading(place):
            if isinstance(annotation, Unresolved):
                report_unread(annotation.annotation, annotation.reason)
                return ANYTHING
            try:
                return checker_for(annotation)
            except KTypingError as error:
                error.add_note(f"In the annotation{place}.")
                raise

    def _prepare_return(self, annotation: Any, checker: Checker) -> None:
        origin = typing.get_origin(annotation) or annotation
        if kind_of(self.function) == "generator":
            args = typing.get_args(annotation)
            kinds = [checker_for(arg) for arg in args]
            self.yields = kinds[0] if kinds else ANYTHING
            self.sends = kinds[1] if len(kinds) > 1 else ANYTHING
            self.returns = kinds[2] if len(kinds) == 3 else ANYTHING
            return
        if origin is typing.NoReturn or origin is typing.Never:
            # A function that never returns has no value to refuse.
            checker = ANYTHING
        self.returns = checker
        if checker is ANYTHING:
            self.finish = _return_as_it_is
        elif checker.depends in (CLASS, ARRAY):
            self.finish = make_finish(checker, self._finish_slow)

    # -- whether to check ------------------------------------------------------

    def narrow(self, mode: str, args: tuple[Any, ...]) -> str:
        """Returns `skip` in place of the mode for a call that is not checked."""
        if is_traced(args):
            return mode
        left_out = mode == "trace" or next(self.calls) % self.options.every
        return "skip" if left_out else mode

    def unchecked(self, args: tuple[Any, ...]) -> Scope:
        """Returns the scope of a call that is not checked: it has no readings."""
        return Scope((), self, CURRENT.get(), args)

    def tie(self, mode: str, scope: Scope) -> None:
        """Ties dims to those of the scope around the call."""
        error = tie_dims(scope, self.options.ties)
        if error is not None and mode == "warn":
            warn_mismatch(error)
        elif error is not None and mode != "dims":
            raise error

    # -- arguments ------------------------------------------------------------

    def _first_begin(self, mode: str, *args: Any) -> Scope:
        self.prepare(self.owner(args))
        return self.begin(mode, *args)

    def prepare_once(self, owner: type | None) -> None:
        """Makes the checkers if no call has made them."""
        if not self.checkers and self.names:
            self.prepare(owner)

    def match(self, args: tuple[Any, ...], trial: Trial) -> Hypotheses:
        """Returns the readings of arguments that fit, or raises."""
        items = self._items(args)
        hypotheses = match_all(items, (EMPTY,), trial)
        if not hypotheses:
            self.report("on", items, (EMPTY,), trial, "argument", args)
        return hypotheses

    def _begin_slow(self, mode: str, args: tuple[Any, ...], flat: Any = None) -> Scope:
        """Looks closer at the arguments; matches and remembers what is new."""
        if not self.new_scope:
            return self._begin_uncached(mode, None, args)
        traced = self.verdicts.traced_key(flat, args)
        entry = self.verdicts.traced.get(traced)
        if entry is None:
            key, entry = self.verdicts.find(args)
            if entry is None and not (self.complete and key is not None):
                return self._begin_uncached(mode, key, args)
            if entry is None:
                trial = Trial(self.named(args), owner=self.owner(args))
                hypotheses = match_all(self._items(args), (EMPTY,), trial)
                if not hypotheses:
                    return self._refuse(mode, args)
                entry = self.verdicts.remember(key, hypotheses)
            self.verdicts.remember_traced(traced, entry)
        if self.complete:
            return Scope(entry.hypotheses, self, CURRENT.get(), args, entry)
        return self._begin_more(mode, entry, args)

    def _begin_uncached(self, mode: str, key: Any, args: tuple[Any, ...]) -> Scope:
        trial = Trial(self.named(args), owner=self.owner(args))
        parent = self._shared_parent()
        if parent is not None:
            items = self._items(args)
            hypotheses = parent.extend(lambda known: match_all(items, known, trial))
            if hypotheses:
                return self._scope(SharedScope, hypotheses, args, None, trial)
            return self._refuse(mode, args)
        hypotheses = match_all(self._items(args), (EMPTY,), trial)
        if not hypotheses:
            return self._refuse(mode, args)
        if key is not None:
            keyed = match_all(self._keyed_items(args), (EMPTY,), trial)
            self.verdicts.remember(key, keyed)
        return self._scope(Scope, hypotheses, args, None, trial)

    def _begin_more(self, mode: str, entry: Entry, args: tuple[Any, ...]) -> Scope:
        """Goes on from a known verdict with what it does not cover."""
        rest = self._rest_items(args)
        trial = Trial(self.named(args) if rest else None, owner=self.owner(args))
        if not rest:
            return self._scope(Scope, entry.hypotheses, args, entry, trial)
        # Without array types in them the other values cannot touch the readings.
        if any(item.checker.has_arrays for item in rest):
            items = self._items(args)
            hypotheses = match_all(items, (EMPTY,), trial)
        else:
            hypotheses = match_all(rest, entry.hypotheses, trial)
        if not hypotheses:
            return self._refuse(mode, args)
        known = entry if hypotheses is entry.hypotheses else None
        return self._scope(Scope, hypotheses, args, known, trial)

    def _scope(
        self,
        kind: type[Scope],
        hypotheses: Hypotheses,
        args: tuple[Any, ...],
        entry: Entry | None,
        trial: Trial,
    ) -> Scope:
        if kind is SharedScope:
            scope = SharedScope.__new__(SharedScope)
            scope.origin, scope.parent, scope.args = self, CURRENT.get(), args
            scope.entry = None
        else:
            scope = Scope(hypotheses, self, CURRENT.get(), args, entry)
        scope.typevars = trial.typevars or None
        return scope

    def _refuse(self, mode: str, args: tuple[Any, ...]) -> Scope:
        trial = Trial(self.named(args), owner=self.owner(args))
        parent = self._shared_parent()
        start = (EMPTY,) if parent is None else parent.hypotheses
        items = self._items(args)
        if mode == "dims":
            return self._scope(
                Scope, bind_what_fits(items, start, trial), args, None, trial
            )
        self.report(mode, items, start, trial, "argument", args)
        return self._scope(Scope, (EMPTY,), args, None, trial)

    def report(
        self,
        mode: str,
        items: list[Item],
        start: Hypotheses,
        trial: Trial,
        subject: str,
        args: tuple[Any, ...],
        returned: tuple[Any] | None = None,
    ) -> None:
        """Raises, or in mode `warn` warns, about values that do not fit."""
        verdict = blame(items, start, trial)
        parent = self._shared_parent()
        origin = str(self)
        if parent is not None:
            origin += f", which shares the dims of {parent.origin}"
        context = Context(subject, self.named(args), origin, returned)
        error = make_error(items[verdict.index], verdict, context)
        if mode == "warn":
            warn_mismatch(error)
            return
        raise error

    # -- returned values ------------------------------------------------------

    def _finish_slow(
        self, mode: str, scope: Scope, result: Any, flat: Any = None
    ) -> Any:
        entry, key = scope.entry, None
        if entry is not None and scope.hypotheses is entry.hypotheses:
            key = traced_result_key(flat, result) or key_of(result, self.returns)
            if entry.knows(key):
                return result
        fits = self.match_result(mode, scope, "return value", result, self.returns)
        if fits and entry is not None and key is not None:
            entry.remember(key)
        return result

    def match_result(
        self, mode: str, scope: Scope, subject: str, value: Any, checker: Checker
    ) -> bool:
        """Matches one value that the function gives back, and binds its dims.

        Returns whether it fits; False only where that raises nothing.
        """
        if checker is ANYTHING or not scope.hypotheses:
            return True
        owner = self.owner(scope.args)
        trial = Trial(scope.values, None, scope.typevars, owner)
        item = Item(subject, value, checker)
        if scope.extend(lambda known: match_all([item], close_all(known), trial)):
            return True
        start = close_all(scope.hypotheses)
        if mode == "dims":
            return False
        trial = Trial(scope.values, None, dict(scope.typevars or {}), owner)
        self.report(mode, [item], start, trial, subject, scope.args, (value,))
        return False

    def iterate(self, mode: str, scope: Scope, generator: Any) -> Any:
        """Returns the generator with what it yields and receives checked."""
        if hasattr(generator, "__anext__"):
            return iterate_async(self, mode, scope, generator)
        return iterate(self, mode, scope, generator)

    # -- parts ----------------------------------------------------------------

    def _items(self, args: tuple[Any, ...]) -> list[Item]:
        return self._keyed_items(args) + self._rest_items(args)

    def _keyed_items(self, args: tuple[Any, ...]) -> list[Item]:
        return [
            Item(p.name, arg, c)
            for (p, c), arg in zip(self._slots(), args, strict=True)
            if _keyed(p, c) and c is not ANYTHING and c.depends != VALUE
        ]

    def _rest_items(self, args: tuple[Any, ...]) -> list[Item]:
        items: list[Item] = []
        for (p, c), arg in zip(self._slots(), args, strict=True):
            if c is ANYTHING or (_keyed(p, c) and c.depends != VALUE):
                continue
            if p.kind == VAR_POSITIONAL and not getattr(c, "whole", False):
                items += [Item(f"{p.name}[{n}]", v, c) for n, v in enumerate(arg)]
            elif p.kind == VAR_KEYWORD and not isinstance(c, KeywordCheck):
                items += [Item(f"{p.name}[{k!r}]", v, c) for k, v in arg.items()]
            else:
                items.append(Item(p.name, arg, c))
        return items

    def _shared_parent(self) -> Scope | None:
        parent = None if self.new_scope else CURRENT.get()
        return parent if parent is not None and parent.hypotheses else None

    def owner(self, args: tuple[Any, ...]) -> type | None:
        """Returns the class of the method that is called; None for a function."""
        if not args or self.names[0] not in ("self", "cls"):
            return None
        first = args[0]
        return first if isinstance(first, type) else type(first)


def _keyed(parameter: Parameter, checker: Checker) -> bool:
    return checker is ANYTHING or not parameter.starred


def _return_as_it_is(mode: str, scope: Scope, result: Any) -> Any:
    return result
