"""Damaged steps: every kind is noticed, set aside, and survived."""

import json
import logging
import os
import random
import shutil
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from ktrain import _errors
from ktrain.checkpoint import Checkpointer, _restore, _steps, _store, read_arrays

_LIKE = {"w": jnp.zeros((40, 30)), "opt": [jnp.zeros(30), jnp.int32(0)]}


def _state(step: int) -> dict:
    rng = np.random.default_rng(step)
    kernel = jnp.asarray(rng.normal(size=(40, 30)), jnp.float32)
    return {"w": kernel, "opt": [kernel[0] + 1, jnp.int32(step)]}


def _open(workdir, **fields):
    return Checkpointer(save_interval_steps=1, workdir=workdir, **fields).open()


@pytest.fixture(scope="module")
def pristine(tmp_path_factory) -> Path:
    workdir = tmp_path_factory.mktemp("pristine")
    with _open(workdir) as session:
        for step in (10, 20):
            session.save(step, _state(step), data={"position": step})
    return workdir


@pytest.fixture
def workdir(pristine, tmp_path) -> Path:
    shutil.copytree(pristine, tmp_path / "run")
    return tmp_path / "run"


def _newest(workdir: Path) -> Path:
    return workdir / "checkpoints" / "step_000000020"


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _assert_falls_back(workdir: Path, caplog, name: str, why: str) -> None:
    files_before = len(_files(workdir))
    with caplog.at_level(logging.WARNING, logger="ktrain"):
        restored = _open(workdir).restore(_LIKE)
    assert restored.step == 10
    assert restored.data == {"position": 10}
    assert np.array_equal(restored.state["w"], _state(10)["w"])
    (message,) = caplog.messages
    assert name in message and why in message and "from step 10" in message
    aside = _steps.set_aside(workdir / "checkpoints")
    assert len(aside) == 1 and aside[0].startswith("step_000000020.corrupt-")
    assert len(_files(workdir)) == files_before
    assert _open(workdir).steps() == [10]


def _data_file(folder: Path) -> Path:
    return max(_files(folder), key=lambda path: path.stat().st_size)


@pytest.mark.spec("io-68")
@pytest.mark.parametrize("part", ["nothing", "one byte", "half", "all but one"])
def test_a_truncated_file_is_noticed(workdir, caplog, part):
    victim = _data_file(_newest(workdir) / "state")
    size = victim.stat().st_size
    left = {"nothing": 0, "one byte": 1, "half": size // 2, "all but one": size - 1}
    os.truncate(victim, left[part])
    _assert_falls_back(workdir, caplog, victim.name, f"{left[part]} bytes, {size} were")


def test_a_missing_file_is_noticed(workdir, caplog):
    victim = _newest(workdir) / "state" / "_METADATA"
    victim.unlink()
    _assert_falls_back(workdir, caplog, "state/_METADATA", "is missing")


@pytest.mark.spec("io-69")
@pytest.mark.slow
def test_every_one_of_100_flipped_bits_is_noticed(workdir, caplog):
    rng = random.Random(0)
    folder = _newest(workdir)
    files = _files(folder)
    assert len(files) >= 8
    for count in range(100):
        victim = files[count % len(files)]  # every file, the manifest too
        raw = bytearray(victim.read_bytes())
        bit = rng.randrange(8 * len(raw))
        raw[bit // 8] ^= 1 << bit % 8
        good = victim.read_bytes()
        victim.write_bytes(raw)
        _assert_falls_back(workdir, caplog, victim.name, "")
        caplog.clear()
        (aside,) = _steps.set_aside(folder.parent)
        (folder.parent / aside).rename(folder)
        victim.write_bytes(good)
    assert _open(workdir).restore(_LIKE).step == 20


@pytest.mark.spec("io-70")
@pytest.mark.case("101")
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "MANIFEST.json is missing"),
        (b"", "is not what was written"),
        (b"\xff\x00garbage", "is not what was written"),
        (b'{"step": 20}', "is not what was written"),
        (b'{\n "crc32": "00000000",\n "format": 1}', "is not what was written"),
    ],
    ids=["missing", "empty", "garbage", "other json", "unsigned"],
)
def test_without_its_record_a_step_does_not_count(workdir, caplog, content, why):
    record = _newest(workdir) / "MANIFEST.json"
    record.unlink() if content is None else record.write_bytes(content)
    assert _open(workdir).steps() == [10]
    assert _open(workdir).latest() == 10
    _assert_falls_back(workdir, caplog, "step_000000020", why)


@pytest.mark.case("101")
def test_the_data_position_is_under_the_same_seal(workdir, caplog):
    record = _newest(workdir) / "MANIFEST.json"
    fields = json.loads(record.read_text())
    fields["data"] = None
    record.write_text(json.dumps(fields, indent=1))
    _assert_falls_back(workdir, caplog, "step_000000020", "is not what was written")


@pytest.mark.case("100")
def test_a_step_set_aside_can_be_saved_again(workdir):
    (_newest(workdir) / "MANIFEST.json").unlink()
    session = _open(workdir)
    assert session.restore(_LIKE).step == 10
    assert session.due(20)
    assert session.save(20, _state(20), data=None, blocking=True)
    assert session.steps() == [10, 20]
    assert np.array_equal(session.restore(_LIKE).state["w"], _state(20)["w"])


def test_a_damaged_step_in_the_way_of_a_save_is_set_aside(workdir):
    os.truncate(_data_file(_newest(workdir)), 3)
    session = _open(workdir)
    session.save(20, _state(20), data=None, blocking=True)
    assert session.steps() == [10, 20]
    assert _steps.set_aside(session.root) == ["step_000000020.corrupt-in-the-way"]


def test_a_second_damage_of_a_step_does_not_replace_the_first(workdir):
    for _ in range(2):
        session = _open(workdir)
        session.save(20, _state(20), data=None, blocking=True)
        os.truncate(_newest(workdir) / "MANIFEST.json", 3)
        assert session.restore(_LIKE).step == 10
    assert _steps.set_aside(session.root) == [
        "step_000000020.corrupt-bad-manifest",
        "step_000000020.corrupt-bad-manifest-2",
    ]


@pytest.mark.spec("io-71", "io-72")
def test_empty_folders_and_stray_files_are_no_steps(workdir, caplog):
    root = workdir / "checkpoints"
    (root / "step_000000099").mkdir()
    (root / "step_77").mkdir()
    (root / "step_0000000030").mkdir()
    (root / "step_000000044").write_text("a file")
    (root / "notes.txt").write_text("mine")
    (root / "step_000000020" / "notes.txt").write_text("mine")
    with caplog.at_level(logging.WARNING, logger="ktrain"):
        session = _open(workdir)
        assert session.steps() == [10, 20]
        assert session.restore(_LIKE).step == 20
    assert caplog.messages == []
    assert (root / "notes.txt").read_text() == "mine"
    assert (root / "step_77").is_dir()


@pytest.mark.spec("io-73")
def test_if_no_step_is_good_nothing_is_changed(workdir):
    for folder in (workdir / "checkpoints").iterdir():
        os.truncate(_data_file(folder), 5)
    before = {path: path.read_bytes() for path in _files(workdir)}
    for _ in range(2):  # the second start must not take the run for a new one
        with pytest.raises(_errors.CheckpointError) as error:
            _open(workdir).restore(_LIKE)
        lines = str(error.value).splitlines()
        assert "can be used; nothing was changed" in lines[0]
        assert lines[1].startswith("  step 20: ") and "bytes" in lines[1]
        assert lines[2].startswith("  step 10: ")
        assert error.value.exit_code == 5
    assert {path: path.read_bytes() for path in _files(workdir)} == before


def test_a_run_with_nothing_but_set_aside_steps_is_not_a_new_run(workdir):
    os.truncate(_data_file(_newest(workdir)), 5)
    _open(workdir).restore(_LIKE)
    shutil.rmtree(workdir / "checkpoints" / "step_000000010")
    with pytest.raises(
        _errors.CheckpointError, match="set aside earlier: step_000000020"
    ):
        _open(workdir).restore(_LIKE)


def test_on_corrupt_error_stops_at_the_first_damage(workdir):
    os.truncate(_data_file(_newest(workdir)), 5)
    with pytest.raises(_errors.CheckpointError) as error:
        _open(workdir, on_corrupt="error").restore(_LIKE)
    assert "step 20" in str(error.value) and "Steps that look good: 10" in str(
        error.value
    )
    assert _newest(workdir).is_dir()


def test_a_step_asked_for_by_number_has_no_substitute(workdir):
    os.truncate(_data_file(_newest(workdir)), 5)
    with pytest.raises(_errors.CheckpointError, match=r"step 20: .* has 5 bytes"):
        _open(workdir).restore(_LIKE, step=20)
    assert _newest(workdir).is_dir()
    with pytest.raises(_errors.CheckpointError, match="is damaged"):
        read_arrays(_newest(workdir))


def test_a_reader_moves_nothing(workdir, caplog):
    os.truncate(_data_file(_newest(workdir)), 5)
    with caplog.at_level(logging.WARNING, logger="ktrain"):
        assert _open_to_read(workdir).restore(_LIKE).step == 10
    assert "left in place" in caplog.text
    assert _newest(workdir).is_dir()


def test_a_step_that_cannot_be_moved_is_left_and_passed_over(
    workdir, caplog, monkeypatch
):
    def rename(self, target):
        raise PermissionError("not yours")

    os.truncate(_data_file(_newest(workdir)), 5)
    monkeypatch.setattr(Path, "rename", rename)
    with caplog.at_level(logging.WARNING, logger="ktrain"):
        assert _open(workdir).restore(_LIKE).step == 10
    assert "left in place (not yours)" in caplog.text


def _open_to_read(workdir):
    return Checkpointer(save_interval_steps=1, workdir=workdir).open(primary=False)


def _flip(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)


def test_big_checkpoints_are_checked_by_size_alone_unless_told(workdir, monkeypatch):
    monkeypatch.setattr(_restore, "_FULL_BELOW_BYTES", 100)
    _flip(_data_file(_newest(workdir) / "state"))
    assert _open(workdir).restore(_LIKE).step == 20
    assert _open(workdir, verify="size").restore(_LIKE).step == 20
    assert _open(workdir, verify="full").restore(_LIKE).step == 10


def test_damage_that_shows_only_on_reading_is_damage(workdir, caplog):
    _flip(_newest(workdir) / "state" / "manifest.ocdbt")
    with caplog.at_level(logging.WARNING, logger="ktrain"):
        assert _open(workdir, verify="size").restore(_LIKE).step == 10
    assert "the checksum of state/manifest.ocdbt differs" in caplog.text


def test_a_failure_to_read_good_files_is_not_called_damage(workdir, monkeypatch):
    def read(path, likes):
        raise MemoryError("no memory is left")

    monkeypatch.setattr(_store, "read", read)
    with pytest.raises(_errors.CheckpointError, match="are what was written") as error:
        _open(workdir).restore(_LIKE)
    assert isinstance(error.value.__cause__, MemoryError)
    assert _newest(workdir).is_dir()
