"""Summaries: metrics whose value is a picture, a histogram or a text, not a number."""

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
