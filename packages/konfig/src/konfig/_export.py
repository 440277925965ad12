"""From a finished object back to the config that builds it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from konfig import _convert
from konfig._const import Const
from konfig._copy import deepcopy
from konfig._errors import ConfigTypeError, ConfigValueError, short
from konfig._frozen import FrozenDict
from konfig._list import ConfigList
from konfig._node import ConfigDict, new_call
from konfig._placeholder import Placeholder
from konfig._ref import Lazy
from konfig._signature import parameters_of
from konfig._tree import TARGET, TRUSTED, Node, too_deep

_INLINE = 1000


def export(obj: Any, *, omit_defaults: bool = False, arrays: str = "inline") -> Any:
    """The config value that builds an equal object: `resolve(export(x)) == x`.

    Dataclasses and named tuples become calls of their class, arrays calls of `asarray`,
    importable classes, functions, modules and members of enums become constants. An
    object may say itself how it is made: `__konfig_export__()` gives a dict with
    `"__qualname__"` and the arguments. With `resolve(…, freeze=False)` lists and sets
    stay what they are. What is shared inside the object is shared in the config.

    Args:
      obj: The object.
      omit_defaults: Whether fields of dataclasses that have their default are left out.
      arrays: `"inline"` writes arrays of at most 1000 elements as lists and refuses
        larger ones; `"base64"` writes the larger ones as bytes.

    Raises:
      ConfigTypeError: With the path of what no call describes.
      ConfigValueError: When `__konfig_export__` gives something else than such a dict.
    """
    if arrays not in ("inline", "base64"):
        raise ConfigValueError(f"arrays is 'inline' or 'base64', not {arrays!r}")
    try:
        return _Exporter(omit_defaults, arrays == "base64").export(obj)
    except RecursionError:
        raise too_deep() from None


def export_qualname(obj: Any) -> str:
    """`"module:Class.name"` of a class or function, or of the class of an instance.

    Raises:
      ConfigTypeError: When importing that name does not give the same thing back.
    """
    named = obj if isinstance(obj, type) or hasattr(obj, "__qualname__") else type(obj)
    found = _convert.qualname_of(named)
    if found is None:
        # The refusal says why: a lambda, a local class, a bound method.
        return _convert.convert(named).__const__
    return found


class _Exporter:
    def __init__(self, omit_defaults: bool, base64: bool):
        self._omit_defaults = omit_defaults
        self._base64 = base64
        self._memo: dict[int, tuple[Any, Any]] = {}
        self._open: set[int] = set()

    def export(self, obj: Any) -> Any:
        """The config value for an object; equal for one that comes again."""
        if type(obj) in _convert.ATOMS:
            return obj
        known = self._memo.get(id(obj))
        if known is not None:
            return known[1]
        if id(obj) in self._open:
            raise ConfigTypeError("the object contains itself")
        self._open.add(id(obj))
        made = self._export(obj)
        self._open.discard(id(obj))
        self._memo[id(obj)] = (obj, made)  # the object is kept, so that its id stays
        return made

    def _export(self, obj: Any) -> Any:
        if isinstance(obj, (Node, ConfigList, Lazy, Placeholder)):
            return deepcopy(obj)
        describe = getattr(type(obj), "__konfig_export__", None)
        if describe is not None:
            return self._described(obj, describe(obj))
        if type(obj) in (dict, FrozenDict):
            return ConfigDict(dict(self._below(obj.items())))
        if type(obj) is list:
            return ConfigList([item for _, item in self._below(enumerate(obj))])
        if type(obj) is tuple:
            return tuple([item for _, item in self._below(enumerate(obj))])
        if type(obj) in (set, frozenset):
            return type(obj)([self.export(item) for item in obj])
        if isinstance(obj, ModuleType):
            if sys.modules.get(obj.__name__) is not obj:
                raise ConfigTypeError(f"the module {obj.__name__} is not the imported")
            return Const(f"{obj.__name__}:")
        if isinstance(obj, tuple) and hasattr(type(obj), "_fields"):
            pairs = zip(getattr(type(obj), "_fields"), obj, strict=True)  # noqa: B009
            return self._call(export_qualname(type(obj)), (), self._below(pairs))
        if hasattr(type(obj), "__dataclass_fields__"):
            return self._dataclass(obj)
        return self._rest(obj)

    def _below(self, items: Any) -> list[tuple[Any, Any]]:
        made = []
        for key, item in items:
            try:
                made.append((key, self.export(item)))
            except ConfigTypeError as error:
                raise _convert.below(error, key) from None
        return made

    def _call(self, qualname: str, args: Any, named: Any) -> ConfigDict:
        return new_call(qualname, args, dict(named), TRUSTED)

    def _described(self, obj: Any, made: Any) -> Any:
        if not isinstance(made, Mapping) or TARGET not in made:
            raise ConfigValueError(
                f"{type(obj).__qualname__}.__konfig_export__ gives a dict with "
                f"'__qualname__', not {short(made)}"
            )
        fields = dict(made._konfig_fields if isinstance(made, Node) else made)
        target = fields.pop(TARGET)
        keys = {key: item for key, item in fields.items() if not str(key).isdecimal()}
        positions = [fields[key] for key in sorted(fields.keys() - keys, key=int)]
        args = [item for _, item in self._below(enumerate(positions))]
        return self._call(target, args, self._below(keys.items()))

    def _dataclass(self, obj: Any) -> ConfigDict:
        import dataclasses

        named = []
        for field in dataclasses.fields(obj):
            if not field.init:
                continue
            value = getattr(obj, field.name)
            if not (self._omit_defaults and _is_default(field, value)):
                named.append((field.name, value))
        qualname = export_qualname(type(obj))
        parameters = parameters_of(qualname, type(obj))
        kept = {field.name for field in dataclasses.fields(obj)}
        for name in () if parameters is None else parameters.required:
            if name not in kept:
                raise ConfigTypeError(
                    f"{type(obj).__qualname__} does not keep {name!r}, which its "
                    "constructor needs",
                    hint="give it a method __konfig_export__",
                )
        return self._call(qualname, (), self._below(named))

    def _rest(self, obj: Any) -> Any:
        functools = sys.modules.get("functools")
        if functools is not None and type(obj) is functools.partial:
            args = [item for _, item in self._below(enumerate((obj.func, *obj.args)))]
            return self._call(
                "functools:partial", args, self._below(obj.keywords.items())
            )
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            if isinstance(obj, numpy.dtype):
                return self._call("numpy:dtype", (_dtype(obj),), {})
            if isinstance(obj, numpy.generic):
                return self._scalar(obj, numpy)
            if isinstance(obj, numpy.ndarray):
                return self._array(obj, "numpy:asarray")
            array = getattr(sys.modules.get("jax"), "Array", None)
            if array is not None and isinstance(obj, array):
                return self._jax_array(obj, numpy)
        try:
            return _convert.convert(obj)
        except ConfigTypeError as error:
            if not isinstance(obj, (FunctionType, BuiltinFunctionType, MethodType)):
                error.hint = (
                    f"give {type(obj).__qualname__} a method __konfig_export__, or "
                    "describe the call that makes it"
                )
            raise

    def _scalar(self, obj: Any, numpy: Any) -> ConfigDict:
        """A scalar of numpy; a time with its unit, which may be finer than a date."""
        plain: tuple[Any, ...] = (obj.item(),)
        if obj.dtype.kind in "mM":
            unit, count = numpy.datetime_data(obj.dtype)
            moment = str(obj) if obj.dtype.kind == "M" else int(obj.astype("i8"))
            plain = (moment,) if unit == "generic" else (moment, f"{count}{unit}")
        elif type(plain[0]) is type(obj) or obj.dtype.names is not None:
            raise _no_form(obj.dtype)
        return self._call(export_qualname(type(obj)), plain, {})

    def _jax_array(self, obj: Any, numpy: Any) -> ConfigDict:
        jax = sys.modules["jax"]
        if jax.dtypes.issubdtype(obj.dtype, jax.dtypes.prng_key):
            raise ConfigTypeError(
                "a random key is not written into a config",
                hint="keep the seed, and make the key with jax.random.key(seed)",
            )
        return self._array(numpy.asarray(obj), "jax.numpy:asarray")

    def _array(self, array: Any, target: str) -> ConfigDict:
        dtype = _dtype(array.dtype)
        if array.dtype.hasobject:
            raise ConfigTypeError("an array of objects has no form in a config")
        if array.dtype.char in "gG":  # no number of Python is as exact
            raise _no_form(array.dtype)
        # A list of nothing says only its first size.
        empty = array.size == 0 and array.ndim > 1
        if array.size <= _INLINE and not empty:
            return self._call(target, (array.tolist(),), {"dtype": dtype})
        if not (self._base64 or empty):
            raise ConfigTypeError(
                f"an array of {array.size} elements is large for a config",
                hint="keep it in a file, or write it as bytes: arrays='base64'",
            )
        read = self._call(
            "konfig.integrations.numpy:from_bytes",
            (array.tobytes(), dtype, array.shape),
            {},
        )
        return read if target.startswith("numpy") else self._call(target, (read,), {})


def _dtype(dtype: Any) -> Any:
    """A dtype by its text, or by its name where no text leads to it (bfloat16)."""
    read = sys.modules["numpy"].dtype
    for form in (dtype.str, dtype.type):
        try:
            found = read(form)
        except TypeError:
            continue
        if found == dtype:
            return form if isinstance(form, str) else Const(export_qualname(form))
    raise _no_form(dtype)


def _no_form(dtype: Any) -> ConfigTypeError:
    return ConfigTypeError(
        f"values of the dtype {short(dtype)} have no exact form in a config",
        hint="convert them to numbers or texts, or keep them in a file",
    )


def _is_default(field: Any, value: Any) -> bool:
    import dataclasses

    default = field.default
    if default is dataclasses.MISSING:
        if field.default_factory is dataclasses.MISSING:
            return False
        default = field.default_factory()
    try:
        return type(default) is type(value) and bool(default == value)
    except Exception:
        return False  # arrays do not compare to one truth
