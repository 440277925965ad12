"""Annotations of jaxtyping: what we read of them, and what becomes of it."""

import pytest

import ktyping as kt
from ktyping import (
    KTypeCheckError,
    UnresolvedAnnotationError,
    UnresolvedAnnotationWarning,
    config,
    dim,
    matches,
    typechecked,
)

jaxtyping = pytest.importorskip("jaxtyping", reason="these tests convert its types")
jax = pytest.importorskip("jax", reason="jaxtyping annotates arrays of jax")
np = pytest.importorskip("numpy", reason="jaxtyping annotates arrays of numpy")


@pytest.fixture
def policy():
    def choose(name):
        config.set(jaxtyping=name)

    yield choose
    config.set(jaxtyping="convert")


def z(*shape):
    return jax.numpy.zeros(shape)


def test_what_we_read_of_its_types_is_there():
    kind = jaxtyping.Float[jax.Array, "*b n"]
    assert jaxtyping.AbstractArray in kind.__mro__
    assert (kind.dtype.__name__, kind.dim_str) == ("Float", "*b n")
    assert kind.array_type is jax.Array
    assert "float32" in kind.dtypes
    tree = jaxtyping.PyTree[int, "T"]
    assert (tree.leaftype, tree.structure) == (int, "T")
    assert type(tree) is type(jaxtyping.PyTree)


def test_its_array_types_bind_dims_beside_ours():
    @typechecked
    def f(
        x: jaxtyping.Float[jax.Array, "*b n"], y: kt.Float["n"]
    ) -> jaxtyping.Float[jax.Array, "*b"]:
        return x[..., 0] * dim["n"]

    assert f(z(2, 3), z(3)).shape == (2,)
    with pytest.raises(KTypeCheckError, match="n is 4, but n = 3 from x axis 1"):
        f(z(2, 3), z(4))
    with pytest.raises(KTypeCheckError, match="dtype i32 is not Float"):
        f(jax.numpy.zeros((2, 3), int), z(3))


@pytest.mark.parametrize(
    ("theirs", "spec", "fits"),
    [
        ("Int", "n", ["int32"]),
        ("UInt", "n", ["uint8"]),
        ("Integer", "n", ["int32", "uint8"]),
        ("Float", "...", ["float16", "float32"]),
        ("Shaped", "3", ["int32", "uint8", "float16", "float32", "bool"]),
        ("Num", "_", ["int32", "uint8", "float16", "float32"]),
        ("Float32", "#n", ["float32"]),
        ("Bool", "n=3", ["bool"]),
        ("Real", "n-1", ["int32", "uint8", "float16", "float32"]),
        ("Inexact", "4", []),
    ],
)
def test_its_families_and_specs_mean_the_same(theirs, spec, fits):
    kind = getattr(jaxtyping, theirs)[np.ndarray, spec]
    for dtype in ("int32", "uint8", "float16", "float32", "bool"):
        assert matches(np.zeros(3, dtype), kind) is (dtype in fits)


def test_a_name_before_a_size_is_a_comment_there():
    @typechecked
    def f(x: jaxtyping.Float[np.ndarray, "n=3 #m=2"]):
        return dict(dim)

    assert f(np.zeros((3, 2))) == f(np.zeros((3, 1))) == {}


def test_unions_trees_and_small_floats_are_converted():
    kind = jaxtyping.Float[jax.Array | np.ndarray, "n"]
    assert matches(z(3), kind) and matches(np.zeros(3), kind)
    assert not matches(3, kind)
    e5m2 = jaxtyping.Float8e5m2[jax.Array, "n"]
    assert matches(z(3).astype("float8_e5m2"), e5m2) and not matches(z(3), e5m2)
    assert matches([1, {"a": 2}], jaxtyping.PyTree[int])
    assert not matches([1, "x"], jaxtyping.PyTree[int])

    @typechecked
    def f(x: jaxtyping.PyTree[int, "T"], y: jaxtyping.PyTree[str, "T ..."]):
        return True

    assert f([1, 2], ["a", ["b"]])
    with pytest.raises(KTypeCheckError, match=r"\$T"):
        f([1, 2], ["a"])


def test_what_cannot_be_converted_is_warned_about():
    kind = jaxtyping.Float[jax.Array, "?n"]
    with pytest.warns(UnresolvedAnnotationWarning, match="per leaf of a tree"):
        assert matches(z(3), kind)
    with pytest.warns(UnresolvedAnnotationWarning, match="several parts"):
        assert matches([3], jaxtyping.PyTree[int, "S T"])


def test_other_policies_warn_refuse_or_ignore(policy):
    def f(x: jaxtyping.Float[jax.Array, "policy"]):
        return dict(dim)

    policy("warn")
    with pytest.warns(UnresolvedAnnotationWarning, match="is read as Float"):
        assert typechecked(f)(z(3)) == {"policy": 3}
    policy("error")
    with pytest.raises(UnresolvedAnnotationError, match="annotation of jaxtyping"):
        typechecked(f)(z(3))
    policy("ignore")
    assert typechecked(f)("anything") == {}
    with pytest.raises(ValueError, match="convert, warn, error, ignore"):
        policy("maybe")
