"""The parameters of targets: read once per object, used to find typing mistakes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping

from konfig._errors import ConfigTypeError, did_you_mean, joined, listed
from konfig._target import loaded
from konfig._typing import Any

_EMPTY = object()


class Parameters:
    """What a callable accepts.

    Attributes:
      positional: Names that a position can address, in order.
      only_by_position: How many of them no keyword can address.
      keywords: Names that a keyword can address.
      required: Names without a default.
      defaults: The defaults of the other names.
      any_keyword: Whether further keywords are accepted.
      any_position: Whether further positional arguments are accepted.
    """

    __slots__ = (
        "_hints",
        "_target",
        "any_keyword",
        "any_position",
        "defaults",
        "keywords",
        "only_by_position",
        "positional",
        "required",
    )

    def __init__(self, target: Any, parameters: Iterable[Any]):
        self._target = target
        self._hints: dict[str, Any] | None = None
        self.any_keyword = self.any_position = False
        self.defaults: dict[str, Any] = {}
        self.only_by_position = 0
        positional: list[str] = []
        keywords: list[str] = []
        required: list[str] = []
        for parameter in parameters:
            kind = parameter.kind
            if kind is parameter.VAR_KEYWORD:
                self.any_keyword = True
                continue
            if kind is parameter.VAR_POSITIONAL:
                self.any_position = True
                continue
            if kind is not parameter.KEYWORD_ONLY:
                positional.append(parameter.name)
            if kind is parameter.POSITIONAL_ONLY:
                self.only_by_position += 1
            else:
                keywords.append(parameter.name)
            if parameter.default is parameter.empty:
                required.append(parameter.name)
            else:
                self.defaults[parameter.name] = parameter.default
        self.positional = tuple(positional)
        self.keywords = frozenset(keywords)
        self.required = tuple(required)

    @property
    def names(self) -> list[str]:
        """Every name that a keyword can address, in the order of the signature."""
        first = [name for name in self.positional if name in self.keywords]
        return first + sorted(self.keywords - set(first))

    def accepts(self, keyword: str) -> bool:
        """Whether the target takes this keyword."""
        return self.any_keyword or keyword in self.keywords

    def position(self, keyword: str) -> int | None:
        """The position that a keyword stands for, or None."""
        if keyword in self.keywords and keyword in self.positional:
            return self.positional.index(keyword)
        return None

    def annotation(self, name: str) -> Any:
        """The annotation of a parameter, or None when it cannot be read."""
        if self._hints is None:
            self._hints = _hints_of(self._target)
        return self._hints.get(name)


_CACHE: dict[str, tuple[Any, Parameters | None]] = {}


def parameters_of(qualname: str, target: Any = _EMPTY) -> Parameters | None:
    """What a target accepts, or None when it is not loaded or hides its signature.

    Never imports the target.
    """
    if target is _EMPTY:
        target = loaded(qualname)
    if target is None:
        return None
    known = _CACHE.get(qualname)
    # A notebook may have defined the class anew under the same name.
    if known is not None and known[0] is target:
        return known[1]
    found = _read(target)
    _CACHE[qualname] = (target, found)
    return found


def _read(target: Any) -> Parameters | None:
    import inspect  # loaded with the first checked call

    made = _initialiser(target)
    try:
        outer = inspect.signature(made, follow_wrapped=False)
        any_keyword = any(
            parameter.kind is parameter.VAR_KEYWORD
            for parameter in outer.parameters.values()
        )
        if hasattr(target, "__wrapped__") and any_keyword:
            # The wrapper takes any keyword: what is wrapped may say too little.
            return None
    except (TypeError, ValueError):
        return None
    parameters = list(outer.parameters.values())
    return Parameters(target, parameters if target is made else parameters[1:])


def _initialiser(target: Any) -> Any:
    """What knows the parameters: `__init__` where a metaclass hides them.

    A metaclass whose `__call__` takes everything (that of `flax.nnx`) passes it on.
    """
    if not isinstance(target, type) or type(target).__call__ is type.__call__:
        return target
    return target if target.__init__ is object.__init__ else target.__init__


def _hints_of(target: Any) -> dict[str, Any]:
    import typing

    if not isinstance(target, type):
        sources: tuple[Any, ...] = (target,)
    elif hasattr(target, "__dataclass_fields__"):
        sources = (target, target.__init__)
    else:
        sources = (target.__init__, target.__new__)
    for source in sources:
        try:
            hints = typing.get_type_hints(source)
        except Exception:
            continue
        if hints:
            return hints
    return _readable_hints(sources)


def _readable_hints(sources: Iterable[Any]) -> dict[str, Any]:
    """The annotations that can be read, where others name what is not there."""
    import inspect

    found: dict[str, Any] = {}
    for source in sources:
        for owner in reversed(getattr(source, "__mro__", (source,))):
            module = sys.modules.get(getattr(owner, "__module__", ""))
            names = vars(module) if module is not None else {}
            try:
                written = inspect.get_annotations(owner)
            except (TypeError, NameError):
                continue
            for name, annotation in written.items():
                if isinstance(annotation, str):
                    try:
                        annotation = eval(annotation, dict(names))
                    except Exception:
                        continue
                found[name] = annotation
    return found


def docs_of(qualname: str) -> dict[str, str]:
    """The first sentence on each parameter in the docstring of a loaded target.

    Read are the sections `Args:` and `Attributes:` of Google style.
    """
    target = loaded(qualname)
    sources = [target, getattr(target, "__init__", None)]
    found: dict[str, str] = {}
    for source in sources:
        text = getattr(source, "__doc__", None)
        if isinstance(text, str):
            for name, meaning in _documented(text):
                found.setdefault(name, meaning)
    return found


def _documented(text: str) -> Iterator[tuple[str, str]]:
    import inspect
    import re

    entry = re.compile(r"^( +)(\*{0,2}\w+)(?: ?\([^)]*\))?: *(.*)$")
    inside, margin, name, words = False, None, "", []
    for line in [*inspect.cleandoc(text).splitlines(), "end"]:
        if not line.startswith(" ") and line:
            if name:
                yield name, _sentence(words)
            inside = line in ("Args:", "Arguments:", "Attributes:")
            margin, name = None, ""
            continue
        match = entry.match(line) if inside else None
        if match and margin in (None, match[1]):
            if name:
                yield name, _sentence(words)
            margin, name, words = match[1], match[2], [match[3]]
        elif name:
            words.append(line.strip())


def _sentence(words: list[str]) -> str:
    text = " ".join(words).strip()
    return text.partition(". ")[0].rstrip(".")


def check_call(
    qualname: str,
    parameters: Parameters,
    positional: int,
    keywords: Mapping[str, Any],
) -> None:
    """Finds keywords and positions that the target does not take.

    Raises:
      ConfigTypeError: Naming the target and the nearest parameter.
    """
    if not positional and parameters.keywords.issuperset(keywords):
        return
    for fault in call_faults(qualname, parameters, positional, keywords):
        raise fault


def call_faults(
    qualname: str, parameters: Parameters, positional: int, keywords: Iterable[str]
) -> Iterator[ConfigTypeError]:
    """Every keyword and position that the target does not take."""
    if not parameters.any_keyword:
        for name in keywords:
            if name not in parameters.keywords:
                yield unknown_keyword(qualname, parameters, name, ConfigTypeError)
    if positional > len(parameters.positional) and not parameters.any_position:
        count = len(parameters.positional)
        yield ConfigTypeError(
            f"{qualname} takes {count} positional argument{'' if count == 1 else 's'}, "
            f"got {positional}",
            hint=f"parameters: {listed(parameters.positional)}",
        )
    for name in keywords:
        index = parameters.position(name)
        if index is not None and index < positional:
            yield ConfigTypeError(
                f"{qualname} got {name!r} twice: as argument {index} and as a keyword"
            )


def missing_names(
    parameters: Parameters, positional: int, keywords: Iterable[str]
) -> list[str]:
    """The parameters without a default that a call does not give."""
    given = {*parameters.positional[:positional], *keywords}
    return [name for name in parameters.required if name not in given]


def returns(target: Any) -> Any:
    """The class that a function is annotated to return, or None."""
    if target is None or isinstance(target, type):
        return None
    return _hints_of(target).get("return")


def unknown_keyword(qualname: str, parameters: Parameters, name: str, kind: Any) -> Any:
    """The error for a keyword that the target does not take."""
    offered = [known for known in parameters.names if not known.startswith("_")]
    return kind(
        f"{qualname} has no parameter {name!r}",
        hint=joined(did_you_mean(name, offered), f"parameters: {listed(offered)}"),
    )


def binding_fault(
    qualname: str, target: Any, args: Any, kwargs: dict[str, Any]
) -> ConfigTypeError | None:
    """Why the arguments do not fit the target, or None when they do."""
    parameters = parameters_of(qualname, target)
    if parameters is None:
        return None
    try:
        check_call(qualname, parameters, len(args), kwargs)
    except ConfigTypeError as error:
        return error
    missing = missing_names(parameters, len(args), kwargs)
    if not missing:
        return None
    return missing_fault(
        qualname, missing, {*parameters.positional[: len(args)], *kwargs}
    )


def missing_fault(
    qualname: str, missing: Iterable[str], given: Iterable[str]
) -> ConfigTypeError:
    """The error for arguments without a default that a call does not give."""
    some = ", ".join(repr(name) for name in missing)
    return ConfigTypeError(
        f"{qualname} needs {some}, which the config does not give",
        hint=f"given: {listed(sorted(given))}",
    )
