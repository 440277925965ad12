"""Arrays of torch, tensorflow and xarray themselves."""

import pytest

import ktyping as kt
from ktyping import (
    ArraySpec,
    DType,
    Float,
    KTypeCheckError,
    PyTree,
    backend,
    check_type,
    dim,
    matches,
    typechecked,
)


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="these tests check tensors of torch")


@pytest.fixture(scope="module")
def tf():
    reason = "these tests check tensors of tensorflow"
    return pytest.importorskip("tensorflow", reason=reason)


@pytest.mark.slow
def test_tensors_of_torch(torch):
    @typechecked
    def f(
        x: backend.torch.Float["*b n"], w: backend.torch.Float["n m"]
    ) -> backend.torch.Float["*b m"]:
        assert dim["n"] == 3
        return x @ w

    x, w = torch.zeros(2, 5, 3), torch.nn.Parameter(torch.zeros(3, 4))
    for _ in range(2):
        assert f(x, w).shape == (2, 5, 4)
    assert f(x.bfloat16(), w.bfloat16()).dtype == torch.bfloat16
    with pytest.raises(KTypeCheckError, match=r"torch\.f32\[4,4\].*n is 4, but n = 3"):
        f(x, torch.zeros(4, 4))
    assert matches(torch.zeros(2, dtype=torch.int8), backend.torch.Int8["n"])
    assert matches(torch.zeros(2, dtype=torch.bool), backend.torch.Bool["n"])
    assert matches(torch.zeros(2, dtype=torch.complex64), backend.torch.Complex["n"])
    assert matches(torch.Size((2, 3)), kt.Shape["a b"])
    assert matches(torch.float16, DType) and not matches(x, DType)
    assert not matches(x, Float["..."]) and matches(x, kt.XFloat["..."])
    assert matches({"w": w}, PyTree[Float[torch.Tensor, "..."]])


@pytest.mark.slow
def test_tensors_of_tensorflow(tf):
    @typechecked
    def f(x: kt.TfFloat["b n"], y: kt.TfInt["n"]):
        return dict(dim)

    x, y = tf.zeros((2, 3)), tf.Variable([1, 2, 3])
    for _ in range(2):
        assert f(x, y) == {"b": 2, "n": 3}
    with pytest.raises(KTypeCheckError, match="n is 2, but n = 3"):
        f(x, tf.constant([1, 2]))
    assert not matches(tf.ragged.constant([[1.0], []]), kt.TfFloat)
    assert matches(tf.constant("x"), kt.TfStr[""])
    assert matches(tf.bfloat16, DType)

    seen = []

    @tf.function(input_signature=[tf.TensorSpec((None, 3)), tf.TensorSpec(None)])
    def graph(x, y):
        seen.append(matches(x, kt.TfFloat["b 3"]))
        seen.append(matches(x, kt.TfFloat["b 4"]))
        seen.append(matches(y, kt.TfFloat["..."]))
        seen.append(matches(y, kt.TfFloat["a b"]))
        return x

    graph(tf.zeros((5, 3)), tf.zeros(()))
    assert seen == [True, False, True, False]


@pytest.mark.slow
@pytest.mark.spec("ktyping-100")
def test_a_description_of_tensorflow_is_no_array_and_may_lack_a_rank(tf):
    with pytest.raises(KTypeCheckError, match="rank unknown") as caught:
        check_type(tf.TensorSpec(None), ArraySpec["a b"], nested_ok=True)
    assert caught.value.code == "rank"
    assert matches(tf.TensorSpec((2, None)), Float.spec["2 n"])
    assert not matches(tf.TensorSpec((2,)), kt.TfFloat)


@pytest.mark.slow
def test_labelled_arrays_of_xarray():
    np = pytest.importorskip("numpy", reason="xarray holds arrays of numpy")
    xarray = pytest.importorskip("xarray", reason="this test checks arrays of xarray")
    x = xarray.DataArray(np.zeros((2, 3), np.float32), dims=("time", "place"))

    @typechecked
    def f(x: backend.xarray.Float["t p"]) -> Float[xarray.DataArray, "p t"]:
        return x.transpose("place", "time")

    for _ in range(2):
        assert f(x).dims == ("place", "time")
    with pytest.raises(KTypeCheckError, match=r"xarray\.f32\[3\].*expected 2 axes"):
        f(x[0])
    assert matches(x, kt.XFloat["t p"]) and not matches(x, Float["t p"])
