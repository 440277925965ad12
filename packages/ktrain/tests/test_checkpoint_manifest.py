"""The commit record."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktrain import _errors
from ktrain.checkpoint import _manifest
from ktrain.checkpoint._leaves import LeafSpec

_EXTRAS = {
    "data": {"position": 7},
    "clock": None,
    "metrics": {"loss": 0.5},
    "config_digest": "ab",
}


def _step(tmp_path):
    folder = tmp_path / "step_000000003"
    (folder / "state").mkdir(parents=True)
    (folder / "state" / "array").write_bytes(bytes(range(256)))
    (folder / "empty").write_bytes(b"")
    leaves = {
        "w": LeafSpec((2, 3), "float32"),
        "k": LeafSpec((), "key<fry>", "threefry"),
    }
    _manifest.write(folder, step=3, leaves=leaves, extras=_EXTRAS)
    return folder


def test_what_was_written_is_read(tmp_path):
    manifest = _manifest.read(_step(tmp_path), 3)
    assert manifest.step == 3
    assert manifest.leaves["w"] == LeafSpec((2, 3), "float32")
    assert manifest.leaves["k"].key_impl == "threefry"
    assert manifest.data == {"position": 7}
    assert manifest.metrics == {"loss": 0.5}
    assert manifest.num_bytes == 256
    assert set(manifest.versions) == {"python", "jax", "orbax-checkpoint", "kd-ktrain"}


def test_checksums_are_crc32_as_everyone_computes_it(tmp_path):
    files = _manifest.read(_step(tmp_path), 3).files
    assert files["state/array"] == (256, "29058c73")  # crc32 of the bytes 0 to 255
    assert files["empty"] == (0, "00000000")


def test_it_is_plain_json(tmp_path):
    fields = json.loads((_step(tmp_path) / "MANIFEST.json").read_text())
    assert fields["format"] == 1
    assert fields["files"]["state/array"]["size"] == 256


@pytest.mark.spec("io-69")
def test_every_single_bit_of_it_is_guarded(tmp_path):
    folder = _step(tmp_path)
    path = folder / "MANIFEST.json"
    good = path.read_bytes()
    for bit in range(0, 8 * len(good), 37):
        raw = bytearray(good)
        raw[bit // 8] ^= 1 << bit % 8
        path.write_bytes(raw)
        with pytest.raises(_manifest.DamagedStep, match="not what was written"):
            _manifest.read(folder, 3)


def test_a_step_in_the_wrong_folder_is_none(tmp_path):
    with pytest.raises(_manifest.DamagedStep, match="is of step 3"):
        _manifest.read(_step(tmp_path), 4)


def test_a_record_of_the_future_is_not_called_damaged(tmp_path, monkeypatch):
    monkeypatch.setattr(_manifest, "_FORMAT", 2)
    folder = _step(tmp_path)
    monkeypatch.undo()
    with pytest.raises(_errors.CheckpointError, match="later version of ktrain"):
        _manifest.read(folder, 3)


@pytest.mark.spec("core-44")
def test_numbers_of_every_library_are_stored():
    metrics = {
        "a": np.float32(0.5),
        "b": 3,
        "c": np.array(2),
        "d": {"e": np.bool_(True)},
    }
    assert _manifest.json_ready(metrics, "metrics") == {
        "a": 0.5,
        "b": 3,
        "c": 2,
        "d": {"e": True},
    }


def test_a_metric_that_is_nan_does_not_spoil_the_json():
    ready = _manifest.json_ready([np.nan, -np.inf, 1.0], "metrics", finite=False)
    assert ready == ["NaN", "-Infinity", 1.0]


@pytest.mark.parametrize(
    "value", [{1: 2}, b"x", np.zeros(2), float("nan"), 1j, object(), {"a": {2, 3}}]
)
def test_what_has_no_place_in_a_checkpoint_is_named(value):
    with pytest.raises(_errors.CheckpointError) as error:
        _manifest.json_ready({"deep": [0, value]}, "data")
    assert "data['deep'][1]" in str(error.value)
    assert "expected:" in str(error.value)


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda c: st.lists(c, max_size=3) | st.dictionaries(st.text(), c, max_size=3),
    max_leaves=8,
)


@given(_JSON)
def test_plain_data_passes_unchanged(value):
    assert json.loads(json.dumps(_manifest.json_ready(value, "data"))) == value
