import warnings

import numpy as np
import pytest

from ktrain.data import _arrays
from ktrain.errors import DataError


def refused(data) -> str:
    with pytest.raises(DataError) as caught:
        _arrays.check(data)
    message = str(caught.value)
    assert message.count("\n") < 12
    return message


def test_arrays_are_used_without_a_copy():
    image = np.zeros((3, 2), np.float32)
    examples = _arrays.check({"image": image, "meta": {"id": np.arange(3, dtype="i4")}})
    assert examples.num_examples == 3
    assert np.shares_memory(examples.tree["image"], image)
    assert examples.tree["meta"]["id"].tolist() == [0, 1, 2]


def test_arrays_that_are_not_contiguous_are_made_so_once():
    columns = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(3, 2))
    big_endian = np.arange(3, dtype=">i4")
    tree = _arrays.check({"x": columns, "y": big_endian}).tree
    assert tree["x"].flags.c_contiguous and tree["x"].tolist() == columns.tolist()
    assert tree["y"].dtype.isnative and tree["y"].tolist() == [0, 1, 2]


def test_a_mapped_file_is_read_in_place(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(4, dtype=np.float32))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    array = _arrays.check({"x": mapped}).tree["x"]
    assert type(array) is np.ndarray and np.shares_memory(array, mapped)


def test_sequences_of_numbers_count_as_arrays_of_32_bits():
    tree = _arrays.check({"x": [1.5, 2.5], "y": (1, 2), "z": [True, False]}).tree
    assert [a.dtype.name for a in tree.values()] == ["float32", "int32", "bool"]


def test_bfloat16_is_accepted():
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="bfloat16 comes with jax")
    array = np.ones(3, ml_dtypes.bfloat16)
    examples = _arrays.check({"x": array})
    assert examples.tree["x"].dtype == ml_dtypes.bfloat16
    assert len(examples.fingerprint) == 32


@pytest.mark.spec("io-41")
def test_64_bit_arrays_give_one_warning_that_names_them():
    data = {
        "x": np.ones((2, 3)),
        "in": {"y": np.arange(2)},
        "z": np.ones(2, np.complex128),
        "u": np.arange(2, dtype=np.uint64),
        "fine": np.ones(2, np.float32),
    }
    with pytest.warns(UserWarning, match="64-bit") as caught:
        tree = _arrays.check(data).tree
    assert len(caught) == 1
    text = str(caught[0].message)
    assert "'x' (float64 -> float32)" in text and "'in.y' (int64 -> int32)" in text
    assert "'z' (complex128 -> complex64)" in text
    assert "'u' (uint64 -> uint32)" in text and "fine" not in text
    assert tree["x"].dtype == np.float32 and tree["in"]["y"].dtype == np.int32


@pytest.mark.parametrize(
    ("array", "index", "value"),
    [
        (np.array([1, 2**31]), "[1]", "2147483648"),
        (np.array([[0.0, 1e39]]), "[0, 1]", "1e+39"),
        (np.array([2**32], np.uint64), "[0]", "4294967296"),
    ],
)
def test_values_that_32_bits_cannot_hold_are_refused(array, index, value):
    message = refused({"x": array})
    assert "'x'" in message and index in message and value in message


def test_infinities_and_nans_of_64_bits_stay_what_they_are():
    with pytest.warns(UserWarning, match="64-bit"):
        array = _arrays.check({"x": np.array([np.inf, np.nan, -1.0])}).tree["x"]
    np.testing.assert_array_equal(array, np.array([np.inf, np.nan, -1], np.float32))


def test_32_bit_arrays_give_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _arrays.check({"x": np.ones(2, np.float32), "y": np.ones(2, np.int8)})


def test_different_lengths_are_listed_by_key():
    message = refused(
        {
            "image": np.zeros((5, 2), "f4"),
            "meta": {"label": np.zeros(4, "i4")},
        }
    )
    assert "'image'       5" in message and "'meta.label'  4" in message


@pytest.mark.spec("io-13")
@pytest.mark.parametrize("as_objects", [False, True])
def test_ragged_examples_are_named_with_both_shapes(as_objects):
    rows = [np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((4, 3))]
    value = rows
    if as_objects:
        value = np.empty(3, object)
        value[:] = rows
    message = refused({"obs": {"image": value}})
    assert "'obs.image'[0]  shape [2, 3]" in message
    assert "'obs.image'[2]  shape [4, 3]" in message


def test_an_example_that_is_ragged_in_itself_is_named():
    assert "'x'[1]" in refused({"x": [[[1], [2]], [[1], [2, 3]]]})


@pytest.mark.parametrize(
    ("data", "part"),
    [
        ({"name": np.array(["a", "b"])}, "'name' of the data has dtype <U1"),
        ({"name": np.array(["a", None], object)}, "(holds str)"),
        ({"day": np.array(["2020-01-01"], "M8[D]")}, "'day'"),
        ({"x": np.float32(3)}, "'x' of the data is a single float32"),
        ({"x": None}, "'x'"),
        ({3: np.zeros(2)}, "the key 3 of type int"),
        ({"o": {None: np.zeros(2)}}, "in 'o'"),
        ({"_mask": np.ones(2, bool)}, "'_mask' of the data is reserved"),
        ({}, "no array at all"),
        ({"a": {}}, "no array at all"),
        ({"x": np.zeros((0, 3), "f4")}, "0 examples"),
        ([np.zeros(3)], "gave a list; expected a mapping"),
        (None, "gave a NoneType; expected"),
    ],
)
def test_data_that_cannot_be_batched_is_refused_by_name(data, part):
    assert part in refused(data)


def test_the_fingerprint_tells_contents_keys_shapes_and_dtypes_apart():
    base = np.arange(6, dtype=np.int32)
    changed = base.copy()
    changed[3] = 7
    variants = [
        {"x": base},
        {"x": changed},
        {"y": base},
        {"o": {"x": base}},
        {"x": base.reshape(6, 1)},
        {"x": base.astype(np.uint32)},
        {"x": base, "y": base},
    ]
    prints = [_arrays.check(data).fingerprint for data in variants]
    assert len(set(prints)) == len(variants)


def test_the_fingerprint_does_not_depend_on_the_order_of_keys_or_on_memory():
    x, y = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(2, dtype=np.int32)
    one = _arrays.check({"x": x, "y": y}).fingerprint
    other = _arrays.check({"y": y.copy(), "x": np.asfortranarray(x)}).fingerprint
    assert one == other == "15dbb2b6e08ee7f3ce2a2b922adbf827"


def test_large_arrays_are_fingerprinted_by_samples_from_end_to_end(monkeypatch):
    monkeypatch.setattr(_arrays, "_HASHED_BYTES", 4 * 16)
    monkeypatch.setattr(_arrays, "_HASHED_BLOCK", 16)
    array = np.zeros(1000, np.uint8)

    def fingerprint_with_a_change_at(index):
        changed = array.copy()
        changed[index] = 1
        return _arrays.check({"x": changed}).fingerprint

    base = _arrays.check({"x": array}).fingerprint
    assert fingerprint_with_a_change_at(0) != base
    assert fingerprint_with_a_change_at(999) != base
    assert fingerprint_with_a_change_at(100) == base  # between two samples
