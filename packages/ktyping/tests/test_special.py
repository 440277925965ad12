"""Annotations of what describes arrays: `DType`, `Axes`, `ElementSpec`, dtypes."""

import pickle

import pytest

from ktyping import (
    Array,
    Axes,
    BFloat16,
    DType,
    ElementSpec,
    Float,
    Float8,
    Float32,
    Int,
    Key,
    KTypeCheckError,
    check_type,
    matches,
)


@pytest.mark.parametrize("value", ["float32", "bfloat16", "int4", "bool", float, int])
def test_a_name_or_a_python_class_stands_for_a_dtype(value):
    assert matches(value, DType)


@pytest.mark.parametrize("value", ["nope", "", 3, None, str, object, list, [1]])
def test_other_values_stand_for_no_dtype(value):
    assert not matches(value, DType)
    assert matches(value, DType | object)


def test_dtypes_of_libraries_are_dtypes_and_arrays_are_not():
    np = pytest.importorskip("numpy", reason="this test names dtypes of numpy")
    assert all(matches(v, DType) for v in (np.float32, np.dtype("f4"), "<f4", np.bool_))
    assert not any(matches(v, DType) for v in (np.zeros(3), np.float32(3), np.generic))
    jax = pytest.importorskip("jax", reason="this test names dtypes of jax")
    jnp = jax.numpy
    key = jax.random.key(0).dtype
    assert all(matches(v, DType) for v in (jnp.float32, jnp.dtype("bfloat16"), key))
    assert not matches(jnp.zeros(3), DType)


@pytest.mark.parametrize("value", [0, -1, (0, -2), [1], ()])
def test_whole_numbers_and_sequences_of_them_are_axes(value):
    assert matches(value, Axes)


@pytest.mark.parametrize("value", [True, 1.0, "0", None, (0, "1"), {0}])
def test_other_values_are_no_axes(value):
    with pytest.raises(KTypeCheckError, match="no axis"):
        check_type(value, Axes, nested_ok=True)


def test_they_pickle_and_join():
    assert pickle.loads(pickle.dumps(Axes)) is Axes
    assert pickle.loads(pickle.dumps(DType)) is DType
    assert matches(None, Axes | None) and matches(None, None | DType)


def test_a_dtype_may_follow_the_shape():
    assert Float[Array, "n", "float32"] is Float32["n"]
    assert Array[Array, "n", "bfloat16"] is BFloat16["n"]
    e4m3 = Float8[Array, "n", "float8_e4m3fn"]
    assert e4m3 is Array[Array, "n", "float8_e4m3fn"] is not Float8["n"]
    assert pickle.loads(pickle.dumps(e4m3)) is e4m3
    with pytest.raises(TypeError, match="int32 is not in Float"):
        Float[Array, "n", "int32"]
    with pytest.raises(TypeError, match="takes a dtype, got 3"):
        Float[Array, "n", 3]
    with pytest.raises(TypeError, match="array class"):
        Float[Array, "n", "float32", 1]


def test_a_dtype_after_the_shape_is_checked():
    np = pytest.importorskip("numpy", reason="this test checks arrays of numpy")
    kind = Float[np.ndarray, "n", np.float16]
    assert matches(np.zeros(3, np.float16), kind)
    assert not matches(np.zeros(3, np.float32), kind)
    assert not matches(np.float16(3), Float[np.ndarray, "", np.float16])
    assert matches(np.zeros(3, "datetime64[s]"), Array[Array, "n", "datetime64[s]"])
    assert not matches(np.zeros(3, "datetime64[s]"), Int["n"])


def test_an_element_spec_is_a_tree_of_descriptions():
    jax = pytest.importorskip("jax", reason="this test describes arrays of jax")
    spec = jax.ShapeDtypeStruct((2, 3), jax.numpy.float32)
    assert matches({"image": spec, "label": [spec, None]}, ElementSpec)
    assert not matches({"image": jax.numpy.zeros(3)}, ElementSpec)


def test_a_key_type_takes_typed_keys_alone():
    jax = pytest.importorskip("jax", reason="this test makes keys of jax")
    keys = jax.random.split(jax.random.key(0), 3)
    assert matches(keys, Key["3"]) and matches(keys[0], Key[""])
    assert not matches(jax.random.PRNGKey(0), Key["..."])


@pytest.mark.case("055")
def test_a_union_of_array_classes_stands_before_the_shape():
    np = pytest.importorskip("numpy", reason="this test checks arrays of numpy")
    jax = pytest.importorskip("jax", reason="this test checks arrays of jax")
    kind = Float[np.ndarray | jax.Array, "n"]
    assert matches(np.zeros(3), kind) and matches(jax.numpy.zeros(3), kind)
    assert not matches(np.float64(3), Float[np.ndarray | jax.Array, ""])
