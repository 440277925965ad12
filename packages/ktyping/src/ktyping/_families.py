"""The array families that users import, and the unions built from them."""

from collections.abc import Sequence
from typing import Any

from ktyping._array_type import ArrayType, make
from ktyping._checker import union_of
from ktyping._dtypes import FAMILIES
from ktyping._pytree import PyTree

_bare: dict[str, ArrayType] = {name: make((f,)) for name, f in FAMILIES.items()}

Array = _bare["Array"]
Num, Inexact, Real = _bare["Num"], _bare["Inexact"], _bare["Real"]
Float, Float8, BFloat16 = _bare["Float"], _bare["Float8"], _bare["BFloat16"]
Float16, Float32, Float64 = _bare["Float16"], _bare["Float32"], _bare["Float64"]
Int, SInt, UInt = _bare["Int"], _bare["SInt"], _bare["UInt"]
Int2, Int4, Int8 = _bare["Int2"], _bare["Int4"], _bare["Int8"]
Int16, Int32, Int64 = _bare["Int16"], _bare["Int32"], _bare["Int64"]
UInt2, UInt4, UInt8 = _bare["UInt2"], _bare["UInt4"], _bare["UInt8"]
UInt16, UInt32, UInt64 = _bare["UInt16"], _bare["UInt32"], _bare["UInt64"]
Bool, IntOrBool = _bare["Bool"], _bare["IntOrBool"]
Complex, Complex64 = _bare["Complex"], _bare["Complex64"]
Complex128 = _bare["Complex128"]
Key, Str, Obj = _bare["Key"], _bare["Str"], _bare["Obj"]
DateTime, TimeDelta = _bare["DateTime"], _bare["TimeDelta"]

ArraySpec = Array.spec
ElementSpec = PyTree[ArraySpec]

ScalarBool = union_of(bool, Bool[""])
ScalarInt = union_of(int, Int[""])
ScalarFloat = union_of(float, Float[""])
ScalarComplex = union_of(complex, Complex[""])
Scalar = union_of(bool, int, float, complex, Num[""], Bool[""])

# A key is typed (`jax.random.key`) or raw: uint32 with a last axis of 2.
PRNGKey = union_of(Key[""], UInt32["2"])
PRNGKeyArray = union_of(Key["..."], UInt32["... 2"])
PRNGKeyLike = union_of(Key[""], UInt32["2"], int, Int[""], Sequence[int])


def is_array_type(annotation: Any) -> bool:
    """Whether an annotation is an array type such as `Float["a"]` or `Float`."""
    return isinstance(annotation, ArrayType)
