import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kmetrics import Pair
from kmetrics._numerics import (
    add_pairs,
    divide_pairs,
    multiply_pairs,
    scale_pair,
    sum_products_to_pair,
    sum_to_pair,
    to_pair,
)

# 48 significant bits, with a factor for the handful of roundings in one operation.
PAIR_RTOL = 16 * 2.0**-48
NUMBERS = st.floats(-1e12, 1e12, allow_nan=False).filter(
    lambda x: x == 0 or abs(x) > 1e-12
)


@given(NUMBERS)
@settings(deadline=None, max_examples=50)
def test_a_pair_holds_48_bits_of_a_python_float(x):
    assert to_pair(x).numpy() == pytest.approx(x, rel=PAIR_RTOL, abs=0)


@pytest.mark.parametrize(
    "x",
    [
        np.int32(2**31 - 1),
        np.int32(-(2**31)),
        np.uint32(2**32 - 1),
        np.int64(2**47 + 1),
        2**47 + 1,
        np.uint8(255),
        np.bool_(True),
    ],
)
def test_integers_become_pairs_without_rounding(x):
    assert int(to_pair(x).numpy()) == int(x)
    if np.asarray(x).dtype.itemsize <= 4:
        assert int(jax.jit(to_pair)(jnp.asarray(x)).numpy()) == int(x)


@given(NUMBERS, NUMBERS)
@settings(deadline=None, max_examples=50)
def test_pair_arithmetic_agrees_with_float64(x, y):
    a, b = to_pair(x), to_pair(y)
    size = abs(x) + abs(y)
    assert add_pairs(a, b).numpy() == pytest.approx(x + y, abs=PAIR_RTOL * size)
    assert multiply_pairs(a, b).numpy() == pytest.approx(x * y, rel=PAIR_RTOL, abs=0)
    assert scale_pair(a, 0.5).numpy() == a.numpy() / 2
    quotient = x / y if y else 0.0
    assert divide_pairs(a, b).numpy() == pytest.approx(quotient, rel=PAIR_RTOL, abs=0)


@pytest.mark.parametrize("is_constant", [True, False])
def test_pair_arithmetic_keeps_its_bits_in_one_compiled_program(is_constant):
    # There a product and a sum may become one operation, and a division by a constant
    # a product.
    exact = np.random.default_rng(0).uniform(1, 2, 64)
    x = jax.tree.map(jnp.asarray, to_pair(exact))
    factors = [np.float32(f) for f in (0.3, 7, 1536)]

    def all_of(x, factors):
        pairs = [(f, to_pair(f)) for f in factors]
        return [
            (scale_pair(x, f), multiply_pairs(x, pair), divide_pairs(x, pair))
            for f, pair in pairs
        ]

    compiled = jax.jit((lambda x, _: all_of(x, factors)) if is_constant else all_of)
    for f, (scaled, multiplied, divided) in zip(
        map(float, factors), compiled(x, factors), strict=True
    ):
        np.testing.assert_allclose(scaled.numpy(), x.numpy() * f, rtol=PAIR_RTOL)
        np.testing.assert_allclose(multiplied.numpy(), x.numpy() * f, rtol=PAIR_RTOL)
        np.testing.assert_allclose(divided.numpy(), x.numpy() / f, rtol=PAIR_RTOL)


@given(st.lists(NUMBERS, min_size=3, max_size=3))
@settings(deadline=None, max_examples=50)
def test_adding_pairs_is_associative_to_48_bits(numbers):
    a, b, c = map(to_pair, numbers)
    left = add_pairs(add_pairs(a, b), c).numpy()
    right = add_pairs(a, add_pairs(b, c)).numpy()
    assert left == pytest.approx(right, abs=PAIR_RTOL * sum(map(abs, numbers)))


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 70_000])
@pytest.mark.parametrize("compiled", [False, True])
def test_the_sum_of_an_array_agrees_with_fsum(size, compiled):
    x = np.random.default_rng(size).normal(size=size).astype(np.float32)
    total = (jax.jit(sum_to_pair) if compiled else sum_to_pair)(jnp.asarray(x))
    exact = math.fsum(x.astype(float))
    magnitude = math.fsum(np.abs(x).astype(float))
    assert float(total.numpy()) == pytest.approx(exact, abs=PAIR_RTOL * magnitude)


@pytest.mark.parametrize("offset", [0, 1e6, -1e30])
def test_a_sum_of_products_keeps_what_the_products_round_off(offset):
    rng = np.random.default_rng(0)
    x = np.float32(rng.normal(size=257) + offset)
    y = np.float32(rng.uniform(0.1, 2, 257))
    products = [float(a) * float(b) for a, b in zip(x, y, strict=True)]
    got = float(sum_products_to_pair(x, y).numpy())
    magnitude = math.fsum(map(abs, products))
    assert got == pytest.approx(math.fsum(products), abs=PAIR_RTOL * magnitude)


def test_products_of_integers_are_not_rounded_first():
    x = np.array([2**31 - 1, 7, 65535], np.int32)
    assert sum_products_to_pair(x, np.float32([1, 0.5, 2])).numpy() == (
        2**31 - 1 + 3.5 + 2 * 65535
    )


def test_products_have_the_gradient_infinities_and_nan_of_float32():
    x, y = jnp.float32([1, 2, 4]), jnp.float32([0.1, 5, -3])
    by_x, by_y = jax.grad(lambda x, y: sum_products_to_pair(x, y).hi, (0, 1))(x, y)
    np.testing.assert_array_equal(by_x, y)
    np.testing.assert_array_equal(by_y, x)
    for value, expected in ((np.inf, np.inf), (3e38, np.inf), (np.nan, np.nan)):
        got = sum_products_to_pair(x.at[1].set(value), y)
        np.testing.assert_equal(float(got.numpy()), expected)


def test_numbers_of_very_different_size_add_up_without_loss():
    x = jnp.asarray([2.0**24, 1.0, 1.0, -(2.0**24), 2.0**-20], jnp.float32)
    assert sum_to_pair(x).numpy() == 2 + 2.0**-20
    cancelled = jnp.asarray([2.0**40, 1.0 + 2.0**-23, 2.0**-10, -(2.0**40)])
    assert sum_to_pair(cancelled).numpy() == 1 + 2.0**-23 + 2.0**-10


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int16", "int32", "float16", "bfloat16"]
)
def test_every_dtype_adds_up_in_float32(dtype):
    x = jnp.ones((3, 700), dtype)
    assert sum_to_pair(x).numpy() == 2100


def test_the_sum_of_int32_does_not_wrap():
    x = jnp.full((5,), 2**31 - 1, jnp.int32)
    assert sum_to_pair(x).numpy() == 5 * (2**31 - 1)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, math.inf], math.inf),
        ([-math.inf, 1.0], -math.inf),
        ([math.inf, -math.inf], math.nan),
        ([math.nan, 1.0], math.nan),
        ([3e38, 3e38], math.inf),
    ],
)
def test_infinities_and_nan_behave_as_in_float32(values, expected):
    one, two = (to_pair(jnp.float32(v)) for v in values)
    np.testing.assert_equal(float(add_pairs(one, two).numpy()), expected)
    total = sum_to_pair(jnp.asarray(values, jnp.float32))
    np.testing.assert_equal(float(total.numpy()), expected)


def test_the_gradient_of_a_sum_is_one_everywhere():
    grad = jax.grad(lambda x: sum_to_pair(x).hi)(jnp.arange(300.0))
    np.testing.assert_array_equal(grad, np.ones(300))


def test_the_gradient_goes_through_pair_arithmetic():
    def quotient(x, y):
        pair = divide_pairs(to_pair(x), to_pair(y))
        return multiply_pairs(scale_pair(pair, 3.0), to_pair(2.0)).hi

    by_x, by_y = jax.grad(quotient, (0, 1))(jnp.float32(5), jnp.float32(4))
    assert float(by_x) == pytest.approx(6 / 4, rel=1e-6)
    assert float(by_y) == pytest.approx(-6 * 5 / 16, rel=1e-6)


def test_an_empty_array_adds_up_to_zero():
    assert sum_to_pair(jnp.zeros((0, 3))).numpy() == 0


def test_complex_numbers_are_refused_with_advice():
    with pytest.raises(TypeError, match="real or the imaginary"):
        sum_to_pair(jnp.ones(3, jnp.complex64))


def test_a_pair_is_a_pytree_of_two_leaves():
    assert len(jax.tree.leaves(Pair(1.0, 2.0))) == 2
