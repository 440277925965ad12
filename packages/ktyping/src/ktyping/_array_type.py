"""`Float["*b n c"]`: an annotation for arrays of a dtype family and a shape."""

import sys
import types
import typing
from typing import Any
from weakref import WeakValueDictionary

from ktyping import _dims as d
from ktyping._backends import (
    DEFAULT,
    LIBRARIES,
    Facts,
    LibraryName,
    array_facts,
    axis_names,
    sizes_of,
)
from ktyping._checker import ARRAY, VALUE, Checker, Trial, decided_by_class, union_of
from ktyping._config import config
from ktyping._dtypes import (
    ANY,
    FAMILIES,
    DTypeFamily,
    canonical_dtype,
    family_called,
    is_subfamily,
    short_name,
    single_dtype,
)
from ktyping._failure import Failure, explain_shape, no_array
from ktyping._hypothesis import Hypotheses, close_all
from ktyping._interpolate import fill
from ktyping._parser import parse
from ktyping._scope import CURRENT
from ktyping._solve import match_shape
from ktyping._verdicts import fits_alone

_interned: "WeakValueDictionary[Any, ArrayType]" = WeakValueDictionary()


class ArrayType(Checker):
    """Arrays of some dtype families, with or without a shape spec.

    Equal arguments give the same object, so that array types compare by identity,
    and pickle by what they say.
    """

    __slots__ = (
        "__weakref__",
        "classes",
        "depends",
        "families",
        "of_specs",
        "spec_of_shape",
    )
    has_arrays = True

    def __init__(
        self,
        families: tuple[DTypeFamily, ...],
        classes: tuple[type, ...],
        spec: d.Spec | None,
        of_specs: bool,
    ):
        self.families = families
        self.classes = classes
        self.spec_of_shape = spec
        self.of_specs = of_specs
        static = not (spec and spec.interpolated) and not of_specs
        self.depends = ARRAY if static and all(map(_static, classes)) else VALUE

    # -- making ---------------------------------------------------------------

    def __getitem__(self, item: Any) -> "ArrayType":
        if self.spec_of_shape is not None:
            raise TypeError(
                f"{self} has a shape already.\n"
                f'Write one spec with all axes: `{self._name()}["a b"]`.'
            )
        if isinstance(item, tuple) and item and isinstance(item[0], LibraryName):
            any_class = make((FAMILIES["Array"],))
            return self._of_library(item[0].name)[(any_class, *item[1:])]
        classes, text, dtype = _split(self._name(), item)
        families = self.families if dtype is None else self._of(dtype)
        return make(families, classes, parse(text), self.of_specs)

    def _of_library(self, name: str) -> "ArrayType":
        if any(family.backends != DEFAULT for family in self.families):
            raise TypeError(
                f"{self._name()} names a library already, so that "
                f"`{self._name()}[backend.{name}, ...]` names two."
            )
        made = (family_called(f"backend.{name}.{f.name}") for f in self.families)
        return make(tuple(made), (), None, self.of_specs)

    def _of(self, dtype: Any) -> tuple[DTypeFamily, ...]:
        name = canonical_dtype(dtype)
        if name is None:
            raise TypeError(
                f"{self._name()}[cls, spec, dtype] takes a dtype, got {dtype!r}.\n"
                "Write its name, as in `'float32'`, or an object such as `np.float32`."
            )
        parts = [single_dtype(family, name) for family in self.families]
        found = tuple(dict.fromkeys(part for part in parts if part is not None))
        if not found:
            raise TypeError(f"The dtype {name} is not in {self._name()}.")
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            f"{self._name()} is an annotation and cannot be called.\n"
            f'Write the shape in brackets: `{self._name()}["a b"]`.'
        )

    @property
    def spec(self) -> "ArrayType":
        """The same type for objects that only describe an array.

        They have a `shape` and a `dtype` but no data, as `jax.ShapeDtypeStruct`.
        """
        return make(self.families, self.classes, self.spec_of_shape, True)

    def __or__(self, other: Any) -> Any:
        if isinstance(other, ArrayType) and _both_bare(self, other):
            families = dict.fromkeys((*self.families, *other.families))
            return make(tuple(families), (), None, self.of_specs)
        return union_of(self, other)

    def __ror__(self, other: Any) -> Any:
        return union_of(other, self)

    def __reduce__(self) -> Any:
        names = tuple(f.name for f in self.families)
        text = None if self.spec_of_shape is None else self.spec_of_shape.text
        return _rebuild, (names, self.classes, text, self.of_specs)

    # -- asking ---------------------------------------------------------------

    def __instancecheck__(self, value: Any) -> bool:
        scope = CURRENT.get()
        if scope is None or not scope.hypotheses:
            return fits_alone(self, value)
        known, trial = scope.hypotheses, Trial(scope.values)
        return bool(close_all(self.match(value, "value", known, trial)))

    def __subclasscheck__(self, other: Any) -> bool:
        return isinstance(other, ArrayType) and all(
            any(is_subfamily(small, big) for big in self.families)
            for small in other.families
        )

    def match(
        self, value: Any, where: str, hypotheses: Hypotheses, trial: Trial
    ) -> Hypotheses:
        """Returns the hypotheses extended by shape and dtype of an array."""
        facts = self._facts(value)
        if facts is None:
            return self._no_array(value, where, trial)
        families = self.families if self.classes else self._for(facts.backend)
        if not any(family.accepts(facts.dtype) for family in families):
            wanted = " or ".join(f.name for f in families)
            message = f"dtype {short_name(facts.dtype)} is not {wanted}"
            if trial.failures is not None:
                actual = short_name(facts.dtype)
                failure = Failure("dtype", where, message, wanted, actual, depth=3)
                trial.failures.append(failure)
            return ()
        if self.spec_of_shape is None:
            return hypotheses
        spec = fill(self.spec_of_shape, trial.values or {})
        if facts.shape is None:
            return _match_unknown_rank(spec, where, hypotheses, trial)
        names = None
        if config.check_names and not self.of_specs:
            names = axis_names(value, facts.backend)
        found = match_shape(spec, facts.shape, hypotheses, where, names=names)
        if not found and trial.failures is not None:
            failure = explain_shape(spec, facts.shape, hypotheses, where, names)
            trial.failures.append(failure)
        return found

    def _facts(self, value: Any) -> Facts | None:
        if self.classes and not isinstance(value, self.classes):
            return None
        facts = array_facts(value)
        if not self.of_specs:
            # A class that is named says which library it is of.
            fits = facts and (self.classes or self._for(facts.backend))
            return facts if fits else None
        if facts is not None or not _describes_array(value):
            return None
        return Facts("spec", sizes_of(value.shape), value.dtype)

    def _for(self, backend: str) -> list[DTypeFamily]:
        if self.of_specs:
            return list(self.families)
        return [family for family in self.families if family.takes(backend)]

    def _no_array(self, value: Any, where: str, trial: Trial) -> Hypotheses:
        if trial.failures is not None:
            named = " or ".join(map(_class_name, self.classes))
            if self.of_specs:
                libraries = "the description of an array (shape and dtype, no data)"
            elif named and array_facts(value) is not None:
                libraries = f"an array of class {named}"
            else:
                libraries = f"an array of {_libraries(self.families)}"
            trial.failures.append(no_array(value, where, str(self), libraries))
        return ()

    # -- showing --------------------------------------------------------------

    def _name(self) -> str:
        names = [_family_name(f, self.of_specs) for f in self.families]
        return names[0] if len(names) == 1 else f"({' | '.join(names)})"

    def __repr__(self) -> str:
        if self.spec_of_shape is None:
            return self._name()
        classes = "".join(f"{_class_name(c)}, " for c in self.classes)
        return f"{self._name()}[{classes}'{self.spec_of_shape.text}']"


def make(
    families: tuple[DTypeFamily, ...],
    classes: tuple[type, ...] = (),
    spec: d.Spec | None = None,
    of_specs: bool = False,
) -> ArrayType:
    """Returns the one array type for these arguments."""
    names = tuple(f.name for f in families)
    key = (names, classes, None if spec is None else spec.text, of_specs)
    found = _interned.get(key)
    if found is None:
        made = ArrayType(families, classes, spec, of_specs)
        # setdefault keeps one object per key when two threads arrive together.
        found = _interned.setdefault(key, made)
    return found


def _rebuild(
    names: tuple[str, ...], classes: tuple[type, ...], text: str | None, of_specs: bool
) -> ArrayType:
    spec = None if text is None else parse(text)
    return make(tuple(family_called(name) for name in names), classes, spec, of_specs)


def _family_name(family: DTypeFamily, of_specs: bool) -> str:
    if not of_specs:
        return family.name
    return "ArraySpec" if family.kinds == ANY else f"{family.name}.spec"


def _both_bare(left: ArrayType, right: ArrayType) -> bool:
    bare = left.spec_of_shape is None and right.spec_of_shape is None
    return bare and left.of_specs == right.of_specs


def _split(name: str, item: Any) -> tuple[tuple[type, ...], str, Any]:
    parts = item if isinstance(item, tuple) else (item,)
    text = parts[min(len(parts), 2) - 1] if parts else None
    if len(parts) > 3 or not isinstance(text, str):
        raise TypeError(
            f"{name}[...] takes a shape spec, or an array class and a shape spec, or "
            f"these and a dtype.\nGot: {item!r}.\n"
            f'Write `{name}["*b n"]` or `{name}[jax.Array, "*b n"]`.'
        )
    classes = _classes(name, parts[0]) if len(parts) > 1 else ()
    return classes, text, parts[2] if len(parts) == 3 else None


def _classes(name: str, given: Any) -> tuple[type, ...]:
    if given is Any:
        return ()
    if isinstance(given, ArrayType):
        if given is make((FAMILIES["Array"],)):
            return ()
    elif isinstance(given, types.UnionType) or typing.get_origin(given) is typing.Union:
        given = typing.get_args(given)
    classes = given if isinstance(given, tuple) else (given,)
    for cls in classes:
        if not isinstance(cls, type):
            raise TypeError(
                f"{name}[cls, spec] takes an array class, got {cls!r}.\n"
                "Write `Array` for any array, `jax.Array`, `np.ndarray`, or a tuple of "
                "classes."
            )
    return tuple(classes)


def _static(cls: type) -> bool:
    # jax.Array has a metaclass of its own, but tracers (the only values it asks
    # about one by one) are told apart before any verdict is kept.
    jax = sys.modules.get("jax")
    return decided_by_class(cls) or cls is getattr(jax, "Array", None)


def _libraries(families: tuple[DTypeFamily, ...]) -> str:
    if any(family.backends is None for family in families):
        return "a library that is known"
    names = dict.fromkeys(name for f in families for name in f.backends or ())
    return " or ".join(LIBRARIES[name].module for name in names)


def _match_unknown_rank(
    spec: d.Spec, where: str, hypotheses: Hypotheses, trial: Trial
) -> Hypotheses:
    """Accepts an array of unknown rank only where any rank is accepted."""
    anything = d.Variadic(None, 0, False)
    if spec.terms and all(term == anything for term in spec.terms):
        return hypotheses
    if trial.failures is not None:
        expected = f"axes that fit {spec.text!r}"
        message = f"expected {expected}, got rank unknown"
        trial.failures.append(Failure("rank", where, message, expected, "rank unknown"))
    return ()


def _class_name(cls: type) -> str:
    return cls.__name__.rpartition(".")[2]


def _describes_array(value: Any) -> bool:
    if isinstance(value, type):
        return False
    own = getattr(value, "__dict__", {})
    return all(
        name in own or any(name in vars(c) for c in type(value).__mro__)
        for name in ("shape", "dtype")
    )
