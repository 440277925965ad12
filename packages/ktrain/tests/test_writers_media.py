"""What summaries compute, written and read back with TensorBoard's own reader."""

import numpy as np
import pytest

from kmetrics import summaries
from ktrain import writers

event_accumulator = pytest.importorskip(
    "tensorboard.backend.event_processing.event_accumulator",
    reason="TensorBoard reads what is written; it is not a dependency of ktrain",
)

PIXELS = np.random.default_rng(0).integers(0, 255, (2, 3, 5, 3), np.uint8)
IMAGE = summaries.Image(PIXELS)
HISTOGRAM = summaries.Histogram(
    counts=np.array([2.0, 0.0, 1.0]),
    edges=np.array([0.0, 0.1, 1.0, 2.0]),
    min=0.0,
    max=1.5,
    sum=1.55,
    sum_sq=2.2525,
)


def _read(folder):
    reader = event_accumulator.EventAccumulator(
        str(folder), size_guidance={"tensors": 0}
    )
    return reader.Reload()


def _write(workdir, values, step=7):
    session = writers.TensorBoardWriter().open(workdir=workdir, start_step=0)
    session.scalars("eval", step, values)
    session.close()
    return _read(workdir / "tb/eval")


def _tensor(reader, tag):
    from tensorboard.util import tensor_util

    (event,) = reader.Tensors(tag)
    assert event.step == 7
    return tensor_util.make_ndarray(event.tensor_proto)


def _plugin(reader, tag):
    return reader.SummaryMetadata(tag).plugin_data.plugin_name


@pytest.mark.spec("core-82", "io-109")
def test_tensorboard_reads_the_images_that_were_written(tmp_path):
    video = summaries.Video(PIXELS[None], fps=4)
    values = {"metrics": {"shown": IMAGE, "moves": video, "acc": 0.5}}
    reader = _write(tmp_path, values)
    assert _plugin(reader, "metrics/shown") == "images"
    width, height, *files = _tensor(reader, "metrics/shown").tolist()
    assert (width, height) == (b"5", b"3")
    assert files == [IMAGE.to_png(0), IMAGE.to_png(1)]
    width, height, moving = _tensor(reader, "metrics/moves").tolist()
    assert (width, height, moving) == (b"5", b"3", video.to_png(0))
    assert [e.value for e in reader.Scalars("metrics/acc")] == [0.5]


@pytest.mark.spec("core-82", "io-109")
def test_tensorboard_reads_the_histograms_that_were_written(tmp_path):
    reader = _write(tmp_path, {"metrics/grads": HISTOGRAM})
    assert _plugin(reader, "metrics/grads") == "histograms"
    assert _tensor(reader, "metrics/grads").tolist() == [
        [0.0, 0.1, 2.0],
        [0.1, 1.0, 0.0],
        [1.0, 2.0, 1.0],
    ]


def test_texts_tables_and_points(tmp_path):
    table = summaries.Table(("class", "n"), (("cat", 3),))
    cloud = summaries.PointCloud(
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.array([[0, 0, 255], [255, 0, 0]], np.uint8),
        {"material": {"size": 0.1}},
    )
    text = summaries.Text(("# as it is",))
    reader = _write(tmp_path, {"said": text, "table": table, "cloud": cloud})
    assert _tensor(reader, "said/text_summary").tolist() == [b"    # as it is"]
    assert _tensor(reader, "table/text_summary").tolist() == [
        table.to_markdown().encode()
    ]
    points, colors = (_tensor(reader, f"cloud_{kind}") for kind in (1, 3))
    assert np.array_equal(points, cloud.points[None])
    assert np.array_equal(colors, cloud.colors[None])
    assert _plugin(reader, "cloud_1") == "mesh"
    config = reader.SummaryMetadata("cloud_1").plugin_data.content
    assert b'{"material": {"size": 0.1}}' in config
    plain = summaries.PointCloud(cloud.points)
    assert _write(tmp_path / "plain", {"cloud": plain}).Tags()["tensors"] == ["cloud_1"]


def test_media_of_no_data_are_left_out(tmp_path):
    nothing = {
        "image": summaries.ShowImages().empty().compute(),
        "video": summaries.ShowVideos().empty().compute(),
        "text": summaries.ShowTexts().empty().compute(),
        "points": summaries.ShowPointCloud().empty().compute(),
        "histogram": summaries.HistogramSummary().empty().compute(),
    }
    assert _write(tmp_path, nothing).Tags()["tensors"] == []


def test_media_that_tensorboard_cannot_show_are_named(tmp_path):
    class Sound(summaries.Media):
        pass

    session = writers.TensorBoardWriter().open(workdir=tmp_path, start_step=0)
    message = r"metrics/x: TensorBoard has no place for a .*Sound"
    with pytest.raises(writers.UnwritableValueError, match=message):
        session.scalars("eval", 7, {"metrics": {"x": Sound()}})
    session.close()


def test_lines_of_numbers_and_the_console_leave_media_out(tmp_path, capsys):
    values = {"metrics": {"shown": IMAGE, "acc": 0.5}, "losses/total": 1.0}
    session = writers.open_in_background(
        writers.MultiWriter(
            jsonl=writers.JsonlWriter(),
            console=writers.ConsoleWriter(),
            none=writers.NoopWriter(),
            strict=True,
        ),
        workdir=tmp_path,
        start_step=0,
    )
    session.scalars("train", 3, values)
    session.close()
    (record,) = writers.read_jsonl(tmp_path / "metrics/train.jsonl")
    assert record["values"] == {"metrics/acc": 0.5, "losses/total": 1.0}
    assert capsys.readouterr().out.split() == ["train", "step=3", "loss=1", "acc=0.5"]
    flat = writers.flatten(values)
    assert flat.media() == {"metrics/shown": IMAGE} and not flat.texts()
