"""The commit record: a step exists if, and only if, its manifest says so.

`MANIFEST.json` is written last. It lists every file of the step with size and
checksum, every leaf with shape and dtype, and carries what is saved beside the
arrays. It begins with the checksum of its own text.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
import json
import math
import os
import platform
import time
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ktrain import _errors
from ktrain.checkpoint._leaves import LeafSpec

NAME = "MANIFEST.json"
INCOMPLETE = "INCOMPLETE"
ARRAYS = "state"

_FORMAT = 1
_PREFIX = '{\n "crc32": "'
_NO_CRC = "00000000"
_PACKAGES = ("jax", "orbax-checkpoint", "kd-ktrain")
_CHUNK_BYTES = 1 << 20


class DamagedStep(Exception):
    """A step that cannot be used; `reason` is short enough for a folder's name."""

    def __init__(self, reason: str, detail: str):
        """Takes the reason (`checksum`) and the sentence that names the file."""
        super().__init__(detail)
        self.reason = reason


class FileRecord(NamedTuple):
    """Size in bytes and CRC-32 of one file."""

    size: int
    crc32: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Manifest:
    """Everything that is known of one step without reading an array.

    Attributes:
      step: Number of updates in the state.
      time: When it was written, seconds since 1970.
      leaves: Path of each leaf to its shape and dtype.
      files: Path inside the step's folder (with `/`) to size and checksum.
      data: Position of the training data, as its iterator gave it.
      clock: State of the timers.
      metrics: Values known when the step was saved.
      config_digest: Digest of the config of the run.
      versions: Versions of Python and of the packages that wrote it.
    """

    step: int
    time: float
    leaves: Mapping[str, LeafSpec]
    files: Mapping[str, FileRecord]
    data: Any
    clock: Any
    metrics: Any
    config_digest: str | None
    versions: Mapping[str, str]

    @property
    def num_bytes(self) -> int:
        """Size of all files of the step."""
        return sum(file.size for file in self.files.values())


def write(
    folder: Path, *, step: int, leaves: Mapping[str, LeafSpec], extras: Mapping
) -> None:
    """Makes everything in the folder durable, then commits it with the manifest."""
    manifest = Manifest(
        step=step,
        time=time.time(),
        leaves=leaves,
        files=dict(_sync_files(folder)),
        versions=_versions(),
        **extras,
    )
    temporary = folder / f"{NAME}.tmp"
    temporary.write_bytes(_encode(manifest))
    sync(temporary)
    sync(folder)
    temporary.rename(folder / NAME)
    sync(folder)
    sync(folder.parent)


def read(folder: Path, step: int) -> Manifest:
    """Reads a manifest and checks it against itself.

    Raises:
      DamagedStep: It is absent, is not what was written, or is of another step.
      CheckpointError: It was written by a later version of ktrain.
    """
    try:
        raw = (folder / NAME).read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        raise DamagedStep("no-manifest", f"{NAME} is missing") from error
    fields = _decode(raw)
    if fields.pop("format") != _FORMAT:
        raise _errors.CheckpointError(
            f"{folder / NAME} was written by a later version of ktrain\n"
            f"  versions: {fields.get('versions')}\n"
            "  Restore it with that version."
        )
    fields["leaves"] = {
        name: LeafSpec(tuple(leaf["shape"]), leaf["dtype"], leaf["key_impl"])
        for name, leaf in fields["leaves"].items()
    }
    fields["files"] = {
        name: FileRecord(**file) for name, file in fields["files"].items()
    }
    manifest = Manifest(**fields)
    if manifest.step != step:
        raise DamagedStep("wrong-step", f"{NAME} is of step {manifest.step}")
    return manifest


def check_sizes(folder: Path, manifest: Manifest) -> None:
    """Checks that every file is there and has its size, without reading it.

    Raises:
      DamagedStep: A file is missing or of another size.
    """
    for name, file in manifest.files.items():
        try:
            size = (folder / name).stat().st_size
        except (FileNotFoundError, NotADirectoryError) as error:
            raise DamagedStep("missing-file", f"{name} is missing") from error
        if size != file.size:
            raise DamagedStep(
                "wrong-size", f"{name} has {size} bytes, {file.size} were written"
            )


def check_contents(folder: Path, manifest: Manifest) -> None:
    """Reads every file and compares it with its checksum.

    Raises:
      DamagedStep: A file is not what was written.
    """
    check_sizes(folder, manifest)
    for name, file in manifest.files.items():
        if _crc32(folder / name) != file.crc32:
            raise DamagedStep("checksum", f"the checksum of {name} differs")


def json_ready(value: Any, where: str, *, finite: bool = True) -> Any:
    """Gives plain JSON data for nested containers of numbers, arrays of one, and text.

    Args:
      value: What to store.
      where: How to name it in an error, e.g. `data`.
      finite: Refuse NaN and infinity; else store them as text.

    Raises:
      CheckpointError: Something in it has no JSON form.
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value) and not finite:
        return json.dumps(value)  # NaN, Infinity, -Infinity
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {
            key: json_ready(item, f"{where}[{key!r}]", finite=finite)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [
            json_ready(item, f"{where}[{i}]", finite=finite)
            for i, item in enumerate(value)
        ]
    raise _errors.CheckpointError(
        f"{where} cannot be stored in a checkpoint\n"
        f"  got:      {type(value).__name__} {value!r:.80}\n"
        "  expected: None, bool, finite number, text, or lists and mappings (with text"
        " keys) of them"
    )


def sync(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_files(folder: Path) -> Iterator[tuple[str, FileRecord]]:
    for directory, _, names in os.walk(folder):
        for name in sorted(names):
            path = Path(directory, name)
            if path.parent == folder and name in {NAME, INCOMPLETE}:
                continue
            sync(path)
            record = FileRecord(path.stat().st_size, _crc32(path))
            yield path.relative_to(folder).as_posix(), record
        sync(Path(directory))


def _crc32(path: Path) -> str:
    value = 0
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            value = zlib.crc32(chunk, value)
    return f"{value:08x}"


@functools.cache
def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "run from its sources"
    return versions


def _encode(manifest: Manifest) -> bytes:
    fields = {f.name: getattr(manifest, f.name) for f in dataclasses.fields(manifest)}
    for name in ("leaves", "files"):
        fields[name] = {key: value._asdict() for key, value in fields[name].items()}
    head = {"crc32": _NO_CRC, "format": _FORMAT}
    text = json.dumps({**head, **fields}, indent=1, allow_nan=False)
    crc = f"{zlib.crc32(text.encode()):08x}"
    return text.replace(_NO_CRC, crc, 1).encode()


def _decode(raw: bytes) -> dict[str, Any]:
    start = len(_PREFIX)
    end = start + len(_NO_CRC)
    zeroed = raw[:start] + _NO_CRC.encode() + raw[end:]
    if raw[start:end] != f"{zlib.crc32(zeroed):08x}".encode():
        raise DamagedStep("bad-manifest", f"{NAME} is not what was written")
    fields = json.loads(raw)
    del fields["crc32"]
    return fields
