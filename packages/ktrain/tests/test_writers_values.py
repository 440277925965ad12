"""What may be written, and the message when something may not."""

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ktrain import writers

_REAL_DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"),
    *("uint64", "float16", "float32", "float64", "longdouble"),
    *(ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.int4),
)


@pytest.mark.parametrize("dtype", _REAL_DTYPES, ids=str)
@pytest.mark.parametrize("make", [np.asarray, lambda x: x[()], lambda x: x[None]])
def test_a_number_of_every_real_dtype_becomes_a_python_number(dtype, make):
    given_value = make(np.asarray(1, dtype))
    (value,) = writers.flatten({"metrics/x": given_value}).values()
    assert type(value) in {bool, int, float}
    assert value == 1


@settings(deadline=None)
@given(st.floats(width=32))
def test_a_32_bit_float_keeps_its_exact_value(number):
    flat = writers.flatten({"x": np.float32(number)})
    assert flat["x"] == number or math.isnan(number)


@settings(deadline=None)
@given(st.integers(-(2**63), 2**63 - 1))
def test_an_integer_keeps_its_exact_value(number):
    assert writers.flatten({"x": np.int64(number), "y": number}) == {
        "x": number,
        "y": number,
    }


@pytest.mark.spec("core-45")
def test_a_vector_a_dict_and_a_text_become_numbered_sub_named_and_texts():
    flat = writers.flatten(
        {
            "metrics": {
                "per_class": np.array([0.5, 0.25, 1.0], np.float32),
                "box": {"iou": 0.5, "deep": {"n": np.int32(3)}},
                "best": "cat",
            }
        }
    )
    assert flat == {
        "metrics/per_class/0": 0.5,
        "metrics/per_class/1": 0.25,
        "metrics/per_class/2": 1.0,
        "metrics/box/iou": 0.5,
        "metrics/box/deep/n": 3,
        "metrics/best": "cat",
    }
    assert flat.texts() == {"metrics/best": "cat"}
    assert list(flat.numbers()) == [name for name in flat if name != "metrics/best"]


def test_a_list_of_numbers_is_a_vector():
    assert writers.flatten({"x": [1, np.float32(2)]}) == {"x/0": 1, "x/1": 2.0}


def test_a_vector_of_sixteen_is_written_and_one_of_seventeen_is_not():
    assert len(writers.flatten({"x": np.zeros(16)})) == 16
    with pytest.raises(writers.UnwritableValueError, match=r"^x: .* f64\[17\] cannot"):
        writers.flatten({"x": np.zeros(17)})


def test_jax_arrays_are_written_as_numpy_arrays():
    jnp = pytest.importorskip("jax.numpy", reason="shows arrays of jax")
    values = {"a": jnp.float32(0.5), "b": jnp.arange(2), "c": jnp.bfloat16(2)}
    assert writers.flatten(values) == {"a": 0.5, "b/0": 0, "b/1": 1, "c": 2.0}


class _Figure:
    pass


@pytest.mark.spec("core-46")
@pytest.mark.parametrize(
    ("value", "named"),
    [
        (_Figure(), "metrics/plot: a value of type _Figure"),
        (None, "metrics/plot: a value of type NoneType"),
        (np.zeros((2, 3), np.float32), "metrics/plot: .*array f32\\[2, 3\\]"),
        (np.complex64(1j), "metrics/plot: a value of type complex64"),
        (np.array(object()), "metrics/plot: a value of type object"),
        ({"sub": _Figure()}, "metrics/plot/sub: a value of type _Figure"),
        ([1.0, "a", _Figure()], "metrics/plot/2: a value of type object"),
        ([1.0, [2.0]], "metrics/plot/1: a value of type list"),
    ],
    ids=["object", "none", "matrix", "complex", "objects", "nested", "list", "lists"],
)
def test_any_other_value_is_an_error_with_the_path_and_the_type(value, named):
    with pytest.raises(TypeError, match=named) as caught:
        writers.flatten({"metrics": {"plot": value}})
    assert "a vector of at most 16 numbers" in str(caught.value)


def test_a_prng_key_is_an_error_with_its_path():
    jax = pytest.importorskip("jax", reason="shows a key of jax")
    with pytest.raises(writers.UnwritableValueError, match=r"^metrics/key: "):
        writers.flatten({"metrics/key": jax.random.key(0)})


def test_two_values_of_one_name_are_an_error():
    with pytest.raises(writers.UnwritableValueError, match=r"^a/b: two values"):
        writers.flatten({"a/b": 1, "a": {"b": 2}})


def test_flat_values_are_given_back_as_they_are():
    flat = writers.flatten({"a": 1})
    assert writers.flatten(flat) is flat
