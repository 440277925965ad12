"""Pictures as PNG files, and series of pictures as animated ones.

Reference: W3C, Portable Network Graphics, third edition (2025), chapters 5 and 11.
"""

from __future__ import annotations

import fractions
import struct
import zlib

import numpy as np

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOR_TYPES = {1: 0, 3: 2, 4: 6}
_MOST = 2**16 - 1


def encode_png(pixels: np.ndarray) -> bytes:
    """One picture, uint8 `[h, w, c]` with 1, 3 or 4 channels, as a PNG file.

    Raises:
      ValueError: it has no pixels, which no such file can hold.
    """
    return b"".join([_head(pixels), _chunk(b"IDAT", _rows(pixels)), _chunk(b"IEND")])


def encode_animation(frames: np.ndarray, fps: float) -> bytes:
    """Frames uint8 `[t, h, w, c]` as an animated PNG file that runs without end.

    A program that knows nothing of animation shows the first frame.

    Raises:
      ValueError: there are no frames, or these have no pixels.
    """
    _, height, width, _ = frames.shape
    delay = _delay(fps)
    parts = [_head(frames), _chunk(b"acTL", struct.pack(">II", len(frames), 0))]
    order = 0
    for i, frame in enumerate(frames):
        control = struct.pack(">5I2H2B", order, width, height, 0, 0, *delay, 0, 0)
        parts.append(_chunk(b"fcTL", control))
        order += 1
        if i == 0:
            parts.append(_chunk(b"IDAT", _rows(frame)))
        else:
            parts.append(_chunk(b"fdAT", struct.pack(">I", order) + _rows(frame)))
            order += 1
    return b"".join([*parts, _chunk(b"IEND")])


def _delay(fps: float) -> tuple[int, int]:
    """The seconds between two frames as numerator and denominator, 16 bits each."""
    seconds = min(max(1 / fps, 1 / _MOST), _MOST)
    # A numerator is as large as the denominator, times the seconds.
    most = int(_MOST / max(seconds, 1))
    return fractions.Fraction(seconds).limit_denominator(most).as_integer_ratio()


def _head(pixels: np.ndarray) -> bytes:
    if not pixels.size:
        raise ValueError(
            f"a picture without pixels cannot be a PNG file\n  got {list(pixels.shape)}"
        )
    height, width, channels = pixels.shape[-3:]
    kind = _COLOR_TYPES[channels]
    return _SIGNATURE + _chunk(
        b"IHDR", struct.pack(">2I5B", width, height, 8, kind, 0, 0, 0)
    )


def _rows(pixels: np.ndarray) -> bytes:
    # Each row begins with the number of its filter; 0 leaves it as it is.
    rows = pixels.reshape(len(pixels), -1)
    filtered = np.concatenate([np.zeros((len(rows), 1), np.uint8), rows], axis=1)
    return zlib.compress(filtered.tobytes())


def _chunk(name: bytes, data: bytes = b"") -> bytes:
    check = zlib.crc32(name + data)
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)
