"""Summaries: metrics whose value is a picture, a histogram or a text, not a number."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kmetrics.summaries._boxes import ShowBoxes
    from kmetrics.summaries._confusion import ShowConfusionMatrix
    from kmetrics.summaries._grid import ImageGrid
    from kmetrics.summaries._histogram import HistogramSummary
    from kmetrics.summaries._images import ShowDifferenceImages, ShowImages
    from kmetrics.summaries._media import (
        Histogram,
        Image,
        Media,
        PointCloud,
        Table,
        Text,
        Video,
    )
    from kmetrics.summaries._pointcloud import ShowPointCloud
    from kmetrics.summaries._segmentation import ShowSegmentations
    from kmetrics.summaries._text import ShowTexts
    from kmetrics.summaries._video import ShowVideos
    from kmetrics.summaries._worst import Worst

__all__ = [
    # Summaries.
    "HistogramSummary",
    "ImageGrid",
    "ShowBoxes",
    "ShowConfusionMatrix",
    "ShowDifferenceImages",
    "ShowImages",
    "ShowPointCloud",
    "ShowSegmentations",
    "ShowTexts",
    "ShowVideos",
    # Which examples they show.
    "Worst",
    # What they compute.
    "Histogram",
    "Image",
    "Media",
    "PointCloud",
    "Table",
    "Text",
    "Video",
]

# Module -> public names, loaded when one of them is first used.
_EXPORTS = {
    "_boxes": "ShowBoxes",
    "_confusion": "ShowConfusionMatrix",
    "_grid": "ImageGrid",
    "_histogram": "HistogramSummary",
    "_images": "ShowDifferenceImages ShowImages",
    "_media": "Histogram Image Media PointCloud Table Text Video",
    "_pointcloud": "ShowPointCloud",
    "_segmentation": "ShowSegmentations",
    "_text": "ShowTexts",
    "_video": "ShowVideos",
    "_worst": "Worst",
}
_HOME = {name: module for module, names in _EXPORTS.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'kmetrics.summaries' has no attribute {name!r}")
    module = importlib.import_module(f"kmetrics.summaries.{_HOME[name]}")
    value = getattr(module, name)
    # From now on the name is found without a call.
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
