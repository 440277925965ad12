"""Arrays of other libraries, shown by modules and classes that look like theirs."""

import pickle
import sys
import types

import pytest

import ktyping as kt
from ktyping import (
    Array,
    ArraySpec,
    Float,
    Int,
    KTypeCheckError,
    Num,
    backend,
    check_type,
    dim,
    matches,
    register_backend,
    typechecked,
)


class Dtype:
    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text


class TensorShape:
    def __init__(self, sizes):
        self.sizes = sizes

    def __iter__(self):
        if self.sizes is None:
            raise ValueError("unknown rank")
        return iter(self.sizes)


def library(monkeypatch, name, **classes):
    """Puts a module into sys.modules whose classes have a shape and a dtype."""

    def init(self, shape, dtype="float32"):
        self.shape, self.dtype = shape, dtype

    module = types.ModuleType(name)
    for cls, base in classes.items():
        setattr(module, cls, type(cls, (base,), {"__init__": init}))
    monkeypatch.setitem(sys.modules, name, module)
    return module


@pytest.fixture
def torch(monkeypatch):
    return library(monkeypatch, "torch", Tensor=object)


@pytest.fixture
def tensorflow(monkeypatch):
    return library(monkeypatch, "tensorflow", Tensor=object, Variable=object)


def test_a_tensor_of_torch_has_types_of_its_own(torch):
    x = torch.Tensor((2, 3), Dtype("torch.float32"))
    assert matches(x, backend.torch.Float["a b"])
    assert matches(x, backend.any.Float["a b"]) and matches(x, kt.XFloat["a b"])
    assert matches(x, Float[torch.Tensor, "a b"])
    assert not matches(x, Float["a b"]) and not matches(x, backend.torch.Int["a b"])
    assert not matches(x, backend.tf.Float["a b"])
    assert not matches(x, Float[torch.Tensor, "a"])


def test_a_tensor_where_another_library_is_wanted_is_explained(torch):
    x = torch.Tensor((2,), Dtype("torch.bfloat16"))
    with pytest.raises(KTypeCheckError) as caught:
        check_type(x, Float["a"], nested_ok=True)
    message = str(caught.value)
    assert caught.value.code == "backend"
    assert "torch.bf16[2] is not an array of numpy or jax" in message
    assert "`backend.torch.Float` takes arrays of torch" in message


def test_dims_are_bound_by_arrays_of_every_library(torch, tensorflow):
    @typechecked
    def f(x: backend.torch.Float["b n"], y: kt.TfFloat["n"]):
        return dict(dim)

    x = torch.Tensor((2, 3), Dtype("torch.float16"))
    assert f(x, tensorflow.Variable(TensorShape([3]))) == {"b": 2, "n": 3}
    with pytest.raises(KTypeCheckError, match="n is 4, but n = 3 from x axis 1"):
        f(x, tensorflow.Tensor(TensorShape([4])))


@pytest.mark.spec("ktyping-45")
def test_a_union_of_families_keeps_the_libraries_of_each():
    np = pytest.importorskip("numpy", reason="this test checks an array of numpy")
    assert matches(np.zeros(3, np.int32), (kt.TfFloat | Int)["a"])
    assert not matches(np.zeros(3, np.float32), (kt.TfFloat | Int)["a"])


def test_sizes_and_ranks_that_are_unknown(tensorflow):
    @typechecked
    def f(x: kt.TfFloat["b n"]):
        return dict(dim)

    assert f(tensorflow.Tensor(TensorShape([None, 3]))) == {"n": 3}
    unknown = tensorflow.Tensor(TensorShape(None))
    with pytest.raises(KTypeCheckError, match="got rank unknown") as caught:
        f(unknown)
    assert caught.value.code == "rank"
    assert "tf.f32[rank unknown]" in str(caught.value)
    assert matches(unknown, kt.TfFloat["..."]) and matches(unknown, kt.TfFloat)
    assert not matches(unknown, kt.TfFloat["..."].spec)


@pytest.mark.spec("ktyping-100")
def test_a_description_of_unknown_rank():
    class TensorSpec:
        shape = TensorShape(None)
        dtype = Dtype("float32")

    with pytest.raises(KTypeCheckError, match="rank unknown"):
        check_type(TensorSpec(), ArraySpec["a b"], nested_ok=True)
    assert matches(TensorSpec(), ArraySpec["..."])


@pytest.fixture
def added():
    names = []

    def add(name, *args):
        names.append(name)
        register_backend(name, *args)

    yield add
    from ktyping._backends import LIBRARIES

    for name in names:
        del LIBRARIES[name]


def test_a_library_of_ones_own_can_be_added(monkeypatch, added):
    module = library(monkeypatch, "mine", Grid=object)
    x = module.Grid((2, 3))
    assert not matches(x, backend.any.Float["a b"])
    added("mine", "mine", "Grid")
    assert matches(x, backend.any.Float["a b"])
    assert matches(x, backend.mine.Float["a b"])
    assert not matches(x, backend.mine.Float["a"]) and not matches(x, Float["a b"])
    assert repr(backend.mine.Float["a"]) == "backend.mine.Float['a']"


def test_shape_and_dtype_may_come_from_anywhere(monkeypatch, added):
    class Grid:
        def __init__(self, *sizes):
            self.sizes = sizes
            self.meta = types.SimpleNamespace(kind=Dtype("int16"))

    monkeypatch.setitem(sys.modules, "mine", types.SimpleNamespace(Grid=Grid))
    added("mine", "mine", "Grid", lambda x: x.sizes, "meta.kind")

    @typechecked
    def f(x: backend.mine.Int["a a"] | None) -> backend.mine.Int["a b"] | None:
        return x

    for _ in range(2):
        x = Grid(2, 2)
        assert f(x) is x
        # Classes alone are no verdict: the next one has other sizes.
        with pytest.raises(KTypeCheckError, match="a is 3, but a = 2"):
            f(Grid(2, 3))
    assert not matches(Grid(2, 2), backend.mine.Float["a a"])


def test_names_that_exist_or_are_no_names_are_refused():
    for name in ("np", "any", "torch", "my-lib", ""):
        with pytest.raises(ValueError, match="cannot add"):
            register_backend(name, "mine", "Grid")
    with pytest.raises(AttributeError, match="known are any, np"):
        _ = backend.nope
    with pytest.raises(AttributeError, match="no array type 'Flot'"):
        _ = backend.torch.Flot
    for name in ("TfFlot", "XNope", "X", "Tf"):
        with pytest.raises(AttributeError, match=name):
            getattr(kt, name)


def test_types_of_a_library_compare_pickle_and_order():
    assert kt.TfFloat is backend.tf.Float and kt.XInt8 is backend.any.Int8
    for kind in (kt.TfFloat["a"], kt.XFloat["a"], backend.torch.Float["a"]):
        assert pickle.loads(pickle.dumps(kind)) is kind
    assert repr(kt.TfFloat["a"]) == "TfFloat['a']"
    assert repr(backend.torch.Float["a"]) == "backend.torch.Float['a']"
    assert issubclass(backend.torch.Float32, backend.torch.Num)
    assert issubclass(Float, kt.XFloat) and issubclass(kt.XFloat, kt.XArray)
    assert not issubclass(kt.XFloat, Float) and not issubclass(kt.TfFloat, Num)
    single = backend.torch.Num[Array, "a", "float16"]
    assert single is backend.torch.Float16["a"]


def test_the_libraries_that_are_known_are_listed():
    assert dir(backend) == ["any", "jax", "np", "tf", "torch", "xarray"]
    assert "Float" in dir(backend.torch)
