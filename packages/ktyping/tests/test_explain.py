"""What a call would bind, and signatures as data."""

import json
from typing import Any

import pytest

from ktyping import (
    Array,
    Float,
    Int,
    PyTree,
    Shape,
    explain,
    spec_of,
    typechecked,
)

np = pytest.importorskip("numpy", reason="these tests check arrays of numpy")


def f(x: Float["*b n c"], y: Float["c d"] | None = None, k: int = 3) -> Float["*b d"]:
    raise AssertionError("explain does not call")


@pytest.mark.parametrize("function", [f, typechecked(f)])
def test_a_call_that_fits_tells_its_dims_and_what_bound_them(function):
    told = explain(function, np.zeros((2, 3, 4)), y=np.zeros((4, 5)))
    assert told.fits and told.error is None
    assert told.dims == {"b": (2,), "n": (3,), "c": (4,), "d": (5,)}
    assert told.readings == (told.dims,)
    assert "c  = 4     bound by x axis 2" in str(told)
    assert repr(told) == "<Explanation: fits>"


def test_a_call_that_does_not_fit_tells_what_it_would_raise():
    told = explain(f, np.zeros((2, 3, 4)), np.zeros((9, 5)))
    assert not told.fits
    assert told.error.axis == 0
    assert str(told) == str(told.error)
    assert told.dims == {"b": (2,), "n": (3,), "c": (4,)}


def test_dims_with_several_readings_are_left_out():
    @typechecked
    def g(x: Float["*b *o c"]):
        return x

    told = explain(g, np.zeros((2, 3)))
    assert told.dims == {"c": (3,)}
    assert len(told.readings) == 2


def test_wrong_arguments_are_a_type_error_as_in_a_call():
    with pytest.raises(TypeError, match="missing a required argument"):
        explain(f)
    with pytest.raises(TypeError, match="Expected a function"):
        explain(3)


def test_methods_are_explained():
    class Layer:
        size = 4

        @typechecked
        def call(self, x: Float["b {self.size}"]) -> Float["b"]:
            return x[:, 0]

    assert explain(Layer().call, np.zeros((2, 4))).dims == {"b": (2,)}
    assert not explain(Layer().call, np.zeros((2, 5))).fits


def test_a_signature_becomes_data():
    def g(
        x: Float[Array, "*b n+1 #c m=3"],
        tree: PyTree[Int["n"]],
        sizes: Shape["*b"] | None,
        other: "NoSuchName",
        *rest: Any,
    ) -> tuple[Float["k?"], Int["2|m"]]:
        pass

    spec = spec_of(g)
    assert json.loads(json.dumps(spec)) == spec
    assert spec["parameters"][0] == {
        "name": "x",
        "annotation": "Float['*b n+1 #c m=3']",
        "dims": ["*b", "n", "c", "m"],
        "dtypes": ["Float"],
        "shape": "*b n+1 #c m=3",
    }
    assert [p["dims"] for p in spec["parameters"][1:]] == [["n"], ["*b"], [], []]
    assert spec["parameters"][3]["annotation"] == "NoSuchName"
    assert spec["returns"]["dims"] == ["k", "m"]
    assert spec["dims"] == ["*b", "n", "c", "m", "k"]
    assert spec["module"] == __name__ and spec["name"].endswith("g")
