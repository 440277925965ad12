"""Arrays of jax: concrete, traced, described, exported."""

import pytest

import ktyping as kt
from ktyping import Float, Int, Key, KTypeCheckError, dim, typechecked

jax = pytest.importorskip("jax", reason="these tests check arrays of jax")
jnp = pytest.importorskip("jax.numpy", reason="these tests check arrays of jax")
np = pytest.importorskip("numpy", reason="jax brings numpy")


@typechecked
def project(x: Float["*b n c"], y: Float["c d"]) -> Float["*b n d"]:
    return jnp.einsum("...nc,cd->...nd", x, y)


X, Y, BAD = jnp.ones((2, 3, 4)), jnp.ones((4, 5)), jnp.ones((9, 5))


@pytest.mark.spec("ktyping-81")
@pytest.mark.case("059")
@pytest.mark.parametrize(
    "transformed",
    [
        project,
        jax.jit(project),
        lambda x, y: jax.vmap(project, (0, None))(x, y),
        lambda x, y: jax.grad(lambda a: project(a, y).sum())(x),
        lambda x, y: jax.eval_shape(project, x, y),
        lambda x, y: jax.lax.scan(lambda c, a: (c, project(a, y)), 0, x)[1],
        lambda x, y: jax.checkpoint(project)(x, y),
    ],
    ids=["plain", "jit", "vmap", "grad", "eval_shape", "scan", "checkpoint"],
)
def test_shapes_are_checked_at_trace_time(transformed):
    assert transformed(X, Y).shape[:2] == (2, 3)
    with pytest.raises(KTypeCheckError) as caught:
        transformed(X, BAD)
    assert (caught.value.axis, caught.value.subject) == (0, "argument y")


def test_a_compiled_call_is_not_checked_again(monkeypatch):
    calls = []

    @jax.jit
    @typechecked
    def f(x: Float["n"]):
        calls.append(dim["n"])
        return x

    for _ in range(3):
        f(jnp.ones(3))
    assert calls == [3]


def test_a_tracer_and_an_array_of_one_shape_have_their_own_verdicts():
    @typechecked
    def f(x: Float[jax.Array, "n"]):
        return x

    assert f(jnp.ones(3)).shape == (3,)
    assert jax.jit(f)(jnp.ones(3)).shape == (3,)
    for _ in range(2):
        with pytest.raises(KTypeCheckError, match="class Array"):
            f(np.ones(3, np.float32))


@pytest.mark.spec("ktyping-80")
def test_a_value_can_be_checked_in_the_body_of_a_scan():
    @typechecked
    def f(xs: Float["t n"]):
        def body(carry, x):
            kt.check_type(x, Float["n"])
            return carry, x * dim["n"]

        return jax.lax.scan(body, 0, xs)[1]

    assert f(jnp.ones((2, 3))).shape == (2, 3)


@pytest.mark.spec("ktyping-82")
def test_symbolic_sizes_are_dims():
    seen = []

    @typechecked
    def f(x: Float["b n"], y: Float["b"]) -> Float["b n"]:
        seen.append(dim["b"])
        return x * y[:, None]

    (b,) = jax.export.symbolic_shape("b")
    args = (
        jax.ShapeDtypeStruct((b, 3), jnp.float32),
        jax.ShapeDtypeStruct((b,), jnp.float32),
    )
    exported = jax.export.export(jax.jit(f))(*args)
    assert str(exported.out_avals[0].shape) == "(b, 3)"
    assert str(seen[0]) == "b"


def test_symbolic_sizes_that_differ_by_a_number_are_refused():
    @typechecked
    def f(x: Float["n"], y: Float["n"]):
        return x

    n, m = jax.export.symbolic_shape("n, n+1")
    args = [jax.ShapeDtypeStruct((s,), jnp.float32) for s in (n, m)]
    with pytest.raises(KTypeCheckError, match=r"n is n \+ 1"):
        jax.export.export(jax.jit(f))(*args)


def test_expressions_of_symbolic_sizes_are_computed():
    @typechecked
    def f(x: Float["n"]) -> Float["2*n+1"]:
        return jnp.concatenate([x, x, jnp.ones(1)])

    (n,) = jax.export.symbolic_shape("n")
    exported = jax.export.export(jax.jit(f))(jax.ShapeDtypeStruct((n,), jnp.float32))
    assert str(exported.out_avals[0].shape) == "(2*n + 1,)"


@pytest.mark.spec("ktyping-97")
def test_a_description_of_an_array_is_no_array():
    spec = jax.ShapeDtypeStruct((3,), jnp.float32)
    assert not kt.isinstance(spec, Float["3"])
    assert kt.isinstance(spec, Float.spec["3"])
    assert kt.isinstance(spec, kt.ArraySpec["n"])
    assert not kt.isinstance(spec, Int.spec["3"])
    assert not kt.isinstance(jnp.ones(3), Float.spec["3"])


@pytest.mark.spec("ktyping-52")
@pytest.mark.parametrize(
    ("value", "fits"),
    [
        (lambda: jax.random.key(0), True),
        (lambda: jax.random.PRNGKey(0), True),
        (lambda: 3, True),
        (lambda: [1, 2], True),
        (lambda: "x", False),
        (lambda: jax.random.split(jax.random.key(0), 2), False),
    ],
)
def test_what_stands_for_a_key(value, fits):
    assert kt.isinstance(value(), kt.PRNGKeyLike) is fits


def test_typed_keys_are_a_family():
    keys = jax.random.split(jax.random.key(0), 3)
    assert kt.isinstance(keys, Key["3"])
    assert kt.isinstance(keys, kt.PRNGKeyArray)
    assert not kt.isinstance(jax.random.PRNGKey(0), Key["..."])


@pytest.mark.parametrize(
    ("dtype", "families"),
    [
        (jnp.bfloat16, {"Float", "Num", "Inexact", "Real", "BFloat16", "Array"}),
        (jnp.float8_e4m3fn, {"Float", "Num", "Inexact", "Real", "Float8", "Array"}),
        (jnp.int4, {"Int", "SInt", "Int4", "Num", "Real", "IntOrBool", "Array"}),
        (jnp.uint8, {"Int", "UInt", "UInt8", "Num", "Real", "IntOrBool", "Array"}),
        (jnp.bool_, {"Bool", "IntOrBool", "Array"}),
        (jnp.complex64, {"Complex", "Complex64", "Num", "Inexact", "Array"}),
    ],
)
def test_each_dtype_is_in_its_families_and_no_others(dtype, families):
    value = jnp.zeros((), dtype)
    everything = [n for n in kt.__all__ if isinstance(getattr(kt, n), type(Float))]
    found = {n for n in everything if kt.isinstance(value, getattr(kt, n))}
    assert found == families


@pytest.mark.case("058")
def test_a_tracer_given_to_a_plain_float_gets_a_hint():
    @typechecked
    def f(mean: float):
        return mean

    with pytest.raises(KTypeCheckError, match="`ScalarFloat` accepts"):
        jax.jit(f)(1.5)

    @typechecked
    def g(mean: kt.ScalarFloat):
        return mean

    assert float(jax.jit(g)(1.5)) == float(g(1.5)) == 1.5


def test_a_type_variable_takes_tracers_and_arrays_for_one_class():
    from typing import TypeVar

    T = TypeVar("T")

    @typechecked
    def f(a: T, b: T) -> T:
        return a

    jax.jit(lambda x: f(x, jnp.ones(3)))(jnp.ones(3))
    with pytest.raises(KTypeCheckError):
        f(jnp.ones(3), np.ones(3))


def test_typechecked_over_jit_says_to_put_it_below():
    with pytest.raises(TypeError, match="under jit"):
        typechecked(jax.jit(lambda x: x))


def test_a_reference_is_no_array_although_its_tracer_has_a_shape_and_a_dtype():
    if not hasattr(jax, "new_ref"):
        pytest.skip("this jax has no references")

    @typechecked
    def given(x: Float["n"]):
        return x

    @typechecked
    def returned(x: object) -> Float["n"]:
        return x

    def run(x):
        for f in (given, returned):
            for _ in range(2):
                f(x)
                with pytest.raises(KTypeCheckError):
                    f(jax.new_ref(x))
        return x

    jax.jit(run)(jnp.zeros(3))


def test_under_shard_map_the_check_sees_the_shapes_of_a_shard():
    seen = []

    @typechecked
    def body(x: Float["n d"], y: Float["d"]) -> Float["n d"]:
        seen.append(dict(dim))
        return x * y

    mesh = jax.sharding.Mesh(jax.devices()[:1], ("data",))
    spec = jax.sharding.PartitionSpec
    mapped = jax.shard_map(
        body, mesh=mesh, in_specs=(spec("data"), spec()), out_specs=spec("data")
    )
    assert mapped(jnp.ones((4, 3)), jnp.ones(3)).shape == (4, 3)
    assert seen[0] == {"n": 4, "d": 3}
    with pytest.raises(KTypeCheckError):
        mapped(jnp.ones((4, 3)), jnp.ones(4))
