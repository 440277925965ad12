"""What the decorator makes of functions, methods and classes."""

import functools
import pickle

import pytest

from ktyping import (
    Float,
    Int,
    KTypeCheckError,
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


def refused(function, *args, **kwargs):
    with pytest.raises(KTypeCheckError) as caught:
        function(*args, **kwargs)
    return caught.value


@pytest.mark.spec("ktyping-110")
def test_decorating_twice_is_decorating_once():
    assert typechecked(project) is project


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
