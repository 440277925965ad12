"""What static checkers see of ktyping.

At run time every array type is an object, which no checker can read. mypy and
pyrefly read `Float[Array, "*b n"]` as `Annotated[Array, "*b n"]`; pyright reads both
forms as a class with the members that the arrays of numpy and jax share.
"""

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from ktyping._api import check_type as check_type
from ktyping._api import isinstance as isinstance
from ktyping._api import matches as matches
from ktyping._api import shape as shape
from ktyping._api import typechecked as typechecked
from ktyping._backend import backend as backend
from ktyping._backend import register_backend as register_backend
from ktyping._config import config as config
from ktyping._errors import AmbiguityLimitError as AmbiguityLimitError
from ktyping._errors import AmbiguousDimensionError as AmbiguousDimensionError
from ktyping._errors import KTypeCheckError as KTypeCheckError
from ktyping._errors import KTypeCheckWarning as KTypeCheckWarning
from ktyping._errors import KTypingError as KTypingError
from ktyping._errors import NoActiveScopeError as NoActiveScopeError
from ktyping._errors import ScopeDisabledError as ScopeDisabledError
from ktyping._errors import ShapeError as ShapeError
from ktyping._errors import ShapeSpecSyntaxError as ShapeSpecSyntaxError
from ktyping._errors import SpecInterpolationError as SpecInterpolationError
from ktyping._errors import UnboundDimensionError as UnboundDimensionError
from ktyping._errors import UnresolvedAnnotationError as UnresolvedAnnotationError
from ktyping._errors import UnresolvedAnnotationWarning as UnresolvedAnnotationWarning
from ktyping._explain import explain as explain
from ktyping._explain import spec_of as spec_of
from ktyping._families import is_array_type as is_array_type
from ktyping._kauldron import CONFIG as CONFIG
from ktyping._kauldron import Config as Config
from ktyping._kauldron import ReportingPolicy as ReportingPolicy
from ktyping._kauldron import ShapeScope as ShapeScope
from ktyping._kauldron import add_config_override as add_config_override
from ktyping._kauldron import remove_config_override as remove_config_override
from ktyping._records import share as share
from ktyping._scope import Scope as Scope
from ktyping._scope import dim as dim
from ktyping._scope import get_current_scope as get_current_scope
from ktyping._stats import Stats as Stats
from ktyping._stats import stats as stats

MYPY = False
TYPE_CHECKING_WITH_PYREFLY = False

Array = Any
Axes: TypeAlias = int | Sequence[int]
DType = Any
_Leaf = TypeVar("_Leaf")

PyTree: TypeAlias = _Leaf | Any

if MYPY:
    from typing import Annotated as ArraySpec
    from typing import Annotated as BFloat16
    from typing import Annotated as Bool
    from typing import Annotated as Complex
    from typing import Annotated as Complex64
    from typing import Annotated as Complex128
    from typing import Annotated as DateTime
    from typing import Annotated as Float
    from typing import Annotated as Float8
    from typing import Annotated as Float16
    from typing import Annotated as Float32
    from typing import Annotated as Float64
    from typing import Annotated as Inexact
    from typing import Annotated as Int
    from typing import Annotated as Int2
    from typing import Annotated as Int4
    from typing import Annotated as Int8
    from typing import Annotated as Int16
    from typing import Annotated as Int32
    from typing import Annotated as Int64
    from typing import Annotated as IntOrBool
    from typing import Annotated as Key
    from typing import Annotated as Num
    from typing import Annotated as Obj
    from typing import Annotated as Real
    from typing import Annotated as SInt
    from typing import Annotated as Shape
    from typing import Annotated as Str
    from typing import Annotated as TimeDelta
    from typing import Annotated as UInt
    from typing import Annotated as UInt2
    from typing import Annotated as UInt4
    from typing import Annotated as UInt8
    from typing import Annotated as UInt16
    from typing import Annotated as UInt32
    from typing import Annotated as UInt64
elif TYPE_CHECKING_WITH_PYREFLY:
    from typing import Annotated as ArraySpec
    from typing import Annotated as BFloat16
    from typing import Annotated as Bool
    from typing import Annotated as Complex
    from typing import Annotated as Complex64
    from typing import Annotated as Complex128
    from typing import Annotated as DateTime
    from typing import Annotated as Float
    from typing import Annotated as Float8
    from typing import Annotated as Float16
    from typing import Annotated as Float32
    from typing import Annotated as Float64
    from typing import Annotated as Inexact
    from typing import Annotated as Int
    from typing import Annotated as Int2
    from typing import Annotated as Int4
    from typing import Annotated as Int8
    from typing import Annotated as Int16
    from typing import Annotated as Int32
    from typing import Annotated as Int64
    from typing import Annotated as IntOrBool
    from typing import Annotated as Key
    from typing import Annotated as Num
    from typing import Annotated as Obj
    from typing import Annotated as Real
    from typing import Annotated as SInt
    from typing import Annotated as Shape
    from typing import Annotated as Str
    from typing import Annotated as TimeDelta
    from typing import Annotated as UInt
    from typing import Annotated as UInt2
    from typing import Annotated as UInt4
    from typing import Annotated as UInt8
    from typing import Annotated as UInt16
    from typing import Annotated as UInt32
    from typing import Annotated as UInt64
else:
    class _Described(Protocol):
        @property
        def shape(self) -> tuple[int, ...]: ...
        @property
        def dtype(self) -> Any: ...

    class _Array(Protocol):
        @property
        def shape(self) -> tuple[int, ...]: ...
        @property
        def dtype(self) -> Any: ...
        @property
        def ndim(self) -> int: ...
        @property
        def size(self) -> int: ...
        @property
        def T(self) -> Any: ...
        def __add__(self, other: Any, /) -> Any: ...
        def __radd__(self, other: Any, /) -> Any: ...
        def __sub__(self, other: Any, /) -> Any: ...
        def __rsub__(self, other: Any, /) -> Any: ...
        def __mul__(self, other: Any, /) -> Any: ...
        def __rmul__(self, other: Any, /) -> Any: ...
        def __truediv__(self, other: Any, /) -> Any: ...
        def __rtruediv__(self, other: Any, /) -> Any: ...
        def __floordiv__(self, other: Any, /) -> Any: ...
        def __rfloordiv__(self, other: Any, /) -> Any: ...
        def __mod__(self, other: Any, /) -> Any: ...
        def __rmod__(self, other: Any, /) -> Any: ...
        def __pow__(self, other: Any, /) -> Any: ...
        def __rpow__(self, other: Any, /) -> Any: ...
        def __matmul__(self, other: Any, /) -> Any: ...
        def __rmatmul__(self, other: Any, /) -> Any: ...
        def __lt__(self, other: Any, /) -> Any: ...
        def __le__(self, other: Any, /) -> Any: ...
        def __gt__(self, other: Any, /) -> Any: ...
        def __ge__(self, other: Any, /) -> Any: ...
        def __neg__(self) -> Any: ...
        def __pos__(self) -> Any: ...
        def __abs__(self) -> Any: ...
        def __getitem__(self, item: Any, /) -> Any: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Any: ...
        def all(self, *args: Any, **kwargs: Any) -> Any: ...
        def any(self, *args: Any, **kwargs: Any) -> Any: ...
        def argmax(self, *args: Any, **kwargs: Any) -> Any: ...
        def argmin(self, *args: Any, **kwargs: Any) -> Any: ...
        def argsort(self, *args: Any, **kwargs: Any) -> Any: ...
        def astype(self, *args: Any, **kwargs: Any) -> Any: ...
        def clip(self, *args: Any, **kwargs: Any) -> Any: ...
        def conj(self, *args: Any, **kwargs: Any) -> Any: ...
        def copy(self, *args: Any, **kwargs: Any) -> Any: ...
        def cumsum(self, *args: Any, **kwargs: Any) -> Any: ...
        def dot(self, *args: Any, **kwargs: Any) -> Any: ...
        def flatten(self, *args: Any, **kwargs: Any) -> Any: ...
        def item(self, *args: Any, **kwargs: Any) -> Any: ...
        def max(self, *args: Any, **kwargs: Any) -> Any: ...
        def mean(self, *args: Any, **kwargs: Any) -> Any: ...
        def min(self, *args: Any, **kwargs: Any) -> Any: ...
        def prod(self, *args: Any, **kwargs: Any) -> Any: ...
        def ravel(self, *args: Any, **kwargs: Any) -> Any: ...
        def repeat(self, *args: Any, **kwargs: Any) -> Any: ...
        def reshape(self, *args: Any, **kwargs: Any) -> Any: ...
        def round(self, *args: Any, **kwargs: Any) -> Any: ...
        def squeeze(self, *args: Any, **kwargs: Any) -> Any: ...
        def std(self, *args: Any, **kwargs: Any) -> Any: ...
        def sum(self, *args: Any, **kwargs: Any) -> Any: ...
        def swapaxes(self, *args: Any, **kwargs: Any) -> Any: ...
        def tolist(self, *args: Any, **kwargs: Any) -> Any: ...
        def transpose(self, *args: Any, **kwargs: Any) -> Any: ...
        def var(self, *args: Any, **kwargs: Any) -> Any: ...

    class Num(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class Inexact(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class Real(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class Float(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class Float8(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class Float16(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class Float32(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class Float64(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class BFloat16(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class Int(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class Int2(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class Int4(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class Int8(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class Int16(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class Int32(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class Int64(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class SInt(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class UInt(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class UInt2(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class UInt4(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class UInt8(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class UInt16(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class UInt32(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class UInt64(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class Bool(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class IntOrBool(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class Complex(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class Complex64(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class Complex128(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class Key(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class Str(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class Obj(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class DateTime(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class TimeDelta(_Array, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class ArraySpec(_Described, Protocol):
        def __class_getitem__(cls, item: Any) -> Any: ...

    class Shape(tuple[int, ...]):
        def __class_getitem__(cls, item: Any) -> Any: ...

ElementSpec = Any
Scalar = Any
ScalarBool = Any
ScalarInt = Any
ScalarFloat = Any
ScalarComplex = Any
PRNGKey = Any
PRNGKeyArray = Any
PRNGKeyLike = Any

__all__ = [
    "Array",
    "Num",
    "Inexact",
    "Real",
    "Float",
    "Float8",
    "Float16",
    "Float32",
    "Float64",
    "BFloat16",
    "Int",
    "Int2",
    "Int4",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "SInt",
    "UInt",
    "UInt2",
    "UInt4",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "Bool",
    "IntOrBool",
    "Complex",
    "Complex64",
    "Complex128",
    "Key",
    "Str",
    "Obj",
    "DateTime",
    "TimeDelta",
    "ArraySpec",
    "ElementSpec",
    "is_array_type",
    "Scalar",
    "ScalarBool",
    "ScalarInt",
    "ScalarFloat",
    "ScalarComplex",
    "PRNGKey",
    "PRNGKeyArray",
    "PRNGKeyLike",
    "typechecked",
    "check_type",
    "matches",
    "shape",
    "Scope",
    "dim",
    "get_current_scope",
    "Shape",
    "Axes",
    "DType",
    "PyTree",
    "backend",
    "register_backend",
    "explain",
    "spec_of",
    "config",
    "share",
    "Stats",
    "stats",
    "AmbiguityLimitError",
    "AmbiguousDimensionError",
    "KTypeCheckError",
    "KTypeCheckWarning",
    "KTypingError",
    "NoActiveScopeError",
    "ScopeDisabledError",
    "ShapeError",
    "ShapeSpecSyntaxError",
    "SpecInterpolationError",
    "UnboundDimensionError",
    "UnresolvedAnnotationError",
    "UnresolvedAnnotationWarning",
]
