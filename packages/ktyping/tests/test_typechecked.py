"""Functions whose arrays are checked, with arrays of numpy."""

import pickle
from typing import Any

import pytest

import ktyping as kt
from ktyping import (
    Float,
    KTypeCheckError,
    SpecInterpolationError,
    check_type,
    dim,
    typechecked,
)

np = pytest.importorskip("numpy", reason="these tests check arrays of numpy")


def z(*shape):
    return np.zeros(shape, np.float32)


def i(*shape):
    return np.zeros(shape, np.int32)


@typechecked
def project(x: Float["*b n c"], y: Float["c d"]) -> Float["*b n d"]:
    return np.einsum("...nc,cd->...nd", x, y)


@typechecked
def swap(x: Float["a b"]) -> Float["b a"]:
    return x


def refused(function, *args, **kwargs):
    with pytest.raises(KTypeCheckError) as caught:
        function(*args, **kwargs)
    return caught.value


def checked(annotation):
    @typechecked
    def f(x: annotation):
        return dict(dim)

    return f


@pytest.mark.spec("ktyping-1")
@pytest.mark.parametrize("lead", [(), (2,), (5, 2)])
def test_a_call_that_fits_runs(lead):
    assert project(z(*lead, 3, 4), z(4, 5)).shape == (*lead, 3, 5)


@pytest.mark.spec("ktyping-2")
def test_the_error_names_the_axis_and_what_bound_it():
    error = refused(project, z(2, 3, 4), z(9, 5))
    assert (error.code, error.axis, error.subject) == ("size", 0, "argument y")
    for text in ("c is 9", "c = 4", "x axis 2"):
        assert text in str(error)
    assert error.bindings == {"b": (2,), "n": (3,), "c": (4,)}


@pytest.mark.spec("ktyping-4", "ktyping-5")
def test_the_returned_value_is_checked_with_the_dims_of_the_arguments():
    error = refused(swap, z(2, 3))
    assert (error.code, error.subject) == ("size", "return value")
    assert swap(z(2, 2)).shape == (2, 2)


@pytest.mark.spec("ktyping-6", "ktyping-7", "ktyping-8", "ktyping-9")
@pytest.mark.parametrize(
    ("annotation", "value", "code", "axis"),
    [
        (Float["a"], i(3), "dtype", None),
        (Float["a a"], z(2, 3), "size", 1),
        (Float["a b"], z(3), "rank", None),
        (Float["*b c"], z(), "rank", None),
        (Float["n+1"], z(), "rank", None),
        (Float["+b c"], z(3), "rank", None),
        (Float["n+1"], z(0), "size", 0),
        (Float["3|4"], z(5), "size", 0),
        (Float["#3"], z(2), "size", 0),
        (Float["n<=2"], z(3), "size", 0),
        (Float["2*a"], z(5), "size", 0),
    ],
)
def test_a_value_that_does_not_fit_is_refused(annotation, value, code, axis):
    error = refused(checked(annotation), value)
    assert (error.code, error.axis) == (code, axis)


def test_the_number_of_axes_is_told():
    assert "expected 2 axes, got 1" in str(refused(checked(Float["a b"]), z(3)))
    assert "expected at least 1 axis, got 0" in str(
        refused(checked(Float["*b c"]), z())
    )


def test_a_verdict_from_memory_is_the_same_verdict():
    for _ in range(3):
        assert project(z(2, 3, 4), z(4, 5)).shape == (2, 3, 5)
        assert refused(project, z(2, 3, 4), z(9, 5)).axis == 0
        assert refused(project, i(2, 3, 4), z(4, 5)).code == "dtype"
        assert swap(z(2, 2)).shape == (2, 2)
        assert refused(swap, z(2, 3)).subject == "return value"


def test_memory_is_bounded():
    f = checked(Float["n"])
    for n in range(600):
        assert f(z(n)) == {"n": n}
    assert len(f.__ktyping_plan__.verdicts.known) <= 256


@pytest.mark.spec("ktyping-54", "ktyping-55")
def test_a_check_that_fails_binds_nothing():
    @typechecked
    def f():
        with pytest.raises(KTypeCheckError):
            check_type((z(3), "x"), tuple[Float["q"], int])
        assert "q" not in dim
        check_type((z(3), "x"), tuple[Float["q"], int] | tuple[Float["r"], str])
        return dict(dim)

    assert f() == {"r": 3}


@pytest.mark.spec("ktyping-53")
def test_asking_binds_nothing():
    @typechecked
    def f():
        assert kt.isinstance([z(3)], list[Float["q"]])
        return "q" in dim

    assert f() is False


@pytest.mark.spec("ktyping-58")
def test_each_extra_argument_is_checked():
    @typechecked
    def f(*args: Float["a"], **kw: Float["a"]):
        return dim.get("a")

    assert f(z(3), z(3), u=z(3)) == 3
    assert f() is None
    assert refused(f, z(3), z(4)).subject == "argument args[1]"
    assert refused(f, z(3), u=z(4)).subject == "argument kw['u']"


@pytest.mark.spec("ktyping-84", "ktyping-85")
def test_values_of_arguments_stand_in_specs():
    @typechecked
    def f(n: int, out: Any) -> Float["{n}+1"]:
        return out

    assert f(3, z(4)).shape == (4,)
    assert "n" not in str(refused(f, 3, z(5)).bindings)

    @typechecked
    def g(shape: tuple[int, ...], x: Float["*b {shape}"]):
        return dim["*b"]

    assert g((3, 4), z(2, 3, 4)) == (2,)
    assert refused(g, (3, 5), z(2, 3, 4)).axis == 2
    with pytest.raises(SpecInterpolationError, match="-1"):
        g((-1,), z(2, 3))


@pytest.mark.spec("ktyping-86")
def test_a_value_that_no_parameter_gives_is_refused_at_decoration():
    with pytest.raises(SpecInterpolationError, match="Parameters: x"):

        @typechecked
        def f(x: Float["{missing}"]):
            pass


@pytest.mark.spec("ktyping-95")
def test_a_kept_error_keeps_no_array():
    import gc
    import weakref

    class Watched(np.ndarray):
        pass

    array = z(2, 3).view(Watched)
    kept = refused(swap, array).with_traceback(None)
    kept.__context__ = None
    watch = weakref.ref(array)
    del array
    gc.collect()
    assert watch() is None
    assert kept.value_summary == "np.f32[2,3]"


@pytest.mark.spec("ktyping-94")
def test_an_error_can_be_pickled():
    error = refused(project, z(2, 3, 4), z(9, 5))
    again = pickle.loads(pickle.dumps(error))
    assert (again.code, again.axis, str(again)) == (error.code, error.axis, str(error))
    assert again.bindings == error.bindings


@pytest.mark.case("040")
def test_one_decorator_ties_the_arguments():
    @typechecked
    def add(x: Float["b d"], y: Float["b d"]):
        return x + y

    error = refused(add, z(32, 128), z(16, 128))
    assert "b is 16, but b = 32 from x axis 0" in str(error)


@pytest.mark.case("044")
def test_both_sizes_and_both_arguments_are_named():
    @typechecked
    def f(x: Float["batch i"], y: Float["batch j"]):
        pass

    text = str(refused(f, z(50, 2), z(32, 3)))
    for part in ("50", "32", "x axis 0", "argument y"):
        assert part in text


def test_the_one_that_disagrees_with_the_others_is_blamed():
    @typechecked
    def f(x: Float["n"], y: Float["n"], w: Float["n"]):
        pass

    assert refused(f, z(3), z(4), z(4)).subject == "argument x"
    assert refused(f, z(4), z(3), z(4)).subject == "argument y"
    assert refused(f, z(4), z(4), z(3)).subject == "argument w"


@pytest.mark.case("053")
def test_a_large_array_makes_a_short_message():
    assert len(str(refused(swap, z(1000, 1001)))) < 2000


@pytest.mark.case("049")
def test_asking_outside_of_a_scope_stands_alone_and_binding_is_refused():
    assert kt.isinstance(z(4), Float["n+1"])
    with pytest.raises(kt.NoActiveScopeError, match="typechecked"):
        check_type(z(4), Float["n+1"])


@pytest.mark.case("064")
def test_annotated_variables_inside_a_body_are_not_checked():
    @typechecked
    def f(xs: list):
        for x in xs:
            value: Float["b"] = x
        return value

    assert f(["no array"]) == "no array"


@pytest.mark.spec("ktyping-23")
def test_runs_that_broadcast_give_the_shape_of_the_result():
    @typechecked
    def add(x: Float["*#b c"], y: Float["*#b c"], wrong: bool = False) -> Float["*b c"]:
        return x if wrong else x + y

    assert add(z(3, 4), z(2, 3, 4)).shape == (2, 3, 4)
    assert refused(add, z(3, 4), z(2, 3, 4), wrong=True).subject == "return value"


@pytest.mark.spec("ktyping-93")
def test_mode_dims_binds_what_it_can_and_refuses_nothing():
    @typechecked
    def f(x: Float["a a"], y: Float["b"] | None = None) -> Float["c"]:
        return dim["a"]

    with kt.config.override("dims"):
        assert f(z(3, 4)) == 3
        with pytest.raises(kt.UnboundDimensionError):
            f("no array", z(2))
    assert refused(f, z(3, 4)).axis == 1


def test_an_object_whose_shape_has_no_hash_is_not_remembered():
    class Listed(np.ndarray):
        @property
        def shape(self):
            return list(super().shape)

    @typechecked
    def f(x: Float["n"]) -> Float["n"]:
        return x

    for _ in range(2):
        assert f(z(3).view(Listed)).size == 3
        assert refused(f, z(3, 2).view(Listed)).code == "rank"
