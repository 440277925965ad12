"""What summaries compute, and the files made of it."""

import struct
import zlib

import numpy as np
import pytest

from kmetrics import summaries


def read_chunks(png):
    """The chunks of a PNG file, by its definition, with their checksums."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, []
    while at < len(png):
        size, name = struct.unpack(">I4s", png[at : at + 8])
        data = png[at + 8 : at + 8 + size]
        assert struct.unpack(">I", png[at + 8 + size : at + 12 + size])[0] == (
            zlib.crc32(name + data)
        )
        chunks.append((name, data))
        at += 12 + size
    assert chunks[-1] == (b"IEND", b"")
    return chunks


def read_rows(data, height, width, channels):
    rows = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, -1)
    assert not rows[:, 0].any()  # filter 0: as they are
    return rows[:, 1:].reshape(height, width, channels)


@pytest.mark.parametrize(("channels", "kind"), [(1, 0), (3, 2), (4, 6)])
def test_a_png_holds_the_pixels(channels, kind):
    pixels = np.arange(2 * 3 * 4 * channels, dtype=np.uint8).reshape(2, 3, 4, channels)
    chunks = read_chunks(summaries.Image(pixels).to_png(1))
    assert [name for name, _ in chunks] == [b"IHDR", b"IDAT", b"IEND"]
    assert struct.unpack(">2I5B", chunks[0][1]) == (4, 3, 8, kind, 0, 0, 0)
    assert np.array_equal(read_rows(chunks[1][1], 3, 4, channels), pixels[1])


def test_a_video_is_an_animated_png():
    frames = np.arange(3 * 2 * 2 * 3, dtype=np.uint8).reshape(1, 3, 2, 2, 3)
    chunks = read_chunks(summaries.Video(frames, fps=4).to_png())
    names = [name.decode() for name, _ in chunks]
    order = "IHDR acTL fcTL IDAT fcTL fdAT fcTL fdAT IEND"
    assert names == order.split()
    assert struct.unpack(">II", chunks[1][1]) == (3, 0)  # three frames, without end
    controls = [
        struct.unpack(">5I2H2B", data) for name, data in chunks if name == b"fcTL"
    ]
    assert [c[:3] for c in controls] == [(0, 2, 2), (1, 2, 2), (3, 2, 2)]
    assert all(c[5] / c[6] == 0.25 for c in controls)
    for fps in (29.97, 60, 1e-9, 1e9):
        # Seconds are two numbers of 16 bits: from 15 microseconds to 18 hours.
        data = read_chunks(summaries.Video(frames, fps).to_png())[2][1]
        above, below = struct.unpack(">5I2H2B", data)[5:7]
        want = min(max(1 / fps, 1 / 65535), 65535)
        assert above / below == pytest.approx(want, rel=1e-9)
    shown = [chunks[3][1], *(data[4:] for name, data in chunks if name == b"fdAT")]
    for frame, data in zip(frames[0], shown, strict=True):
        assert np.array_equal(read_rows(data, 2, 2, 3), frame)


def test_other_programs_read_the_files():
    image = pytest.importorskip(
        "PIL.Image", reason="Pillow reads what is written; nothing depends on it"
    )
    import io

    pixels = np.random.default_rng(0).integers(0, 255, (1, 5, 7, 4), np.uint8)
    read = image.open(io.BytesIO(summaries.Image(pixels).to_png()))
    assert np.array_equal(np.asarray(read), pixels[0])
    video = summaries.Video(pixels[:, None].repeat(3, 1), fps=10)
    assert image.open(io.BytesIO(video.to_png())).n_frames == 3


def test_media_compare_by_content_and_are_shown_by_shape():
    pixels = np.zeros((1, 2, 2, 1), np.uint8)
    image = summaries.Image(pixels, scores=np.array([np.nan]))
    assert image == summaries.Image(pixels.copy(), scores=np.array([np.nan]))
    assert image != summaries.Image(pixels + 1, scores=np.array([np.nan]))
    assert image != summaries.Text(("a",))
    assert repr(image) == (
        "Image(pixels=uint8[1, 2, 2, 1], num_nan=0, scores=float64[1])"
    )
    with pytest.raises(TypeError, match="unhashable"):
        hash(image)


def test_a_table_and_texts_in_markdown():
    table = summaries.Table(
        ("class", "share"), (("cat|dog", 0.123456), ("b\nc", 12345.5))
    )
    assert table.to_markdown().splitlines() == [
        "| class | share |",
        "| --- | --- |",
        "| cat\\|dog | 0.1235 |",
        "| b c | 12345.5 |",
    ]
    text = summaries.Text(("# one\ntwo", "three"))
    assert text.to_markdown() == "    # one\n    two\n\n---\n\n    three"
    assert len(text) == 2
    breaks = summaries.Text(["a\r\nb\rc"])
    assert breaks == summaries.Text(("a\r\nb\rc",))
    assert breaks.to_markdown() == "    a\n    b\n    c"


def test_media_hold_what_they_say():
    histogram = summaries.Histogram([1, 2], [0, 1, 2], 0.0, 1.0, 1.0, 1.0)
    assert histogram.counts.dtype == histogram.edges.dtype == np.float64
    cloud = summaries.PointCloud([[0, 1, 2]])
    assert cloud.points.dtype == np.float32
    table = summaries.Table(["a"], [[1]])
    assert table == summaries.Table(("a",), ((1,),))


def test_files_are_made_of_pictures_with_pixels():
    image = summaries.Image(np.zeros((1, 2, 2, 1), np.uint8))
    assert image.to_png(-1) == image.to_png()
    with pytest.raises(IndexError, match="Image: there is no number 1\n  it holds 1"):
        image.to_png(1)
    with pytest.raises(ValueError, match=r"without pixels.*\n  got \[0, 2, 1\]"):
        summaries.Image(image.pixels[:, :0]).to_png()
    with pytest.raises(ValueError, match=r"without pixels.*\n  got \[0, 2, 2, 1\]"):
        summaries.Video(image.pixels[None, :0]).to_png()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda s: s.Image(np.zeros((1, 2, 2, 3))), "expected a numpy array of uint8"),
        (lambda s: s.Image(np.zeros((2, 2, 3), np.uint8)), r"got \[2, 2, 3\]"),
        (lambda s: s.Image(np.zeros((1, 2, 2, 2), np.uint8)), "c 1, 3 or 4"),
        (lambda s: s.Video(np.zeros((1, 1, 2, 2, 3), np.uint8), 0), "fps must be"),
        (lambda s: s.Video(np.zeros((1, 1, 2, 2, 3), np.uint8), np.inf), "fps must"),
        (
            lambda s: s.Image(np.zeros((1, 2, 2, 3), np.uint8), scores=np.ones(2)),
            r"one number each\n  got \[2\] for 1",
        ),
        (lambda s: s.Text(("a", 1)), "got int in it"),
        (lambda s: s.Text("abc"), "texts must be a tuple\n  got str"),
        (lambda s: s.Table("ab", ((1, 2),)), "columns must be a tuple"),
        (lambda s: s.Table(("a",), (1,)), "row 0 must be a tuple\n  got int"),
        (lambda s: s.PointCloud([["a", "b", "c"]]), "points must be numbers"),
        (
            lambda s: s.Histogram(["a"], [0, 1], 0, 1, 1, 1),
            "counts must be numbers",
        ),
        (lambda s: s.Table(("a",), ((1, 2),)), "row 0 has 2 cells, the table 1"),
        (lambda s: s.PointCloud(np.zeros((3, 2))), r"got \[3, 2\]"),
        (
            lambda s: s.PointCloud(np.zeros((3, 3)), np.zeros((2, 3), np.uint8)),
            r"points \[3, 3\], colors \[2, 3\]",
        ),
        (
            lambda s: s.PointCloud(np.zeros((3, 3)), np.zeros((3, 3))),
            "colors must be uint8",
        ),
        (
            lambda s: s.Histogram(np.ones(2), np.arange(2.0), 0, 1, 1, 1),
            r"counts \[2\], edges \[2\]",
        ),
        (
            lambda s: s.Histogram(np.ones(1), np.zeros(2), 0, 1, 1, 1),
            "the edges must ascend",
        ),
    ],
)
def test_media_are_checked_where_they_are_made(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make(summaries)


def test_summaries_are_listed_and_a_misspelt_one_is_refused():
    assert set(summaries.__all__) <= set(dir(summaries))
    assert all(getattr(summaries, name) is not None for name in summaries.__all__)
    with pytest.raises(AttributeError, match="no attribute 'ShowImage'"):
        summaries.ShowImage  # noqa: B018
