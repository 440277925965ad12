"""Checking keys before there are values."""

import dataclasses
from itertools import product

import pytest

from kontext import (
    REQUIRED,
    Key,
    PathLookupError,
    RequiredKeyError,
    SignatureMismatchError,
    validate,
)


@dataclasses.dataclass(frozen=True)
class Struct:
    shape: tuple[int, ...]
    dtype: str = "float32"


@dataclasses.dataclass
class Loss:
    preds: Key = REQUIRED
    mask: Key | None = None


SPEC = {"batch": {"image": Struct((8, 28, 28, 1)), "label": Struct((8,), "int32")}}


@pytest.mark.spec("kontext-66")
def test_typo_is_found_without_arrays():
    with pytest.raises(PathLookupError, match=r"did you mean: batch\.image \?"):
        validate(Loss(preds="batch.imag"), SPEC)
    assert validate(Loss(preds="batch.image"), SPEC) is None


@pytest.mark.parametrize(
    "path",
    ["batch.image[0]", "batch.image[...,0]", "batch.image[:,1:].shape[1]", "batch"],
)
def test_shape_structs_are_indexed_like_arrays(path):
    validate(Loss(preds=path), SPEC)


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("batch.label[8]", "reached 'batch.label'"),
        ("batch.label[0,0]", "reached 'batch.label'"),
        ("batch.image[0][30]", r"reached 'batch.image\[0\]'"),
        ("batch.image[...,0].nothing", r"reached 'batch.image\[...,0\]'"),
    ],
)
def test_index_outside_of_the_shape_is_found(path, where):
    with pytest.raises(PathLookupError, match=where):
        validate(Loss(preds=path), SPEC)


def test_required_keys_and_signatures_are_checked_as_well():
    with pytest.raises(RequiredKeyError):
        validate(Loss(), SPEC)

    class Strict(Loss):
        def __kontext_func__(self):
            return lambda preds, mask: None

    with pytest.raises(SignatureMismatchError):
        validate(Strict(preds="batch.image"), SPEC)


def test_shape_after_indexing_is_that_of_numpy():
    np = pytest.importorskip("numpy", reason="numpy defines what indexing gives")
    from kontext._shapes import indexed_shape

    items = [None, 0, -1, slice(1, None), slice(None, None, 2), slice(5, 2)]
    array = np.zeros((2, 3, 4))
    for axes in [*product(items, repeat=2), *product(items, [...], items)]:
        assert indexed_shape(array.shape, axes) == array[axes].shape


def test_structs_of_jax_are_shape_structs():
    jax = pytest.importorskip("jax", reason="its shape structs stand for arrays")
    spec = {"x": jax.ShapeDtypeStruct((2, 3), "float32")}
    validate(Loss(preds="x[:,0]"), spec)
    with pytest.raises(PathLookupError, match=r"x\[2\]"):
        validate(Loss(preds="x[2]"), spec)
