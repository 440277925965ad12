"""Pictures, histograms, texts and points as TensorBoard's own plugins read them.

Imported by the first of them that is written.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from tensorboardX import summary as text_and_mesh
from tensorboardX.proto import summary_pb2, tensor_pb2, tensor_shape_pb2, types_pb2

from kmetrics.summaries import (
    Histogram,
    Image,
    Media,
    PointCloud,
    Table,
    Text,
    Video,
)
from ktrain.writers import _values

# Made by protobuf while they are imported: no checker knows what is in them.
_summaries, _tensors, _shapes, _types = (
    cast(Any, module)
    for module in (summary_pb2, tensor_pb2, tensor_shape_pb2, types_pb2)
)


def summary_of(name: str, media: Media) -> Any | None:
    """Gives the summary of one value; None if there is nothing to see.

    Raises:
      UnwritableValueError: No plugin shows a value of this class.
    """
    if isinstance(media, Histogram):
        return _histogram(name, media) if len(media.counts) else None
    if isinstance(media, Table):
        return text_and_mesh.text(name, media.to_markdown())
    if not isinstance(media, Image | Video | Text | PointCloud):
        raise _values.UnwritableValueError(
            f"{name}: TensorBoard has no place for a {type(media).__qualname__}.\n"
            "  Expected Image, Video, Histogram, Text, Table or PointCloud."
        )
    if not len(media):
        return None
    if isinstance(media, Text):
        return text_and_mesh.text(name, media.to_markdown())
    if isinstance(media, PointCloud):
        return _mesh(name, media)
    return _pictures(name, media)


def _pictures(name: str, media: Image | Video) -> Any:
    """All samples under one name, a slider apart; those of a video move."""
    array = media.pixels if isinstance(media, Image) else media.frames
    height, width = array.shape[-3:-1]
    files = [media.to_png(i) for i in range(len(media))]
    tensor = _tensors.TensorProto(
        dtype=_types.DT_STRING,
        string_val=[str(width).encode(), str(height).encode(), *files],
        tensor_shape=_shape(2 + len(files)),
    )
    return _summary(name, "images", tensor)


def _histogram(name: str, media: Histogram) -> Any:
    edges = np.asarray(media.edges, np.float64)
    rows = np.stack([edges[:-1], edges[1:], media.counts], axis=1)
    tensor = _tensors.TensorProto(
        dtype=_types.DT_DOUBLE,
        tensor_content=rows.astype("<f8").tobytes(),
        tensor_shape=_shape(*rows.shape),
    )
    return _summary(name, "histograms", tensor)


def _mesh(name: str, media: PointCloud) -> Any:
    colors = None if media.colors is None else media.colors[None]
    config = dict(media.config)
    return text_and_mesh.mesh(name, media.points[None], colors, None, config)


def _shape(*sizes: int) -> Any:
    dims = [_shapes.TensorShapeProto.Dim(size=size) for size in sizes]
    return _shapes.TensorShapeProto(dim=dims)


def _summary(name: str, plugin: str, tensor: Any) -> Any:
    data = _summaries.SummaryMetadata.PluginData(plugin_name=plugin)
    metadata = _summaries.SummaryMetadata(plugin_data=data)
    value = _summaries.Summary.Value(tag=name, metadata=metadata, tensor=tensor)
    return _summaries.Summary(value=[value])
