"""Functions whose arrays are checked, with arrays of numpy."""

import functools
import pickle
from typing import Any, Literal, TypeVar

import pytest

import ktyping as kt
from ktyping import (
    Array,
    Bool,
    Float,
    Int,
    KTypeCheckError,
    Num,
    ShapeSpecSyntaxError,
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


def test_both_forms_of_an_array_type_are_one_type():
    assert Float[Array, "a b"] is Float["a b"]
    assert Float[np.ndarray, "a"] is not Float["a"]
    assert checked(Float[np.ndarray, "a"])(z(3)) == {"a": 3}
    assert checked(Float[np.ndarray | np.generic, "a"])(z(3)) == {"a": 3}
    assert refused(checked(Float[np.generic, "a"]), z(3)).code == "backend"


@pytest.mark.spec("ktyping-44")
def test_families_joined_before_the_brackets_accept_each():
    assert kt.isinstance(i(3), (Array | Float)["a"])
    assert kt.isinstance(i(3), (Int | Float)["a"])
    assert not kt.isinstance(i(3), (Float | Bool)["a"])


@pytest.mark.spec("ktyping-46")
def test_an_array_type_joins_with_none_classes_and_names():
    assert kt.isinstance(None, Float["a"] | None)
    assert kt.isinstance(None, None | Float["a"])
    assert kt.isinstance(z(3), Float["a"] | int)
    assert set((Float["a"] | "Fwd").__args__) >= {Float["a"]}


@pytest.mark.spec("ktyping-47")
def test_wrong_use_of_an_array_type_is_a_type_error():
    with pytest.raises(TypeError, match="has a shape already"):
        Float["a"]["b"]
    with pytest.raises(TypeError, match="brackets"):
        Float("a")
    with pytest.raises(TypeError, match="array class"):
        Float["a", "b"]
    with pytest.raises(ShapeSpecSyntaxError):
        Float["a + 1"]


@pytest.mark.spec("ktyping-48")
def test_a_union_binds_by_the_member_that_fits_all_arguments():
    @typechecked
    def f(x: Float["a"] | Float["b"], y: Float["a b"]):
        return dict(dim)

    assert f(z(3), z(7, 3)) == {"a": 7, "b": 3}
    assert f(z(7), z(7, 3)) == {"a": 7, "b": 3}


@pytest.mark.spec("ktyping-49")
def test_every_reading_of_the_other_arguments_is_shown():
    @typechecked
    def f(x: Float["b n"] | Float["b m"], y: Float["b m"]):
        pass

    error = refused(f, z(8, 3), z(7, 3))
    assert error.code == "size"
    assert len(error.hypotheses) == 2
    assert "reading 1" in str(error) and "reading 2" in str(error)


@pytest.mark.spec("ktyping-50")
def test_a_union_that_does_not_fit_explains_each_member():
    error = refused(checked(Float["3"] | Int["1"]), i(3))
    assert error.code in ("size", "dtype")
    assert "dtype i32 is not Float" in str(error)
    assert "size is 3, but 1 is wanted" in str(error)


@pytest.mark.case("050")
def test_alternatives_are_tried_with_what_the_others_bind():
    @typechecked
    def f(x: Float["*b 3"], y: Float["*b 3"] | Float["*b n 3"]):
        return dict(dim)

    assert f(z(5, 3), z(5, 7, 3)) == {"b": 5, "n": 7}
    assert f(z(5, 3), z(5, 3)) == {"b": 5}


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


@pytest.mark.spec("ktyping-56", "ktyping-57")
def test_items_of_containers_are_checked_with_their_path():
    @typechecked
    def f(xs: list[Float["n"]] | dict[str, Float["n"]]):
        return dim["n"]

    assert f([z(3), z(3)]) == 3
    assert f({"a": z(3), "b": z(3)}) == 3

    @typechecked
    def many(xs: list[Float["n"]]):
        pass

    @typechecked
    def named(xs: dict[str, Float["n"]]):
        pass

    error = refused(many, [z(3), z(4)])
    assert (error.code, error.subject) == ("size", "argument xs[1]")
    error = refused(named, {"a": z(3), "b": z(4)})
    assert (error.code, error.subject) == ("size", "argument xs['b']")


@pytest.mark.spec("ktyping-58")
def test_each_extra_argument_is_checked():
    @typechecked
    def f(*args: Float["a"], **kw: Float["a"]):
        return dim.get("a")

    assert f(z(3), z(3), u=z(3)) == 3
    assert f() is None
    assert refused(f, z(3), z(4)).subject == "argument args[1]"
    assert refused(f, z(3), u=z(4)).subject == "argument kw['u']"


@pytest.mark.spec("ktyping-60")
def test_a_default_of_none_must_be_declared():
    with pytest.raises(TypeError, match=r"\| None"):

        @typechecked
        def f(y: Float["a"] = None):
            pass


@pytest.mark.spec("ktyping-61")
def test_a_declared_none_binds_nothing():
    @typechecked
    def f(x: Float["a"] | None, y: Float["a"]):
        return dim["a"]

    assert f(None, z(5)) == 5
    assert refused(f, z(4), z(5)).code == "size"


T = TypeVar("T")


@pytest.mark.spec("ktyping-74")
def test_a_type_variable_stands_for_one_class_in_a_call():
    @typechecked
    def f(a: T, b: T, out: Any) -> T:
        return out

    assert f(1, 2, 3) == 3
    error = refused(f, 1, 2, "x")
    assert (error.code, error.subject) == ("type", "return value")
    assert refused(f, 1, "x", 3).code == "type"


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


@pytest.mark.spec("ktyping-110")
def test_decorating_twice_is_decorating_once():
    assert typechecked(project) is project


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


@pytest.mark.spec("ktyping-52")
def test_raw_keys_are_keys():
    assert kt.isinstance(np.zeros(2, np.uint32), kt.PRNGKeyLike)
    assert kt.isinstance(3, kt.PRNGKeyLike)
    assert kt.isinstance([1, 2], kt.PRNGKeyLike)
    assert not kt.isinstance("x", kt.PRNGKeyLike)


def test_scalars_are_python_numbers_and_arrays_without_axes():
    assert kt.isinstance(1.5, kt.ScalarFloat)
    assert kt.isinstance(z(), kt.ScalarFloat)
    assert not kt.isinstance(z(1), kt.ScalarFloat)
    assert not kt.isinstance(np.zeros((), "V4"), kt.Scalar)
    error = refused(checked(Float[""]), 1.5)
    assert "ScalarFloat" in str(error)


@pytest.mark.case("P16")
def test_arrays_without_axes_match_a_run_and_python_numbers_do_not():
    assert kt.isinstance(z(), Float["*b"])
    assert not kt.isinstance(1.5, Float["*b"])


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        (Literal["a", 1], 1, True),
        (int, 3, "3"),
        (float, 3, "3"),
        (str | None, None, 3),
        (type[int], bool, str),
        (tuple[int, ...], (1, 2), (1, "x")),
        (tuple[()], (), (1,)),
        (set[int], {1}, {"x"}),
        (Num, i(3), np.zeros(3, bool)),
    ],
)
def test_annotations_without_arrays_are_checked(annotation, good, bad):
    assert kt.isinstance(good, annotation)
    assert refused(checked(annotation), bad).code in ("type", "structure", "dtype")


def test_callables_are_checked_for_the_number_of_arguments():
    from collections.abc import Callable

    assert kt.isinstance(len, Callable[[list], int])
    assert not kt.isinstance(lambda: 3, Callable[[int], int])
    assert not kt.isinstance(3, Callable)


class Layer:
    def __init__(self, n):
        self.n = n

    @typechecked
    def method(self, x: Float["{self.n} c"]) -> Float["c"]:
        """Doc of the method."""
        return x[0]

    @classmethod
    @typechecked
    def inner_class_method(cls, x: Float["a"]) -> "Layer":
        return cls(dim["a"])

    @typechecked
    @classmethod
    def outer_class_method(cls, x: Float["a"]) -> int:
        return dim["a"]

    @typechecked
    @staticmethod
    def static(x: Float["a"]) -> int:
        return dim["a"]

    @typechecked
    @property
    def prop(self) -> Float["a"]:
        """Doc of the property."""
        return z(self.n)

    @typechecked
    @functools.cached_property
    def cached(self) -> Float["a"]:
        return z(self.n, 2)


def test_methods_of_every_kind_are_checked():
    layer = Layer(3)
    assert layer.method(z(3, 2)).shape == (2,)
    assert refused(layer.method, z(4, 2)).axis == 0
    assert Layer.method.__doc__ == "Doc of the method."
    assert isinstance(Layer.inner_class_method(z(4)), Layer)
    assert Layer.outer_class_method(z(5)) == 5
    assert refused(Layer.outer_class_method, z(5, 5)).code == "rank"
    assert Layer.static(z(6)) == 6
    assert layer.prop.shape == (3,)
    assert Layer.prop.__doc__ == "Doc of the property."
    assert refused(lambda: layer.cached).code == "rank"


def test_python_itself_reports_missing_and_unknown_arguments():
    with pytest.raises(TypeError, match=r"project\(\) missing 1 required.*'y'"):
        project(z(2, 3, 4))
    with pytest.raises(TypeError, match="unexpected keyword argument 'k'"):
        project(z(2, 3, 4), z(4, 5), k=1)


def test_every_kind_of_parameter_keeps_its_kind():
    @typechecked
    def f(a, /, b: int = 2, *rest: int, c: int, d: int = 4, **more: int):
        return a, b, rest, c, d, more

    assert f(1, c=3) == (1, 2, (), 3, 4, {})
    assert f(1, 5, 6, 7, c=3, e=8) == (1, 5, (6, 7), 3, 4, {"e": 8})
    with pytest.raises(TypeError):
        f(a=1, c=3)


def test_parameters_may_have_the_names_the_wrapper_uses():
    @typechecked
    def f(plan: Int["n"], mode, scope, token, result, plan_kt, mode_kt=3):
        return dim["n"], mode, scope, token, result, plan_kt, mode_kt

    assert f(i(2), 1, 2, 3, 4, 5) == (2, 1, 2, 3, 4, 5, 3)


def test_an_exception_of_the_function_passes_with_one_frame_more():
    @typechecked
    def f(x: Float["a"]):
        raise KeyError("own")

    with pytest.raises(KeyError, match="own") as caught:
        f(z(3))
    assert len(caught.traceback) == 3


@pytest.mark.parametrize(
    ("target", "text"),
    [
        (Layer, "dataclass"),
        (functools.partial(project), "partial"),
        (len, "functions"),
        (3, "functions"),
    ],
)
def test_what_cannot_be_checked_is_a_type_error_that_says_what_can(target, text):
    with pytest.raises(TypeError, match=text):
        typechecked(target)


def test_array_types_survive_pickling():
    for kind in (Float, Float["*b n"], Float[np.ndarray, "n"], Float.spec["2"]):
        assert pickle.loads(pickle.dumps(kind)) is kind


def test_other_types_survive_pickling():
    for kind in (kt.Shape["a b"], kt.PyTree[Float["n"]], Float["a"] | None):
        assert pickle.loads(pickle.dumps(kind)) == kind


@pytest.mark.case("064")
def test_annotated_variables_inside_a_body_are_not_checked():
    @typechecked
    def f(xs: list):
        for x in xs:
            value: Float["b"] = x
        return value

    assert f(["no array"]) == "no array"


def test_bare_families_follow_the_lattice():
    assert issubclass(kt.Float32, Float)
    assert issubclass(Int, Num)
    assert not issubclass(Float, Int)
    assert issubclass(Float, Array)


def test_the_builtin_isinstance_asks_too():
    assert isinstance(z(2, 3), Float["a b"])
    assert not isinstance(z(3), Float["a b"])


@pytest.mark.case("052")
def test_a_decorated_function_can_be_sent_to_another_process():
    cloudpickle = pytest.importorskip(
        "cloudpickle", reason="functions that no module holds are pickled by it"
    )

    @typechecked
    def twice(x: Float["a"]) -> Float["a"]:
        return 2 * x

    sent = cloudpickle.loads(cloudpickle.dumps(twice))
    assert sent(z(3)).shape == (3,)
    assert refused(sent, z(3, 3)).code == "rank"
    assert pickle.loads(pickle.dumps(project)) is project


def test_a_protocol_asks_for_its_members():
    from typing import Protocol

    class Steps(Protocol):
        count: int

        def step(self, x): ...

    class Model:
        count = 3

        def step(self, x):
            return x

    assert kt.isinstance(Model(), Steps)
    assert "has no step" in str(refused(checked(Steps), 3j))


def test_an_object_whose_shape_raises_is_refused_not_crashed_on():
    class Bad:
        dtype = np.dtype("float32")

        @property
        def shape(self):
            raise RuntimeError("no shape")

    for _ in range(2):
        assert refused(checked(Float["n"]), Bad()).code == "backend"
        assert refused(checked(Float["n"] | None), Bad()).code in ("backend", "type")


@pytest.mark.spec("ktyping-23")
def test_runs_that_broadcast_give_the_shape_of_the_result():
    @typechecked
    def add(x: Float["*#b c"], y: Float["*#b c"], wrong: bool = False) -> Float["*b c"]:
        return x if wrong else x + y

    assert add(z(3, 4), z(2, 3, 4)).shape == (2, 3, 4)
    assert refused(add, z(3, 4), z(2, 3, 4), wrong=True).subject == "return value"


@pytest.mark.spec("ktyping-98")
def test_sizes_of_numpy_are_sizes():
    assert kt.isinstance((np.int64(3), 2), kt.Shape["3 2"])


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


def test_a_function_under_another_decorator_keeps_its_defaults():
    def logged(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs)

        return wrapper

    @typechecked
    @logged
    def f(x: Float["n"], k: int = 2, *, scale: float = 3.0) -> float:
        return k * scale

    assert f(z(3)) == 6.0
    assert f(z(3), 1, scale=1.0) == 1.0
    assert refused(f, z(3), "k").subject == "argument k"


def test_the_wrapper_shows_what_the_function_shows():
    import inspect

    def f(x: Float["n"], k: int = 2) -> int:
        """Doc."""

    g = typechecked(f)
    assert inspect.signature(g) == inspect.signature(f)
    assert (g.__name__, g.__doc__, g.__wrapped__) == ("f", "Doc.", f)
    assert g.__annotations__ == f.__annotations__
