"""Videos."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

import kontext
from kmetrics._options import Count, Positive
from kmetrics._selection import Selected
from kmetrics.summaries._colors import Colors, frozen_cmap
from kmetrics.summaries._kept import ChosenBy, KeptState, Numbers, Show
from kmetrics.summaries._media import Video
from kmetrics.summaries._pixels import (
    ValueRange,
    check_pictures,
    to_pixels,
)
from ktyping import typechecked


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShowVideos(Show):
    """Some of the videos, as a `Video`.

    Attributes:
      videos: path of videos `[*b, t, h, w, c]`; for the rest see `ShowImages`.
      num_videos: how many to show.
      fps: frames per second.
      in_vrange: see `ShowImages`, as for `cmap`.
      mask: see `ShowImages`, as for `ids`, `selection` and `seed`.

    Raises:
      TypeError, ValueError: an option is not allowed; at the first use: the videos
        have another dtype or shape.
    """

    limit: ClassVar[str] = "num_videos"

    videos: kontext.Key = kontext.REQUIRED
    num_videos: Count = 2
    fps: Positive = 10.0
    in_vrange: ValueRange = None
    cmap: Colors | None = None

    def __post_init__(self) -> None:
        name = type(self).__name__
        cmap = frozen_cmap(self.cmap, f"{name}: cmap")
        object.__setattr__(self, "cmap", cmap)
        super().__post_init__()

    @typechecked
    def get_state(
        self,
        videos: Numbers,
        mask: Numbers | None = None,
        ids: Numbers | None = None,
        scores: Numbers | None = None,
    ) -> KeptState:
        """The state of one batch; `scores` `[*b]` for `selection=Worst(...)`."""
        videos = check_pictures(
            videos,
            name=type(self).__name__,
            key="videos",
            axes="[*b, t, h, w, c]",
            channels=(1, 3, 4) if self.cmap is None else (1,),
        )
        chosen_by = ChosenBy(mask, ids, scores)
        return self.keep(videos, batch=videos.shape[:-4], chosen_by=chosen_by)

    def render(self, selected: Selected) -> Video:
        """The videos as pixels."""
        frames, num_nan = to_pixels(selected.items, self.in_vrange, self.cmap)
        return Video(frames, self.fps, num_nan, selected.scores)

    def render_nothing(self) -> Video:
        """No video."""
        return Video(np.zeros((0, 1, 1, 1, 1), np.uint8), self.fps)
