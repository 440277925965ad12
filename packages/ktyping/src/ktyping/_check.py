"""Turns an annotation into a checker: the dispatch over kinds of annotation."""

import collections.abc
import sys
import types
import typing
from typing import Any

from ktyping._checker import Checker
from ktyping._config import config
from ktyping._containers import (
    EachItem,
    FixedTuple,
    Iterables,
    KeysAndValues,
    OpenTuple,
)
from ktyping._errors import UnresolvedAnnotationError
from ktyping._jaxtyping import Unconvertible, convert, is_jaxtyping
from ktyping._plain import (
    ANYTHING,
    NEVER,
    AnyOf,
    Callables,
    ClassCheck,
    ClassObject,
    FileLike,
    Literals,
    ProtocolCheck,
    SelfCheck,
    TypeVarCheck,
    is_protocol,
)
from ktyping._pytree import PyTreeCheck, PyTreeType
from ktyping._records import DataclassCheck, KeywordCheck, record_checker, share
from ktyping._stats import num_unread
from ktyping._unread import report_foreign, report_unread

_cache: dict[Any, Checker] = {}
_CACHE_LIMIT = 4096


def checker_for(annotation: Any) -> Checker:
    """Returns the checker of an annotation.

    An annotation of an unknown kind accepts every value, and is warned about once: a
    checker must not refuse what it cannot read.

    Raises:
      UnresolvedAnnotationError: When the kind is unknown and `config.strict` is set.
    """
    if isinstance(annotation, Checker):
        return annotation
    if "jaxtyping" in sys.modules and is_jaxtyping(annotation):
        return _of_jaxtyping(annotation)
    try:
        known = _cache.get(annotation)
    except TypeError:
        return _build(annotation)
    if known is None:
        unread = num_unread()
        known = _build(annotation)
        if len(_cache) >= _CACHE_LIMIT:
            _cache.clear()
        # What cannot be read is told wherever it stands.
        if unread == num_unread():
            _cache[annotation] = known
    return known


def _build(annotation: Any) -> Checker:
    for kind, made in _SPECIAL.items():
        if annotation is kind:
            return made
    if isinstance(annotation, PyTreeType):
        return PyTreeCheck(checker_for(annotation.leaf), annotation)
    if isinstance(annotation, typing.ParamSpecArgs | typing.ParamSpecKwargs):
        return ANYTHING
    if _is_unpacked(annotation) and not _is_keywords(annotation):
        return _open_tuple((annotation,), whole=True)
    origin = typing.get_origin(annotation)
    if origin is not None:
        return _build_generic(annotation, origin, typing.get_args(annotation))
    if isinstance(annotation, typing.TypeVarTuple):
        return ANYTHING
    if isinstance(annotation, typing.TypeVar):
        bound = annotation.__bound__
        wanted = annotation.__constraints__ or (() if bound is None else (bound,))
        return TypeVarCheck(annotation, [checker_for(w) for w in wanted])
    if isinstance(annotation, typing.NewType):
        return checker_for(annotation.__supertype__)
    alias = getattr(typing, "TypeAliasType", None)
    if alias is not None and isinstance(annotation, alias):
        return checker_for(annotation.__value__)
    if isinstance(annotation, getattr(sys.modules.get("dataclasses"), "InitVar", ())):
        # No field of the instance: there is nothing left to look at.
        return ANYTHING
    if isinstance(annotation, type):
        return record_checker(annotation, checker_for) or _class_check(annotation)
    return _unknown(annotation)


def _unknown(annotation: Any) -> Checker:
    reason = "it is of a kind that ktyping does not know"
    if isinstance(annotation, typing.ForwardRef | str):
        reason = "it is a name, and nothing says in which module to look"
    report_unread(annotation, reason)
    return ANYTHING


def _of_jaxtyping(annotation: Any) -> Checker:
    if config.jaxtyping == "ignore":
        return ANYTHING
    if config.jaxtyping == "error":
        raise UnresolvedAnnotationError(
            f"{annotation!r} is an annotation of jaxtyping.\n"
            "Write the type of ktyping, or config.set(jaxtyping='convert')."
        )
    try:
        converted = convert(annotation)
    except Unconvertible as reason:
        report_unread(annotation, str(reason))
        return ANYTHING
    if config.jaxtyping == "warn":
        report_foreign(annotation, converted)
    return checker_for(converted)


def _class_check(cls: type) -> Checker:
    if cls is typing.Protocol:
        return _unknown(cls)
    if cls in (typing.IO, typing.TextIO, typing.BinaryIO):
        return FileLike(cls)
    if cls is float:
        return ClassCheck(float, (float, int), "ScalarFloat")
    if cls is complex:
        return ClassCheck(complex, (complex, float, int), "ScalarComplex")
    if cls is int:
        return ClassCheck(int, (int,), "ScalarInt")
    if is_protocol(cls):
        return ProtocolCheck(cls)
    return ClassCheck(cls, (cls,))


def _build_generic(annotation: Any, origin: Any, args: tuple[Any, ...]) -> Checker:
    if origin is typing.Annotated:
        return _annotated(args[0], args[1:])
    if origin in (
        typing.Required,
        typing.NotRequired,
        typing.Final,
        typing.ClassVar,
    ):
        return checker_for(args[0])
    if origin is typing.Union or origin is types.UnionType:
        return AnyOf([checker_for(arg) for arg in args])
    if origin is typing.Literal:
        return Literals(args)
    if origin is collections.abc.Callable:
        return Callables(args)
    if not args and annotation in (typing.Type, typing.Tuple):  # noqa: UP006
        return _class_check(origin)
    if origin is type:
        return _class_object(args[0])
    if origin is tuple:
        return _tuple(args)
    if isinstance(origin, type):
        return _container(origin, args)
    if isinstance(origin, getattr(typing, "TypeAliasType", ())):
        return checker_for(origin.__value__[args])
    if origin is typing.TypeGuard or origin is getattr(typing, "TypeIs", None):
        return checker_for(bool)
    if origin is getattr(typing, "ReadOnly", None):
        return checker_for(args[0])
    if origin is typing.Unpack and typing.is_typeddict(args[0]):
        return KeywordCheck(args[0], checker_for)
    return _unknown(annotation)


def _class_object(wanted: Any) -> Checker:
    if isinstance(wanted, typing.TypeVar):
        wanted = wanted.__bound__ or wanted.__constraints__ or object
    origin = typing.get_origin(wanted)
    if origin is typing.Union or origin is types.UnionType:
        return AnyOf([_class_object(arg) for arg in typing.get_args(wanted)])
    if isinstance(wanted, tuple):
        return AnyOf([_class_object(arg) for arg in wanted])
    if wanted is Any:
        wanted = object
    cls = origin if isinstance(origin, type) else wanted
    if not isinstance(cls, type) or is_protocol(cls):
        return _unknown(type[wanted])
    return ClassObject(cls)


def _annotated(annotation: Any, extras: tuple[Any, ...]) -> Checker:
    if isinstance(annotation, PyTreeType):
        for extra in extras:
            annotation = (
                annotation.named(extra) if isinstance(extra, str) else annotation
            )
    checker = checker_for(annotation)
    if isinstance(checker, DataclassCheck) and any(e is share for e in extras):
        return checker.sharing()
    return checker


def _tuple(args: tuple[Any, ...]) -> Checker:
    if len(args) == 2 and args[1] is Ellipsis:
        return EachItem(tuple, checker_for(args[0]))
    if any(map(_is_unpacked, args)):
        return _open_tuple(args)
    items = [] if args == ((),) else [checker_for(arg) for arg in args]
    return FixedTuple(items)


def _is_keywords(annotation: Any) -> bool:
    args = typing.get_args(annotation)
    return bool(args) and typing.is_typeddict(args[0])


def _is_unpacked(annotation: Any) -> bool:
    unpacks = typing.get_origin(annotation) is typing.Unpack
    return unpacks or getattr(annotation, "__unpacked__", False)


def _open_tuple(args: tuple[Any, ...], whole: bool = False) -> OpenTuple:
    """Returns the checker of a tuple with an unpacked part, as `*tuple[A, ...]`."""
    before: list[Checker] = []
    after: list[Checker] = []
    middle: Checker | None = None
    for arg in args:
        target = before if middle is None else after
        if not _is_unpacked(arg):
            target.append(checker_for(arg))
            continue
        unpacks = typing.get_origin(arg) is typing.Unpack
        inner = checker_for(typing.get_args(arg)[0] if unpacks else _packed(arg))
        if isinstance(inner, FixedTuple):
            target += inner.items
        elif isinstance(inner, OpenTuple):
            before += inner.before
            middle, after = inner.middle, [*inner.after]
        else:
            middle = inner.item if isinstance(inner, EachItem) else ANYTHING
    return OpenTuple(before, middle, after, whole)


def _packed(annotation: Any) -> Any:
    return types.GenericAlias(tuple, typing.get_args(annotation))


_LAZY = (
    collections.abc.Generator,
    collections.abc.AsyncGenerator,
    collections.abc.Iterator,
    collections.abc.AsyncIterator,
    collections.abc.AsyncIterable,
    collections.abc.Awaitable,
    collections.abc.Coroutine,
)


def _container(origin: type, args: tuple[Any, ...]) -> Checker:
    if origin in _LAZY:
        return _class_check(origin)
    if issubclass(origin, collections.abc.Mapping) and len(args) == 2:
        return KeysAndValues(origin, checker_for(args[0]), checker_for(args[1]))
    if origin is collections.abc.Iterable and len(args) == 1:
        return Iterables(checker_for(args[0]))
    if issubclass(origin, collections.abc.Collection) and len(args) == 1:
        return EachItem(origin, checker_for(args[0]))
    return record_checker(origin, checker_for) or _class_check(origin)


_SPECIAL: dict[Any, Checker] = {
    Any: ANYTHING,
    object: ANYTHING,
    None: ClassCheck(type(None), (type(None),)),
    typing.Never: NEVER,
    typing.NoReturn: NEVER,
    typing.Self: SelfCheck(),
    typing.LiteralString: ClassCheck(str, (str,)),
}
