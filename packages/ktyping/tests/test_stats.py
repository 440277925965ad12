"""What is accepted without being shown to fit is counted, or refused when asked."""

import warnings

import pytest

import ktyping as kt
from ktyping import Float, KTypeCheckError, Shape, config, dim, stats, typechecked


def count(name, function):
    """Returns what a call adds to one of the counts."""
    before = getattr(stats(), name)
    function()
    after = getattr(stats(), name)
    return {k: n - before.get(k, 0) for k, n in after.items() if n != before.get(k, 0)}


def test_an_annotation_that_cannot_be_read_is_counted_with_its_place():
    @typechecked
    def f(x: "Missing", y: Shape["n"]):
        return dim["n"]

    def call():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kt.UnresolvedAnnotationWarning)
            assert f(1, (3,)) == 3

    (key,) = count("unread", call)
    assert key.startswith("Missing of 'x' in ") and "test_stats.py" in key
    assert count("unread", lambda: f(2, (4,))) == {}


def test_what_is_counted_cannot_be_changed_from_outside():
    test_an_annotation_that_cannot_be_read_is_counted_with_its_place()
    stats().unread.clear()
    assert stats().unread


@pytest.fixture
def symbols():
    jax = pytest.importorskip("jax", reason="symbolic sizes are those of jax")
    pytest.importorskip("jax.export", reason="symbolic sizes are those of jax")
    yield jax.export.symbolic_shape("b, c")
    config.set(strict_symbolic=False)


def shapes(*sizes):
    @typechecked
    def f(x: Shape["n"], y: Shape["n"]) -> Shape["n"]:
        return y

    return f(*((size,) for size in sizes))


def test_symbolic_sizes_that_may_be_equal_are_accepted_and_counted(symbols):
    b, c = symbols
    found = count("assumed", lambda: shapes(b, c))
    assert set(found) <= {"b = c", "c = b"} and found
    assert count("assumed", lambda: shapes(b, b)) == {}


def test_symbolic_sizes_must_be_shown_to_be_equal_when_that_is_asked(symbols):
    b, c = symbols
    shapes(b, c)
    config.set(strict_symbolic=True)
    assert shapes(b, b) == (b,) and shapes(b + c, c + b) == (b + c,)
    for other in (c, b + 1, 3):
        with pytest.raises(KTypeCheckError) as caught:
            shapes(b, other)
        assert caught.value.code == "size"
    config.set(strict_symbolic=False)
    assert shapes(b, 3) == (3,)


def test_what_is_traced_is_not_remembered_when_its_sizes_are_symbols(symbols):
    import jax
    import jax.numpy as jnp

    @typechecked
    def f(x: Float["n"], y: Float["n"]) -> Float["n"]:
        return x

    def export():
        args = [jax.ShapeDtypeStruct((size,), jnp.float32) for size in symbols]
        jax.export.export(jax.jit(lambda x, y: f(x, y)))(*args)

    export()
    config.set(strict_symbolic=True)
    with pytest.raises(KTypeCheckError, match="n is c, but n = b"):
        export()


def test_a_symbol_is_not_taken_for_one_when_it_broadcasts(symbols):
    @typechecked
    def f(x: Shape["#n"]):
        return dim["n"]

    assert f((symbols[0],)) is symbols[0]
