"""Arrays as nodes: numpy and JAX."""

import pytest

import kontext
from kontext import PathLookupError, get, has, update

np = pytest.importorskip("numpy", reason="kontext needs no numpy; its arrays are nodes")


@pytest.fixture
def c():
    return {"t": np.arange(24).reshape(2, 3, 4)}


@pytest.mark.spec("kontext-5", "kontext-6", "kontext-7")
def test_arrays_are_indexed_and_have_attributes(c):
    assert get(c, "t[:,1:].shape") == (2, 2, 4)
    assert get(c, "t[...,0]").shape == (2, 3)
    assert get(c, "t.T.shape[0]") == 4
    assert get(c, "t[1].ndim") == 2
    assert get(c, "t[-1,2,3]") == 23
    assert get(c, "t[...]").shape == (2, 3, 4)
    assert get(c, "t[None]").shape == (1, 2, 3, 4)


@pytest.mark.parametrize("path", ["t.mean", "t[5]", "t[0,0,0,0]", "t['x']", "t[0,9]"])
def test_methods_and_places_outside_are_not_there(c, path):
    assert not has(c, path)


def test_message_tells_shape_and_dtype(c):
    with pytest.raises(PathLookupError) as caught:
        get(c, "t[5]")
    assert "reached 't' (ndarray) with shape (2, 3, 4) and dtype int64" in str(
        caught.value
    )


def test_scalar_of_numpy_has_no_items():
    assert not has({"x": np.float32(1)}, "x[0]")
    assert get({"x": np.array(3)}, "x") == 3


def test_arrays_are_set_in_place_and_updated_as_a_copy(c):
    assert kontext.set(c, "t[0,1]", 7) == ["t[0,1]"]
    assert (c["t"][0, 1] == 7).all()
    new = update(c, "t[-1]", 0)
    assert (new["t"][1] == 0).all()
    assert c["t"][1, 2, 3] == 23


def test_attributes_of_arrays_are_not_changed(c):
    for change in (kontext.set, update):
        with pytest.raises(kontext.PathTypeError, match="computed, not stored"):
            change(c, "t.shape", (24,))
    assert kontext.set(c, "t[0][1]", 9) == ["t[0][1]"]
    assert (c["t"][0, 1] == 9).all()


def test_array_that_is_read_only_is_refused(c):
    c["t"].flags.writeable = False
    with pytest.raises(kontext.PathTypeError, match="immutable"):
        kontext.set(c, "t[0]", 0)


def test_failed_write_to_an_array_is_taken_back():
    tree = {"a": {"x": np.zeros(2)}, "b": {"x": np.zeros((2, 2))}}
    with pytest.raises(ValueError):
        kontext.set(tree, "*.x[0]", np.ones(2))
    assert (tree["a"]["x"] == 0).all()


def test_arrays_are_leaves(c):
    assert kontext.flatten(c)["t"] is c["t"]
    assert list(kontext.get_all(c, "**")) == ["", "t"]


def test_integers_of_numpy_are_indices():
    assert kontext.Path("a", np.int64(1)) == kontext.Path("a", 1)
    with pytest.raises(kontext.PathTypeError):
        kontext.Path(np.arange(3))
